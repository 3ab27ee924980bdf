//! Artifacts as archives: the same catalog as from directories, and no file written outside.

use std::io::Write;
use std::path::Path;

use catalog::{self, Catalog, EntryKind, Source};
use fs_err as fs;
use tar::{EntryType, Header};
use tempfile::TempDir;

/// Tar archive, built member by member, including invalid ones.
#[derive(Default)]
struct Archive(Vec<u8>);

impl Archive {
    fn member(mut self, path: &[u8], kind: EntryType, content: &[u8], link: &[u8]) -> Self {
        let mut header = Header::new_gnu();
        // Fields are set directly: the crate's setters refuse the tested values.
        let old = header.as_old_mut();
        old.name[..path.len()].copy_from_slice(path);
        old.linkname[..link.len()].copy_from_slice(link);
        header.set_entry_type(kind);
        header.set_mode(0o755);
        header.set_size(content.len() as u64);
        header.set_cksum();
        self.0.extend(header.as_bytes());
        self.0.extend(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    fn file(self, path: &str, content: &str) -> Self {
        self.member(path.as_bytes(), EntryType::Regular, content.as_bytes(), b"")
    }

    fn link(self, path: &str, target: &str) -> Self {
        self.member(path.as_bytes(), EntryType::Symlink, b"", target.as_bytes())
    }

    /// Starts with a manifest.
    fn with_manifest() -> Self {
        Self::default().file("artifact_manifest.txt", "stage\n")
    }

    fn end(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }
}

fn zst(tar: &[u8]) -> Vec<u8> {
    zstd::encode_all(tar, 3).unwrap()
}

fn xz(tar: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
    encoder.write_all(tar).unwrap();
    encoder.finish().unwrap()
}

/// Makes a directory with an artifact directory; no other file may appear in it.
fn place(name: &str, content: &[u8]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("artifacts")).unwrap();
    fs::write(dir.path().join("artifacts").join(name), content).unwrap();
    dir
}

fn scan(dir: &Path) -> Catalog {
    let scanned = catalog::scan(dir);
    scanned
        .unwrap_or_else(|problems| {
            panic!("{:?}", problems.iter().map(ToString::to_string).collect::<Vec<_>>())
        })
        .0
}

fn problem(content: &[u8]) -> String {
    let dir = place("base_lib_generic.tar.zst", content);
    let problems = catalog::scan(&dir.path().join("artifacts")).unwrap_err();
    let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    let beside: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(beside, ["artifacts"], "nothing is written beside the artifacts");
    assert_eq!(fs::read_dir(dir.path().join("artifacts")).unwrap().count(), 1);
    found.into_iter().next().unwrap()
}

#[test]
fn archives_give_the_same_catalog_as_directories() {
    let library = binary::elf::forward::forwarding_library(
        binary::elf::stub::StubMachine::X86_64,
        "libx.so.1",
        "libc.so.6",
        "$ORIGIN",
    )
    .unwrap();
    let tar = Archive::with_manifest()
        .member(b"stage/", EntryType::Directory, b"", b"")
        .member(b"stage/lib/libx.so.1.0", EntryType::Regular, &library, b"")
        .link("stage/lib/libx.so.1", "libx.so.1.0")
        .link(
            "stage/other",
            "../../elsewhere/../stage/lib".trim_start_matches("../../elsewhere/../stage/"),
        )
        .member(b"stage/lib/hard", EntryType::Link, b"", b"stage/lib/libx.so.1.0")
        .member(b"stage/share/empty/", EntryType::Directory, b"", b"")
        .file("stage/bin/run", "#!/bin/sh\n")
        .end();
    let directory = tempfile::tempdir().unwrap();
    tar::Archive::new(&tar[..]).unpack(directory.path().join("base_lib_generic")).unwrap();
    let expected = serde_json::to_string(&scan(directory.path())).unwrap();
    for (name, content) in
        [("base_lib_generic.tar.zst", zst(&tar)), ("base_lib_generic.tar.xz", xz(&tar))]
    {
        let dir = place(name, &content);
        assert_eq!(
            serde_json::to_string(&scan(&dir.path().join("artifacts"))).unwrap(),
            expected,
            "{name}"
        );
    }
}

#[test]
fn members_may_be_named_from_the_dot_on() {
    let tar = Archive::default()
        .member(b"./", EntryType::Directory, b"", b"")
        .file("./artifact_manifest.txt", "stage\n")
        .file("./stage/a", "a")
        .end();
    let dir = place("base_lib_generic.tar.zst", &zst(&tar));
    assert_eq!(scan(&dir.path().join("artifacts")).artifacts[0].entries.len(), 1);
}

#[test]
fn the_same_bytes_of_the_same_archive_are_known_again() {
    let packed = zst(&Archive::with_manifest().file("stage/a", "bytes").file("stage/b", "").end());
    let dir = place("base_lib_generic.tar.zst", &packed);
    let other = place("base_lib_generic.tar.xz", b"");
    let origin = |catalog: &Catalog, name: &str| catalog::SourcePath {
        artifact: catalog.artifacts[0].id.clone(),
        base: "stage".parse().unwrap(),
        path: name.parse().unwrap(),
    };
    let known = |dir: &Path, name: &str| {
        let (catalog, tree) = catalog::scan(&dir.join("artifacts")).unwrap();
        let file = tree.find(&origin(&catalog, name)).unwrap();
        let mut bytes = vec![0; usize::try_from(file.len()).unwrap()];
        file.open().unwrap().read_exact_at(0, &mut bytes).unwrap();
        (file.identity().clone(), String::from_utf8(bytes).unwrap())
    };
    let first = known(dir.path(), "a");
    assert_eq!(first.1, "bytes");
    assert_eq!(known(dir.path(), "a"), first);
    assert_ne!(known(dir.path(), "b").0, first.0, "another member");
    let tar = Archive::with_manifest().file("stage/a", "bytes").file("stage/b", "b").end();
    fs::write(other.path().join("artifacts/base_lib_generic.tar.xz"), xz(&tar)).unwrap();
    assert_ne!(known(other.path(), "a").0, first.0, "a member of another archive");
}

#[test]
fn members_below_files_and_links_are_refused() {
    let refusals = |archive: Archive| problem(&zst(&archive.end()));
    let refused = |fault: &str| format!("archive base_lib_generic.tar.zst: {fault}");
    let behind = refused("`stage/a/b`: path below a file or a link (`stage/a`)");
    assert_eq!(
        refusals(Archive::with_manifest().file("stage/a", "a").file("stage/a/b", "b")),
        behind
    );
    assert_eq!(
        refusals(Archive::with_manifest().link("stage/a", "c").file("stage/a/b", "b")),
        behind
    );
    let late = Archive::with_manifest().file("stage/a/b", "b").file("stage/a", "a");
    assert_eq!(refusals(late), refused("`stage/a`: file or link with other members below it"));
    let none = Archive::with_manifest().member(b"stage/h", EntryType::Link, b"", b"stage/none");
    assert_eq!(
        refusals(none),
        refused("`stage/h`: hard link without a preceding target (`stage/none`)")
    );
    let text = Archive::with_manifest().member(b"stage/l", EntryType::Symlink, b"", b"caf\xe9");
    assert_eq!(refusals(text), refused("`stage/l`: link to no file (its target is not UTF-8)"));
}

#[test]
fn a_base_directory_behind_a_link_is_refused_in_archives_too() {
    let tar = Archive::default()
        .file("artifact_manifest.txt", "link/stage\n")
        .file("real/stage/a", "a")
        .link("link", "real")
        .end();
    let found = problem(&zst(&tar));
    assert_eq!(
        found,
        "base directory `link/stage` of artifact `base_lib_generic` leads through the link `link`"
    );
}

#[test]
fn the_first_member_has_to_be_the_manifest() {
    let late =
        Archive::default().file("stage/a", "a").file("artifact_manifest.txt", "stage\n").end();
    assert_eq!(
        problem(&zst(&late)),
        "the first member of archive base_lib_generic.tar.zst must be artifact_manifest.txt, not `stage/a`"
    );
    let dotted = Archive::default()
        .member(b"./", EntryType::Directory, b"", b"")
        .file("./stage/a", "a")
        .file("artifact_manifest.txt", "stage\n")
        .end();
    assert!(problem(&zst(&dotted)).contains("must be artifact_manifest.txt, not `stage/a`"));
}

#[test]
fn members_that_lead_outside_are_named() {
    let above = Archive::with_manifest().file("stage/../../a", "a").end();
    assert_eq!(
        problem(&zst(&above)),
        "archive base_lib_generic.tar.zst: `stage/../../a`: installers cannot unpack this name (has `..`, which can lead outside)"
    );
    let absolute = Archive::with_manifest().file("/tmp/rockpack-absolute", "a").end();
    assert!(
        problem(&zst(&absolute))
            .contains("`/tmp/rockpack-absolute`: installers cannot unpack this name (is absolute")
    );
    assert!(!Path::new("/tmp/rockpack-absolute").exists());
}

#[test]
fn links_that_lead_outside_are_named() {
    for target in ["../../../etc/passwd", "/etc/passwd"] {
        let tar = Archive::with_manifest().link("stage/l", target).end();
        assert_eq!(
            problem(&zst(&tar)),
            format!(
                "archive base_lib_generic.tar.zst: `stage/l`: link that leads outside (`{target}`)"
            )
        );
        let hard = Archive::with_manifest()
            .member(b"stage/h", EntryType::Link, b"", target.as_bytes())
            .end();
        assert!(
            problem(&zst(&hard))
                .contains(&format!("`stage/h`: link that leads outside (`{target}`)"))
        );
    }
}

/// The text of each link is harmless, but both together lead outside.
#[test]
fn nothing_is_written_through_a_chain_of_links_that_leads_outside() {
    let tar = Archive::with_manifest()
        .file("stage/deep/er/file", "f")
        .link("stage/deep/er/up", "../..")
        .link("stage/deep/er/out", "up/../..")
        .file("stage/deep/er/out/escaped", "e")
        .end();
    assert!(
        problem(&zst(&tar)).contains("`stage/deep/er/out`: link that leads outside (`up/../..`)")
    );
}

#[test]
fn devices_are_named() {
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
        let tar = Archive::with_manifest().member(b"stage/null", kind, b"", b"").end();
        assert_eq!(
            problem(&zst(&tar)),
            "archive base_lib_generic.tar.zst: `stage/null`: neither file nor directory nor link"
        );
    }
}

