//! Planning from a manifest and a catalog: each rule of the specification, each fault that planning
//! must prevent, and scanning of the catalog.
//!
//! Manifests are inline, catalogs have one line an entry (`support::catalog`); results are compared
//! as text: one line a file, one paragraph a problem.

#[path = "planning/aliases.rs"]
mod aliases;
#[path = "planning/archives.rs"]
mod archives;
#[path = "planning/choices.rs"]
mod choices;
#[path = "planning/closure.rs"]
mod closure;
#[path = "planning/devel.rs"]
mod devel;
#[path = "planning/explain.rs"]
mod explain;
#[path = "planning/golden.rs"]
mod golden;
#[path = "planning/html.rs"]
mod html;
#[path = "planning/indexes.rs"]
mod indexes;
#[path = "planning/judged.rs"]
mod judged;
#[path = "planning/kinds.rs"]
mod kinds;
#[path = "planning/links.rs"]
mod links;
#[path = "planning/loader.rs"]
mod loader;
#[path = "planning/many.rs"]
mod many;
#[path = "planning/markdown.rs"]
mod markdown;
#[path = "planning/metadata.rs"]
mod metadata;
#[path = "planning/misplaced.rs"]
mod misplaced;
#[path = "planning/new_package.rs"]
mod new_package;
#[path = "planning/ownership.rs"]
mod ownership;
#[path = "planning/projects.rs"]
mod projects;
#[path = "planning/purity.rs"]
mod purity;
#[path = "planning/reports.rs"]
mod reports;
#[path = "planning/rpaths.rs"]
mod rpaths;
#[path = "planning/sbom.rs"]
mod sbom;
#[path = "planning/scan.rs"]
mod scan;
#[path = "planning/selection.rs"]
mod selection;
#[path = "planning/shares.rs"]
mod shares;
#[path = "planning/splits.rs"]
mod splits;
#[path = "planning/support.rs"]
pub(crate) mod support;
#[path = "planning/targets.rs"]
mod targets;
#[path = "planning/tree.rs"]
pub(crate) mod tree;
#[path = "planning/wheels.rs"]
mod wheels;
#[path = "planning/windows.rs"]
mod windows;
