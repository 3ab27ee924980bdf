use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::requires::Extras;
use super::resolved_dist::{Dists, ResolvedDist};
use super::rpath;
use super::targets::Targets;
use base::names::{Mode, PackageName, RelPath, System};
use base::python_literal;
use base::target::Variant;
use base::version::Version;
use catalog::CatalogEntry;
use manifest::{Extra, Library, Manifest, Package, PackageKind, Script, ScriptTarget};

/// Facts about both systems: each system's build makes the same selector.
pub(super) struct Known<'k, 'a> {
    pub manifest: &'k Manifest,
    pub other: Option<&'k Manifest>,
    pub targets: &'k Targets,
    pub all: &'k [&'k ResolvedDist<'a>],
    pub requires: &'k [String],
    pub extras: &'k Extras,
}

/// Facts that depend on files are in the wheels.
pub(super) fn selector(dist: &ResolvedDist<'_>, known: &Known<'_, '_>) -> Value {
    let (manifest, targets) = (known.manifest, known.targets);
    let own_family = dist.variant.as_str().map(str::to_owned);
    let mut facts = json!({
        "version": targets.version,
        "mode": targets.mode,
        "distribution": dist.name,
        "command": command(dist),
        "selector": own_names(dist),
        "requires": known.requires,
        "extras": known.extras.by_name,
        "targets": published(targets, own_family.as_deref()),
        "default_target": own_family.clone().or_else(|| targets.default_target()),
        "families": families(manifest, targets),
        "packages": packages(&dist.package.extras, &dist.variant, known),
        "libraries": libraries(known),
    });
    if let (Some(driver), Some(facts)) = (&dist.package.driver, facts.as_object_mut()) {
        let driver = json!({"module": driver.module, "kernel": driver.kernel});
        facts.insert("driver".to_owned(), driver);
    }
    let earlier = known.all.iter().map(|one| (one.name.to_string(), targets.version_of(&one.name)));
    let earlier: BTreeMap<String, &Version> =
        earlier.filter(|(_, version)| **version != targets.version).collect();
    if let (Some(facts), false) = (facts.as_object_mut(), earlier.is_empty()) {
        facts.insert("versions".to_owned(), json!(earlier));
    }
    if let (Some(index), Some(facts)) = (dist.index, facts.as_object_mut()) {
        facts.insert("index".to_owned(), json!(index));
    }
    facts
}

/// Families by ISA. Legacy mode only lists declared ISAs: a family's package can lack others.
fn families(manifest: &Manifest, targets: &Targets) -> Value {
    let listed = &targets.listed;
    let counts = |isa: &str| {
        targets.mode == Mode::Kpack
            || listed.is_empty()
            || listed.iter().any(|target| target == isa)
    };
    let isas = manifest.families.isas.iter();
    let isas = isas.filter(|(isa, facts)| facts.package.is_none() && counts(isa.as_str()));
    isas.map(|(isa, facts)| (isa.to_string(), json!(facts.families))).collect::<Map<_, _>>().into()
}

fn published(targets: &Targets, own: Option<&str>) -> Value {
    let targets_on = |system: System| -> Vec<&String> {
        let list = targets.published.get(&system).into_iter().flatten();
        list.filter(|target| own.is_none_or(|own| own == target.as_str())).collect()
    };
    System::ALL
        .into_iter()
        .map(|system| (system.sys_platform().to_owned(), json!(targets_on(system))))
        .collect::<Map<_, _>>()
        .into()
}

fn command(selector: &ResolvedDist<'_>) -> String {
    let starts_tool = |script: &&Script| matches!(&*script.target, ScriptTarget::Function(_));
    let script = selector.package.scripts.iter().find(starts_tool);
    script.map_or_else(
        || format!("python -m {}", selector.module),
        |script| script.name.value.clone(),
    )
}

fn own_names(selector: &ResolvedDist<'_>) -> Value {
    json!({
        "package": *selector.package.name,
        "distribution": selector.name,
        "module": selector.module,
    })
}

