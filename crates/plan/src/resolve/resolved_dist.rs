use std::collections::{BTreeSet, HashMap};
use std::ops::Deref;

use super::targets::Targets;
use crate::NULL;
use base::names::{DistName, ModuleName, NameError, PackageName, RelPath, VariantLabel};
use base::source::{Code, Problem, Problems};
use base::target::{Per, Variant};
use catalog::ArtifactId;
use manifest::{Families, Manifest, Package};

#[derive(Debug, Clone)]
pub(super) struct ResolvedDist<'a> {
    pub families: &'a Families,
    /// Targets of the build, if some artifacts are for all.
    pub every_target: BTreeSet<String>,
    pub package: &'a Package,
    pub declared: &'a manifest::Distribution,
    pub variant: Variant,
    pub name: DistName,
    pub module: ModuleName,
    /// Unused for selectors.
    pub platform_dir: ModuleName,
    pub directory: RelPath,
    pub labelled: Option<Labelled>,
    pub index: Option<&'a PackageName>,
}

#[derive(Debug)]
pub(super) struct Dists<'a> {
    all: &'a [ResolvedDist<'a>],
    by_package: HashMap<&'a PackageName, Vec<&'a ResolvedDist<'a>>>,
}

impl<'a> Dists<'a> {
    pub fn new(all: &'a [ResolvedDist<'a>]) -> Self {
        let mut by_package: HashMap<_, Vec<_>> = HashMap::new();
        for dist in all {
            by_package.entry(&dist.package.name.value).or_default().push(dist);
        }
        Self { all, by_package }
    }

    pub fn of_package(&self, package: &PackageName) -> &[&'a ResolvedDist<'a>] {
        self.by_package.get(package).map_or(&[], Vec::as_slice)
    }
}

impl<'a> Deref for Dists<'a> {
    type Target = [ResolvedDist<'a>];

    fn deref(&self) -> &Self::Target {
        self.all
    }
}

#[derive(Debug, Clone)]
pub(super) struct Labelled {
    pub label: VariantLabel,
    /// `None` for machines that match no other label.
    pub target: Option<Variant>,
}

impl<'a> ResolvedDist<'a> {
    pub fn fits(&self, id: &ArtifactId) -> bool {
        let target = self.families.target_of(&id.family);
        self.variant.takes(&id.family, target) || self.takes_every_target(id, target)
    }

    fn takes_every_target(&self, id: &ArtifactId, target: &str) -> bool {
        self.every_target.contains(target)
            && self.package.every_target_of.iter().any(|name| **name == id.name)
    }

    pub(crate) fn sees(&self, id: &ArtifactId) -> bool {
        id.family.is_generic() || self.fits(id)
    }

    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        self.name != other.name
    }

    /// `owner` is installed with this one: for the same target, a level above it, or all.
    pub(crate) fn relies_on(&self, owner: &Self) -> bool {
        owner.variant == Variant::None || owner.variant == self.variant || self.is_below(owner)
    }

    pub fn is_below(&self, other: &Self) -> bool {
        let above = |target: &str| self.families.above(target);
        match (&self.variant, &other.variant) {
            (Variant::Of(Per::Isa, target), Variant::Of(Per::Isa, level)) => {
                above(target).contains(&&**level)
            }
            _ => false,
        }
    }

    fn in_indexes(&self) -> Vec<Self> {
        let in_index = |name: &'a PackageName| {
            let directory = self.directory.join(&name.as_str().parse().ok()?);
            Some(Self { directory, index: Some(name), ..self.clone() })
        };
        self.package.indexes.iter().filter_map(|index| in_index(&index.name.value)).collect()
    }

    pub(crate) fn is_overlay(&self) -> bool {
        self.package.overlay.is_some()
    }
}

pub(super) fn resolved_dists<'a>(
    manifest: &'a Manifest,
    targets: &Targets,
    suffix: &str,
) -> Result<Vec<ResolvedDist<'a>>, Problems> {
    let (mut dists, mut problems) = (Vec::new(), Problems::new());
    for package in manifest.packages.values() {
        let Some(declared) = package.distribution() else { continue };
        let exists = |variant: &Variant| {
            variant.as_str().is_none_or(|target| targets.has_package_for(package, target))
        };
        for variant in declared.per.variants(targets).into_iter().filter(exists) {
            let made = dist(manifest, targets, package, declared, variant, suffix)
                .and_then(|dist| Ok((variants(targets, package)?, dist)));
            match made {
                Ok((labels, dist)) => {
                    dists.push(dist.clone());
                    dists.extend(dist.in_indexes());
                    dists.extend(
                        labels
                            .into_iter()
                            .map(|label| ResolvedDist { labelled: Some(label), ..dist.clone() }),
                    );
                }
                Err(e) => {
                    problems.push(
                        Problem::error(Code::ImpossibleName, e.to_string())
                            .label(&declared.name.place, "of this distribution"),
                    );
                }
            }
        }
    }
    if problems.is_empty() { Ok(dists) } else { Err(problems) }
}

