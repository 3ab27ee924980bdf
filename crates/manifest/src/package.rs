//! `package`.

use super::{
    AliasRule, ArtifactRule, ComponentRule, DevelLayout, Distribution, DriverRule, Environment,
    ExecstackRule, Extra, ForbidRule, IndexRule, KeepLinkRule, Library, LicenseExpression, Listing,
    PackageKind, PathRule, Readme, RequireDistRule, RequireRule, RpathRule, Rules, Script,
    SizeLimit, Template, VariantRule,
};
use crate::compose::GROUP;
use crate::line::Scope;
use crate::reader::{Block, Node, either};
use crate::text::choice;
use base::names::{ArtifactName, PackageName, System};
use base::source::{Code, Problem, Spanned};
use base::target::{Condition, Target};
use manifest_derive::Line;

pub mod artifact;
pub mod distribution;
pub mod execstack;
pub mod forbid;
pub mod index;
pub mod name;
pub mod readme;
pub mod requires;
pub mod runtime;
pub mod script;
pub mod variant;

choice!(DevelLayout, "a layout", "archive" => Archive, "files" => Files);
choice!(
    PackageKind,
    "a kind of package",
    Self::Selector.as_str() => Selector,
    Self::Runtime.as_str() => Runtime,
    Self::Devel.as_str() => Devel,
    Self::Choice.as_str() => Choice
);

