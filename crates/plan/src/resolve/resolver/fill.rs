use std::collections::BTreeMap;

use super::{Findings, Resolver};
use crate::resolve::emptied::{self, Emptied};
use crate::resolve::install_tree::{Layer, View};
use crate::resolve::links::{Filled, Owners};
use crate::resolve::resolved_dist::ResolvedDist;
use crate::resolve::select::{self, Matched};
use crate::resolve::{aliases, empty, forbidden, place, programs, unused_rules};
use base::names::PackageName;
use manifest::{Package, PackageKind};

impl<'a> Resolver<'a> {
    pub(super) fn fill_runtime(&self, findings: &mut Findings<'a>) -> Vec<Filled<'a>> {
        let mut matched: BTreeMap<&PackageName, Matched<'a>> = BTreeMap::new();
        let (mut filled, mut empties) = (Vec::new(), Vec::new());
        for dist in self.dists.iter().filter(|i| i.package.kind == PackageKind::Runtime) {
            let used = matched.entry(&dist.package.name).or_default();
            let selection =
                select::selection(self.manifest, self.catalog, dist, used, &mut findings.problems);
            findings.problems.extend(forbidden::check(dist, &selection));
            findings.record_selection(dist, &selection);
            let view = self.view(dist);
            let problem_count = findings.problems.iter().count();
            let mut runtime =
                place::runtime(&selection, &view, self.machine, &mut findings.problems);
            if runtime.placed.is_empty() && findings.problems.iter().count() == problem_count {
                empties
                    .push((dist, empty::problem(self.catalog, dist, &selection, Some(&runtime))));
            }
            let proposed = unused_rules::proposed(self.catalog, dist.package);
            aliases::apply(
                self.manifest,
                dist,
                &mut runtime,
                &view,
                &proposed,
                &mut findings.problems,
            );
            filled.push(Filled { dist: dist.clone(), runtime });
        }
        for (name, used) in &matched {
            if let Some(package) = self.manifest.packages.get(*name) {
                findings.problems.extend(unused_rules::rules(self.catalog, package, used));
                findings.emptied.extend(self.emptied(package, used));
            }
        }
        // A reported missing artifact explains an empty package.
        let is_present = |i: &ResolvedDist<'_>| {
            matched
                .get(&i.package.name.value)
                .is_some_and(|m| unused_rules::lacks_artifact(i.package, m))
        };
        empties
            .into_iter()
            .filter(|(dist, _)| !is_present(dist))
            .for_each(|(_, problem)| findings.problems.push(problem));
        // It also explains missing programs.
        let shipped = Owners::new(&filled);
        for one in filled.iter().filter(|f| !is_present(&f.dist)) {
            let view = self.view(&one.dist);
            findings.problems.extend(programs::missing(
                self.manifest,
                one,
                (&filled, &shipped),
                &view,
                self.targets.system,
            ));
        }
        filled
    }

    pub(super) fn emptied(&self, package: &Package, used: &Matched<'_>) -> Vec<Emptied<'a>> {
        emptied::check(self.manifest, self.catalog, self.dists, package, used)
    }

    pub(super) fn view(&self, dist: &ResolvedDist<'_>) -> View<'_, 'a> {
        let artifacts = self.device.iter().copied().filter(|a| dist.fits(&a.id));
        View::new(&self.generic, Layer::new(artifacts))
    }
}
