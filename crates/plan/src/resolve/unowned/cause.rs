use std::collections::BTreeMap;

use super::super::install_tree::Item;
use super::super::resolved_dist::ResolvedDist;
use super::super::select::{Refusal, Refusals};
use base::source::Place;
use base::target::Target;
use binary::BinaryKind;
use catalog::{Artifact, ArtifactId, Catalog, CatalogEntry};
use manifest::{ArtifactRule, Manifest, Package, PackageKind};

#[derive(Clone, Copy)]
pub(in crate::resolve) enum Cause<'a> {
    Refused(&'a Package, Refusal<'a>),
    /// The devel package does not inherit from the package that names the artifact.
    NotInherited {
        devel: &'a Package,
        of: &'a Package,
    },
    /// Applies in another mode, on another system, or in no distribution.
    OtherTarget(&'a Place),
    /// `room` is a package for this target.
    OtherFamily {
        line: &'a Place,
        room: Option<&'a Package>,
    },
    /// `room` is a runtime package for libraries, otherwise a devel package.
    Unnamed {
        room: Option<&'a Package>,
    },
}

pub(super) const NAMES_OTHERS: u8 = 7;

impl<'a> Cause<'a> {
    /// The most deliberate line first.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Refused(_, Refusal::WithoutArtifact(_)) => 0,
            Self::Refused(_, Refusal::WithoutComponent(_)) => 1,
            Self::NotInherited { .. } => 2,
            Self::Refused(_, Refusal::Excluded(_)) => 3,
            Self::Refused(_, Refusal::NotIncluded(_)) => 4,
            Self::OtherTarget(..) => 5,
            Self::OtherFamily { .. } => 6,
            Self::Refused(_, Refusal::OtherComponents(_)) => NAMES_OTHERS,
            Self::Unnamed { .. } => NAMES_OTHERS + 1,
        }
    }

    pub fn place(&self) -> Option<&'a Place> {
        match *self {
            Self::Refused(_, refusal) => Some(refusal.place()),
            Self::NotInherited { devel, .. } => {
                Some(devel.artifacts_of.first().map_or(&devel.name.place, |of| &of.place))
            }
            Self::OtherTarget(line) | Self::OtherFamily { line, .. } => Some(line),
            Self::Unnamed { room } => room.map(|package| &package.name.place),
        }
    }

    pub fn describe(&self, id: &ArtifactId) -> String {
        match *self {
            Self::Refused(_, Refusal::Excluded(place)) => format!("excluded by {place}"),
            Self::Refused(of, Refusal::NotIncluded(_)) => {
                format!("no include line of `{}` matches it", of.name.value)
            }
            Self::Refused(
                of,
                Refusal::WithoutArtifact(place) | Refusal::WithoutComponent(place),
            ) => format!("left out of `{}` by {place}", of.name.value),
            Self::Refused(_, Refusal::OtherComponents(place)) => {
                format!("{place} names other components of `{}`", id.name)
            }
            Self::NotInherited { devel, of } => {
                format!("`{}` does not take the artifacts of `{}`", devel.name.value, of.name.value)
            }
            Self::OtherTarget(place) => {
                format!("{place} applies in another mode or on another system")
            }
            Self::OtherFamily { .. } => {
                format!("no package for {} takes `{}` `{}`", id.family, id.name, id.component)
            }
            Self::Unnamed { .. } => format!("no line takes artifact `{}`", id.name),
        }
    }
}

pub(in crate::resolve) struct Causes<'a> {
    manifest: &'a Manifest,
    catalog: &'a Catalog,
    whole: &'a Manifest,
    target: Target,
    dists: &'a [ResolvedDist<'a>],
    known: BTreeMap<&'a ArtifactId, Vec<(&'a Package, Refusals<'a>)>>,
}

