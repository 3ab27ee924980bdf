//! Synthetic catalog of any size for the repository's manifest.
//!
//! It has every name in the rules of `packages.kdl`; the rest has the shape of a build.

use std::collections::{BTreeMap, BTreeSet};

use base::names::{ArtifactName, Component, Family, Mode, RelPath, System};
use base::target::{Per, Target};
use binary::elf::{ElfFacts, ElfKind, Machine, VersionNeed};
use catalog::FileType;
use catalog::{Artifact, ArtifactId, BuildFacts, Catalog, CatalogEntry, EntryKind};
use manifest::{Manifest, Package, PackageKind, ScriptTarget};

/// Extends `families.kdl` to this many ISAs.
pub fn families(kdl: &str, isas: usize) -> String {
    let there = kdl.lines().filter(|line| line.starts_with("isa ")).count();
    // No GPU has these numbers.
    let facts = |n| format!("parent=\"gfx9-4\" mach={:#x} wave=64 product=\"made up\"", 0x80 + n);
    let more = (there..isas).map(|n| format!("isa \"gfx94{n:02}\" \"made-up-all\" {}\n", facts(n)));
    more.fold(kdl.to_owned(), |text, isa| text + &isa)
}

/// Makes about `size` entries; a little more than half of them belong to the ISAs of `manifest`.
pub fn catalog(manifest: &Manifest, size: usize) -> Catalog {
    let mut made = Made::default();
    for package in manifest.packages.values() {
        what_rules_name(package, &mut made);
    }
    let (generic, device) = (generic_artifacts(manifest), device_artifacts(manifest));
    let weights: usize = generic.iter().map(|id| weight(id.component)).sum();
    let rest = size.saturating_sub(made.count());
    for id in &generic {
        let quota = rest * 45 / 100 * weight(id.component) / weights;
        fill(&mut made, id, quota, generic_entry);
    }
    for id in &device {
        fill(&mut made, id, (rest * 55 / 100).div_ceil(device.len()), device_entry);
    }
    let targets = manifest.families.isas.keys().map(|isa| isa.as_str().to_owned()).collect();
    let version = Some("7.2.0".to_owned());
    made.into_catalog(BuildFacts { kpack_split: true, targets, version, ..BuildFacts::default() })
}

/// Makes the catalog of a later build: of every twenty plain data files, one is gone, one is new,
/// one is renamed and one has grown; some artifacts have a renamed directory.
pub fn later(catalog: &Catalog) -> Catalog {
    let mut later = catalog.clone();
    for (number, artifact) in later.artifacts.iter_mut().enumerate() {
        let entries = std::mem::take(&mut artifact.entries).into_iter().enumerate();
        artifact.entries = entries.flat_map(|(n, entry)| later_entry(n, entry)).collect();
        if number % 7 == 0 {
            artifact.entries.iter_mut().for_each(|entry| rename(entry, "/tables/", "/grids/"));
        }
        artifact.entries.sort_by(|a, b| a.path.cmp(&b.path));
    }
    later
}

fn later_entry(n: usize, mut entry: CatalogEntry) -> Vec<CatalogEntry> {
    let by_extension = [".bin", ".dat", ".hpp", ".html"]
        .into_iter()
        .find(|end| entry.path.as_str().ends_with(end));
    let Some(extension) = by_extension else { return vec![entry] };
    match (n % 20, &mut entry.kind) {
        (0, _) => return Vec::new(),
        (1, _) => {
            let mut new = entry.clone();
            rename(&mut new, extension, &format!(".new{extension}"));
            return vec![entry, new];
        }
        (2, _) => rename(&mut entry, extension, &format!(".moved{extension}")),
        (3, EntryKind::File { size, .. }) => *size += 1000,
        _ => {}
    }
    vec![entry]
}

fn rename(entry: &mut CatalogEntry, from: &str, to: &str) {
    entry.path = entry.path.as_str().replace(from, to).parse().unwrap();
}

/// Entries by artifact and path.
#[derive(Default)]
struct Made(BTreeMap<ArtifactId, BTreeMap<RelPath, EntryKind>>);

impl Made {
    fn add(&mut self, id: &ArtifactId, path: &str, kind: EntryKind) {
        let entries = self.0.entry(id.clone()).or_default();
        let path: RelPath = path.parse().unwrap();
        let missing = std::iter::successors(path.parent(), RelPath::parent)
            .take_while(|dir| !entries.contains_key(dir));
        for directory in missing.collect::<Vec<_>>() {
            entries.insert(directory, EntryKind::Directory);
        }
        entries.entry(path).or_insert(kind);
    }

