//! Resolver: makes the plan from the manifest, the catalog and the request.

use std::collections::HashMap;

use super::emptied::Emptied;
use super::entries::EntrySet;
use super::install_tree::Layer;
use super::licenses::LicenseTexts;
use super::links::{Filled, Owners, by_package};
use super::resolved_dist::{Dists, ResolvedDist, resolved_dists, without_families};
use super::select::Selection;
use super::targets::{self, Targets};
use super::{licenses, notes, only, post_release, readme, runtime_data};
use crate::{Distribution, Note, Plan, Request, Templates};
use base::names::{ArtifactName, NameError, PackageName, System};
use base::source::{Code, Problem, Problems};
use base::target::Target;
use binary::elf::stub::StubMachine;
use binary::elf::{ElfKind, Machine};
use catalog::{Artifact, Catalog, CatalogEntry};
use manifest::{LicenseExpression, Manifest, PackageKind};
use rayon::prelude::*;

mod conclude;
mod distributions;
mod fill;
mod former;

pub(super) fn plan(
    manifest: &Manifest,
    catalog: &Catalog,
    templates: &Templates,
    request: &Request,
) -> Result<(Plan, Problems), Problems> {
    let (plan, problems) = plan_despite_errors(manifest, catalog, templates, request)?;
    if problems.has_errors() { Err(problems) } else { Ok((plan, problems)) }
}

/// Returns a plan even if the problems have errors. Such a plan must not be executed.
pub(super) fn plan_despite_errors(
    whole_manifest: &Manifest,
    catalog: &Catalog,
    templates: &Templates,
    request: &Request,
) -> Result<(Plan, Problems), Problems> {
    let catalog = &*catalog.sorted();
    let (mut targets, mut problems) = targets::resolve(whole_manifest, catalog, request);
    let unoffered = whole_manifest.unoffered();
    problems.extend(whole_manifest.misspellings());
    let other_system = targets.other_system().map(|system| {
        let target = Target { mode: targets.mode, system };
        (system, whole_manifest.for_target(target))
    });
    let other_system = other_system.as_ref().map(|(system, manifest)| (*system, manifest));
    let manifest = &whole_manifest.for_target(targets.target());
    if !problems.has_errors() {
        problems.extend(without_families(manifest, &targets));
    }
    let dists_of = |manifest| resolved_dists(manifest, &targets, targets::suffix(request));
    let (dists, dists_of_other_system) =
        match (dists_of(manifest), other_system.map_or(Ok(Vec::new()), |(_, m)| dists_of(m))) {
            (Ok(dists), Ok(of_other_system)) => (dists, of_other_system),
            // One manifest makes both, so the other system mostly repeats these errors.
            (Err(more), _) | (_, Err(more)) => {
                problems.extend(more);
                return Err(problems);
            }
        };
    problems.extend(only::check(manifest, targets.mode, &dists, request));
    let all_dists = dists.iter().chain(&dists_of_other_system);
    post_release::refer_to_release(&mut targets, &all_dists, request);
    let (generic, device): (Vec<&Artifact>, Vec<_>) =
        catalog.artifacts.iter().partition(|artifact| artifact.id.family.is_generic());
    let machine = machine(catalog);
    let license_texts = licenses::texts(manifest, catalog);
    let licenses = licenses::by_artifact(manifest);
    Resolver {
        manifest,
        whole_manifest,
        other_system,
        catalog,
        templates,
        request,
        targets: &targets,
        dists: &Dists::new(&dists),
        dists_of_other_system: &dists_of_other_system,
        generic: Layer::new(generic.into_iter()),
        device,
        license_texts,
        licenses,
        machine,
    }
    .run(problems, &unoffered)
}

/// Returns the machine of most libraries and programs, for the stubs and libraries that the plan
/// generates; x86-64 for equal numbers.
fn machine(catalog: &Catalog) -> StubMachine {
    let files = catalog.artifacts.iter().flat_map(|a| &a.entries).filter_map(CatalogEntry::elf);
    let hosts = files.filter(|f| matches!(f.kind, ElfKind::SharedLibrary | ElfKind::Executable));
    let (mut x86_64, mut aarch64) = (0_usize, 0_usize);
    for facts in hosts {
        x86_64 += usize::from(facts.machine == Machine::X86_64);
        aarch64 += usize::from(facts.machine == Machine::Aarch64);
    }
    if aarch64 > x86_64 { StubMachine::Aarch64 } else { StubMachine::X86_64 }
}

struct Resolver<'a> {
    manifest: &'a Manifest,
    whole_manifest: &'a Manifest,
    other_system: Option<(System, &'a Manifest)>,
    catalog: &'a Catalog,
    templates: &'a Templates,
    request: &'a Request,
    targets: &'a Targets,
    dists: &'a Dists<'a>,
    dists_of_other_system: &'a [ResolvedDist<'a>],
    generic: Layer<'a>,
    device: Vec<&'a Artifact>,
    license_texts: LicenseTexts<'a>,
    licenses: HashMap<&'a ArtifactName, &'a LicenseExpression>,
    machine: StubMachine,
}