/// Declares one package; packages are built in the order of the file.
#[derive(Debug, Clone, Line)]
#[line(
    "package",
    within = open,
    keep = reduce,
    check(distribution::check_summary(summary, distributions)),
    check(distribution::check_modes(distributions)),
    check(keep(name)),
    after(GROUP.for_kinds(PackageKind::ALL)),
    example = r#"package "math" kind="runtime" {
    distribution "example-math" module="example_math" per="none"
    summary "Math libraries"
    license "MIT"
    artifact "blas" "lib"
    rpath "math" "lib"
}"#
)]
pub struct Package {
    /// Name in the manifest and for `--only`. Distributions have other names.
    #[arg("NAME", "a name")]
    pub name: Spanned<PackageName>,
    #[calc(draft)]
    pub(crate) draft: Draft,
    /// selector: an sdist that installs the others; runtime: a wheel with a platform directory;
    /// devel: a wheel with an archive of everything, expanded on the user's machine; choice: a
    /// small wheel that requires the packages that a machine needs.
    #[prop("selector|runtime|devel|choice", read = kind)]
    pub kind: PackageKind,
    /// Targets of the package.
    #[when]
    pub when: Condition,
    /// Distributions; at most one for each target, without one the package is not built for it.
    #[child(kinds, times = AtLeastOnce)]
    pub distributions: Vec<Distribution>,
    /// Describes the package in one line, `Summary` in the metadata.
    #[leaf(
        "TEXT",
        "a text",
        "The line; may have the placeholder of the split.",
        kinds,
        draft = Template::default(),
        example = r#"summary "Math libraries""#
    )]
    pub summary: Template,
    /// Its long description.
    #[child(kinds)]
    pub readme: Option<Readme>,
    /// Additional metadata for index servers.
    #[flat(kinds)]
    pub listing: Listing,
    /// Gives the package's licence, `License-Expression` in its metadata. Without it, a wheel has
    /// the terms of its artifacts (`license-of`) and of the Python sources in every package.
    #[leaf(
        "SPDX EXPRESSION",
        "an SPDX expression",
        "Identifiers of the SPDX list and `LicenseRef-NAME`, with AND, OR and WITH. A selector and a choice need it.",
        kinds,
        example = r#"license "MIT""#
    )]
    pub license: Option<Spanned<LicenseExpression>>,
    /// Sizes of its wheels.
    #[child(kinds(Runtime, Devel))]
    pub at_most: Vec<SizeLimit>,
    /// Chooses the Python sources of the import package. Not needed: the kind chooses them.
    #[leaf(
        "DIRECTORY",
        "a directory",
        "A directory of `runtime/`. Defaults to `meta` for a selector, `choice` for a choice, otherwise `runtime`.",
        kinds,
        via = name::Directory,
        example = r#"template "runtime""#
    )]
    pub template: Option<Spanned<String>>,
    /// Puts the package's files into another one's platform directory, instead of a separate one.
    #[leaf(
        "PACKAGE",
        "a package",
        "A runtime package that is not an overlay.",
        kinds(Runtime),
        resolve = PackageKind::Runtime,
        example = r#"overlay "core""#
    )]
    pub overlay: Option<Spanned<PackageName>>,
    /// Required packages, at the same version.
    #[child(kinds)]
    pub requires: Vec<RequireRule>,
    /// Required packages of others.
    #[child(kinds)]
    pub requires_dist: Vec<RequireDistRule>,
    /// Extras.
    #[child(kinds(Selector))]
    pub extras: Vec<Extra>,
    /// Indexes in which it requires more.
    #[child(kinds(Selector))]
    pub indexes: Vec<IndexRule>,
    /// Oldest kernel drivers.
    #[child(kinds(Selector))]
    pub driver: Option<DriverRule>,
    /// Additional wheels for single targets.
    #[child(kinds(Choice))]
    pub variant: Option<VariantRule>,
    /// Takes every artifact that these packages name, with all components.
    #[leaf(
        "PACKAGE",
        "a package",
        "A runtime package.",
        kinds(Devel),
        times = AtMostOnce,
        once,
        resolve = PackageKind::Runtime,
        example = r#"artifacts-of "core" "device""#
    )]
    pub artifacts_of: Vec<Spanned<PackageName>>,
    /// Artifacts.
    #[child(kinds(Runtime, Devel))]
    pub artifacts: Vec<ArtifactRule>,
    /// Takes also the files of its artifacts for single targets that are built, such as static
    /// libraries of one ISA. In devel packages with one distribution for all.
    #[leaf(
        "NAME",
        "an artifact",
        "An artifact.",
        kinds(Devel),
        once,
        example = r#"every-target-of "blas""#
    )]
    pub every_target_of: Vec<Spanned<ArtifactName>>,
    /// Leaves out an artifact that `artifacts-of` or `artifact` takes.
    #[leaf(
        "NAME",
        "an artifact",
        "The artifact.",
        name = "without-artifact",
        kinds(Devel),
        single,
        once,
        example = r#"without-artifact "profiler""#
    )]
    pub without_artifacts: Vec<Spanned<ArtifactName>>,
    /// Components to leave out.
    #[child(kinds(Devel))]
    pub without_components: Vec<ComponentRule>,
    /// Paths to narrow it to.
    #[child(kinds(Runtime))]
    pub includes: Rules<PathRule>,
    /// Keeps paths out of the package, even if `include` names them. A devel package still has
    /// them: `drop` with `everywhere` leaves files out of every package.
    #[child(
        kinds(Runtime),
        name = "exclude",
        usage = r#"exclude "GLOB" "GLOB" optional="WHY" mode="…" on="…""#,
        example = r#"exclude "**/cmake/**""#
    )]
    pub excludes: Rules<PathRule>,
    /// Paths that it must not take.
    #[child(kinds(Runtime, Devel))]
    pub forbids: Rules<ForbidRule>,
    /// Directories in which ELF files find libraries.
    #[child(kinds(Runtime))]
    pub rpaths: Vec<RpathRule>,
    /// Files that need no executable stack.
    #[child(kinds(Runtime, Devel))]
    pub execstacks: Rules<ExecstackRule>,
    /// Library names without a version.
    #[child(kinds(Runtime))]
    pub aliases: Vec<AliasRule>,
    /// Libraries with short names.
    #[child(kinds(Runtime))]
    pub libraries: Vec<Library>,
    /// Console scripts.
    #[child(kinds(Selector, Runtime, Devel), of = script::ScriptLine)]
    pub scripts: Vec<Script>,
    /// Search paths of console scripts.
    #[child(kinds(Runtime))]
    pub environment: Vec<Environment>,
    /// Puts directories of a runtime package on `sys.path`, by a `.pth` file beside the package, so
    /// that their modules can be imported. Directories without files are left out.
    #[child(
        kinds(Runtime),
        name = "python-path",
        usage = r#"python-path "PACKAGE" "DIRECTORY" "DIRECTORY" optional="WHY" mode="…" on="…""#,
        example = r#"python-path "core" "share/bindings""#
    )]
    pub python_path: Vec<RpathRule>,
    /// Chooses the form of files in a devel wheel.
    #[leaf(
        "archive|files",
        "a layout",
        "archive (the default): all files in one archive, which is expanded on the user's machine. files: members of the \
         wheel, on the disk once and importable at once; only links are made later.",
        kinds(Devel),
        example = r#"layout "files""#
    )]
    pub layout: Option<Spanned<DevelLayout>>,
    /// Paths that stay links when the archive is expanded.
    #[child(kinds(Devel))]
    pub keep_links: Vec<KeepLinkRule>,
}

