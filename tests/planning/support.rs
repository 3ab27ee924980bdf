//! Test cases: a manifest and a catalog as input, a plan or problems as text.

use std::borrow::Cow;

use base::names::{Mode, RelPath};
use base::source::{Code, Problem, Problems, Source};
use catalog::{BuildFacts, Catalog};
use manifest::{Manifest, ManifestFiles};
use plan::resolve;
use plan::{Distribution, Member, Plan, Request, Step, Templates};

use super::tree;

pub const FAMILIES: &str = r#"
isa "gfx906" "old-all" product="A"
isa "gfx942" "gfx94X-all" "gfx94X-dcgpu" product="B"
isa "gfx1100" "gfx110X-all" product="C"
isa "gfx1101" "gfx110X-all" product="D"
subproject "sparse" { without "gfx1100"; }
axis "vendor" "acme" "umbrella"
subproject "dense" { without "gfx942"; }
"#;

const PROJECT: &str = r#"common {
    author "A. Author"
    requires-python ">=3.10"
    license-text "share/doc/*/LICENSE*" optional="few cases have one"; compression "store" "share/packed/**" "**/*.zst" optional="few have any"; compression "max" "share/**" optional="few have any"
}
"#;

/// Returns a package with the lines that every package needs.
pub fn package(name: &str, kind: &str, distribution: &str, lines: &str) -> String {
    let template = if kind == "selector" { "meta" } else { "runtime" };
    format!(
        "package \"{name}\" kind=\"{kind}\" {{\n    distribution {distribution}\n    summary \"About {name}\"\n    license \"MIT\"\n    template \"{template}\"\n{lines}\n}}\n"
    )
}

/// Returns a package `x-device-ISA` for each ISA.
pub fn device(lines: &str) -> String {
    let distribution = "\"x-device-{isa}\" module=\"x_device_{isa}\" per=\"isa\"";
    package("device", "runtime", distribution, lines)
}

/// Returns a runtime package `x-NAME` of generic artifacts.
pub fn runtime(name: &str, lines: &str) -> String {
    package(
        name,
        "runtime",
        &format!("\"x-{name}\" module=\"x_{}\" per=\"none\"", name.replace('-', "_")),
        lines,
    )
}

/// Returns a generic devel package `x-devel`.
pub fn devel(lines: &str) -> String {
    package("devel", "devel", "\"x-devel\" module=\"x_devel\" per=\"none\"", lines)
}

#[derive(Clone)]
pub struct Case {
    packages: Source,
    families: Source,
    /// Files for `include` lines, by path.
    included: Vec<(String, String)>,
    pub catalog: Catalog,
    pub templates: Templates,
    pub request: Request,
}

impl Case {
    /// Makes a case in kpack mode from packages ([`package`], [`device`] …) and the lines of a
    /// catalog.
    pub fn new(packages: &[String], entries: &str) -> Self {
        Self::with_project(PROJECT, packages, entries)
    }

    /// Makes a case with another `project`.
    pub fn with_project(project: &str, packages: &[String], entries: &str) -> Self {
        let build = BuildFacts { kpack_split: true, ..BuildFacts::default() };
        let file = |path: &str, text: &str| (path.parse().unwrap(), text.to_owned());
        Self {
            packages: Source::new("packages.kdl", project.to_owned() + &packages.concat()),
            families: Source::new("families.kdl", FAMILIES),
            included: Vec::new(),
            catalog: tree::catalog(entries, build),
            templates: Templates::from([
                ("runtime".to_owned(), vec![file("LICENSE", "MIT"), file("__init__.py", "")]),
                ("meta".to_owned(), vec![file("pyproject.toml", "")]),
            ]),
            request: Request {
                version: Some("1.0".parse().unwrap()),
                platform_tag: Some("linux_x86_64".parse().unwrap()),
                // Most cases do not test unowned files.
                allowed: vec![Code::UnownedFiles],
                ..Request::default()
            },
        }
    }

    /// Makes unowned files an error, as commands do.
    pub fn total(self) -> Self {
        self.asking(|request| request.allowed.clear())
    }

    pub fn families(mut self, text: &str) -> Self {
        self.families = Source::new("families.kdl", text);
        self
    }

    /// Adds a file for a line `include`.
    pub fn included(mut self, path: &str, text: &str) -> Self {
        self.included.push((path.to_owned(), text.to_owned()));
        self
    }

    pub fn legacy(mut self) -> Self {
        self.request.mode = Some(Mode::Legacy);
        self
    }

    pub fn asking(mut self, ask: impl FnOnce(&mut Request)) -> Self {
        ask(&mut self.request);
        self
    }

    pub fn linux(self, list: &[&str]) -> Self {
        let list = list.iter().map(|s| (*s).to_owned()).collect();
        self.asking(|r| r.linux_families = Some(list))
    }

    pub fn windows(self, list: &[&str]) -> Self {
        let list = list.iter().map(|s| (*s).to_owned()).collect();
        self.asking(|r| r.windows_families = Some(list))
    }

    pub fn manifest(&self) -> Manifest {
        let template = |path: &RelPath| format!("{path}\r\nfor {{isa}} {{other}}\r\n\r\n");
        let read = |path: &RelPath| {
            let included = self.included.iter().find(|(name, _)| name == path.as_str());
            Ok(included.map_or_else(|| template(path), |(_, text)| text.clone()))
        };
        let templates = vec!["meta", "runtime"];
        Manifest::decode_beside(
            &self.packages,
            &self.families,
            &ManifestFiles { templates, read: &read, built_in: None },
        )
        .unwrap_or_else(|problems| panic!("{}", Self::texts(&problems).join("\n")))
    }

