//! `ignore`: excuses, each for one kind of finding.

use super::{Glob, HasCondition, HasGlob, LibraryName, LibraryRule, Rules};
use crate::line::{Keep, Line as _, Lines, Scope};
use crate::reader::{Block, Node};
use crate::text::FindingName;
use crate::{Arity, NodeSpec};
use base::names::{ArtifactName, Component, PackageName, RelPath};
use base::source::{Code, Problem, Spanned};
use base::target::{Condition, Target};
use manifest_derive::Line;

/// Accepts expected findings with a code: findings of `rockpack wheel verify`, warnings of a plan, and a few of its
/// errors. They are counted, and shown with `--verbose`.
///
/// With the code `loss`, accepts a loss of the change that adds the line, for `rockpack diff`.
#[derive(Line)]
#[line(
    "ignore",
    makes = Excuse,
    check(check_names(code, names)),
    then = Ignore::excuse,
    usage = r#"ignore "CODE" "NAME" package="PACKAGE" in="GLOB" … reason="WHY" optional="WHY""#,
    example = r#"ignore "rpath-leads-nowhere" in="lib/fft/**" to="**/plugins" reason="people fill it""#
)]
pub(crate) struct Ignore {
    /// A finding, as messages name it. Of a plan's warnings: unresolved-library, library-by-luck, library-twice,
    /// missing-library, misplaced-code. Of its errors: missing-artifact, unowned-files, and unresolved-library for named
    /// libraries. Of a difference: loss.
    #[arg("CODE", "the code of a finding", via = FindingName)]
    code: Spanned<Code>,
    /// With missing-artifact, artifacts that a build can lack: lines about them are optional, also in included files.
    /// With unresolved-library, libraries as in NEEDED, or globs over such names, that files may need although no
    /// package has them.
    #[arg("NAME", "a name", many)]
    names: Vec<Spanned<String>>,
    /// Of this package only.
    #[prop("PACKAGE", resolve)]
    package: Option<Spanned<PackageName>>,
    /// In these files only: paths in the wheel, or below its platform directory; of unowned-files, installed paths; for a
    /// library that the runtime finds by name, its pattern; for a loss, also a name in its line: of a command, an extra, a
    /// module, a licence, a Python release.
    #[prop("GLOB", name = "in")]
    files: Option<Spanned<Glob>>,
    /// Only rpaths to these directories, relative to site-packages.
    #[prop("GLOB")]
    to: Option<Glob>,
    /// Only unowned files of this artifact.
    #[prop]
    artifact: Option<ArtifactName>,
    /// Only unowned files of this component, or only this component can be absent: lib, run, dev, dbg, doc or test.
    #[prop]
    component: Option<Component>,
    /// Reason why it is accepted.
    #[prop("WHY")]
    reason: String,
    /// Reason why there may be no such finding; without it, a warning.
    #[prop("WHY")]
    optional: Option<String>,
    /// Targets.
    #[when]
    when: Condition,
}

pub(crate) enum Excuse {
    Findings(IgnoreRule),
    Unowned(UnownedRule),
    Libraries(Vec<LibraryRule>),
}

/// Properties that narrow a line, in the order of its usage.
const NARROWING: [&str; 8] =
    ["package", "in", "to", "artifact", "component", "optional", "mode", "on"];