#[test]
fn names_that_are_not_utf8_are_named() {
    let tar = Archive::with_manifest().member(b"stage/caf\xe9", EntryType::Regular, b"", b"").end();
    assert_eq!(
        problem(&zst(&tar)),
        "archive base_lib_generic.tar.zst: `stage/caf\u{fffd}`: installers cannot unpack this name (is not UTF-8)"
    );
}

#[test]
fn a_cut_archive_is_an_error_wherever_it_was_cut() {
    let noise = (0..4000_u32)
        .map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761)))
        .collect::<Vec<_>>()
        .join(" ");
    let whole =
        zst(&Archive::with_manifest().file("stage/a", &noise).file("stage/b", &noise).end());
    for end in [0, 3, whole.len() / 3, whole.len() * 2 / 3, whole.len() - 1] {
        assert!(
            problem(&whole[..end]).contains("base_lib_generic.tar.zst"),
            "cut after {end} bytes"
        );
    }
    assert!(problem(b"no archive at all").contains("cannot read archive base_lib_generic.tar.zst"));
}

/// Adds a pax header with this record for the next member.
fn pax(archive: Archive, record: &str) -> Archive {
    archive.member(b"pax", EntryType::XHeader, record.as_bytes(), b"")
}

#[test]
fn data_after_the_last_member_is_refused() {
    let tar = Archive::with_manifest().file("stage/a", "a").end();
    let dir = place("base_lib_generic.tar.xz", &[xz(&tar), b"garbage!".to_vec()].concat());
    let problems = catalog::scan(&dir.path().join("artifacts")).unwrap_err();
    let found = problems.iter().next().unwrap().to_string();
    assert!(found.starts_with("cannot read archive base_lib_generic.tar.xz"), "{found}");
    let stray = "archive base_lib_generic.tar.zst has data after its end";
    assert_eq!(problem(&zst(&[&tar[..], b"more"].concat())), stray);
    assert_eq!(problem(&zst(&[&tar[..], &vec![0; 4 << 20]].concat())), stray);
    // Writers pad to whole records of 10 KiB.
    let filled = place("base_lib_generic.tar.xz", &xz(&[&tar[..], &[0; 9 << 10]].concat()));
    assert_eq!(scan(&filled.path().join("artifacts")).artifacts.len(), 1);
}

