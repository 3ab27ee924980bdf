use std::collections::{BTreeMap, BTreeSet};

use super::package_version::version;
use super::{other_system, undeclared};
use crate::{Request, Since};
use base::names::{ArtifactName, DistName, Mode, PlatformTags, System};
use base::source::{Code, Problem, Problems, nearest};
use base::target::{Target, Values};
use base::version::Version;
use binary::{BinaryKind, Format};
use catalog::{ArtifactId, Catalog, CatalogEntry};
use manifest::{Manifest, Package};

#[derive(Debug, Clone)]
pub(super) struct Targets {
    pub mode: Mode,
    pub system: System,
    pub version: Version,
    pub since: Option<Since>,
    /// ISAs in kpack mode, families in legacy mode.
    pub built: Vec<String>,
    /// Targets that the selector's extras offer, by system. They can be built elsewhere.
    pub published: BTreeMap<System, Vec<String>>,
    /// Lists for both systems were given: extras have markers.
    pub marked: bool,
    /// ISAs in the build's own list, without features.
    pub listed: Vec<String>,
    pub origin: TargetsOrigin,
    pub axes: BTreeMap<String, Vec<String>>,
    /// Levels above the built ISAs, with their artifacts; only in kpack mode.
    pub levels: BTreeMap<String, BTreeSet<ArtifactName>>,
}

/// Origin of the built targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TargetsOrigin {
    CommandLine,
    /// List in a file of the build.
    Build,
    /// All targets with artifacts.
    Everything,
}

impl TargetsOrigin {
    fn new(mode: Mode, is_requested: bool, listed: &[String]) -> Self {
        match mode {
            _ if is_requested => Self::CommandLine,
            Mode::Kpack if !listed.is_empty() => Self::Build,
            Mode::Kpack | Mode::Legacy => Self::Everything,
        }
    }
}

impl Values for Targets {
    fn isas(&self) -> Vec<String> {
        self.built.iter().chain(self.levels.keys()).cloned().collect()
    }

    fn families(&self) -> Vec<String> {
        self.built.clone()
    }

    fn axis(&self, name: &str) -> Vec<String> {
        self.axes.get(name).cloned().unwrap_or_default()
    }
}

/// View of the published targets, also of other builds.
pub(super) struct Published<'t>(pub &'t Targets);

impl Values for Published<'_> {
    fn isas(&self) -> Vec<String> {
        self.0.all_published()
    }

    fn families(&self) -> Vec<String> {
        self.0.all_published()
    }

    fn axis(&self, name: &str) -> Vec<String> {
        self.0.axis(name)
    }
}

impl Targets {
    pub fn target(&self) -> Target {
        Target { mode: self.mode, system: self.system }
    }

    pub(crate) fn version_of(&self, name: &DistName) -> &Version {
        let earlier = self.since.as_ref();
        let earlier = earlier.and_then(|since| since.versions.get(&name.normalized()));
        earlier.unwrap_or(&self.version)
    }

    pub(crate) fn other_system(&self) -> Option<System> {
        System::ALL.into_iter().find(|system| self.marked && *system != self.system)
    }

    pub fn is_on_axis(&self, value: &str) -> bool {
        self.axes.values().flatten().any(|other| other == value)
    }

    pub fn builds(&self, target: &str) -> bool {
        self.built.iter().any(|built| built == target)
            || self.levels.contains_key(target)
            || self.is_on_axis(target)
    }

    /// Targets of artifacts for which no package is made.
    pub fn left_out<'c>(&self, manifest: &'c Manifest, catalog: &'c Catalog) -> BTreeSet<&'c str> {
        let families = catalog.artifacts.iter().map(|artifact| &artifact.id.family);
        let targets = families.filter(|f| !f.is_generic()).map(|f| manifest.families.target_of(f));
        targets.filter(|target| !self.builds(target)).collect()
    }

    /// False if `target` is a level, and the package takes no artifact of it.
    pub fn has_package_for(&self, package: &Package, target: &str) -> bool {
        let names = self.levels.get(target);
        names.is_none_or(|names| package.artifacts.iter().any(|rule| names.contains(&*rule.name)))
    }

    pub(crate) fn all_published(&self) -> Vec<String> {
        let mut targets: Vec<String> = self.published.values().flatten().cloned().collect();
        sort(&mut targets);
        targets.dedup();
        targets
    }

