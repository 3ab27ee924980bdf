use std::collections::BTreeMap;

use super::install_tree::{Layer, View};
use super::links::Filled;
use super::resolved_dist::{ResolvedDist, resolved_dists};
use super::select::{self, Matched, Selection};
use super::targets::{self, Targets};
use super::{aliases, place};
use crate::{Archive, Distribution, Form, Limits, Member, Metadata, Rendered, Step};
use base::names::Compression;
use base::source::{Place, Problems};
use binary::elf::stub::StubMachine;
use catalog::{BuildFacts, Catalog};
use manifest::{Manifest, PackageKind};

#[expect(dead_code, reason = "the rest is for tests of whole plans")]
#[path = "../../../../tests/planning/support.rs"]
mod support;
#[path = "../../../../tests/planning/tree.rs"]
mod tree;

pub(super) use support::{Case, devel, device, package, runtime};

pub(super) fn catalog(lines: &str) -> Catalog {
    tree::catalog(lines, BuildFacts::default())
}

pub(super) struct Fixture {
    pub manifest: Manifest,
    pub catalog: Catalog,
    pub targets: Targets,
}

impl Fixture {
    pub fn new(packages: &[String], entries: &str) -> Self {
        Self::of(&Case::new(packages, entries))
    }

    pub fn of(case: &Case) -> Self {
        let all = case.manifest();
        let (targets, _) = targets::resolve(&all, &case.catalog, &case.request);
        let manifest = all.for_target(targets.target());
        Self { manifest, catalog: case.catalog.clone(), targets }
    }

    pub(crate) fn dists(&self) -> Vec<ResolvedDist<'_>> {
        resolved_dists(&self.manifest, &self.targets, "").unwrap()
    }

    pub fn selection<'a>(
        &'a self,
        dist: &ResolvedDist<'a>,
        problems: &mut Problems,
    ) -> Selection<'a> {
        select::selection(&self.manifest, &self.catalog, dist, &mut Matched::default(), problems)
    }

    pub fn generic(&self) -> Layer<'_> {
        Layer::new(self.catalog.artifacts.iter().filter(|a| a.id.family.is_generic()))
    }

    pub fn filled(&self, problems: &mut Problems) -> Vec<Filled<'_>> {
        let (generic, mut filled) = (self.generic(), Vec::new());
        for dist in self.dists().into_iter().filter(|d| d.package.kind == PackageKind::Runtime) {
            let own = self.catalog.artifacts.iter();
            let own = own.filter(|a| !a.id.family.is_generic() && dist.fits(&a.id));
            let view = View::new(&generic, Layer::new(own));
            let selection = self.selection(&dist, problems);
            let mut runtime = place::runtime(&selection, &view, StubMachine::X86_64, problems);
            aliases::apply(&self.manifest, &dist, &mut runtime, &view, &[].into(), problems);
            filled.push(Filled { dist, runtime });
        }
        filled
    }
}

pub(super) fn line(place: &Place) -> &str {
    place.source().text().lines().nth(place.line() - 1).unwrap().trim()
}

pub(super) fn messages(problems: &Problems) -> impl Iterator<Item = String> {
    problems.iter().map(|problem| format!("! {}", problem.message()))
}

/// Makes a wheel: `PATH` is a file, `PATH/` a directory, `>PATH` in the archive.
pub(super) fn wheel(dist: &ResolvedDist<'_>, paths: &str) -> Distribution {
    let member = |path: &str| {
        let step = match path.strip_suffix('/') {
            Some(_) => Step::Directory,
            None => Step::Render { text: Rendered::default() },
        };
        let path = path.trim_end_matches('/').parse().unwrap();
        Member { path, step, executable: false, size: 0, rule: "rule".into() }
    };
    let (archived, members): (Vec<&str>, Vec<&str>) =
        paths.split_whitespace().partition(|path| path.starts_with('>'));
    let archived = archived.iter().map(|path| member(&path[1..])).collect();
    Distribution {
        package: dist.package.name.value.clone(),
        variant: dist.variant.as_str().map(str::to_owned),
        name: dist.name.clone(),
        wheel_variant: None,
        index: None,
        variants: None,
        form: Form::Wheel,
        directory: dist.directory.clone(),
        module: dist.module.clone(),
        platform_dir: Some(dist.platform_dir.clone()),
        platform_tag: None,
        compression: Compression::default(),
        compressed_otherwise: BTreeMap::new(),
        metadata: Metadata::default(),
        entry_points: BTreeMap::new(),
        members: members.into_iter().map(member).collect(),
        licenses: Vec::new(),
        archive: Some(Archive { path: "archive".parse().unwrap(), xz: None, members: archived }),
        absent: Vec::new(),
        limits: Limits::default(),
        estimate: None,
        content: None,
        new: None,
    }
}
