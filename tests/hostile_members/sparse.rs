//! Sparse files in archives of artifacts have the bytes and names that GNU tar gives them.

use std::path::Path;
use std::process::Command;

use catalog::{self, Source as _, SourcePath};
use tempfile::TempDir;
use wheel::unpacking::{Rules, TarReader};

use super::tar::Tar;
use workbench::skips::{has, skip};

/// Bytes of the fixtures' file, with its data.
const FILE: &[u8; 4096] = &{
    let mut bytes = [0; 4096];
    let (mut at, data) = (0, b"data");
    while at < 512 {
        bytes[512 + at] = data[at % 4];
        bytes[2048 + at] = data[(at + 1) % 4];
        at += 1;
    }
    bytes
};

fn data() -> Vec<u8> {
    [&FILE[512..1024], &FILE[2048..2560]].concat()
}

/// Name that no reader may use for the file.
const OTHER: &str = "GNUSparseFile.1/holes";

fn sizes(tar: &Tar) -> [(&'static str, String); 3] {
    [
        ("GNU.sparse.size", FILE.len().to_string()),
        ("GNU.sparse.numblocks", "3".to_owned()),
        ("GNU.sparse.name", format!("{}/holes", tar.top())),
    ]
}

fn pax_file(tar: Tar, records: &[(&str, String)], name: &str, stored: &[u8]) -> Tar {
    let records: Vec<(&str, &str)> = records.iter().map(|(key, value)| (*key, &**value)).collect();
    let name = format!("{}/{name}", tar.top());
    tar.pax(&records).file_at(&name, stored)
}

pub fn form_0_0(tar: Tar) -> Tar {
    let [size, blocks, _] = sizes(&tar);
    let places = [("512", "512"), ("2048", "512"), ("4096", "0")];
    let places = places.iter().flat_map(|(offset, len)| {
        [("GNU.sparse.offset", (*offset).to_owned()), ("GNU.sparse.numbytes", (*len).to_owned())]
    });
    let records: Vec<_> = [size, blocks].into_iter().chain(places).collect();
    pax_file(tar, &records, "holes", &data())
}

pub fn form_0_1(tar: Tar) -> Tar {
    let map = ("GNU.sparse.map", "512,512,2048,512,4096,0".to_owned());
    let records: Vec<_> = sizes(&tar).into_iter().chain([map]).collect();
    pax_file(tar, &records, OTHER, &data())
}

pub fn form_1_0(tar: Tar) -> Tar {
    let [(_, size), _, name] = sizes(&tar);
    let number = |key, value: &str| (key, value.to_owned());
    let form = [number("GNU.sparse.major", "1"), number("GNU.sparse.minor", "0")];
    let records: Vec<_> = form.into_iter().chain([("GNU.sparse.realsize", size), name]).collect();
    let mut stored = b"3\n512\n512\n2048\n512\n4096\n0\n".to_vec();
    stored.resize(512, 0);
    stored.extend(data());
    pax_file(tar, &records, OTHER, &stored)
}

pub fn old(tar: Tar) -> Tar {
    let name = format!("{}/holes", tar.top());
    tar.header(&data(), |header| {
        *header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_mtime(315_532_800);
        header.set_size(1024);
        header.set_entry_type(tar::EntryType::GNUSparse);
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        let octal = |field: &mut [u8; 12], number: u64| {
            field.copy_from_slice(format!("{number:011o}\0").as_bytes());
        };
        let gnu = header.as_gnu_mut().unwrap();
        octal(&mut gnu.realsize, 4096);
        for (place, (offset, len)) in
            gnu.sparse.iter_mut().zip([(512, 512), (2048, 512), (4096, 0)])
        {
            octal(&mut place.offset, offset);
            octal(&mut place.numbytes, len);
        }
    })
}

/// Reads the file `path` from an artifact's archive, through the source of plans and builds.
fn read(tar: &[u8], path: &str) -> Vec<u8> {
    let dir = TempDir::new().unwrap();
    let packed = zstd::encode_all(tar, 1).unwrap();
    fs_err::write(dir.path().join("base_lib_generic.tar.zst"), packed).unwrap();
    let (catalog, tree) = catalog::scan(dir.path()).unwrap_or_else(|problems| {
        panic!("{:?}", problems.iter().map(ToString::to_string).collect::<Vec<_>>())
    });
    let artifact = &catalog.artifacts[0];
    let names: Vec<_> = artifact.entries.iter().map(|entry| entry.path.to_string()).collect();
    assert_eq!(names.last().map(|name| &**name), Some(path));
    let (artifact, base) = (artifact.id.clone(), "stage".parse().unwrap());
    let file = tree.find(&SourcePath { artifact, base, path: path.parse().unwrap() }).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len()).unwrap()];
    file.open().unwrap().read_exact_at(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn artifacts_have_the_bytes_of_sparse_files_in_every_form() {
    for (form, members) in
        [("old", old as fn(Tar) -> Tar), ("0.0", form_0_0), ("0.1", form_0_1), ("1.0", form_1_0)]
    {
        let tar = Tar::new("stage").file_at("artifact_manifest.txt", b"stage\n");
        assert!(read(&members(tar).finish(), "holes") == FILE, "form {form}");
    }
}

/// Writes a file with two holes; returns `None` if the file system stores no holes.
fn with_holes(path: &Path) -> Option<Vec<u8>> {
    use std::os::unix::fs::{FileExt, MetadataExt};
    let (file, mut bytes) = (fs_err::File::create(path).unwrap(), vec![0; 9 << 20]);
    for (at, text) in [(1 << 20, "first"), (5 << 20, "second"), (8 << 20, "third")] {
        bytes[at..at + text.len()].copy_from_slice(text.as_bytes());
        file.file().write_all_at(text.as_bytes(), at as u64).unwrap();
    }
    file.set_len(bytes.len() as u64).unwrap();
    (file.metadata().unwrap().blocks() * 512 < bytes.len() as u64).then_some(bytes)
}

#[test]
fn artifacts_have_the_bytes_that_gnu_tar_packed() {
    let what = "sparse files as GNU tar packs them";
    if !has("tar", what) {
        return;
    }
    let version = Command::new("tar").arg("--version").output().unwrap();
    if !String::from_utf8_lossy(&version.stdout).contains("GNU tar") {
        skip(what, "tar of GNU");
        return;
    }
    let dir = TempDir::new().unwrap();
    fs_err::write(dir.path().join("artifact_manifest.txt"), "stage\n").unwrap();
    let long = format!("{}holes", "directory/".repeat(20));
    let path = dir.path().join("stage").join(&long);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    let Some(bytes) = with_holes(&path) else {
        skip("sparse files", "a file system with holes");
        return;
    };
    for form in
        ["--format=gnu", "--sparse-version=0.0", "--sparse-version=0.1", "--sparse-version=1.0"]
    {
        let mut tar = Command::new("tar");
        let posix = form.starts_with("--sparse").then_some("--format=posix");
        tar.args(["-S", form]).args(posix).arg("-C").arg(dir.path());
        let output = tar.args(["-c", "artifact_manifest.txt", "stage"]).output().unwrap();
        assert!(output.status.success(), "{form}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.len() < bytes.len() / 4, "{form}: it has holes");
        let mut holes = 0;
        let count = |member: &wheel::unpacking::TarMember, _: &mut dyn std::io::Read| {
            holes += usize::from(member.is_sparse);
            std::io::Result::Ok(())
        };
        TarReader::new(&output.stdout[..], Rules::ARTIFACT).visit(count).unwrap();
        assert_eq!(holes, 1, "{form}");
        assert!(read(&output.stdout, &long) == bytes, "{form}");
    }
}