    /// Target for machines without a detected GPU: the first in order that all systems publish,
    /// otherwise the first.
    pub fn default_target(&self) -> Option<String> {
        let lists: Vec<&Vec<String>> = self.published.values().filter(|l| !l.is_empty()).collect();
        let targets = self.all_published();
        let common = targets.iter().find(|t| lists.iter().all(|l| l.contains(t))).cloned();
        common.or_else(|| targets.into_iter().next())
    }
}

/// Sorts by length, then text: ISAs by number, but not families.
fn sort(targets: &mut [String]) {
    targets.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
}

/// Determines the targets. Continues after a problem, to report all problems of the request.
pub(super) fn resolve(
    manifest: &Manifest,
    catalog: &Catalog,
    request: &Request,
) -> (Targets, Problems) {
    let mut problems = Problems::new();
    let mode = mode(catalog, request);
    let catalog_system = binaries_system(catalog);
    let system = packages_system(request, catalog_system);
    check_system(request, system, catalog_system, &mut problems);
    let version = version(catalog, request).unwrap_or_else(|p| {
        problems.push(p);
        Version::unknown()
    });
    check_suffix(request, &mut problems);
    let unknown = undeclared::check_families(manifest, catalog, &mut problems);
    let available = available_targets(manifest, catalog, Target { mode, system });
    let lists =
        [(System::Linux, &request.linux_families), (System::Windows, &request.windows_families)];
    let mut published: BTreeMap<System, Vec<String>> = BTreeMap::new();
    for (list_system, list) in lists {
        if let Some(list) = list {
            // Artifacts of the other system are unknown: its list is matched with the available ones.
            let targets = expand(manifest, mode, list_system, list, &available, &mut problems);
            published.insert(list_system, targets);
        }
    }
    let mut listed = listed_targets(manifest, catalog);
    // Undeclared targets are reported above.
    listed.retain(|target| !unknown.contains(&**target));
    let requested = published.get(&system);
    let origin = TargetsOrigin::new(mode, requested.is_some(), &listed);
    let candidates = Candidates { origin, requested, listed: &listed, available: &available };
    let built = built(&candidates, manifest, Target { mode, system }, &mut problems);
    let marked = published.len() == 2;
    published.entry(system).or_insert_with(|| built.clone());
    if request.since.is_some() && marked {
        let message = "--since is for packages of one system";
        let help = "give the families of one system, or build the set without --since";
        problems.push(Problem::usage(Code::OtherSystem, message).help(help));
    }
    let targets = Targets {
        mode,
        system,
        version,
        since: request.since.clone(),
        levels: levels(manifest, catalog, mode, &built),
        built,
        published,
        marked,
        listed,
        origin,
        axes: axes(manifest, catalog),
    };
    // An error above can be the reason why a target is not built.
    if origin == TargetsOrigin::Build && !problems.has_errors() {
        report_unlisted(&targets.left_out(manifest, catalog), system, &mut problems);
    }
    (targets, problems)
}

fn report_unlisted(targets: &BTreeSet<&str>, system: System, problems: &mut Problems) {
    if !targets.is_empty() {
        let names = targets.iter().copied().collect::<Vec<_>>().join(", ");
        let pronoun = if targets.len() == 1 { "it" } else { "them" };
        let message = format!("artifacts for {names} exist, but the build does not list {pronoun}");
        problems.push(Problem::warning(Code::UnknownTarget, message).help(format!(
            "correct the list in {} of the build, or request families with {}",
            catalog::BUILD_TARGETS,
            families_option(system)
        )));
    }
}

/// Targets of a plan for projects alone, which needs no artifacts.
pub(super) fn without_artifacts(manifest: &Manifest, request: &Request) -> (Targets, Problems) {
    let mut problems = Problems::new();
    let mode = request.mode.unwrap_or(Mode::Kpack);
    let system = packages_system(request, None);
    let requested = match system {
        System::Linux => request.linux_families.as_ref(),
        System::Windows => request.windows_families.as_ref(),
    };
    // Artifacts define the families of legacy mode. Without artifacts, names are expanded to ISAs in
    // both modes.
    let built = requested
        .map(|list| expand(manifest, Mode::Kpack, system, list, &[], &mut problems))
        .unwrap_or_default();
    let version = request.version.clone().unwrap_or_else(Version::unknown);
    let published = BTreeMap::from([(system, built.clone())]);
    let targets = Targets {
        mode,
        system,
        version,
        since: None,
        built,
        published,
        marked: false,
        listed: Vec::new(),
        origin: TargetsOrigin::CommandLine,
        axes: BTreeMap::new(),
        levels: BTreeMap::new(),
    };
    (targets, problems)
}