impl<'a> Causes<'a> {
    pub fn new(
        (manifest, catalog): (&'a Manifest, &'a Catalog),
        whole: &'a Manifest,
        target: Target,
        dists: &'a [ResolvedDist<'a>],
    ) -> Self {
        Self { manifest, catalog, whole, target, dists, known: BTreeMap::new() }
    }

    pub fn causes(&mut self, item: &Item<'a>) -> Vec<Cause<'a>> {
        let mut causes: Vec<Cause<'a>> = self.refused(item.artifact, item.entry);
        let id = &item.artifact.id;
        causes.extend(self.not_inherited(id));
        if causes.iter().all(|cause| cause.rank() >= NAMES_OTHERS) {
            causes.extend(self.other_target(id));
            causes.extend(self.other_family(id));
        }
        if causes.is_empty() {
            causes.push(Cause::Unnamed { room: self.room(item) });
        }
        causes.sort_by_key(Cause::rank);
        causes
    }

    /// Users of a runtime package find its libraries; a devel package takes the rest.
    fn room(&self, item: &Item<'a>) -> Option<&'a Package> {
        let built = || self.manifest.packages.values().filter(|p| p.distribution().is_some());
        let is_whole = |package: &&Package| {
            package.kind == PackageKind::Runtime
                && package.overlay.is_none()
                && package.includes.is_empty()
                && package.distribution().is_some_and(|d| !d.per.is_by_gpu())
        };
        let of_all = self.catalog.named(&item.artifact.id.name).iter();
        let mut of_all = of_all.filter(|artifact| artifact.id.family.is_generic());
        let is_library = |entry: &CatalogEntry| {
            entry.binary().is_some_and(|facts| facts.kind == BinaryKind::Library)
        };
        let runs = item.artifact.id.family.is_generic()
            && of_all.any(|artifact| artifact.entries.iter().any(is_library));
        // Later packages rely on earlier ones.
        let runtime = built().filter(is_whole).last().filter(|_| runs);
        runtime.or_else(|| built().find(|package| package.kind == PackageKind::Devel))
    }

    fn refused(&mut self, artifact: &'a Artifact, entry: &CatalogEntry) -> Vec<Cause<'a>> {
        let (manifest, dists) = (self.manifest, self.dists);
        let refusals = self.known.entry(&artifact.id).or_insert_with(|| {
            let mut packages: Vec<(&Package, Refusals<'_>)> = Vec::new();
            for dist in dists.iter().filter(|dist| has_files(dist) && dist.fits(&artifact.id)) {
                if !packages.iter().any(|(package, _)| std::ptr::eq(*package, dist.package)) {
                    packages.push((dist.package, Refusals::new(manifest, dist, artifact)));
                }
            }
            packages
        });
        let cause = |(package, refusals): &(&'a Package, Refusals<'a>)| {
            Some(Cause::Refused(package, refusals.refusal(entry)?))
        };
        refusals.iter().filter_map(cause).collect()
    }

    fn not_inherited(&self, id: &ArtifactId) -> Option<Cause<'a>> {
        let devel = self.dists.iter().filter(|dist| dist.fits(id)).map(|dist| dist.package);
        let devel = devel.filter(|package| package.kind == PackageKind::Devel);
        let names = |package: &Package| package.artifacts.iter().any(|r| *r.name == id.name);
        let mut lacking = devel.filter(|devel| {
            let inherits =
                |of: &Package| devel.artifacts_of.iter().any(|name| name.value == of.name.value);
            let through = |of: &Package| inherits(of) && names(of);
            !devel.artifacts_of.is_empty()
                && !names(devel)
                && !self.manifest.packages.values().any(through)
        });
        let devel = lacking.next()?;
        let source = self.manifest.packages.values().find(|package| names(package))?;
        Some(Cause::NotInherited { devel, of: source })
    }

    fn other_target(&self, id: &ArtifactId) -> Option<Cause<'a>> {
        self.whole.packages.values().find_map(|package| {
            let built = package.distribution_for(self.target).is_some();
            let idle =
                |rule: &&ArtifactRule| takes(rule, id) && !(built && rule.when.holds(self.target));
            let rule = package.artifacts.iter().find(idle)?;
            Some(Cause::OtherTarget(&rule.name.place))
        })
    }

    fn other_family(&self, id: &ArtifactId) -> Option<Cause<'a>> {
        let (taker, line) = self.manifest.packages.values().find_map(|package| {
            let rule = package.artifacts.iter().find(|rule| takes(rule, id))?;
            package.distribution().map(|_| (package, &rule.name.place))
        })?;
        let fitting = || {
            self.dists
                .iter()
                .filter(|dist| !id.family.is_generic() && has_files(dist) && dist.fits(id))
                .map(|dist| dist.package)
        };
        let overlays = |package: &&Package| {
            package.overlay.as_ref().is_some_and(|owner| owner.value == taker.name.value)
        };
        let room = fitting().find(overlays).or_else(|| fitting().next());
        Some(Cause::OtherFamily { line, room })
    }
}

fn takes(rule: &ArtifactRule, id: &ArtifactId) -> bool {
    *rule.name == id.name
        && (rule.components.is_empty() || rule.components.iter().any(|c| **c == id.component))
}

fn has_files(dist: &ResolvedDist<'_>) -> bool {
    matches!(dist.package.kind, PackageKind::Runtime | PackageKind::Devel)
}