impl Ignore {
    /// Returns the properties that the code takes, and whether it needs `in`.
    fn properties(&self) -> (&'static [&'static str], bool) {
        match self.code.value {
            Code::UnownedFiles => {
                (&["in", "artifact", "component", "optional", "mode", "on"], true)
            }
            Code::UnresolvedLibrary if !self.names.is_empty() => (&[], false),
            Code::MisplacedCode => (&["package", "in", "optional", "mode", "on"], true),
            code if Code::OF_PACKAGES.contains(&code) => {
                (&["package", "in", "to", "optional", "mode", "on"], false)
            }
            _ => (&["package", "in", "optional", "mode", "on"], false),
        }
    }

    fn excuse(self, node: &mut Node<'_>, scope: &Scope<'_, '_>) -> Option<Excuse> {
        self.refuse_idle_parts(node);
        if self.properties().1 && self.files.is_none() {
            return None;
        }
        if node.is_sound() {
            self.refuse_twice(scope);
        }
        let Self { code, names, package, files, to, artifact, component, reason, optional, when } =
            self;
        match code.value {
            Code::UnownedFiles => {
                let glob = files?;
                let rule = UnownedRule { glob, artifact, component, reason, optional, when };
                Some(Excuse::Unowned(rule))
            }
            Code::UnresolvedLibrary if !names.is_empty() => {
                let names = names.into_iter().filter_map(library);
                let rule = |name| LibraryRule { name, reason: Some(reason.clone()) };
                Some(Excuse::Libraries(names.map(rule).collect()))
            }
            _ => {
                if code.value == Code::MisplacedCode {
                    refuse_every_file(node, files.as_ref()?);
                }
                let glob = files;
                Some(Excuse::Findings(IgnoreRule {
                    code,
                    package,
                    glob,
                    to,
                    reason,
                    optional,
                    when,
                }))
            }
        }
    }

    fn refuse_idle_parts(&self, node: &Node<'_>) {
        let code = self.code.value;
        let (properties, needs_files) = self.properties();
        if needs_files && !node.has_property("in") {
            node.fault(format!("`{}` lacks `in`", node.title()), "add `in=…`");
        }
        if let Some(name) = self.names.first().filter(|_| code != Code::UnresolvedLibrary) {
            let message = format!("`ignore \"{code}\"` takes no names");
            let problem = Problem::error(Code::UnreadArgument, message);
            node.report(
                problem.label(&name.place, "write files as `in=…`, a package as `package=…`"),
            );
        }
        for name in NARROWING.iter().filter(|name| !properties.contains(name)) {
            if let Some(place) = node.place_of(name) {
                let has_libraries = code == Code::UnresolvedLibrary && !self.names.is_empty();
                let suffix = if has_libraries { " with names of libraries" } else { "" };
                let message = format!("`ignore \"{code}\"`{suffix} takes no `{name}`");
                let problem = Problem::error(Code::UnknownProperty, message);
                node.report(problem.label(&place, "such findings have none"));
            }
        }
    }

    fn refuse_twice(&self, scope: &Scope<'_, '_>) {
        let text = |part: Option<String>| part.map(|part| format!(" {part}")).unwrap_or_default();
        let part = |name: &str| {
            let parts = [
                name.to_owned(),
                text(self.package.as_ref().map(|name| name.value.to_string())),
                text(self.files.as_ref().map(|glob| glob.as_str().to_owned())),
                text(self.to.as_ref().map(|glob| glob.as_str().to_owned())),
                text(self.artifact.as_ref().map(ToString::to_string)),
                text(self.component.as_ref().map(ToString::to_string)),
            ];
            format!("{}{}", self.code.value, parts.concat())
        };
        if self.names.is_empty() {
            scope.give("ignore", &part(""), self.when, &self.code.place);
        }
        for name in &self.names {
            scope.give("ignore", &part(&format!(" {}", name.value)), self.when, &name.place);
        }
    }
}

fn check_names(
    node: &Node<'_>,
    _: &Scope<'_, '_>,
    code: Option<&Spanned<Code>>,
    names: &[Spanned<String>],
) {
    for name in names.iter().filter(|_| code.is_some_and(|c| c.value == Code::UnresolvedLibrary)) {
        node.parsed::<LibraryName>(name);
    }
}

fn library(name: Spanned<String>) -> Option<Spanned<LibraryName>> {
    let library = name.value.parse().ok()?;
    Some(Spanned::new(library, name.place))
}

fn refuse_every_file(node: &Node<'_>, glob: &Spanned<Glob>) {
    if glob.has_words() {
        return;
    }
    let message = format!("`{}` accepts device code in every file", glob.as_str());
    let problem = Problem::error(Code::TooWide, message).label(&glob.place, "matches every path");
    node.report(problem.help("name the files: \"share/tuning/**\""));
}

/// Lines with `ignore`, sorted by what they accept. Those for absent artifacts change other lines, and are gone.
#[derive(Debug, Clone, Default)]
pub struct Excuses {
    /// Findings in packages, warnings of a plan, and losses.
    pub findings: Vec<IgnoreRule>,
    /// Files that may be in no package.
    pub unowned: Rules<UnownedRule>,
    /// Libraries that some builds lack.
    pub missing_libraries: Vec<LibraryRule>,
}

impl Excuses {
    /// Returns the lines with a code for findings.
    pub fn with(&self, code: Code) -> impl Iterator<Item = &IgnoreRule> {
        self.findings.iter().filter(move |rule| rule.code.value == code)
    }
}

impl Lines for Excuses {
    const NODES: &'static [NodeSpec] = &[Ignore::SPEC];