/// An incomplete package makes the manifest an error.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    /// All are reported together.
    pub missing: Vec<&'static str>,
    distributions: usize,
    artifacts: usize,
}

/// All missing ones are reported together.
const NEEDED: [&str; 3] = ["distribution", "summary", "license"];

fn draft(node: &mut Node<'_>, _: &Scope<'_, '_>) -> Draft {
    let lines = node.block();
    let kind = lacks_kind(node).then_some("kind");
    let missing_lines = NEEDED.into_iter().filter(|word| !lines.has_or_resembles(word));
    Draft {
        missing: kind.into_iter().chain(missing_lines).collect(),
        distributions: lines.count("distribution"),
        artifacts: lines.count("artifact"),
    }
}

/// Returns whether the kind is missing; an unknown property can be a misspelt one.
fn lacks_kind(node: &Node<'_>) -> bool {
    node.first_text().is_some() && !node.has_property("kind") && node.unknown_properties() == 0
}

/// Reads the kind; a missing one is likely the kind of the lines.
fn kind(node: &mut Node<'_>, _: &Scope<'_, '_>) -> Option<Spanned<PackageKind>> {
    let spanned = |kind, node: &Node<'_>| Some(Spanned::new(kind, node.place()));
    if lacks_kind(node) {
        node.property::<PackageKind>("kind");
        let kind = likely(&node.block());
        return spanned(kind, node);
    }
    let likely_kind = node.meant_kind();
    let Some(kind) = node.required::<PackageKind>("kind") else {
        return spanned(PackageKind::Runtime, node);
    };
    if let Some(likely_kind) = likely_kind {
        let message = format!(
            "`{}` is a {} package, but its lines are of a {} package",
            node.title(),
            kind.value.as_str(),
            likely_kind.as_str()
        );
        let problem = Problem::error(Code::WrongKind, message);
        node.report(
            problem.label(&kind.place, format!("did you mean `{}`?", likely_kind.as_str())),
        );
        return spanned(likely_kind, node);
    }
    Some(kind)
}

fn likely(lines: &Block<'_>) -> PackageKind {
    let is_written = |word| lines.count(word) > 0;
    match (is_written("extra"), is_written("artifacts-of") || is_written("keep-link")) {
        (true, _) => PackageKind::Selector,
        (false, true) => PackageKind::Devel,
        (false, false) => PackageKind::Runtime,
    }
}

fn scope_of<'c, 'a>(node: &mut Node<'a>, outer: &Scope<'c, 'a>) -> Scope<'c, 'a> {
    let declared = node.peek("kind").and_then(|kind| kind.parse().ok());
    let declared = node.meant_kind().or(declared);
    let kind = declared.or_else(|| lacks_kind(node).then(|| likely(&node.block())));
    Scope::new(outer.context, kind)
}

fn open<'c, 'a>(node: &mut Node<'a>, outer: &Scope<'c, 'a>) -> (Scope<'c, 'a>, Block<'a>) {
    let scope = scope_of(node, outer);
    let mut lines = node.block();
    refuse_lines_of_other_kinds(node, &mut lines);
    (scope, lines)
}

