//! `wheel` and `prefetch`.

use crate::Glob;
use crate::line::{Scope, inner};
use crate::reader::Node;
use crate::requirement::{Pin, Requirement};
use crate::setting::Setting;
use crate::split::{SplitLines, SplitRule};
use base::names::{self, DistName, PackageName};
use base::source::{Code, Problem, Spanned};
use manifest_derive::Line;

/// A finished wheel.
#[derive(Debug, Clone)]
pub struct ReadyWheel {
    /// Distribution, as indexes compare it.
    pub name: Spanned<PackageName>,
    /// Place of its files.
    pub from: WheelSource,
    /// Reason why it can be absent.
    pub optional: Option<String>,
}

/// Place of a finished wheel's files.
#[derive(Debug, Clone)]
pub enum WheelSource {
    /// Files below the root of all sources.
    Files(Box<Spanned<Glob>>),
    /// Index of the installer: `NAME==VERSION`.
    Index(Spanned<Pin>),
}

pub(crate) enum Wheel {
    Ready(ReadyWheel),
    Split(SplitRule),
}

/// Takes a finished wheel, to be published with the others: from `--sources`, or from pip's index.
/// With `device-by` it says how `rockpack wheel split` splits one.
#[derive(Line)]
#[line(
    "wheel",
    within = inner,
    makes = Wheel,
    then = WheelLine::wheel,
    check(check_origin(split)),
    example = r#"wheel "example-tools" path="wheels/example_tools-*.whl""#
)]
pub(super) struct WheelLine {
    /// Its distribution, in an index's normal form (PEP 503).
    #[arg("NAME", "a name")]
    name: Spanned<PackageName>,
    /// Files, below the directory of `--sources`.
    #[prop("GLOB")]
    path: Option<Spanned<Glob>>,
    /// The version for pip to fetch, instead of `path`.
    #[prop("NAME==VERSION")]
    index: Option<Spanned<Pin>>,
    /// Reason why the line may match nothing; without it, an error.
    #[prop("WHY")]
    optional: Option<String>,
    #[flat]
    split: Option<SplitLines>,
}

fn check_origin(node: &Node<'_>, _: &Scope<'_, '_>, split: Option<&Option<SplitLines>>) {
    let (title, has_path, has_index) =
        (node.title(), node.has_property("path"), node.has_property("index"));
    if let Some(Some(split)) = split {
        split.check_runtimes(node);
    }
    if split.is_some() && (has_path || has_index) {
        let message = format!("`{title}` has both `device-by` and `path` or `index`");
        node.fault(
            message,
            "remove `path` and `index`: `rockpack wheel split` takes the wheel \
            from its command line",
        );
    } else if has_path && has_index {
        node.fault(format!("`{title}` has both `path` and `index`"), "keep one of them");
    } else if split.is_none() && !has_path && !has_index {
        node.fault(format!("`{title}` lacks `path` or `index`"), "give the source of the wheel");
    }
}

impl WheelLine {
    fn wheel(self, node: &Node<'_>, _: &Scope<'_, '_>) -> Option<Wheel> {
        let Self { name, path, index, optional, split } = self;
        if let Some(split) = split {
            return Some(Wheel::Split(split.rule(name)));
        }
        if let Some(index) = &index {
            check_pin(node, &name, index);
        }
        let files = path.map(|glob| WheelSource::Files(Box::new(glob)));
        let from = files.or(index.map(WheelSource::Index))?;
        Some(Wheel::Ready(ReadyWheel { name, from, optional }))
    }
}

fn check_pin(node: &Node<'_>, name: &Spanned<PackageName>, index: &Spanned<Pin>) {
    let pinned = index.name().parse::<DistName>().map(|name| name.normalized());
    if pinned.is_ok_and(|pinned| pinned != name.as_str()) {
        let message = format!(
            "wheel `{}` has a requirement for another distribution, `{}`",
            name.value,
            index.name()
        );
        refuse_name(node, message, index, name);
    }
}

fn refuse_name<T>(
    node: &Node<'_>,
    message: String,
    different: &Spanned<T>,
    name: &Spanned<PackageName>,
) {
    let problem = Problem::error(Code::InvalidText, message)
        .label(&different.place, "another name")
        .label(&name.place, "name of the wheel");
    node.report(problem.help("use the same name in both places"));
}

