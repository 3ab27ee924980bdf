use std::collections::{BTreeMap, BTreeSet};

use super::{other_system, undeclared};
use crate::{Request, Since};
use base::names::{ArtifactName, DistName, Mode, PlatformTags, System};
use base::source::{Code, Place, Problem, Problems, nearest};
use base::target::{Target, Values};
use base::version::{Version, VersionError};
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
    /// For the selector's extras.
    pub published: BTreeMap<System, Vec<String>>,
    /// Lists for both systems were given: extras have markers.
    pub marked: bool,
    /// ISAs that the build declares, without features.
    pub said: Vec<String>,
    /// Origin of `built`.
    pub choice: Choice,
    pub axes: BTreeMap<String, Vec<String>>,
    /// Levels above the built ISAs, with their artifacts; only in kpack mode.
    pub levels: BTreeMap<String, BTreeSet<ArtifactName>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    CommandLine,
    /// List of the build's own files.
    Build,
    /// All targets with artifacts.
    Everything,
}

impl Choice {
    fn new(mode: Mode, asked: bool, said: &[String]) -> Self {
        match mode {
            _ if asked => Self::CommandLine,
            Mode::Kpack if !said.is_empty() => Self::Build,
            Mode::Kpack | Mode::Legacy => Self::Everything,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::CommandLine => "requested",
            Self::Build => "listed by the build",
            Self::Everything => "there",
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

/// Includes targets of other builds.
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

    pub fn builds(&self, home: &str) -> bool {
        self.built.iter().any(|target| target == home)
            || self.levels.contains_key(home)
            || self.is_on_axis(home)
    }

    /// Targets of artifacts for which no package is made.
    pub fn left_out<'c>(&self, manifest: &'c Manifest, catalog: &'c Catalog) -> BTreeSet<&'c str> {
        let families = catalog.artifacts.iter().map(|artifact| &artifact.id.family);
        let homes = families.filter(|f| !f.is_generic()).map(|f| manifest.families.home(f));
        homes.filter(|home| !self.builds(home)).collect()
    }

    pub fn has_level(&self, package: &Package, target: &str) -> bool {
        let names = self.levels.get(target);
        names.is_none_or(|names| package.artifacts.iter().any(|rule| names.contains(&*rule.name)))
    }

    pub(crate) fn all_published(&self) -> Vec<String> {
        let mut targets: Vec<String> = self.published.values().flatten().cloned().collect();
        sort(&mut targets);
        targets.dedup();
        targets
    }

    /// Target for undetected machines: the smallest common to all systems, otherwise the smallest.
    pub fn default_target(&self) -> Option<String> {
        let lists: Vec<&Vec<String>> = self.published.values().filter(|l| !l.is_empty()).collect();
        let targets = self.all_published();
        let common = targets.iter().find(|t| lists.iter().all(|l| l.contains(t))).cloned();
        common.or_else(|| targets.into_iter().next())
    }
}

/// Sorts by number: `gfx906` before `gfx1100`.
fn sort(targets: &mut [String]) {
    targets.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
}

/// Continues after a fault of the request, to report all.
pub(super) fn resolve(
    manifest: &Manifest,
    catalog: &Catalog,
    request: &Request,
) -> (Targets, Problems) {
    let mut problems = Problems::new();
    let mode = mode(catalog, request);
    let catalog_system = system_of(catalog);
    let system = asked_system(request, catalog_system);
    check_system(request, system, catalog_system, &mut problems);
    let version = version(catalog, request).unwrap_or_else(|p| {
        problems.push(p);
        Version::unknown()
    });
    check_names(request, &mut problems);
    let unknown = undeclared::check_families(manifest, catalog, &mut problems);
    let available = targets_there(manifest, catalog, Target { mode, system });
    let lists =
        [(System::Linux, &request.linux_families), (System::Windows, &request.windows_families)];
    let mut published: BTreeMap<System, Vec<String>> = BTreeMap::new();
    for (of, list) in lists {
        if let Some(list) = list {
            published.insert(of, expand(manifest, mode, of, list, &available, &mut problems));
        }
    }
    let mut build_targets = build_targets(manifest, catalog);
    // Undeclared ones have their own error.
    build_targets.retain(|target| !unknown.contains(&**target));
    let asked = published.get(&system);
    let choice = Choice::new(mode, asked.is_some(), &build_targets);
    let other_lines = other_system::lines(manifest, Target { mode, system });
    let built = built(choice, asked, &build_targets, &available, &other_lines, &mut problems);
    let marked = published.len() == 2;
    published.entry(system).or_insert_with(|| built.clone());
    if request.since.is_some() && marked {
        let message = "--since is for packages of one system";
        let help = "give the families of one system, or build the set without --since";
        problems.push(Problem::usage(Code::OtherSystem, message).help(help));
    }
    let axes = axes(manifest, catalog);
    let levels = levels(manifest, catalog, mode, &built);
    let since = request.since.clone();
    let targets = Targets {
        mode,
        system,
        version,
        since,
        built,
        published,
        marked,
        said: build_targets,
        choice,
        axes,
        levels,
    };
    if choice == Choice::Build && !problems.has_errors() {
        unlisted(&targets.left_out(manifest, catalog), &mut problems);
    }
    (targets, problems)
}

fn unlisted(targets: &BTreeSet<&str>, problems: &mut Problems) {
    if !targets.is_empty() {
        let names = targets.iter().copied().collect::<Vec<_>>().join(", ");
        let pronoun = if targets.len() == 1 { "it" } else { "them" };
        let message = format!("artifacts for {names} exist, but the build does not list {pronoun}");
        problems.push(Problem::warning(Code::UnknownTarget, message).help(
            "correct the list of the build, or request families with --linux-amdgpu-families",
        ));
    }
}

pub(super) fn without_artifacts(manifest: &Manifest, request: &Request) -> (Targets, Problems) {
    let mut problems = Problems::new();
    let mode = request.mode.unwrap_or(Mode::Kpack);
    let system = asked_system(request, None);
    let asked = match system {
        System::Linux => request.linux_families.as_ref(),
        System::Windows => request.windows_families.as_ref(),
    };
    let built = asked
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
        said: Vec::new(),
        choice: Choice::CommandLine,
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

pub(super) fn suffix(request: &Request) -> &str {
    if request.suffix.chars().all(is_word) { &request.suffix } else { "" }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

pub(super) fn system(catalog: &Catalog, request: &Request) -> System {
    asked_system(request, system_of(catalog))
}

fn asked_system(request: &Request, there: Option<System>) -> System {
    let tag = || request.platform_tag.as_ref().and_then(PlatformTags::system);
    request.system.or(there).or_else(tag).unwrap_or(System::Linux)
}

fn system_of(catalog: &Catalog) -> Option<System> {
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

fn check_system(request: &Request, system: System, there: Option<System>, problems: &mut Problems) {
    if let Some(there) = there.filter(|there| *there != system) {
        let message = format!(
            "--system {}: the binaries of the artifacts are for {}",
            system.as_str(),
            there.as_str()
        );
        let problem = Problem::usage(Code::OtherSystem, message);
        problems.push(problem.help("remove the option, or give artifacts of that system"));
    }
    let Some(tag) = &request.platform_tag else { return };
    if tag.system().is_some_and(|of| of != system) {
        let message = format!(
            "the platform tag {tag} is not for {}, the system of the packages",
            system.as_str()
        );
        let problem = Problem::usage(Code::OtherSystem, message);
        problems.push(problem.help("remove it: rockpack computes it from the binaries"));
    }
}

/// System and mode of the packages.
pub fn target(catalog: &Catalog, request: &Request) -> Target {
    Target { mode: mode(catalog, request), system: system(catalog, request) }
}

pub(super) fn mode(catalog: &Catalog, request: &Request) -> Mode {
    request.mode.unwrap_or(if catalog.build.kpack_split { Mode::Kpack } else { Mode::Legacy })
}

fn version(catalog: &Catalog, request: &Request) -> Result<Version, Problem> {
    if let Some(version) = &request.version {
        return Ok(version.clone());
    }
    let impossible = |e: VersionError| {
        Problem::error(Code::ImpossibleVersion, e.to_string())
            .help("write it like 7.10.0, 7.10.0rc1 or 7.10.0.dev0+abc (PEP 440)")
    };
    if let Some(text) = &catalog.build.package_version {
        return text.parse().map_err(impossible);
    }
    let Some(text) = catalog.build.version.as_deref() else {
        return Err(Problem::usage(
            Code::ImpossibleVersion,
            "the version of the packages is unknown",
        )
        .help("give it: --version 7.2.0"));
    };
    let version: Result<Version, VersionError> = text.parse();
    version.map(|version| version.development()).map_err(impossible)
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

fn check_names(request: &Request, problems: &mut Problems) {
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

fn targets_there(manifest: &Manifest, catalog: &Catalog, target: Target) -> Vec<String> {
    let takers: Vec<_> = manifest
        .packages
        .values()
        .filter(|p| p.distribution_for(target).is_some_and(|d| d.per.is_by_gpu()))
        .collect();
    let is_taken =
        |id: &ArtifactId| takers.iter().any(|p| p.artifacts.iter().any(|r| *r.name == id.name));
    let ids = catalog
        .artifacts
        .iter()
        .map(|a| &a.id)
        .filter(|id| !id.family.is_generic() && is_taken(id));
    let ids = ids.filter(|id| !manifest.families.is_on_axis(id.family.base()));
    let mut targets: Vec<String> =
        ids.map(|id| manifest.families.home(&id.family).to_owned()).collect();
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
    of: System,
    list: &[String],
    there: &[String],
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
                    format!("--{}-amdgpu-families: `{name}` is not a family or ISA", of.as_str()),
                )
                .help(hint),
            );
        } else if mode == Mode::Kpack {
            targets.extend(isas);
        } else if there.iter().any(|t| t == base) {
            targets.push(base.to_owned());
        } else {
            // In legacy mode, an ISA selects its family.
            let family =
                there.iter().find(|family| isas.iter().all(|isa| is_in(manifest, isa, family)));
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

fn build_targets(manifest: &Manifest, catalog: &Catalog) -> Vec<String> {
    let home = |target: &String| manifest.families.package_of(target).to_owned();
    let mut targets: Vec<String> = catalog.build.targets.iter().map(home).collect();
    sort(&mut targets);
    targets.dedup();
    targets
}

fn built(
    choice: Choice,
    asked: Option<&Vec<String>>,
    said: &[String],
    there: &[String],
    others: &[&Place],
    problems: &mut Problems,
) -> Vec<String> {
    let targets = match choice {
        Choice::CommandLine => asked.cloned().unwrap_or_default(),
        Choice::Build => said.to_vec(),
        Choice::Everything => there.to_vec(),
    };
    let missing: Vec<&str> =
        targets.iter().filter(|w| !there.contains(w)).map(String::as_str).collect();
    if !missing.is_empty() {
        let list = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        let message = format!("no artifact for {}, which is {}", missing.join(", "), choice.text());
        let problem = Problem::error(Code::MissingTarget, message).help(format!(
            "request other families with --linux-amdgpu-families, or add the artifacts; the \
             device artifacts are for {list}"
        ));
        let label = "is for the other system alone";
        problems.push(others.iter().fold(problem, |problem, place| problem.label(place, label)));
    }
    targets.into_iter().filter(|target| there.contains(target)).collect()
}