/// Excuses lines that `decode::check` reports, and refuses lines that other kinds have.
fn refuse_lines_of_other_kinds(node: &Node<'_>, lines: &mut Block<'_>) {
    if node.first_text().is_some() {
        lines.excuse(&["distribution", "summary"]);
    }
    let Some(kind) = node.peek("kind").and_then(|kind| kind.parse::<PackageKind>().ok()) else {
        return;
    };
    if node.meant_kind().is_some() {
        return;
    }
    for word in <Package as crate::line::Line>::SPEC.nodes {
        if !word.kinds.contains(&kind) {
            let homes = either(word.kinds.iter().map(|k| k.as_str()));
            let message = format!("is not allowed in a {} package", kind.as_str());
            let help = format!("move `{}` to a package of kind {homes}", word.name);
            let help = help + alternative(word.name, kind).unwrap_or_default();
            lines.refuse(word.name, &message, &help);
        }
    }
}

fn alternative(name: &str, kind: PackageKind) -> Option<&'static str> {
    (name == "exclude" && kind == PackageKind::Devel).then_some(
        "; to leave files out of every package, write `drop \"GLOB\" everywhere=#true \
         reason=\"WHY\"` at the top of the file",
    )
}

/// Keeps a package with a mistake in its head: checks of others need its lines.
fn keep(node: &Node<'_>, _: &Scope<'_, '_>, _: Option<&Spanned<PackageName>>) {
    node.forgive();
}

/// Removes the distributions of a package that is not built, and lines about ELF files on Windows.
fn reduce(package: &mut Package, target: Target) {
    if !package.when.holds(target) {
        package.distributions.clear();
    }
    if target.system == System::Windows {
        package.rpaths.clear();
        package.execstacks = Rules::default();
    }
    package.scripts.retain(|script| script.when.holds(target));
}

impl Package {
    /// Returns the distribution of a manifest for one target ([`crate::Manifest::for_target`]), if
    /// built.
    pub fn distribution(&self) -> Option<&Distribution> {
        self.distributions.first()
    }

    /// Returns whether files of a devel package are members of its wheel.
    pub fn ships_files(&self) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.value == DevelLayout::Files)
    }

    /// Returns the distribution for `target`, of a manifest for all.
    pub fn distribution_for(&self, target: Target) -> Option<&Distribution> {
        let counts = |line: &&Distribution| self.when.holds(target) && line.when.holds(target);
        self.distributions.iter().find(counts)
    }

    /// Returns the directory of `runtime/` with the Python sources.
    pub fn template(&self) -> &str {
        match (&self.template, self.kind) {
            (Some(directory), _) => directory,
            (None, PackageKind::Selector) => "meta",
            (None, PackageKind::Choice) => "choice",
            (None, PackageKind::Runtime | PackageKind::Devel) => "runtime",
        }
    }

    /// Returns the number of lines for content and requirements.
    pub fn rule_count(&self) -> usize {
        let names = self.requires.len()
            + self.artifacts_of.len()
            + self.every_target_of.len()
            + self.without_artifacts.len()
            + self.keep_links.len();
        let paths = self.includes.len()
            + self.excludes.len()
            + self.forbids.len()
            + self.rpaths.len()
            + self.execstacks.len()
            + self.aliases.len();
        let offers =
            self.extras.len() + self.libraries.len() + self.scripts.len() + self.environment.len();
        let offers = offers + self.python_path.len();
        let indexes = self.indexes.len();
        self.artifacts.len() + self.without_components.len() + names + paths + offers + indexes
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.draft.distributions > 0 && self.draft.distributions == self.distributions.len()
    }

    pub(crate) fn has_all_artifacts(&self) -> bool {
        self.draft.artifacts == self.artifacts.len()
    }

    pub(crate) fn required(&self) -> impl Iterator<Item = &Spanned<PackageName>> {
        let of_indexes = self.indexes.iter().flat_map(|index| &index.requires);
        self.requires.iter().chain(of_indexes).map(|rule| &rule.package)
    }

    pub(crate) fn searched(&self) -> impl Iterator<Item = &Spanned<PackageName>> {
        let directories = self.environment.iter().flat_map(|line| &line.directories);
        let rules = self.rpaths.iter().chain(&self.python_path).chain(directories);
        rules.map(|rule| &rule.package)
    }
}
