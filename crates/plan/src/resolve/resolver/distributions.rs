use std::collections::{BTreeMap, HashMap};

use super::{Findings, Resolver};
use crate::resolve::links::{Filled, Owners, below, is_shipped, members, started_scripts};
use crate::resolve::marker::{overlay_marker, platform_marker};
use crate::resolve::resolved_dist::ResolvedDist;
use crate::resolve::select::{self, Matched};
use crate::resolve::{
    describe, devel, empty, forbidden, licenses, limits, notes, place, python_path, requires,
    rpath, runtime_data, shared, shared_module, unused_rules, wheel_variant,
};
use crate::{Archive, Distribution, Form, Member, Note, Step};
use base::names::{NameError, PackageName, RelPath};
use base::source::Problems;
use base::target::Per;
use manifest::Package;

impl<'a> Resolver<'a> {
    pub(super) fn runtime(
        &self,
        dist: &ResolvedDist<'a>,
        (shipped, packages): (&Owners<'_, 'a>, &HashMap<&PackageName, Vec<&Filled<'a>>>),
        set: &runtime_data::Set<'_>,
        findings: &mut Findings<'a>,
    ) -> Result<Distribution, NameError> {
        let mut distribution = self.distribution(dist, Form::Wheel)?;
        let Some(filled) = shipped.filled(dist) else { return Ok(distribution) };
        let directories = rpath::directories(dist, self.dists);
        let (mut placed, mut absent) =
            members(filled, shipped, &directories, &mut findings.problems);
        absent.extend(filled.runtime.absent.iter().cloned());
        absent.extend(describe::missing(
            dist.package,
            self.targets.system,
            &filled.runtime.placed,
            |p| is_shipped(filled, shipped, p),
        ));
        absent.sort_by(|a, b| a.path.cmp(&b.path));
        if dist.is_overlay() {
            placed.extend(overlay_marker(dist));
            placed.extend(self.device_links(filled, set, &placed));
        } else {
            placed.extend(platform_marker(dist));
        }
        placed.extend(python_path::member(dist, self.dists, packages));
        placed.extend(shared_module::member(dist));
        let scripts = describe::scripts(dist.package, self.targets.system, |p| {
            is_shipped(filled, shipped, p)
        });
        let aliases: Vec<&RelPath> = forwards(filled).collect();
        let libraries = shared::by_short_name(self.targets.system, filled);
        let parts = runtime_data::Own {
            scripts: &scripts,
            started: started_scripts(filled, shipped),
            aliases: &aliases,
            libraries,
            archive: None,
        };
        let facts = set.wheel(dist, &parts);
        placed.extend(describe::import_package(
            dist,
            self.templates,
            &facts,
            &scripts,
            &mut findings.problems,
        ));
        distribution.entry_points = describe::entry_points(dist, &scripts);
        distribution.members = sorted(placed);
        distribution.absent = absent;
        Ok(distribution)
    }

    fn device_links(
        &self,
        filled: &Filled<'_>,
        set: &runtime_data::Set<'_>,
        placed: &[Member],
    ) -> Option<Member> {
        let dist = &filled.dist;
        let devel = *set.devel_packages.first()?;
        let root = RelPath::from(&dist.platform_dir);
        let links = placed.iter().filter_map(|member| {
            let path = member.path.below(&root)?;
            let target = below(&devel.platform_dir, &path).relative_to_sibling(&member.path);
            Some((path, target))
        });
        let text = runtime_data::device_links(self.targets, dist, links);
        let isa = dist.variant.as_str()?;
        let name = if self.is_first_overlay(dist.package) {
            isa.to_owned()
        } else {
            format!("{isa}-{}", *dist.package.name)
        };
        let path = format!(".devel_links/{name}.json").parse().ok()?;
        Some(describe::render(root.join(&path), text + "\n"))
    }

    fn is_first_overlay(&self, package: &Package) -> bool {
        let per_isa = |one: &&Package| one.distribution().is_some_and(|d| d.per == Per::Isa);
        let mut overlays = self.manifest.packages.values().filter(|one| one.overlay.is_some());
        overlays.find(per_isa).is_none_or(|first| *first.name == *package.name)
    }

    pub(super) fn devel(
        &self,
        dist: &ResolvedDist<'a>,
        shipped: &Owners<'_, 'a>,
        set: &runtime_data::Set<'_>,
        findings: &mut Findings<'a>,
    ) -> Result<Distribution, NameError> {
        let mut distribution = self.distribution(dist, Form::Wheel)?;
        let mut used = Matched::default();
        let selection =
            select::selection(self.manifest, self.catalog, dist, &mut used, &mut findings.problems);
        findings.problems.extend(forbidden::check(dist, &selection));
        findings.record_selection(dist, &selection);
        findings.problems.extend(unused_rules::rules(self.catalog, dist.package, &used));
        findings.emptied.extend(self.emptied(dist.package, &used));
        let is_incomplete = unused_rules::lacks_artifact(dist.package, &used)
            || unused_rules::inherits_missing(self.manifest, self.catalog, dist.package);
        if selection.files.is_empty() && !is_incomplete {
            findings.problems.push(empty::problem(self.catalog, dist, &selection, None));
        }
        let devel =
            devel::archive(dist, &selection, &self.view(dist), shipped, &mut findings.problems);
        findings.notes.extend(notes::keep_links(dist, &devel.members).map(Note::from));
        let xz = self.request.xz_preset;
        let name = if xz.is_some() { "_devel.tar.xz" } else { "_devel.tar" };
        let parts = runtime_data::Own { archive: Some(name), ..runtime_data::Own::default() };
        let facts = set.wheel(dist, &parts);
        let import =
            describe::import_package(dist, self.templates, &facts, &[], &mut findings.problems);
        let tree = devel.members.into_iter().chain(platform_marker(dist));
        let (archived, mut members): (Vec<_>, Vec<_>) = tree.partition(|member| {
            !dist.package.ships_files()
                || matches!(member.step, Step::Link { .. } | Step::Directory)
        });
        members.extend(import);
        distribution.members = sorted(members);
        let path = name.parse().map(|name| below(&dist.module, &name));
        distribution.archive = path.ok().map(|path| Archive { path, xz, members: archived });
        distribution.absent = devel.absent;
        Ok(distribution)
    }

    pub(super) fn choice(
        &self,
        dist: &ResolvedDist<'a>,
        set: &runtime_data::Set<'_>,
        findings: &mut Findings<'a>,
    ) -> Result<Distribution, NameError> {
        let mut distribution = self.distribution(dist, Form::Wheel)?;
        distribution.platform_dir = None;
        distribution.wheel_variant = wheel_variant::labelled(dist);
        distribution.variants = wheel_variant::list(self.targets, dist)?;
        let facts = set.choice(dist);
        let members =
            describe::import_package(dist, self.templates, &facts, &[], &mut findings.problems);
        distribution.members = sorted(members);
        Ok(distribution)
    }

    pub(super) fn selector(
        &self,
        dist: &ResolvedDist<'a>,
        findings: &mut Findings<'a>,
    ) -> Result<Distribution, NameError> {
        let mut distribution = self.distribution(dist, Form::Sdist)?;
        let (requires, extras) =
            requires::selected(self.manifest, self.other_system, self.targets, dist)?;
        let dists: Vec<_> = self.dists.iter().chain(self.dists_of_other_system).collect();
        distribution.metadata.requires_dist = requires::lines(&requires, &extras);
        distribution.metadata.provides_extra = extras.by_name.keys().cloned().collect();
        let context = runtime_data::Known {
            manifest: self.manifest,
            other: self.other_system.map(|(_, manifest)| manifest),
            targets: self.targets,
            all: &dists,
            requires: &requires,
            extras: &extras,
        };
        let facts = runtime_data::selector(dist, &context).into();
        distribution.members =
            sorted(describe::sdist(dist, self.templates, &facts, &mut findings.problems));
        let scripts = describe::scripts(dist.package, self.targets.system, |_| false);
        distribution.entry_points = describe::entry_points(dist, &scripts);
        Ok(distribution)
    }

    pub(super) fn distribution(
        &self,
        dist: &ResolvedDist<'_>,
        form: Form,
    ) -> Result<Distribution, NameError> {
        let requires = requires::requires(self.manifest, self.targets, dist)?;
        Ok(Distribution {
            package: dist.package.name.value.clone(),
            variant: dist.variant.as_str().map(str::to_owned),
            name: dist.name.clone(),
            wheel_variant: None,
            variants: None,
            index: dist.index.cloned(),
            form,
            directory: dist.directory.clone(),
            module: dist.module.clone(),
            platform_dir: (form == Form::Wheel).then(|| dist.platform_dir.clone()),
            platform_tag: None,
            compression: self.request.compression.unwrap_or_default(),
            compressed_otherwise: BTreeMap::new(),
            metadata: describe::metadata(self.manifest, dist, requires),
            entry_points: BTreeMap::new(),
            members: Vec::new(),
            licenses: Vec::new(),
            archive: None,
            absent: Vec::new(),
            limits: limits::for_package(self.manifest, dist.package),
            estimate: None,
            content: None,
            new: None,
        })
    }

    pub(super) fn license(
        &self,
        dist: &ResolvedDist<'_>,
        distribution: &mut Distribution,
        problems: &mut Problems,
    ) {
        let shipped = licenses::shipped(distribution);
        let texts = licenses::files(&self.license_texts, self.templates, dist, &shipped);
        let license = licenses::expression(&self.licenses, dist.package, &shipped);
        distribution.licenses = texts;
        match license {
            Ok(license) => distribution.metadata.license = license,
            Err(problem) => problems.push(*problem),
        }
    }
}

fn sorted(mut members: Vec<Member>) -> Vec<Member> {
    members.sort_by(|a, b| a.path.cmp(&b.path));
    members
}

fn forwards<'f>(filled: &'f Filled<'_>) -> impl Iterator<Item = &'f RelPath> {
    filled.runtime.placed.iter().filter_map(|(path, (placed, _))| {
        matches!(placed, place::Placed::Forward(_)).then_some(path)
    })
}
