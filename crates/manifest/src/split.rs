//! Lines of a `wheel` for `rockpack wheel split`.

use super::{Glob, LibraryName, Template};
use crate::line::Scope;
use crate::reader::Node;
use crate::requirement::Requirement;
use crate::text::choice;
use base::names::{self, DistName, PackageName, RelPath};
use base::source::{Code, Problem, Spanned};
use manifest_derive::Line;

/// Split of a finished wheel.
#[derive(Debug, Clone)]
pub struct SplitRule {
    /// Distribution, as indexes compare it.
    pub name: Spanned<PackageName>,
    /// Means of finding device code.
    pub by: Vec<DeviceBy>,
    /// Names of the wheels with device code, with a placeholder.
    pub device: Spanned<Template>,
    /// Root of paths in the wheel.
    pub root: Option<RelPath>,
    /// Files by the target in their path.
    pub files: Vec<SplitFiles>,
    /// Words for targets in paths.
    pub words: Vec<TargetWord>,
    /// Files that stay in the host wheel.
    pub keeps: Vec<SplitFiles>,
    /// Requirements of each wheel for an ISA, with placeholders.
    pub requires: Vec<Spanned<Template>>,
    /// Added requirements of the host wheel.
    pub host_requires: Vec<Spanned<Template>>,
    /// Runtimes that read archives of code.
    pub runtimes: Vec<ArchiveRuntime>,
    /// Libraries of runtimes that cannot.
    pub older_runtimes: Vec<Spanned<LibraryName>>,
}

/// Means of finding device code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceBy {
    /// Targets in paths.
    Path,
    /// Targets of offload bundles in programs and libraries.
    Bundle,
}

choice!(DeviceBy, "a criterion for device code", "path" => Path, "bundle" => Bundle);

#[derive(Line)]
pub(crate) struct SplitLines {
    #[child]
    means: Means,
    #[child(times = AtLeastOnce)]
    files: Vec<SplitFiles>,
    #[child]
    words: Vec<TargetWord>,
    #[child(of = Host)]
    keeps: Vec<SplitFiles>,
    /// Names requirements of the wheel for an ISA, in addition to the host wheel and the levels
    /// above it. The wheel for a level requires it only if `--beside` has that package.
    #[leaf(
        "REQUIREMENT",
        "a requirement",
        "A requirement (PEP 508); `{isa}` is the ISA, `{version}` the value of `--version` of `rockpack wheel split`.",
        name = "requires-dist",
        single,
        check = check_requirements,
        example = r#"requires-dist "example-device-{isa}=={version}""#
    )]
    requires: Vec<Spanned<Template>>,
    /// Adds requirements to the host wheel.
    #[leaf(
        "REQUIREMENT",
        "a requirement",
        "A requirement (PEP 508).",
        name = "host-requires-dist",
        single,
        check = check_host_requirements,
        example = r#"host-requires-dist "numpy""#
    )]
    host_requires: Vec<Spanned<Template>>,
    #[child]
    runtimes: Vec<ArchiveRuntime>,
    /// Names libraries of runtimes that do not read archives of code. A library that needs one must
    /// keep its code, with a `host` line.
    #[leaf(
        "SONAME",
        "a library",
        "A name as in NEEDED or an import table, or a glob over such names.",
        name = "older-runtime",
        example = r#"older-runtime "libexample.so.[1-6]" "libexample-blas.so.4""#
    )]
    older_runtimes: Vec<Spanned<LibraryName>>,
}

impl SplitLines {
    pub fn rule(self, name: Spanned<PackageName>) -> SplitRule {
        let Means { by, root, device } = self.means;
        let Self { files, words, keeps, requires, host_requires, runtimes, older_runtimes, .. } =
            self;
        SplitRule {
            name,
            by,
            device,
            root,
            files,
            words,
            keeps,
            requires,
            host_requires,
            runtimes,
            older_runtimes,
        }
    }