/// A wheel that others provide.
#[derive(Debug, Clone)]
pub struct Prefetch {
    /// Distribution, as indexes compare it.
    pub name: Spanned<PackageName>,
    /// Files below the root of all sources, preferred if they exist.
    pub path: Option<Spanned<Glob>>,
    /// Source for the installer, if no file exists.
    pub from: Option<PrefetchSource>,
}

/// Source from which the installer gets a wheel.
#[derive(Debug, Clone)]
pub enum PrefetchSource {
    /// From an index.
    Index {
        /// Suitable versions; otherwise the newest.
        requirement: Option<Spanned<Requirement>>,
        /// The index; otherwise the installer's own.
        address: Option<Spanned<Setting>>,
    },
    /// Built from a repository.
    Git {
        /// Address for git.
        address: Spanned<Setting>,
        /// Branch, tag or commit; otherwise the default branch.
        branch: Option<String>,
    },
}

impl Prefetch {
    /// Returns the address, which can have variables.
    pub fn settings(&self) -> Option<&Spanned<Setting>> {
        match self.from.as_ref()? {
            PrefetchSource::Index { address, .. } => address.as_ref(),
            PrefetchSource::Git { address, .. } => Some(address),
        }
    }
}

/// Brings a wheel of others into DEST/wheelhouse before anything is built, if a project that is
/// built names it in `after`. It is preferred to every index, and not published. All unavailable
/// wheels are reported together. An optional project of the same name replaces it if it is built.
#[derive(Line)]
#[line(
    "prefetch",
    makes = Prefetch,
    then = PrefetchLine::prefetch,
    check(check_prefetch(branch)),
    example = r#"prefetch "example-tools" path="wheels/example_tools-*.whl" requirement="example-tools>=2""#
)]
pub(super) struct PrefetchLine {
    /// Its distribution, in an index's normal form (PEP 503).
    #[arg("NAME", "a name")]
    name: Spanned<PackageName>,
    /// Files below the directory of `--sources`; if some match, nothing is fetched.
    #[prop("GLOB")]
    path: Option<Spanned<Glob>>,
    /// The only index that it is fetched from, with {NAME} for a `variable`. An empty address
    /// counts as absent; without one, pip's own indexes are used.
    #[prop("URL")]
    index: Option<Spanned<Setting>>,
    /// Suitable versions (PEP 508); without it, the newest.
    #[prop("REQUIREMENT")]
    requirement: Option<Spanned<Requirement>>,
    /// The repository that it is built from, instead of an index, with {NAME} for a `variable`.
    #[prop("URL")]
    git: Option<Spanned<Setting>>,
    /// Branch, tag or commit of the repository; without it, the default branch.
    #[prop("BRANCH")]
    branch: Option<Spanned<String>>,
}

fn check_prefetch(node: &Node<'_>, _: &Scope<'_, '_>, branch: Option<&Spanned<String>>) {
    let of_index = node.has_property("index") || node.has_property("requirement");
    let (of_git, title) = (node.has_property("git"), node.title());
    if !of_index && !of_git && !node.has_property("path") {
        let message = format!("`{title}` lacks `path`, `index`, `requirement` or `git`");
        node.fault(message, "give the source of the wheel");
    }
    if of_index && of_git {
        node.fault(format!("`{title}` has both `index` and `git`"), "keep one of them");
    }
    if let Some(branch) = branch.filter(|_| !of_git) {
        let problem = Problem::error(
            Code::MisplacedNode,
            format!(
                "`{title}` has `branch` \
            without `git`"
            ),
        );
        let problem = problem.label(&branch.place, "branch of no repository");
        node.report(problem.help("add git=\"URL\", or remove `branch`"));
    }
}

impl PrefetchLine {
    fn prefetch(self, node: &Node<'_>, _: &Scope<'_, '_>) -> Prefetch {
        let Self { name, path, index, requirement, git, branch } = self;
        let mismatch = requirement.as_ref().and_then(|requirement| {
            let required = requirement.as_str().parse::<names::Requirement>().ok()?.name;
            (required != name.as_str()).then_some((requirement, required))
        });
        if let Some((requirement, required)) = mismatch {
            let message = format!(
                "`{}` has a requirement for another distribution, `{required}`",
                name.value
            );
            refuse_name(node, message, requirement, &name);
        }
        let from = match git {
            Some(address) => {
                Some(PrefetchSource::Git { address, branch: branch.map(|branch| branch.value) })
            }
            None if node.has_property("index") || node.has_property("requirement") => {
                Some(PrefetchSource::Index { requirement, address: index })
            }
            None => None,
        };
        Prefetch { name, path, from }
    }
}
