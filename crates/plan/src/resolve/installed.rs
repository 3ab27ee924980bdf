//! Projects alone, against a tree that is installed already.

use super::source_build::{self, Resolved, Tree};
use super::{platform, targets};
use crate::{FORMAT, Note, OnlyName, Plan, Request};
use base::names::PackageName;
use base::source::{Code, Problem, Problems, nearest};
use manifest::Manifest;

/// Plans projects and finished wheels without artifacts, for an installed `{devel}` tree and the
/// requested `{isas}`.
///
/// # Errors
///
/// If nothing can be built, or a project needs more than the tree.
pub fn plan_installed(manifest: &Manifest, request: &Request) -> Result<Plan, Problems> {
    planned(manifest, request, Tree::Installed)
}

/// Plans projects alone that need no ROCm.
///
/// # Errors
///
/// As [`plan_installed`], and for each project that uses `{devel}`.
pub fn plan_alone(manifest: &Manifest, request: &Request) -> Result<Plan, Problems> {
    planned(manifest, request, Tree::None)
}

fn planned(manifest: &Manifest, request: &Request, tree: Tree) -> Result<Plan, Problems> {
    let (targets, mut problems) = targets::without_artifacts(manifest, request);
    let manifest = &manifest.for_target(targets.target());
    problems.extend(only_projects(manifest, request));
    let python = source_build::resolve(manifest, request, tree, &targets);
    let Resolved { projects, wheels, prefetched, notes, problems: more, .. } = python;
    problems.extend(more);
    if problems.is_empty() && projects.is_empty() && wheels.is_empty() {
        problems.push(no_project(&notes));
    }
    if request.platform_tag.is_none() && problems.is_empty() {
        problems.push(platform::unknown());
    }
    let Some(tag) = request.platform_tag.as_ref().filter(|_| problems.is_empty()) else {
        return Err(problems.sorted());
    };
    Ok(Plan {
        format: FORMAT,
        mode: None,
        version: targets.version,
        platform_tag: tag.as_str().to_owned(),
        distributions: Vec::new(),
        texts: Vec::new(),
        earlier: Vec::new(),
        projects,
        wheels,
        prefetched,
        devel: None,
        dropped: Vec::new(),
        unowned: Vec::new(),
        notes: notes.into_iter().map(Note::from).collect(),
        warnings: Vec::new(),
        whole: None,
    })
}

fn no_project(notes: &[String]) -> Problem {
    let problem = Problem::usage(
        Code::MissingSource,
        "no project of packages.kdl has a checkout below --sources",
    );
    let clone = "clone them with `rockpack project clone`";
    if notes.is_empty() {
        problem.help(clone)
    } else {
        problem.help(format!("{}; {clone}", notes.join("; ")))
    }
}

fn only_projects(manifest: &Manifest, request: &Request) -> Problems {
    let names: Vec<&str> = source_build::names(manifest).map(PackageName::as_str).collect();
    let unknown = |only: &&OnlyName| !names.iter().any(|name| only.matches(name));
    let mut problems = Problems::new();
    for only in request.only.iter().filter(unknown) {
        let text = format!("--only: `{only}` is not a project, and there are no artifacts");
        let near = nearest(only.as_str(), names.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let help = format!("{near}the projects are {}", names.join(", "));
        problems.push(Problem::usage(Code::UnknownPackage, text).help(help));
    }
    problems
}
