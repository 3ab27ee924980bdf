//! Lines of a `wheel` that `rockpack wheel split` parts into a host wheel and one for each target.

use super::{Glob, Template};
use crate::line::Scope;
use crate::reader::Node;
use crate::text::choice;
use base::names::{DistName, PackageName, RelPath, Requirement};
use base::source::{Code, Problem, Spanned};
use manifest_derive::Line;

/// Split of a finished wheel.
#[derive(Debug, Clone)]
pub struct SplitRule {
    /// The name of its distribution, as indexes compare it, and the place of its declaration.
    pub name: Spanned<PackageName>,
    /// Means by which device code is found.
    pub by: Vec<DeviceBy>,
    /// The names of the wheels with device code, with a place for the target.
    pub device: Spanned<Template>,
    /// The directory of the wheel that paths are below.
    pub root: Option<RelPath>,
    /// Files that go into the wheel of the target that their path names.
    pub files: Vec<SplitFiles>,
    /// Words that paths have for targets.
    pub words: Vec<TargetWord>,
    /// Files that stay in the host wheel.
    pub keeps: Vec<SplitFiles>,
    /// Requirements of each wheel for an ISA, with places for the ISA and the version.
    pub requires: Vec<Spanned<Template>>,
}

/// Means by which device code is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceBy {
    /// Files, by the targets that their paths name.
    Path,
    /// The offload bundles in programs and libraries, by the targets that these name.
    Bundle,
}

choice!(DeviceBy, "a criterion for device code", "path" => Path, "bundle" => Bundle);

/// Lines of a wheel that is split.
#[derive(Line)]
pub(crate) struct SplitLines {
    /// Means.
    #[child]
    means: Means,
    /// Files of targets.
    #[child(at_least_once)]
    files: Vec<SplitFiles>,
    /// Words of targets.
    #[child]
    words: Vec<TargetWord>,
    /// Files of the host.
    #[child(of = Host)]
    keeps: Vec<SplitFiles>,
    /// Names requirements of the wheel for an ISA, in addition to the host wheel and the levels above it. The wheel for
    /// a level requires it only if `--beside` has that package.
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
}

impl SplitLines {
    /// Returns the split of the wheel called `name`.
    pub fn rule(self, name: Spanned<PackageName>) -> SplitRule {
        let Means { by, root, device } = self.means;
        let Self { files, words, keeps, requires, .. } = self;
        SplitRule { name, by, device, root, files, words, keeps, requires }
    }
}

/// Splits the wheel in `rockpack wheel split`: each ISA or level gets a wheel with its device code, and the rest stays
/// in the host wheel, which gets the extras `device-ISA` and `device-all`.
#[derive(Line)]
#[line(
    "device-by",
    check(check_means(by, root)),
    check(check_name(device)),
    usage = r#"device-by "path" "bundle" root="DIRECTORY" distribution="NAME-{isa}""#,
    example = r#"device-by "path" root="example" distribution="example-device-{isa}""#
)]
struct Means {
    /// Means by which device code is found: `path`, files by the target that their path names; with `bundle`, also the
    /// offload bundles in programs and libraries for Linux, of which archives of code (`.kpack`) are made.
    #[arg("path", "a criterion for device code")]
    by: Vec<DeviceBy>,
    /// The directory of the wheel that the globs of `files` are below; without it, its top. `bundle` needs it.
    #[prop]
    root: Option<RelPath>,
    /// The names of the wheels with device code; `{isa}` is the ISA or the level.
    #[prop(name = "distribution")]
    device: Spanned<Template>,
}

/// Names files that go into the wheel of the target that their path names: an ISA or a level of families.kdl, or a
/// `target-word`. Of these, files that name none stay in the host wheel. A file elsewhere that names a target is an
/// error.
#[derive(Debug, Clone, Line)]
#[line("files", example = r#"files "lib/blas/library/**" "share/tuning/**""#)]
pub struct SplitFiles {
    /// Paths below the root; `*` stays in one directory, `**` spans them.
    #[arg("GLOB", "a glob")]
    pub globs: Vec<Spanned<Glob>>,
    /// The reason why a glob may match nothing; without it, that is an error.
    #[prop("WHY")]
    pub optional: Option<String>,
}