#[test]
fn members_of_one_name_are_refused() {
    let tar = Archive::with_manifest().file("stage/a", "one").file("./stage/a", "two").end();
    assert_eq!(problem(&zst(&tar)), "archive base_lib_generic.tar.zst: `stage/a`: there twice");
    let link = Archive::with_manifest().file("stage/a", "one").link("stage/a", "b").end();
    assert!(problem(&zst(&link)).contains("`stage/a`: there twice"));
    let again = Archive::with_manifest().file("artifact_manifest.txt", "other\n").end();
    assert!(problem(&zst(&again)).contains("`artifact_manifest.txt`: there twice"));
}

#[test]
fn impossible_sizes_are_refused() {
    let tar = pax(Archive::with_manifest(), "11 size=-1\n").file("stage/a", "a").end();
    assert_eq!(
        problem(&zst(&tar)),
        "cannot read archive base_lib_generic.tar.zst: its pax size is `-1`"
    );
    let huge = pax(Archive::with_manifest(), "28 size=9000000000000000000\n").file("stage/a", "a");
    let found = problem(&zst(&huge.end()));
    assert!(
        found.contains(
            "the recorded size of `stage/a`, 9000000 TB, is larger than can be packed in"
        ),
        "{found}"
    );
}

#[test]
fn links_keep_their_text() {
    let tar = Archive::with_manifest().file("stage/a", "one").link("stage/l", "./a").end();
    let dir = place("base_lib_generic.tar.zst", &zst(&tar));
    let found = scan(&dir.path().join("artifacts"));
    let kind = &found.artifacts[0].entries[1].kind;
    assert!(matches!(kind, EntryKind::Symlink { target } if target == "./a"), "{kind:?}");
}