/// Facts of a distribution: own ones, and Python source that all packages of a set share.
pub(super) struct Facts {
    pub own: Map<String, Value>,
    pub shared: BTreeMap<&'static str, Arc<str>>,
}

impl From<Value> for Facts {
    fn from(facts: Value) -> Self {
        let map = match facts {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Self { own: map, shared: BTreeMap::new() }
    }
}

/// Facts about all packages: the list of packages would be built again for each of them.
pub(super) struct Set<'s> {
    targets: &'s Targets,
    all: &'s Dists<'s>,
    pub devel_packages: Vec<&'s ResolvedDist<'s>>,
    libraries: Arc<str>,
    /// Packages with the extras of each selector; the last without a selector.
    packages: Vec<(Option<&'s ResolvedDist<'s>>, Arc<str>)>,
}

impl<'s> Set<'s> {
    pub fn new(manifest: &'s Manifest, targets: &'s Targets, dists: &'s Dists<'s>) -> Self {
        let resolved_dists: Vec<&ResolvedDist<'_>> = dists.iter().collect();
        let extras = &Extras::default();
        let context =
            Known { manifest, other: None, targets, all: &resolved_dists, requires: &[], extras };
        let selectors =
            resolved_dists.iter().copied().filter(|one| one.package.kind == PackageKind::Selector);
        // Names for single targets keep their placeholder.
        let listed = |extras: &[Extra]| {
            python_literal::entry(&packages(extras, &Variant::None, &context)).into()
        };
        let mut lists: Vec<(Option<&ResolvedDist<'_>>, Arc<str>)> = Vec::new();
        for selector in selectors {
            let has_same_package = |(other, _): &&(Option<&ResolvedDist<'_>>, _)| {
                other.is_some_and(|other| std::ptr::eq(other.package, selector.package))
            };
            let earlier = lists.iter().find(has_same_package).map(|(_, list)| Arc::clone(list));
            let list = earlier.unwrap_or_else(|| listed(&selector.package.extras));
            lists.push((Some(selector), list));
        }
        if lists.is_empty() {
            lists.push((None, listed(&[])));
        }
        let libraries = python_literal::entry(&libraries(&context)).into();
        let devel_packages =
            dists.iter().filter(|one| one.package.kind == PackageKind::Devel).collect();
        Self { targets, all: dists, devel_packages, libraries, packages: lists }
    }

    fn facts(&self, dist: &ResolvedDist<'_>, mut own: Map<String, Value>) -> Facts {
        let relies = |(selector, _): &&(Option<&ResolvedDist<'_>>, _)| {
            selector.is_some_and(|selector| selector.relies_on(dist))
        };
        let entry = self.packages.iter().find(relies).or(self.packages.first());
        let selector = entry.and_then(|(selector, _)| *selector);
        own.insert("selector".to_owned(), selector.map_or(Value::Null, own_names));
        let packages = entry.map(|(_, packages)| ("packages", Arc::clone(packages)));
        let libraries = ("libraries", Arc::clone(&self.libraries));
        Facts { own, shared: packages.into_iter().chain([libraries]).collect() }
    }
}

fn packages(extras: &[Extra], target: &Variant, known: &Known<'_, '_>) -> Value {
    let mut packages = Map::new();
    let mut built: BTreeMap<&str, Vec<&ResolvedDist<'_>>> = BTreeMap::new();
    for dist in known.all.iter().filter(|dist| is_for(dist, target)) {
        built.entry(dist.package.name.as_str()).or_default().push(dist);
    }
    let of_package =
        |package: &Package| built.get(package.name.as_str()).into_iter().flatten().copied();
    let systems = [Some(known.manifest), known.other].into_iter().flatten();
    let each = systems.flat_map(|manifest| manifest.packages.values());
    let mut first: BTreeMap<&PackageName, &Extra> = BTreeMap::new();
    for extra in extras {
        first.entry(&extra.package).or_insert(extra);
    }
    let has_files = |p: &&Package| !matches!(p.kind, PackageKind::Selector | PackageKind::Choice);
    for package in each.filter(has_files) {
        let Some(declared) = package.distribution() else { continue };
        if packages.contains_key(package.name.as_str()) {
            continue;
        }
        let extra = first.get(&package.name.value);
        let extra = |variant: &Variant| extra.map(|extra| extra.name.fill(variant));
        if declared.per.is_by_axis() {
            // The runtime cannot detect an axis value.
            for built in of_package(package) {
                let value = built.variant.as_str().unwrap_or_default();
                let (name, module) = (built.name.to_string(), built.module.to_string());
                let facts = package_facts(built, &name, &module, extra(&built.variant).as_deref());
                packages.insert(format!("{}-{value}", *package.name), facts);
            }
            continue;
        }
        if let Some(built) = of_package(package).next() {
            let for_any = built.variant.as_str().is_some() && target.as_str().is_none();
            let (name, module) = if for_any {
                (declared.name.as_str().to_owned(), declared.module.as_str().to_owned())
            } else {
                (built.name.to_string(), built.module.to_string())
            };
            let mut facts = package_facts(built, &name, &module, extra(&Variant::None).as_deref());
            if let Some(directory) = directory_for_any(built).filter(|_| for_any) {
                facts["platform_dir"] = directory.into();
            }
            packages.insert(package.name.to_string(), facts);
        }
    }
    packages.into()
}

fn is_for(dist: &ResolvedDist<'_>, target: &Variant) -> bool {
    target.as_str().is_none() || dist.variant == Variant::None || dist.variant == *target
}

fn directory_for_any(built: &ResolvedDist<'_>) -> Option<String> {
    let unsuffixed = built.name.platform_dir("").ok()?;
    let suffix = built.platform_dir.as_str().strip_prefix(unsuffixed.as_str())?;
    let name = built.declared.name.as_str().replace(['-', '.'], "_");
    (!built.is_overlay()).then(|| format!("_{name}{suffix}"))
}

fn package_facts(built: &ResolvedDist<'_>, name: &str, module: &str, extra: Option<&str>) -> Value {
    let kind = if built.package.kind == PackageKind::Devel { "devel" } else { "runtime" };
    json!({"distribution": name, "module": module, "platform_dir": built.platform_dir, "kind": kind, "extra": extra})
}

/// Patterns by short name and system, without packages split by an axis: their names repeat.
fn libraries(known: &Known<'_, '_>) -> Value {
    let libraries_on = |system: System| -> BTreeMap<&str, (&Package, &Library)> {
        let target_manifest = Some(known.manifest).filter(|_| system == known.targets.system);
        let manifest = target_manifest.or(known.other).unwrap_or(known.manifest);
        let packages = manifest.packages.values();
        let packages = packages.filter(|p| p.distribution().is_none_or(|d| !d.per.is_by_axis()));
        let each = packages.flat_map(|p| p.libraries.iter().map(move |l| (p, l)));
        each.map(|(package, library)| (library.name.as_str(), (package, library))).collect()
    };
    let (linux, windows) = (libraries_on(System::Linux), libraries_on(System::Windows));
    let names: BTreeSet<&str> = linux.keys().chain(windows.keys()).copied().collect();
    let facts = names.into_iter().filter_map(|name| {
        let (linux, windows) = (linux.get(name), windows.get(name));
        let (package, _) = linux.or(windows)?;
        let rows = [linux, windows].into_iter().flatten();
        let row = json!({
            "package": *package.name,
            "linux": linux.and_then(|(_, library)| library.so.as_ref()),
            "windows": windows.and_then(|(_, library)| library.dll.as_ref()),
            "optional": rows.clone().any(|(_, library)| library.optional.is_some()),
        });
        Some((name.to_owned(), row))
    });
    facts.collect::<Map<_, _>>().into()
}

#[derive(Default)]
pub(super) struct Own<'o> {
    pub scripts: &'o [(&'o str, &'o ScriptTarget)],
    /// Scripts by the stub that starts them. Scripts in Python have no stub, because the runtime starts them.
    pub started: BTreeMap<RelPath, String>,
    pub aliases: &'o [&'o RelPath],
    pub libraries: BTreeMap<String, RelPath>,
    pub archive: Option<&'o str>,
}