    fn take<'a>(lines: &mut Block<'a>, scope: &Scope<'_, 'a>) -> Option<Self> {
        let (mut findings, mut unowned, mut missing_libraries) = (vec![], vec![], vec![]);
        for excuse in lines.collect("ignore", Arity::Any, |node| Ignore::read(node, scope)) {
            match excuse {
                Excuse::Findings(rule) => findings.push(rule),
                Excuse::Unowned(rule) => unowned.push(rule),
                Excuse::Libraries(rules) => missing_libraries.extend(rules),
            }
        }
        Some(Self { findings, unowned: unowned.into_iter().collect(), missing_libraries })
    }
}

impl Keep for Excuses {
    fn keep(&mut self, target: Target) -> bool {
        self.findings.retain(|rule| rule.when.holds(target));
        self.unowned.keep(target)
    }
}

/// `ignore` for a finding, a warning of a plan, or a loss.
#[derive(Debug, Clone)]
pub struct IgnoreRule {
    /// Code of the finding.
    pub code: Spanned<Code>,
    /// Of this package only.
    pub package: Option<Spanned<PackageName>>,
    /// In these files only.
    pub glob: Option<Spanned<Glob>>,
    /// Only rpaths to these directories.
    pub to: Option<Glob>,
    pub reason: String,
    /// Reason why there may be no such finding.
    pub optional: Option<String>,
    /// Targets.
    pub when: Condition,
}

impl IgnoreRule {
    /// Returns whether it is about warnings of plans that name a file.
    pub fn is_of_plans(&self) -> bool {
        Code::OF_PLANS.contains(&self.code.value)
    }

    /// Returns whether it is about findings of packages.
    pub fn is_of_packages(&self) -> bool {
        Code::OF_PACKAGES.contains(&self.code.value)
    }

    /// Returns whether it accepts the code for a file, of a package if known. `None` is a name that
    /// is no path: no glob contains it.
    pub fn accepts(
        &self,
        code: Code,
        package: Option<&PackageName>,
        path: Option<&RelPath>,
    ) -> bool {
        let contains = |glob: &Spanned<Glob>| path.is_some_and(|path| glob.matches(path));
        self.code.value == code && self.is_of(package) && self.glob.as_ref().is_none_or(contains)
    }

    /// Returns whether it accepts a finding of a member of a package, which can lead to a path or name.
    pub fn fits(
        &self,
        code: Code,
        package: Option<&PackageName>,
        member: Option<&str>,
        target: Option<&str>,
    ) -> bool {
        let leads_there = |glob: &Glob| target.is_some_and(|target| is_in(glob, target));
        self.code.value == code
            && self.is_of(package)
            && (self.glob.is_none() || member.is_some_and(|member| self.is_within(member)))
            && self.to.as_ref().is_none_or(leads_there)
    }

    /// Returns whether it is for a package.
    pub fn is_of(&self, package: Option<&PackageName>) -> bool {
        self.package.as_ref().is_none_or(|name| Some(&name.value) == package)
    }

    /// Returns whether it is for a member, named from site-packages or from the platform directory.
    pub fn is_within(&self, member: &str) -> bool {
        self.glob.as_ref().is_none_or(|glob| is_in(glob, member))
    }

    /// Returns the line without its reason, for messages.
    pub fn title(&self) -> String {
        let files = self.glob.as_ref().filter(|_| self.code.value == Code::MisplacedCode);
        let files = files.map(|glob| format!(" in=\"{}\"", glob.as_str())).unwrap_or_default();
        format!("ignore \"{}\"{files}", self.code.value)
    }
}

fn is_in(glob: &Glob, member: &str) -> bool {
    let matches = |path: &str| path.parse::<RelPath>().is_ok_and(|path| glob.matches(&path));
    matches(member) || member.split_once('/').is_some_and(|(_, below)| matches(below))
}

/// `ignore "unowned-files"`: files without a decided package.
#[derive(Debug, Clone)]
pub struct UnownedRule {
    /// Installed paths of files and links.
    pub glob: Spanned<Glob>,
    /// Of this artifact only.
    pub artifact: Option<ArtifactName>,
    /// Of this component only.
    pub component: Option<Component>,
    /// Reason why no package has them yet.
    pub reason: String,
    /// Reason why there may be no such file.
    pub optional: Option<String>,
    /// Targets.
    pub when: Condition,
}

impl HasCondition for UnownedRule {
    fn when(&self) -> Condition {
        self.when
    }
}

impl HasGlob for UnownedRule {
    fn glob(&self) -> &Glob {
        &self.glob
    }
}

impl Keep for UnownedRule {
    fn keep(&mut self, target: Target) -> bool {
        self.when.holds(target)
    }
}
