//! Catalogs from one line an entry: `ARTIFACT PATH KIND [ARGUMENT] [KEY=VALUE]…`.
//!
//! Kinds: `so SONAME` (`-` for none), `loader SONAME`, `exe`, `static`, `object`, `code` (an AMDGPU
//! code object), `dll NAME`, `implib DLL,…` (import libraries), `foreign` (for another machine),
//! `broken` (a truncated ELF file), `script`, `text WORD`, `data SIZE`, `link TEXT`, `dir`. Keys: `rpath`,
//! `runpath`, `needs`, `glibc=2.28`, `machine=aarch64`, `isa=4c` (number of a code object), `base`, `x=yes|no`
//! (executable), `stack=x` (asks for an executable stack), `is` (content, to distinguish two lines of one kind).

use std::collections::BTreeMap;

use binary::elf::{ElfFacts, ElfKind, ExecutableStack, Machine, VersionNeed};
use binary::pe::{ImportLibrary, PeFacts, PeKind, PeVersion};
use catalog::{Artifact, ArtifactId, BuildFacts, Catalog, CatalogEntry, EntryKind, FileType};

/// Returns the catalog of these lines; `build` has all other facts.
pub fn catalog(lines: &str, build: BuildFacts) -> Catalog {
    let mut artifacts: BTreeMap<ArtifactId, Vec<CatalogEntry>> = BTreeMap::new();
    for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        artifacts.entry(id(words[0])).or_default().push(entry(&words));
    }
    let artifacts = artifacts.into_iter().map(|(id, mut entries)| {
        entries.sort_by(|a, b| (&a.path, &a.base).cmp(&(&b.path, &b.base)));
        Artifact { id, absent_bases: Vec::new(), entries }
    });
    Catalog { artifacts: artifacts.collect(), ignored: Vec::new(), build }
}

pub fn id(text: &str) -> ArtifactId {
    let fields: Vec<&str> = text.split('_').collect();
    let [name, component, family] = fields[..] else { panic!("{text} is no artifact") };
    ArtifactId {
        name: name.parse().unwrap(),
        component: component.parse().unwrap(),
        family: family.parse().unwrap(),
    }
}

fn entry(words: &[&str]) -> CatalogEntry {
    let options: BTreeMap<&str, &str> =
        words[2..].iter().filter_map(|w| w.split_once('=')).collect();
    let argument = words.get(3).copied().filter(|w| !w.contains('='));
    let kind = kind(words[2], argument, &options);
    let sha256 = matches!(kind, EntryKind::File { .. }).then(|| {
        format!(
            "{} {} {}",
            words[2],
            argument.unwrap_or_default(),
            options.get("is").unwrap_or(&"")
        )
    });
    CatalogEntry {
        path: words[1].parse().unwrap(),
        base: options.get("base").unwrap_or(&"stage").parse().unwrap(),
        kind,
        sha256,
    }
}

fn kind(kind: &str, argument: Option<&str>, options: &BTreeMap<&str, &str>) -> EntryKind {
    let elf = |kind: ElfKind| {
        FileType::Elf(Box::new(facts(kind, argument.filter(|a| *a != "-"), options)))
    };
    let (content, executable) = match kind {
        "dir" => return EntryKind::Directory,
        "link" => return EntryKind::Symlink { target: argument.unwrap().to_owned() },
        "so" => (elf(ElfKind::SharedLibrary), false),
        "loader" => (elf(ElfKind::Loader), false),
        "exe" => (elf(ElfKind::Executable), true),
        "static" => (elf(ElfKind::StaticExecutable), true),
        "object" => (elf(ElfKind::Relocatable), false),
        "code" => (elf(ElfKind::CodeObject), false),
        "foreign" => (elf(ElfKind::Foreign), true),
        "broken" => (FileType::BrokenElf("the file ends before its headers".to_owned()), false),
        "dll" => (FileType::Pe(Box::new(dll(argument, options))), false),
        "implib" => (FileType::ImportLibrary(Box::new(import_library(argument, options))), false),
        "broken-implib" => {
            (FileType::BrokenImportLibrary("a member at 0x60 ends at 90".to_owned()), false)
        }
        "broken-dll" => (FileType::BrokenPe("Magic at 0x98 is 0x107".to_owned()), false),
        "bundle" => {
            (FileType::DeviceCode(argument.into_iter().map(str::to_owned).collect()), false)
        }
        "script" => (FileType::Script, true),
        "text" | "data" => (FileType::Data, false),
        other => panic!("there is no kind `{other}`"),
    };
    let size = argument.and_then(|a| a.parse().ok()).unwrap_or(10);
    EntryKind::File {
        size,
        executable: options.get("x").map_or(executable, |x| *x == "yes"),
        content,
    }
}

fn import_library(dlls: Option<&str>, options: &BTreeMap<&str, &str>) -> ImportLibrary {
    let dlls = dlls.into_iter().flat_map(|names| names.split(',')).map(str::to_owned).collect();
    ImportLibrary { machine: dll(None, options).machine, dlls }
}

fn dll(name: Option<&str>, options: &BTreeMap<&str, &str>) -> PeFacts {
    let list =
        |key: &str| options.get(key).iter().flat_map(|n| n.split(',')).map(str::to_owned).collect();
    PeFacts {
        kind: PeKind::Library,
        machine: match options.get("machine") {
            Some(&"aarch64") => Machine::Aarch64,
            _ => Machine::X86_64,
        },
        name: name.map(str::to_owned),
        imports: list("needs"),
        delayed: list("delayed"),
        version: options.get("version").map(|version| PeVersion {
            file: (*version).to_owned(),
            product: "7.2 (rocm)".to_owned(),
        }),
    }
}

fn facts(kind: ElfKind, soname: Option<&str>, options: &BTreeMap<&str, &str>) -> ElfFacts {
    let text = |key: &str| options.get(key).map(|v| (*v).to_owned());
    let glibc = options
        .get("glibc")
        .and_then(|v| v.split_once('.'))
        .map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
    let versions = options.get("glibc").map(|v| VersionNeed {
        library: "libc.so.6".to_owned(),
        versions: vec![format!("GLIBC_{v}")],
    });
    let machine = match options.get("machine") {
        None if matches!(kind, ElfKind::CodeObject | ElfKind::Foreign) => {
            Machine::Other { number: 224, bits: 64, big_endian: false }
        }
        None => Machine::X86_64,
        Some(&"aarch64") => Machine::Aarch64,
        Some(&"i386") => Machine::Other { number: 3, bits: 32, big_endian: false },
        Some(other) => panic!("there is no machine `{other}`"),
    };
    ElfFacts {
        kind,
        machine,
        soname: soname.map(str::to_owned),
        needed: options.get("needs").iter().flat_map(|n| n.split(',')).map(str::to_owned).collect(),
        rpath: text("rpath"),
        runpath: text("runpath"),
        glibc,
        versions: versions.into_iter().collect(),
        interpreter: None,
        forbidden: Vec::new(),
        isa_level: None,
        isa_number: options.get("isa").map(|number| u32::from_str_radix(number, 16).unwrap()),
        executable_stack: options.get("stack").map(|_| ExecutableStack::Flag),
    }
}