fn axes(manifest: &Manifest, catalog: &Catalog) -> BTreeMap<String, Vec<String>> {
    let families: BTreeSet<&str> = catalog.artifacts.iter().map(|a| a.id.family.base()).collect();
    let values =
        |all: &[String]| all.iter().filter(|v| families.contains(v.as_str())).cloned().collect();
    manifest.families.axes.iter().map(|(name, all)| (name.clone(), values(all))).collect()
}

/// Returns the suffix, or none if it is invalid: [`check_suffix`] reports it.
pub(super) fn suffix(request: &Request) -> &str {
    if request.suffix.chars().all(is_word) { &request.suffix } else { "" }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

pub(super) fn system(catalog: &Catalog, request: &Request) -> System {
    packages_system(request, binaries_system(catalog))
}

/// Option for the families of a system.
pub(super) fn families_option(system: System) -> String {
    format!("--{}-amdgpu-families", system.as_str())
}

fn packages_system(request: &Request, catalog_system: Option<System>) -> System {
    let tag = || request.platform_tag.as_ref().and_then(PlatformTags::system);
    request.system.or(catalog_system).or_else(tag).unwrap_or(System::Linux)
}

fn binaries_system(catalog: &Catalog) -> Option<System> {
    let binaries =
        catalog.artifacts.iter().flat_map(|a| &a.entries).filter_map(CatalogEntry::binary);
    let hosts =
        binaries.filter(|facts| matches!(facts.kind, BinaryKind::Library | BinaryKind::Program));
    let (mut linux, mut windows) = (0_usize, 0_usize);
    for facts in hosts {
        linux += usize::from(facts.format == Format::Elf);
        windows += usize::from(facts.format == Format::Pe);
    }
    (linux + windows > 0).then_some(if windows > linux { System::Windows } else { System::Linux })
}

fn check_system(
    request: &Request,
    system: System,
    catalog_system: Option<System>,
    problems: &mut Problems,
) {
    if let Some(catalog_system) = catalog_system.filter(|other| *other != system) {
        let message = format!(
            "--system {}: the binaries of the artifacts are for {}",
            system.as_str(),
            catalog_system.as_str()
        );
        let problem = Problem::usage(Code::OtherSystem, message);
        let help = format!("remove --system, or give artifacts for {}", system.as_str());
        problems.push(problem.help(help));
    }
    let Some(tag) = &request.platform_tag else { return };
    if tag.system().is_some_and(|other| other != system) {
        let message = format!(
            "the platform tag {tag} is not for {}, the system of the packages",
            system.as_str()
        );
        let problem = Problem::usage(Code::OtherSystem, message);
        problems.push(problem.help("remove the tag: rockpack computes it from the binaries"));
    }
}

/// System and mode of the packages.
pub fn target(catalog: &Catalog, request: &Request) -> Target {
    Target { mode: mode(catalog, request), system: system(catalog, request) }
}

pub(super) fn mode(catalog: &Catalog, request: &Request) -> Mode {
    request.mode.unwrap_or(if catalog.build.kpack_split { Mode::Kpack } else { Mode::Legacy })
}

fn levels(
    manifest: &Manifest,
    catalog: &Catalog,
    mode: Mode,
    built: &[String],
) -> BTreeMap<String, BTreeSet<ArtifactName>> {
    let mut levels: BTreeMap<String, BTreeSet<ArtifactName>> = BTreeMap::new();
    if mode == Mode::Kpack {
        let above: BTreeSet<&str> =
            built.iter().flat_map(|isa| manifest.families.above(isa)).collect();
        for id in catalog.artifacts.iter().map(|a| &a.id) {
            if above.contains(id.family.base()) {
                levels.entry(id.family.base().to_owned()).or_default().insert(id.name.clone());
            }
        }
    }
    levels
}

fn check_suffix(request: &Request, problems: &mut Problems) {
    if !request.suffix.chars().all(is_word) {
        problems.push(
            Problem::usage(
                Code::ImpossibleName,
                format!(
                    "--version-suffix: `{}` cannot end the name of a Python package",
                    request.suffix
                ),
            )
            .help("use letters, digits and `_`"),
        );
    }
}

fn available_targets(manifest: &Manifest, catalog: &Catalog, target: Target) -> Vec<String> {
    let by_gpu: Vec<_> = manifest
        .packages
        .values()
        .filter(|p| p.distribution_for(target).is_some_and(|d| d.per.is_by_gpu()))
        .collect();
    let has_package =
        |id: &ArtifactId| by_gpu.iter().any(|p| p.artifacts.iter().any(|r| *r.name == id.name));
    let ids = catalog
        .artifacts
        .iter()
        .map(|a| &a.id)
        .filter(|id| !id.family.is_generic() && has_package(id));
    let ids = ids.filter(|id| !manifest.families.is_on_axis(id.family.base()));
    let mut targets: Vec<String> =
        ids.map(|id| manifest.families.target_of(&id.family).to_owned()).collect();
    // Packages of kpack mode are for one ISA; artifacts of families or levels belong to no target.
    if target.mode == Mode::Kpack {
        targets.retain(|t| manifest.families.isas.keys().any(|isa| isa.as_str() == t));
    }
    sort(&mut targets);
    targets.dedup();
    targets
}

fn expand(
    manifest: &Manifest,
    mode: Mode,
    list_system: System,
    list: &[String],
    available: &[String],
    problems: &mut Problems,
) -> Vec<String> {
    let mut targets = Vec::new();
    for name in list {
        let base = manifest.families.package_of(name);
        let isas: Vec<String> =
            manifest.families.expand(base).into_iter().map(String::from).collect();
        if isas.is_empty() {
            let hint = nearest(base, manifest.families.names()).map_or_else(
                || "families.kdl lists all families and ISAs".to_owned(),
                |n| format!("did you mean `{n}`? families.kdl lists all families and ISAs"),
            );
            problems.push(
                Problem::usage(
                    Code::UnknownTarget,
                    format!("{}: `{name}` is not a family or ISA", families_option(list_system)),
                )
                .help(hint),
            );
        } else if mode == Mode::Kpack {
            targets.extend(isas);
        } else if available.iter().any(|t| t == base) {
            targets.push(base.to_owned());
        } else {
            // In legacy mode, a name selects the family with artifacts that contains all its ISAs.
            let family =
                available.iter().find(|family| isas.iter().all(|isa| is_in(manifest, isa, family)));
            targets.push(family.cloned().unwrap_or_else(|| base.to_owned()));
        }
    }
    sort(&mut targets);
    targets.dedup();
    targets
}

fn is_in(manifest: &Manifest, isa: &str, family: &str) -> bool {
    manifest.families.expand(family).iter().any(|i| i.as_str() == isa)
}

fn listed_targets(manifest: &Manifest, catalog: &Catalog) -> Vec<String> {
    let target = |name: &String| manifest.families.package_of(name).to_owned();
    let mut targets: Vec<String> = catalog.build.targets.iter().map(target).collect();
    sort(&mut targets);
    targets.dedup();
    targets
}

/// Lists of targets; `origin` selects the built list.
struct Candidates<'t> {
    origin: TargetsOrigin,
    requested: Option<&'t Vec<String>>,
    listed: &'t [String],
    available: &'t [String],
}