/// Keeps files in the host wheel that name a target or have code for one.
#[derive(Line)]
#[line(
    "host",
    makes = SplitFiles,
    maps = Host::files,
    example = r#"host "share/notes-*.txt" reason="they are read by people""#
)]
struct Host {
    /// Paths in the wheel, or below the root.
    #[arg("GLOB", "a glob")]
    globs: Vec<Spanned<Glob>>,
    /// The reason why they stay.
    #[prop("WHY")]
    reason: String,
    /// The reason why a glob may match nothing; without it, that is an error.
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
    /// The word in paths, with neither a letter nor a digit next to it.
    #[arg("WORD", "a word")]
    pub word: Spanned<String>,
    /// An ISA or a level of families.kdl.
    #[prop("TARGET", name = "is")]
    pub target: Spanned<String>,
}

impl SplitFiles {
    /// The first of its globs that matches, by its place among them.
    pub fn taking(&self, path: &RelPath) -> Option<usize> {
        self.globs.iter().position(|glob| glob.matches(path))
    }
}

/// Reports `bundle` without `path` or without a root.
fn check_means(
    node: &Node<'_>,
    _: &Scope<'_, '_>,
    by: &[Spanned<DeviceBy>],
    root: Option<&Spanned<RelPath>>,
) {
    let Some(bundle) = by.iter().find(|by| by.value == DeviceBy::Bundle) else { return };
    let wrong = |what: &str, help: &str| {
        let problem = Problem::error(Code::InvalidText, what).label(&bundle.place, "given here");
        node.report(problem.help(help));
    };
    if !by.iter().any(|by| by.value == DeviceBy::Path) {
        let what = "`bundle` requires `path`";
        wrong(what, "write `device-by \"path\" \"bundle\" …`");
    }
    if root.is_none() {
        let what = "`bundle` requires `root`, the directory for its archives of code";
        wrong(what, "add root=\"DIRECTORY\": the directory of the framework in the wheel");
    }
}

/// Reports a name of wheels with device code that does not name the target, or something else.
fn check_name(node: &Node<'_>, _: &Scope<'_, '_>, name: Option<&Spanned<Template>>) {
    let Some(name) = name.filter(|name| check_places(node, name, &["isa"])) else {
        return;
    };
    if !name.has_placeholder() {
        let what = format!(
            "`{}` lacks the placeholder `{{isa}}`, so all distributions would \
            have the same name",
            name.value
        );
        let problem = Problem::error(Code::PlaceholderMissing, what);
        node.report(problem.label(&name.place, "add `{isa}`"));
    } else if let Err(error) = name.filled().parse::<DistName>() {
        let what = format!("`{}` is not a distribution name", name.value);
        node.report(Problem::error(Code::InvalidText, what).label(&name.place, error.reason));
    }
}

fn check_places(node: &Node<'_>, text: &Spanned<Template>, known: &[&str]) -> bool {
    let Some(unknown) = text.placeholders().find(|place| !known.contains(place)) else {
        return true;
    };
    let what =
        format!("`{}` has the placeholder `{{{unknown}}}`, which has no value here", text.value);
    let known: Vec<String> = known.iter().map(|place| format!("`{{{place}}}`")).collect();
    let problem = Problem::error(Code::PlaceholderNotFilled, what)
        .label(&text.place, "placeholder")
        .help(format!("the placeholders are {}", known.join(" and ")));
    node.report(problem);
    false
}

fn check_requirements(node: &Node<'_>, _: &Scope<'_, '_>, requires: &[Spanned<Template>]) {
    for text in requires {
        let filled = text.as_str().replace("{isa}", "x").replace("{version}", "1");
        if check_places(node, text, &["isa", "version"]) && filled.parse::<Requirement>().is_err() {
            let what = format!("`{}` is not a requirement (PEP 508)", text.value);
            let label = "write it like `example-device-{isa}=={version}`";
            node.report(Problem::error(Code::InvalidText, what).label(&text.place, label));
        }
    }
}