impl<'a> Resolver<'a> {
    /// Continues after errors in `problems`, so that all errors are reported together.
    fn run(&self, problems: Problems, unoffered: &Problems) -> Result<(Plan, Problems), Problems> {
        let mut findings = Findings { problems, ..Findings::new(self.catalog) };
        let notes = notes::catalog(self.manifest, self.catalog, self.targets);
        findings.notes.extend(notes.into_iter().map(Note::from));
        findings.notes.extend(notes::without_isas(self.manifest, self.targets).map(Note::from));
        findings.notes.extend(unoffered.iter().map(|problem| Note::from(problem.to_string())));
        let filled = self.fill_runtime(&mut findings);
        let shipped = Owners::new(&filled);
        let filled_packages = by_package(&filled);
        let set = runtime_data::Set::new(self.manifest, self.targets, self.dists);
        let offers = readme::offers(self.manifest, self.targets, self.dists);
        let known =
            Known { shipped: &shipped, packages: &filled_packages, set: &set, offers: &offers };
        let dists: Vec<&ResolvedDist<'a>> = self.dists.iter().collect();
        let results: Vec<_> = dists.par_iter().map(|dist| self.make(dist, &known)).collect();
        let mut planned_dists = Vec::with_capacity(results.len());
        for (dist, (distribution, own)) in dists.into_iter().zip(results) {
            findings.merge(own);
            match distribution {
                Ok(distribution) => planned_dists.push((dist.clone(), distribution)),
                Err(e) => findings.problems.push(
                    Problem::error(Code::ImpossibleName, e.to_string())
                        .label(&dist.declared.name.place, "of this distribution"),
                ),
            }
        }
        self.check(planned_dists, &filled, findings)
    }

    /// Makes a distribution, without a look at what others find.
    fn make<'s>(
        &'s self,
        dist: &ResolvedDist<'a>,
        known: &Known<'_, 's, 'a>,
    ) -> (Result<Distribution, NameError>, Findings<'a>) {
        let mut findings = Findings::new(self.catalog);
        let distribution = match dist.package.kind {
            PackageKind::Selector => self.selector(dist, &mut findings),
            PackageKind::Runtime => {
                self.runtime(dist, (known.shipped, known.packages), known.set, &mut findings)
            }
            PackageKind::Devel => self.devel(dist, known.shipped, known.set, &mut findings),
            PackageKind::Choice => self.choice(dist, known.set, &mut findings),
        };
        let with_texts = distribution.map(|mut distribution| {
            self.license(dist, &mut distribution, &mut findings.problems);
            let page = readme::Page {
                manifest: self.manifest,
                other: self.other_system,
                targets: self.targets,
                offers: known.offers,
                dist,
                distribution: &distribution,
            };
            distribution.metadata.description = Some(page.description());
            distribution
        });
        (with_texts, findings)
    }
}

/// Facts about all distributions, for each of them.
struct Known<'k, 'f, 'a> {
    shipped: &'k Owners<'f, 'a>,
    packages: &'k HashMap<&'f PackageName, Vec<&'f Filled<'a>>>,
    set: &'k runtime_data::Set<'f>,
    offers: &'k [readme::Offers<'f, 'f>],
}

struct Findings<'a> {
    problems: Problems,
    notes: Vec<Note>,
    /// Entries that packages take.
    selected: EntrySet<'a>,
    /// Entries that runtime packages take.
    selected_by_runtime: EntrySet<'a>,
    emptied: Vec<Emptied<'a>>,
}

impl<'a> Findings<'a> {
    fn new(catalog: &'a Catalog) -> Self {
        Self {
            problems: Problems::new(),
            notes: Vec::new(),
            selected: EntrySet::new(catalog),
            selected_by_runtime: EntrySet::new(catalog),
            emptied: Vec::new(),
        }
    }

    fn merge(&mut self, other: Self) {
        self.problems.extend(other.problems);
        self.notes.extend(other.notes);
        self.selected.merge(&other.selected);
        self.selected_by_runtime.merge(&other.selected_by_runtime);
        self.emptied.extend(other.emptied);
    }

    fn record_selection(&mut self, dist: &ResolvedDist<'_>, selection: &Selection<'_>) {
        self.selected.extend(&selection.owned);
        if dist.package.kind == PackageKind::Runtime {
            self.selected_by_runtime.extend(&selection.owned);
        }
        self.notes.extend(notes::shared(dist, selection).map(Note::from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::catalog;

    #[test]
    fn the_machine_is_that_of_most_libraries_and_programs() {
        let (x, a) = ("a_lib_generic x so -\n", "a_lib_generic a so - machine=aarch64\n");
        let p = "a_lib_generic p exe machine=aarch64\n";
        let objects =
            "a_lib_generic o object machine=aarch64\na_lib_generic o2 object machine=aarch64\n";
        let cases = [
            (vec![], StubMachine::X86_64),
            (vec![x], StubMachine::X86_64),
            (vec![a], StubMachine::Aarch64),
            (vec![x, a], StubMachine::X86_64),
            (vec![x, a, p], StubMachine::Aarch64),
            (vec![x, objects], StubMachine::X86_64),
        ];
        for (entries, expected) in cases {
            assert_eq!(machine(&catalog(&entries.concat())), expected, "{entries:?}");
        }
    }
}