#[test]
fn highly_compressed_archives_are_accepted() {
    let zeros = "\0".repeat(64 << 20);
    let tar = Archive::with_manifest().file("stage/a", &zeros).end();
    for (name, content) in
        [("a_lib_generic.tar.zst", zst(&tar)), ("a_lib_generic.tar.xz", xz(&tar))]
    {
        assert!(content.len() < 20_000, "{}", content.len());
        let dir = place(name, &content);
        assert_eq!(scan(&dir.path().join("artifacts")).artifacts[0].entries.len(), 1);
    }
}

#[test]
fn an_archive_that_ends_at_a_member_is_cut_off() {
    let cut = "archive base_lib_generic.tar.zst is truncated: the zeros at the end of a tar archive are missing";
    for archive in [Archive::with_manifest(), Archive::with_manifest().file("stage/a", "one")] {
        let Archive(tar) = archive;
        assert_eq!(problem(&zst(&tar)), cut);
        // Some writers end with one block.
        let ended = [tar, vec![0; 512]].concat();
        let dir = place("base_lib_generic.tar.zst", &zst(&ended));
        scan(&dir.path().join("artifacts"));
    }
}

#[test]
fn links_and_names_that_no_file_system_has_are_faults_of_the_archive() {
    let empty = Archive::with_manifest().link("stage/a", "").end();
    assert_eq!(
        problem(&zst(&empty)),
        "archive base_lib_generic.tar.zst: `stage/a`: link to no file (its target is empty)"
    );
    for (path, why) in [
        (format!("stage/{}", "n".repeat(300)), "one of its segments is longer than 255 bytes"),
        (format!("stage/{}n", "n/".repeat(35_000)), "it is longer than 4,095 bytes"),
    ] {
        let record = format!(" path={path}\n");
        let len = (1..100_000).find(|len| len.to_string().len() + record.len() == *len).unwrap();
        let tar = pax(Archive::with_manifest(), &format!("{len}{record}")).file("stage/a", "a");
        let found = problem(&zst(&tar.end()));
        assert!(found.ends_with(&format!("({why})")) && found.len() < 400, "{found}");
        assert!(found.starts_with("archive base_lib_generic.tar.zst: `stage/n"));
    }
}

#[test]
fn headers_do_not_take_more_memory_than_a_name_needs() {
    let name = vec![b'n'; 64 << 20];
    for kind in [EntryType::GNULongName, EntryType::XHeader, EntryType::XGlobalHeader] {
        let tar = Archive::with_manifest().member(b"long", kind, &name, b"").file("stage/a", "a");
        let found = problem(&zst(&tar.end()));
        assert!(
            found.contains("it has a name or pax records longer than the limit of 1 MiB"),
            "{found}"
        );
    }
}

#[test]
fn pipes_in_place_of_archives_and_manifests_are_refused_at_once() {
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    let pipe = |path: &Path| {
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, path, fifo, mode, 0).unwrap();
    };
    let dir = tempfile::tempdir().unwrap();
    pipe(&dir.path().join("base_lib_generic.tar.zst"));
    let refused = |dir: &Path| catalog::scan(dir).unwrap_err().iter().next().unwrap().to_string();
    assert!(refused(dir.path()).contains("is a FIFO, not a regular file"));
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("base_lib_generic")).unwrap();
    pipe(&dir.path().join("base_lib_generic/artifact_manifest.txt"));
    assert!(refused(dir.path()).contains("is a FIFO, not a regular file"));
}

#[test]
fn a_directory_and_an_archive_of_one_artifact_are_refused() {
    let dir = place(
        "base_lib_generic.tar.zst",
        &zst(&Archive::with_manifest().file("stage/a", "a").end()),
    );
    let beside = dir.path().join("artifacts/base_lib_generic");
    fs::create_dir(&beside).unwrap();
    let problems = catalog::scan(&dir.path().join("artifacts")).unwrap_err();
    let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(found[0].starts_with("artifact `base_lib_generic` exists twice: "), "{found:?}");
}