    fn count(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    fn count_of(&self, id: &ArtifactId) -> usize {
        self.0.get(id).map_or(0, BTreeMap::len)
    }

    fn into_catalog(self, build: BuildFacts) -> Catalog {
        let base: RelPath = "math-libs/project/stage".parse().unwrap();
        let artifacts = self.0.into_iter().map(|(id, entries)| Artifact {
            id,
            absent_bases: Vec::new(),
            entries: entries
                .into_iter()
                .map(|(path, kind)| entry(path, base.clone(), kind))
                .collect(),
        });
        Catalog { artifacts: artifacts.collect(), ignored: Vec::new(), build }
    }
}

fn entry(path: RelPath, base: RelPath, kind: EntryKind) -> CatalogEntry {
    let sha256 = (path.file_name() == SHARED).then(|| "5e".repeat(32));
    CatalogEntry { path, base, kind, sha256 }
}

/// Target of the catalog.
const KPACK: Target = Target { mode: Mode::Kpack, system: System::Linux };

const SHARED: &str = "installed-by-all.txt";

/// Artifact of no package.
const STRAY: &str = "stray";

fn id(name: &ArtifactName, component: Component, family: &str) -> ArtifactId {
    ArtifactId { name: name.clone(), component, family: family.parse().unwrap() }
}

/// Returns every artifact that the manifest names, with all its components.
fn generic_artifacts(manifest: &Manifest) -> Vec<ArtifactId> {
    let rules = manifest.packages.values().flat_map(|package| &package.artifacts);
    let stray = STRAY.parse().unwrap();
    let names: BTreeSet<&ArtifactName> =
        rules.map(|rule| &rule.name.value).chain([&stray]).collect();
    let components = Component::ALL.into_iter().filter(|c| *c != Component::Dbg);
    names
        .into_iter()
        .flat_map(|name| {
            components.clone().map(|component| id(name, component, Family::generic().as_str()))
        })
        .collect()
}

/// Returns the artifacts of each ISA for the packages that are split by ISA.
fn device_artifacts(manifest: &Manifest) -> Vec<ArtifactId> {
    let by_isa =
        |package: &&Package| package.distribution_for(KPACK).is_some_and(|d| d.per == Per::Isa);
    let rules = manifest.packages.values().filter(by_isa).flat_map(|package| &package.artifacts);
    let isas = manifest.families.isas.keys();
    isas.flat_map(|isa| rules.clone().map(|rule| id(&rule.name, Component::Lib, isa.as_str())))
        .collect()
}

/// Returns the relative number of files of a component.
fn weight(component: Component) -> usize {
    match component {
        Component::Dev => 6,
        Component::Lib => 3,
        Component::Run | Component::Doc | Component::Test | Component::Dbg => 1,
    }
}

/// Adds the files that a package's rules name.
fn what_rules_name(package: &Package, made: &mut Made) {
    let Some(first) = package.artifacts.first().filter(|_| package.kind == PackageKind::Runtime)
    else {
        return;
    };
    let home = id(&first.name, Component::Lib, "generic");
    for rule in package
        .includes
        .iter()
        .chain(package.excludes.iter())
        .filter(|rule| rule.optional.is_none())
    {
        made.add(&home, &rule.glob.as_str().replace("**", "x").replace('*', "x"), data(700));
    }
    let names = package
        .aliases
        .iter()
        .map(|alias| alias.path.as_str())
        .chain(package.libraries.iter().filter_map(|l| l.so.as_deref()));
    for stem in names.filter_map(|name| name.split_once(".so").map(|(stem, _)| stem)) {
        library(made, &home, &stem.replace('*', "x"));
    }
    let elsewhere = package
        .artifacts
        .last()
        .map_or(home.clone(), |last| id(&last.name, Component::Lib, "generic"));
    for script in &package.scripts {
        if let ScriptTarget::Program(link) = &*script.target {
            // Beside the link, where the package's globs select it too.
            let program: RelPath = format!("{link}-program").parse().unwrap();
            made.add(&home, link.as_str(), symlink(&link.relative_to_sibling(&program)));
            made.add(&elsewhere, program.as_str(), elf(ElfKind::Executable, None));
        }
    }
}

/// Adds entries to an artifact up to its planned number.
fn fill(
    made: &mut Made,
    id: &ArtifactId,
    quota: usize,
    add: impl Fn(&mut Made, &ArtifactId, usize),
) {
    let first = made.count_of(id);
    for number in 0.. {
        if number > 0 && made.count_of(id) - first >= quota {
            break;
        }
        add(made, id, number);
    }
}

fn generic_entry(made: &mut Made, id: &ArtifactId, n: usize) {
    let (name, group, at) = (&id.name, n / 25, n % 25);
    match (id.component, at) {
        (Component::Dev, 1) => {
            made.add(id, &format!("lib/cmake/{name}/{name}-config-{group}.cmake"), data(900));
        }
        (Component::Dev, 2) => made.add(id, &format!("lib/lib{name}_{group}.a"), data(90_000)),
        (Component::Dev, 3) => made.add(
            id,
            &format!("include/{name}_{group}.h"),
            symlink(&format!("{name}/part{group}/f0.hpp")),
        ),
        (Component::Dev, _) => {
            made.add(id, &format!("include/{name}/part{group}/f{at}.hpp"), data(4000));
        }
        (Component::Lib, 0) => library(made, id, &format!("lib/lib{name}_{group}")),
        (Component::Lib, 1) => {
            made.add(id, &format!("share/{name}/empty{group}"), EntryKind::Directory);
        }
        (Component::Lib, 2) => {
            made.add(id, &format!("share/common/group{group}/{SHARED}"), data(10));
        }
        (Component::Lib, _) => {
            made.add(id, &format!("share/{name}/tables/Group{group}/table_{at}.bin"), data(12_000));
        }
        (Component::Run, _) => program(made, id, n),
        (Component::Doc, _) if n == 0 => {
            made.add(id, &format!("share/doc/{name}/LICENSE.txt"), data(1100));
        }
        (Component::Doc, _) => made.add(
            id,
            &format!("share/doc/{name}/html/page{group}/section_{at}.html"),
            data(20_000),
        ),
        (Component::Test | Component::Dbg, _) => {
            made.add(id, &format!("share/{name}/test/case_{n}.yaml"), data(600));
        }
    }
}

/// Adds a program, a link to the previous one, or a script.
fn program(made: &mut Made, id: &ArtifactId, n: usize) {
    let name = &id.name;
    match n % 3 {
        0 => made.add(id, &format!("bin/{name}-tool{n}"), elf(ElfKind::Executable, None)),
        1 => made.add(
            id,
            &format!("bin/{name}-tool{n}"),
            symlink(&format!("../bin/{name}-tool{}", n - 1)),
        ),
        _ => made.add(
            id,
            &format!("libexec/{name}/script_{n}.py"),
            file(FileType::Script, 3000, true),
        ),
    }
}

fn device_entry(made: &mut Made, id: &ArtifactId, n: usize) {
    const TYPES: [&str; 6] = ["HH", "HS_HPA", "BB_HPA", "I8I_HPA", "SS", "DD"];
    let (name, isa) = (&id.name, &id.family);
    let stem = format!(
        "lib/{name}/library/TensileLibrary_Type_{}_Contraction_l_Alik_Bljk_Cijk_Dijk_{}_{isa}",
        TYPES[n % 6],
        n / 6
    );
    match n % 3 {
        _ if n == 0 => library(made, id, &format!("lib/lib{name}_plugin_{isa}")),
        0 => made.add(id, &format!("{stem}.dat"), data(60_000)),
        1 => made.add(id, &format!("{stem}.co"), elf(ElfKind::CodeObject, None)),
        _ => made.add(id, &format!("share/{name}/db/{isa}/kernels_{n}.db.txt"), data(5000)),
    }
}

/// Adds a library behind two links.
fn library(made: &mut Made, id: &ArtifactId, stem: &str) {
    let name = stem.rsplit('/').next().unwrap();
    made.add(
        id,
        &format!("{stem}.so.1.2"),
        elf(ElfKind::SharedLibrary, Some(format!("{name}.so.1"))),
    );
    made.add(id, &format!("{stem}.so.1"), symlink(&format!("{name}.so.1.2")));
    made.add(id, &format!("{stem}.so"), symlink(&format!("{name}.so.1")));
}

fn symlink(target: &str) -> EntryKind {
    EntryKind::Symlink { target: target.to_owned() }
}

fn data(size: u64) -> EntryKind {
    file(FileType::Data, size, false)
}

fn file(content: FileType, size: u64, executable: bool) -> EntryKind {
    EntryKind::File { size, executable, content }
}

fn elf(kind: ElfKind, soname: Option<String>) -> EntryKind {
    let host = matches!(kind, ElfKind::SharedLibrary | ElfKind::Executable);
    let machine = if host {
        Machine::X86_64
    } else {
        Machine::Other { number: 224, bits: 64, big_endian: false }
    };
    let needed = ["libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"].map(str::to_owned);
    let versions = vec![VersionNeed {
        library: needed[3].clone(),
        versions: ["GLIBC_2.2.5", "GLIBC_2.28"].map(str::to_owned).into(),
    }];
    let facts = ElfFacts {
        kind,
        machine,
        soname,
        needed: if host { needed.into() } else { Vec::new() },
        rpath: None,
        runpath: host.then(|| "$ORIGIN:$ORIGIN/rocm_sysdeps/lib".to_owned()),
        glibc: host.then_some((2, 28)),
        versions: if host { versions } else { Vec::new() },
        interpreter: (kind == ElfKind::Executable)
            .then(|| "/lib64/ld-linux-x86-64.so.2".to_owned()),
        forbidden: Vec::new(),
        isa_level: None,
        isa_number: None,
        executable_stack: None,
    };
    file(FileType::Elf(Box::new(facts)), 50_000, kind == ElfKind::Executable)
}