fn built(
    candidates: &Candidates<'_>,
    manifest: &Manifest,
    target: Target,
    problems: &mut Problems,
) -> Vec<String> {
    let Candidates { origin, requested, listed, available } = *candidates;
    let (targets, participle) = match origin {
        TargetsOrigin::CommandLine => (requested.cloned().unwrap_or_default(), "requested"),
        TargetsOrigin::Build => (listed.to_vec(), "listed by the build"),
        TargetsOrigin::Everything => return available.to_vec(),
    };
    let missing: Vec<&str> =
        targets.iter().filter(|target| !available.contains(target)).map(String::as_str).collect();
    if !missing.is_empty() {
        let (verb, pronoun) = if missing.len() == 1 { ("is", "it") } else { ("are", "them") };
        let message =
            format!("{} {verb} {participle}, but no artifact is for {pronoun}", missing.join(", "));
        let device_artifacts = if available.is_empty() {
            "there are no device artifacts".to_owned()
        } else {
            format!("the device artifacts are for {}", available.join(", "))
        };
        let problem = Problem::error(Code::MissingTarget, message).help(format!(
            "request other families with {}, or add the artifacts; {device_artifacts}",
            families_option(target.system)
        ));
        let other_lines = other_system::lines(manifest, target);
        problems.push(other_lines.iter().fold(problem, |problem, place| {
            problem.label(place, "this package is only for the other system")
        }));
    }
    targets.into_iter().filter(|target| available.contains(target)).collect()
}
