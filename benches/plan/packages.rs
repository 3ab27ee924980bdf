//! Synthetic manifest of many packages, and its catalog.
//!
//! A selector requires the packages with an even number and offers the others. Each package has a
//! library that needs the one of the first package, a link to it, a file of data and a licence.

use std::fmt::Write as _;

use base::names::{ArtifactName, RelPath};
use binary::elf::{ElfFacts, ElfKind, Machine};
use catalog::{Artifact, ArtifactId, BuildFacts, Catalog, CatalogEntry, EntryKind, FileType};

/// Returns `packages.kdl`.
pub fn manifest(packages: usize) -> String {
    let mut text = "common { author \"A\"; requires-python \">=3.10\"; \
                    license-text \"share/doc/*/LICENSE\"\n"
        .to_owned();
    for n in 0..packages {
        let _ = writeln!(text, "license-of \"a{n}\" spdx=\"MIT\"");
    }
    text += "}\nsystem-library \"libc.so.6\"\n\
             package \"meta\" kind=\"selector\" {\n\
             distribution \"set\" module=\"set_sdk\" per=\"none\"\nsummary \"All\"\nlicense \"MIT\"\n";
    for n in 0..packages {
        let _ = match n % 2 {
            0 => writeln!(text, "requires \"p{n}\""),
            _ => writeln!(text, "extra \"p{n}\" package=\"p{n}\""),
        };
    }
    text += "}\n";
    for n in 0..packages {
        let _ = write!(
            text,
            "package \"p{n}\" kind=\"runtime\" {{\n\
             distribution \"set-p{n}\" module=\"set_p{n}\" per=\"none\"\nsummary \"Part {n}\"\n\
             artifact \"a{n}\" \"lib\"\nrpath \"p0\" \"lib\"\nfind-library \"l{n}\"\n"
        );
        text += if n == 0 { "}\n" } else { "requires \"p0\"\n}\n" };
    }
    text
}

/// Returns the catalog of [`manifest`].
pub fn catalog(packages: usize) -> Catalog {
    let version = Some("7.2.0".to_owned());
    let mut artifacts: Vec<Artifact> = (0..packages).map(artifact).collect();
    artifacts.sort_by(|a, b| a.id.cmp(&b.id));
    let build = BuildFacts { kpack_split: true, version, ..BuildFacts::default() };
    Catalog { artifacts, ignored: Vec::new(), build }
}

fn artifact(n: usize) -> Artifact {
    let name: ArtifactName = format!("a{n}").parse().unwrap();
    let id =
        ArtifactId { name, component: "lib".parse().unwrap(), family: "generic".parse().unwrap() };
    let needed = if n == 0 { vec!["libc.so.6"] } else { vec!["libl0.so.1", "libc.so.6"] };
    let library = ElfFacts {
        kind: ElfKind::SharedLibrary,
        machine: Machine::X86_64,
        soname: Some(format!("libl{n}.so.1")),
        needed: needed.into_iter().map(str::to_owned).collect(),
        rpath: None,
        runpath: Some("$ORIGIN".to_owned()),
        glibc: Some((2, 28)),
        versions: Vec::new(),
        interpreter: None,
        forbidden: Vec::new(),
        isa_level: None,
        isa_number: None,
        executable_stack: None,
    };
    let file = |content| EntryKind::File { size: 5000, executable: false, content };
    let link = EntryKind::Symlink { target: format!("libl{n}.so.1") };
    let entries = [
        (format!("lib/libl{n}.so"), link),
        (format!("lib/libl{n}.so.1"), file(FileType::Elf(Box::new(library)))),
        (format!("share/doc/l{n}/LICENSE"), file(FileType::Data)),
        (format!("share/l{n}/table.bin"), file(FileType::Data)),
    ];
    let base: RelPath = "stage".parse().unwrap();
    let entry = |(path, kind): (String, EntryKind)| CatalogEntry {
        path: path.parse().unwrap(),
        base: base.clone(),
        kind,
        sha256: None,
    };
    Artifact { id, absent_bases: Vec::new(), entries: entries.map(entry).into() }
}