impl Set<'_> {
    pub fn wheel(&self, dist: &ResolvedDist<'_>, own: &Own<'_>) -> Facts {
        let Self { targets, all, .. } = *self;
        let package = dist.package;
        let is_registered =
            |script: &Script| own.scripts.iter().any(|(name, _)| *name == script.name.as_str());
        let scripts =
            package.scripts.iter().filter(|script| is_registered(script)).filter_map(|script| {
                match &script.target.value {
                    ScriptTarget::Program(program) => {
                        let mut row =
                            json!({"program": program, "expand_devel": script.expand_devel});
                        if let Some(target) = own.started.get(program) {
                            row["starts"] = json!(target);
                        }
                        Some((script.name.value.clone(), row))
                    }
                    ScriptTarget::Function(_) => None,
                }
            });
        let devel = self.devel_packages.iter().find(|devel| devel.relies_on(dist));
        let mut facts = self.names(dist);
        facts.extend([
            ("platform_dir".to_owned(), json!(dist.platform_dir)),
            ("scripts".to_owned(), scripts.collect::<Map<_, _>>().into()),
            (
                "devel".to_owned(),
                devel.map_or(
                    Value::Null,
                    |d| json!({"module": d.module, "platform_dir": d.platform_dir}),
                ),
            ),
            ("environment".to_owned(), environment(dist, all)),
        ]);
        let since = targets.since.as_ref();
        let compatible = since.and_then(|since| since.compatible.get(&dist.name.normalized()));
        facts.extend(compatible.map(|digest| ("compatible".to_owned(), json!(digest))));
        if !own.aliases.is_empty() {
            facts.insert("aliases".to_owned(), json!(own.aliases));
        }
        if !own.libraries.is_empty() {
            facts.insert("shared".to_owned(), json!(own.libraries));
        }
        if let Some(archive) = own.archive {
            let keep_links: Vec<&RelPath> =
                package.keep_links.iter().map(|l| &l.path.value).collect();
            facts.insert("archive".to_owned(), json!(archive));
            facts.insert("keep_links".to_owned(), json!(keep_links));
            if package.ships_files() {
                facts.insert("layout".to_owned(), json!("files"));
            }
        }
        self.facts(dist, facts)
    }

    pub fn choice(&self, dist: &ResolvedDist<'_>) -> Facts {
        self.facts(dist, self.names(dist))
    }

    fn names(&self, dist: &ResolvedDist<'_>) -> Map<String, Value> {
        Map::from_iter([
            ("version".to_owned(), json!(self.targets.version)),
            ("distribution".to_owned(), json!(dist.name)),
            ("package".to_owned(), json!(*dist.package.name)),
            ("module".to_owned(), json!(dist.module)),
        ])
    }
}