    pub fn resolve(&self) -> Result<(Plan, Problems), Problems> {
        resolve::plan(&self.manifest(), &self.catalog, &self.templates, &self.request)
    }

    /// Returns the plan, which must have no warning.
    pub fn plan(&self) -> Plan {
        let (plan, warnings) = self.plan_and_warnings();
        assert!(warnings.is_empty(), "{}", warnings.join("\n"));
        plan
    }

    pub fn plan_and_warnings(&self) -> (Plan, Vec<String>) {
        match self.resolve() {
            Ok((mut plan, warnings)) => {
                plan.warnings.retain(|warning| warning.code != Code::UnownedFiles.to_string());
                (plan, Self::texts(&warnings))
            }
            Err(problems) => panic!("{}", Self::texts(&problems).join("\n")),
        }
    }

    pub fn problems(&self) -> Vec<String> {
        match self.resolve() {
            Ok((plan, _)) => panic!("this plan has no error: {:#?}", plan.distributions),
            Err(problems) => Self::texts(&problems),
        }
    }

    pub fn problem(&self) -> String {
        let problems = self.problems();
        assert_eq!(problems.len(), 1, "{}", problems.join("\n"));
        problems.into_iter().next().unwrap()
    }

    /// Returns errors, and warnings except unowned files.
    pub fn texts(problems: &Problems) -> Vec<String> {
        let others = problems.iter().filter(|p| p.is_error() || p.code() != Code::UnownedFiles);
        others.map(Self::text).collect()
    }

    /// Returns the message, the labels with their lines of the manifest, and the help.
    fn text(problem: &Problem) -> String {
        let message = problem.message().to_owned();
        let labels = problem.labels().iter().map(|(place, label)| {
            let line = place.source().text().lines().nth(place.line() - 1).unwrap();
            format!("  {} <- {label}", line.trim())
        });
        let help = problem.remedy().map(|help| format!("  help: {help}"));
        std::iter::once(message).chain(labels).chain(help).map(|line| line + "\n").collect()
    }
}

pub fn distribution<'p>(plan: &'p Plan, name: &str) -> &'p Distribution {
    let found = plan.distributions.iter().find(|d| d.name.as_str() == name);
    found.unwrap_or_else(|| panic!("{name} is not among {:?}", names(plan)))
}

pub fn names(plan: &Plan) -> Vec<String> {
    plan.distributions.iter().map(|d| format!("{}/{}", d.directory, d.name)).collect()
}

/// Returns the files in the platform directory of a wheel, without its marker, as `PATH STEP
/// DETAIL`.
pub fn files(plan: &Plan, name: &str) -> Vec<String> {
    let distribution = distribution(plan, name);
    let root = format!("{}/", distribution.platform_dir.as_ref().unwrap());
    let inside =
        distribution.members.iter().filter_map(|m| Some((m.path.as_str().strip_prefix(&root)?, m)));
    let marker = format!(".{}", distribution.name.file_stem());
    inside
        .filter(|(path, _)| *path != "__init__.py" && *path != marker)
        .map(|(path, member)| line(path, member))
        .collect()
}

/// Returns the members of a devel archive below its root, in order, without directories and the
/// marker.
pub fn archived(plan: &Plan, name: &str) -> Vec<String> {
    let distribution = distribution(plan, name);
    let root = format!("{}/", distribution.platform_dir.as_ref().unwrap());
    let members =
        distribution.archive.iter().flat_map(|a| &a.members).filter(|m| m.step != Step::Directory);
    let below = members.map(|m| (m.path.as_str().strip_prefix(&root).unwrap(), m));
    below
        .filter(|(path, _)| *path != "__init__.py")
        .map(|(path, member)| line(path, member))
        .collect()
}

/// Returns selected but unshipped entries, with their reasons.
pub fn absent(plan: &Plan, name: &str) -> Vec<String> {
    distribution(plan, name).absent.iter().map(|a| format!("{}: {}", a.path, a.reason)).collect()
}

fn line(path: &str, member: &Member) -> String {
    let from = |source: &catalog::SourcePath| {
        let elsewhere =
            if source.path.as_str() == path { String::new() } else { format!(":{}", source.path) };
        format!("{}{elsewhere}", source.artifact)
    };
    let what = match &member.step {
        Step::Copy { source } => format!("copy {}", from(source)),
        Step::Relink { source, rpath, clear_execstack } => {
            let stack = if *clear_execstack { " stack" } else { "" };
            format!("relink {} {rpath}{stack}", from(source))
        }
        Step::Stub { target, .. } => format!("stub {target}"),
        Step::Alias { soname, needed, rpath, .. } => {
            format!("alias {soname} needs {needed} in {rpath}")
        }
        Step::Link { target } => format!("-> {target}"),
        Step::Directory => "directory".to_owned(),
        Step::Render { .. } => "render".to_owned(),
    };
    format!("{path} {what}{}", if member.executable { " x" } else { "" })
}

pub fn rendered<'p>(plan: &'p Plan, name: &str, path: &str) -> Cow<'p, str> {
    let member = distribution(plan, name).members.iter().find(|m| m.path.as_str() == path);
    match &member.unwrap_or_else(|| panic!("no {path} in {name}")).step {
        Step::Render { text } => text.text(),
        other => panic!("{path} is not rendered: {other:?}"),
    }
}
