use std::collections::BTreeMap;

use super::{Findings, Resolver};
use crate::resolve::emptied::{self, Emptied};
use crate::resolve::install_tree::{Layer, View};
use crate::resolve::links::{Filled, Owners};
use crate::resolve::place::Runtime;
use crate::resolve::resolved_dist::ResolvedDist;
use crate::resolve::select::{self, Matched};
use crate::resolve::{aliases, empty, forbidden, place, programs, unused_rules};
use base::names::PackageName;
use base::source::Problem;
use manifest::{Package, PackageKind};
use rayon::prelude::*;

impl<'a> Resolver<'a> {
    pub(super) fn fill_runtime(&self, findings: &mut Findings<'a>) -> Vec<Filled<'a>> {
        let mut matched: BTreeMap<&PackageName, Matched<'a>> = BTreeMap::new();
        let (mut filled, mut empties) = (Vec::new(), Vec::new());
        let of_runtime = |dist: &&ResolvedDist<'_>| dist.package.kind == PackageKind::Runtime;
        let dists: Vec<&ResolvedDist<'a>> = self.dists.iter().filter(of_runtime).collect();
        let results: Vec<_> = dists.par_iter().map(|dist| self.fill(dist)).collect();
        for (dist, (runtime, used, empty, own)) in dists.into_iter().zip(results) {
            matched.entry(&dist.package.name).or_default().merge(used);
            empties.extend(empty.map(|problem| (dist, problem)));
            findings.merge(own);
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

    /// Fills a distribution, without a look at what others find. Returns the matched rules too, and
    /// a problem if it stays empty.
    fn fill(
        &self,
        dist: &ResolvedDist<'a>,
    ) -> (Runtime<'a>, Matched<'a>, Option<Problem>, Findings<'a>) {
        let (mut findings, mut used) = (Findings::new(self.catalog), Matched::default());
        let problems = &mut findings.problems;
        let selection = select::selection(self.manifest, self.catalog, dist, &mut used, problems);
        problems.extend(forbidden::check(dist, &selection));
        let view = self.view(dist);
        let problem_count = problems.iter().count();
        let mut runtime = place::runtime(&selection, &view, self.machine, problems);
        let is_empty = runtime.placed.is_empty() && problems.iter().count() == problem_count;
        let empty =
            is_empty.then(|| empty::problem(self.catalog, dist, &selection, Some(&runtime)));
        let proposed = unused_rules::proposed(self.catalog, dist.package);
        aliases::apply(self.manifest, dist, &mut runtime, &view, &proposed, problems);
        findings.record_selection(dist, &selection);
        (runtime, used, empty, findings)
    }

    pub(super) fn emptied(&self, package: &Package, used: &Matched<'_>) -> Vec<Emptied<'a>> {
        emptied::check(self.manifest, self.catalog, self.dists, package, used)
    }

    pub(super) fn view(&self, dist: &ResolvedDist<'_>) -> View<'_, 'a> {
        let artifacts = self.device.iter().copied().filter(|a| dist.fits(&a.id));
        View::new(&self.generic, Layer::new(artifacts))
    }
}