    /// Reports archives without a runtime, and a runtime without archives.
    pub fn check_runtimes(&self, node: &Node<'_>) {
        let first_library = self.runtimes.iter().flat_map(|runtime| &runtime.libraries);
        let first_library = first_library.chain(&self.older_runtimes).next();
        match (self.means.by.contains(&DeviceBy::Bundle), first_library) {
            (true, _) if self.runtimes.is_empty() => {
                let message = format!("`{}` has `bundle`, but no `runtime`", node.title());
                let problem = Problem::error(Code::MissingPart, message)
                    .label(&node.place(), "archives of code need a runtime that reads them");
                let help = "add `runtime \"SONAME\" requires-dist=\"REQUIREMENT\"`";
                node.report(problem.help(help));
            }
            (false, Some(library)) => {
                let problem = Problem::error(
                    Code::MisplacedNode,
                    format!("`{}` has a runtime for archives, but no `bundle`", node.title()),
                );
                let problem = problem.label(&library.place, "no code is moved into archives");
                node.report(problem.help("add `bundle` to `device-by`, or remove the line"));
            }
            (true | false, _) => {}
        }
    }
}

/// Names a runtime that reads archives of code. With `bundle`, a library loses its code only if it
/// needs one of these libraries; the host wheel then has the requirement.
#[derive(Debug, Clone, Line)]
#[line("runtime", example = r#"runtime "libexample.so.7" requires-dist="example-core>=7.13""#)]
pub struct ArchiveRuntime {
    /// A library that only this generation has: a name as in NEEDED or an import table, or a
    /// glob over such names.
    #[arg("SONAME", "a library")]
    pub libraries: Vec<Spanned<LibraryName>>,
    /// Its first version that reads archives, as a requirement (PEP 508).
    #[prop("REQUIREMENT", name = "requires-dist")]
    pub requires: Spanned<Requirement>,
}

impl ArchiveRuntime {
    /// Returns whether a needed library is of this runtime.
    pub fn has(&self, library: &str) -> bool {
        self.libraries.iter().any(|name| name.matches(library))
    }
}

/// Splits the wheel by `rockpack wheel split`: device code is moved into one wheel for each ISA or
/// level; the host wheel keeps the rest, and gets the extras `device-ISA` and `device-all`.
#[derive(Line)]
#[line(
    "device-by",
    check(check_means(by, root)),
    check(check_name(device)),
    usage = r#"device-by "path" "bundle" root="DIRECTORY" distribution="NAME-{isa}""#,
    example = r#"device-by "path" root="example" distribution="example-device-{isa}""#
)]
struct Means {
    /// Means of finding device code: `path`, files by the target in their path; with `bundle`, also
    /// the offload bundles in programs, libraries and DLLs, of which archives of code
    /// (`.kpack`) are made.
    #[arg("path", "a criterion for device code")]
    by: Vec<DeviceBy>,
    /// Root of the globs of `files` in the wheel; without it, its top. `bundle` needs it.
    #[prop]
    root: Option<RelPath>,
    /// Names of the wheels with device code; `{isa}` is the ISA or level.
    #[prop(name = "distribution")]
    device: Spanned<Template>,
}

/// Names files for the wheel of the target in their path: an ISA or a level of families.kdl, or a
/// `target-word`. Files without one stay in the host wheel. A file elsewhere that names a target is
/// an error.
#[derive(Debug, Clone, Line)]
#[line("files", example = r#"files "lib/blas/library/**" "share/tuning/**""#)]
pub struct SplitFiles {
    /// Paths below the root; `*` stays in one directory, `**` spans them.
    #[arg("GLOB", "a glob")]
    pub globs: Vec<Spanned<Glob>>,
    /// Reason why a glob may match nothing; without it, an error.
    #[prop("WHY")]
    pub optional: Option<String>,
}

/// Keeps files in the host wheel that name a target or have code for one.
#[derive(Line)]
#[line(
    "host",
    makes = SplitFiles,
    then = Host::files,
    example = r#"host "share/notes-*.txt" reason="they are read by people""#
)]
struct Host {
    /// Paths in the wheel, or below the root.
    #[arg("GLOB", "a glob")]
    globs: Vec<Spanned<Glob>>,
    /// Reason why they stay.
    #[prop("WHY")]
    reason: String,
    /// Reason why a glob may match nothing; without it, an error.
    #[prop("WHY")]
    optional: Option<String>,
}

impl Host {
    fn files(self, _: &Node<'_>, _: &Scope<'_, '_>) -> SplitFiles {
        SplitFiles { globs: self.globs, optional: self.optional }
    }
}