fn environment(dist: &ResolvedDist<'_>, all: &Dists<'_>) -> Value {
    let variables = dist.package.environment.iter().map(|environment| {
        let directories = environment.directories.iter().filter_map(|rule| {
            let directory = rpath::directory(dist, rule, all)?;
            let directory = directory.as_str();
            Some(json!(directory.split_once('/').unwrap_or((directory, ""))))
        });
        (environment.variable.value.clone(), Value::Array(directories.collect()))
    });
    variables.collect::<Map<_, _>>().into()
}

pub(super) fn device_links(
    targets: &Targets,
    dist: &ResolvedDist<'_>,
    links: impl Iterator<Item = (RelPath, String)>,
) -> String {
    let links = links.map(|(path, target)| DeviceLink { relpath: path, target }).collect();
    serde_json::to_string(&DeviceLinks {
        isa: dist.variant.as_str(),
        links,
        version: &targets.version,
    })
    .unwrap_or_default()
}

#[derive(Serialize)]
struct DeviceLinks<'d> {
    isa: Option<&'d str>,
    links: Vec<DeviceLink>,
    version: &'d Version,
}

#[derive(Serialize)]
struct DeviceLink {
    relpath: RelPath,
    target: String,
}

pub(super) fn is_license(manifest: &Manifest, entry: &CatalogEntry) -> bool {
    manifest.project.license_texts.matching(&entry.path).next().is_some()
}