/// One variant for each published ISA, and one for other machines.
fn variants(targets: &Targets, package: &Package) -> Result<Vec<Labelled>, NameError> {
    let Some(rule) = &package.variant else { return Ok(Vec::new()) };
    let isas = targets.published.get(&targets.system).into_iter().flatten();
    let labelled = |isa: &String| {
        let target = Variant::Of(Per::Isa, isa.clone());
        Ok(Labelled { label: rule.label.fill(&target).parse()?, target: Some(target) })
    };
    let null = Labelled { label: NULL.parse()?, target: None };
    isas.map(labelled).chain([Ok(null)]).collect()
}

pub(super) fn without_families(manifest: &Manifest, targets: &Targets) -> Problems {
    let declared = manifest.packages.values().filter_map(|p| p.distribution());
    let of_families: Vec<_> =
        declared.filter(|d| d.per == Per::Family && targets.built.is_empty()).collect();
    if of_families.is_empty() {
        return Problems::new();
    }
    let problem =
        Problem::error(Code::MissingTarget, "no family is known, so these packages cannot be made");
    let labelled = of_families.iter().fold(problem, |problem, d| {
        problem.label(
            &d.name.place,
            "one package for \
            each family",
        )
    });
    labelled.help("add artifacts for a family, or give the mode of the build with --mode").into()
}

fn dist<'a>(
    manifest: &'a Manifest,
    targets: &Targets,
    package: &'a Package,
    declared: &'a manifest::Distribution,
    variant: Variant,
    suffix: &str,
) -> Result<ResolvedDist<'a>, NameError> {
    let name = dist_name(declared, &variant)?;
    let owner = match &package.overlay {
        Some(overlay) => {
            overlaid_name(manifest, overlay, &variant)?.unwrap_or_else(|| name.clone())
        }
        None => name.clone(),
    };
    // Equal names of several families would overwrite each other.
    let apart = *variant.per() == Per::Family
        && !declared.name.has_placeholder()
        && targets.built.len() > 1;
    let directory = if apart {
        format!("dist/{}", variant.as_str().unwrap_or_default())
    } else {
        "dist".to_owned()
    };
    Ok(ResolvedDist {
        module: declared.module.fill_identifier(&variant).parse()?,
        platform_dir: owner.platform_dir(suffix)?,
        directory: directory.parse().map_err(|_| not_a_directory(&directory))?,
        labelled: None,
        index: None,
        families: &manifest.families,
        every_target: every_target(package, &variant, targets),
        package,
        declared,
        variant,
        name,
    })
}

fn every_target(package: &Package, variant: &Variant, targets: &Targets) -> BTreeSet<String> {
    if package.every_target_of.is_empty() || *variant != Variant::None {
        return BTreeSet::new();
    }
    targets.built.iter().chain(targets.levels.keys()).cloned().collect()
}

fn not_a_directory(text: &str) -> NameError {
    NameError {
        kind: "a directory",
        text: text.to_owned(),
        reason: "it has characters that are not allowed in paths",
    }
}

pub(super) fn dist_name(
    declared: &manifest::Distribution,
    variant: &Variant,
) -> Result<DistName, NameError> {
    declared.name.fill(variant).parse()
}

fn overlaid_name(
    manifest: &Manifest,
    overlay: &PackageName,
    variant: &Variant,
) -> Result<Option<DistName>, NameError> {
    let declared = manifest.packages.get(overlay).and_then(|p| p.distribution());
    declared.map(|d| dist_name(d, &d.per.installed_with(variant))).transpose()
}

#[cfg(test)]
mod tests {
    use crate::resolve::tests::{Case, Fixture, device, runtime};

    #[test]
    fn a_distribution_relies_on_those_for_all_for_its_target_and_for_levels_above_it() {
        let families = "isa \"gfx1250\" parent=\"gfx12\" product=\"A\"\nisa \"gfx942\" product=\"B\"\nlevel \"gfx12\"\n";
        let takes = "artifact \"a\" \"lib\"";
        let entries = "a_lib_generic e text e\na_lib_gfx1250 f text f\na_lib_gfx942 g text g\na_lib_gfx12 h text h";
        let case = Case::new(&[runtime("core", takes), device(takes)], entries).families(families);
        let fixture = Fixture::of(&case);
        let dists = fixture.dists();
        let relies_on = |name: &str| -> Vec<&str> {
            let dist = dists.iter().find(|dist| dist.name.as_str() == name).unwrap();
            let others = dists.iter().filter(|other| dist.relies_on(other));
            others.map(|other| other.name.as_str()).collect()
        };
        let (core, level) = ("x-core", "x-device-gfx12");
        assert_eq!(relies_on(core), [core]);
        assert_eq!(relies_on("x-device-gfx942"), [core, "x-device-gfx942"]);
        assert_eq!(relies_on("x-device-gfx1250"), [core, "x-device-gfx1250", level]);
        assert_eq!(relies_on(level), [core, level]);
    }
}