/// Gives a target for a word in paths that families.kdl does not name.
#[derive(Debug, Clone, Line)]
#[line("target-word", once, example = r#"target-word "gpu9xx" is="gpu90""#)]
pub struct TargetWord {
    /// The word in paths, with no letter or digit next to it.
    #[arg("WORD", "a word")]
    pub word: Spanned<String>,
    /// An ISA or a level of families.kdl.
    #[prop("TARGET", name = "is")]
    pub target: Spanned<String>,
}

impl SplitFiles {
    /// Returns the index of the first glob that matches.
    pub fn taking(&self, path: &RelPath) -> Option<usize> {
        self.globs.iter().position(|glob| glob.matches(path))
    }
}

fn check_means(
    node: &Node<'_>,
    _: &Scope<'_, '_>,
    means: &[Spanned<DeviceBy>],
    root: Option<&Spanned<RelPath>>,
) {
    let Some(bundle) = means.iter().find(|means| means.value == DeviceBy::Bundle) else { return };
    let wrong = |message: &str, help: &str| {
        let problem = Problem::error(Code::InvalidText, message).label(&bundle.place, "given here");
        node.report(problem.help(help));
    };
    if !means.iter().any(|means| means.value == DeviceBy::Path) {
        let message = "`bundle` requires `path`";
        wrong(message, "write `device-by \"path\" \"bundle\" …`");
    }
    if root.is_none() {
        let message = "`bundle` requires `root`, the directory for its archives of code";
        wrong(message, "add root=\"DIRECTORY\": the directory of the framework in the wheel");
    }
}

/// Reports a name of wheels with device code that does not name the target, or something else.
fn check_name(node: &Node<'_>, _: &Scope<'_, '_>, name: Option<&Spanned<Template>>) {
    let Some(name) = name.filter(|name| check_places(node, name, &["isa"])) else {
        return;
    };
    if !name.has_placeholder() {
        let message = format!(
            "`{}` lacks the placeholder `{{isa}}`, so all distributions would \
            have the same name",
            name.value
        );
        let problem = Problem::error(Code::PlaceholderMissing, message);
        node.report(problem.label(&name.place, "add `{isa}`"));
    } else if let Err(error) = name.filled().parse::<DistName>() {
        let message = format!("`{}` is not a distribution name", name.value);
        node.report(Problem::error(Code::InvalidText, message).label(&name.place, error.reason));
    }
}

fn check_places(node: &Node<'_>, text: &Spanned<Template>, allowed: &[&str]) -> bool {
    let Some(unknown) = text.placeholders().find(|place| !allowed.contains(place)) else {
        return true;
    };
    let message =
        format!("`{}` has the placeholder `{{{unknown}}}`, which has no value here", text.value);
    let placeholders: Vec<String> = allowed.iter().map(|place| format!("`{{{place}}}`")).collect();
    let problem = Problem::error(Code::PlaceholderNotFilled, message)
        .label(&text.place, "placeholder")
        .help(if placeholders.is_empty() {
            "write it without a placeholder".to_owned()
        } else {
            format!("the placeholders are {}", placeholders.join(" and "))
        });
    node.report(problem);
    false
}

fn check_host_requirements(node: &Node<'_>, _: &Scope<'_, '_>, requires: &[Spanned<Template>]) {
    for text in requires {
        if check_places(node, text, &[]) && text.as_str().parse::<names::Requirement>().is_err() {
            let message = format!("`{}` is not a requirement (PEP 508)", text.value);
            let label = "write it like `example>=1`";
            node.report(Problem::error(Code::InvalidText, message).label(&text.place, label));
        }
    }
}

fn check_requirements(node: &Node<'_>, _: &Scope<'_, '_>, requires: &[Spanned<Template>]) {
    for text in requires {
        let filled = text.as_str().replace("{isa}", "x").replace("{version}", "1");
        if check_places(node, text, &["isa", "version"])
            && filled.parse::<names::Requirement>().is_err()
        {
            let message = format!("`{}` is not a requirement (PEP 508)", text.value);
            let label = "write it like `example-device-{isa}=={version}`";
            node.report(Problem::error(Code::InvalidText, message).label(&text.place, label));
        }
    }
}
