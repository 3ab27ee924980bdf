//! Retagged wheels, of rockpack and of other tools.

use std::fmt::Write as _;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use ::wheel::archive::Timestamp;
use ::wheel::archive::checksum::{Checksum, Digest};
use ::wheel::archive::deflate::{BLOCK, Encoder, Level, Method, Packed};
use ::wheel::archive::wheel::wheel_file;
use ::wheel::archive::zip::ZipWriter;
use ::wheel::edit::MakeError;
use ::wheel::retag::retag;
use base::names::PlatformTags;
use fs_err as fs;
use tempfile::TempDir;

use super::packages::wheel;
use super::{TAGS, demo, program, rockpack, succeed, text};

fn platform(text: &str) -> PlatformTags {
    text.parse().unwrap()
}

#[test]
fn a_wheel_of_ours_is_as_if_built_with_the_tag() {
    let dir = TempDir::new().unwrap();
    let [old, new, any] = TAGS;
    let mut count = 0;
    for (from, to) in [(old, new), (new, any), (any, old)] {
        for entry in fs::read_dir(demo(from)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "whl") {
                let made = retag(&path, &platform(to), dir.path()).unwrap().path;
                assert!(
                    fs::read(&made).unwrap()
                        == fs::read(demo(to).join(made.file_name().unwrap())).unwrap(),
                    "{}",
                    made.display()
                );
                assert_eq!(
                    retag(&path, &platform(to), dir.path()).unwrap().path,
                    made,
                    "the same again is there already"
                );
                count += 1;
            }
        }
    }
    assert_eq!(count, 21);
}

/// Writes a wheel as other tools do: streamed with data descriptors, zip64 fields, directory
/// entries, the metadata in the middle, RECORD first, a name that is not normalized, a build tag,
/// signatures, `\r\n`.
const OTHERS: &str = r##"
import base64, hashlib, sys, zipfile
class Stream:
    # Without seek: zipfile writes data descriptors.
    def __init__(self, file): self.file = file
    def write(self, data): return self.file.write(data)
    def flush(self): self.file.flush()
info = "Odd.Name-1.0.dist-info"
files = {
    f"{info}/METADATA": b"Metadata-Version: 2.1\nName: Odd.Name\nVersion: 1.0\n",
    f"{info}/WHEEL": b"Wheel-Version: 1.0\r\nGenerator: other\r\nRoot-Is-Purelib: false\r\nTag: py2-none-linux_x86_64\r\nTag: py3-none-linux_x86_64\r\nBuild: 3\r\n",
    f"{info}/RECORD.jws": b"signed",
    "odd/": b"",
    "odd/__init__.py": b"import this\n" * 1000,
    "odd/a, \"b\" ü.txt": b"x",
    "odd/run": b"#!/bin/sh\necho it runs\n",
}
row = lambda n, d: ('"%s"' % n.replace('"', '""') if "," in n else n) + ",sha256=" + base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b"=").decode() + "," + str(len(d))
record = "\r\n".join([f"{info}/RECORD,,"] + [row(n, d) for n, d in files.items() if not n.endswith("/") and not n.endswith(".jws")]) + "\r\n"
with open(sys.argv[1], "wb") as raw, zipfile.ZipFile(Stream(raw), "w") as archive:
    for name, data in [(f"{info}/RECORD", record.encode()), *files.items()]:
        one = zipfile.ZipInfo(name, (2020, 2, 3, 4, 5, 6))
        one.external_attr = (0o100755 if name == "odd/run" else 0o100664) << 16
        one.compress_type = zipfile.ZIP_STORED if name.endswith((".txt", "/")) else zipfile.ZIP_DEFLATED
        if name.endswith("/"):
            archive.writestr(one, data)
        else:
            with archive.open(one, "w", force_zip64=True) as member: member.write(data)
"##;

/// Checks a retagged wheel like installers and auditors, against the original: order, tags, RECORD
/// for every byte, and unchanged compressed bytes, times and modes.
const CHECK: &str = r#"
import base64, csv, hashlib, io, sys, zipfile
old, new = zipfile.ZipFile(sys.argv[1]), zipfile.ZipFile(sys.argv[2])
assert new.testzip() is None
names = new.namelist()
assert len(names) == len(set(names)) and not any(n.endswith("/") for n in names), names
info = next(n for n in names if n.endswith(".dist-info/METADATA")).split("/")[0]
inside = [n.startswith(info) for n in names]
assert inside == sorted(inside) and names[-1] == info + "/RECORD", names
assert all(not one.flag_bits & 8 and not one.extra for one in new.infolist()), "no data descriptors, nothing extra"
rows = list(csv.reader(io.StringIO(new.read(info + "/RECORD").decode())))
assert rows[-1] == [info + "/RECORD", "", ""] and sorted(r[0] for r in rows) == sorted(names), rows
for name, digest, size in rows[:-1]:
    data = new.read(name)
    assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() and int(size) == len(data), name
def raw(archive, one):
    archive.fp.seek(one.header_offset + 26)
    lengths = archive.fp.read(4)
    archive.fp.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
    return archive.fp.read(one.compress_size)
for one in new.infolist():
    was = old.getinfo(one.filename)
    assert (one.date_time, one.external_attr >> 16) == (was.date_time, was.external_attr >> 16), one.filename
    if one.filename not in (info + "/RECORD", info + "/WHEEL"):
        assert raw(new, one) == raw(old, was) and one.compress_type == was.compress_type, one.filename
print(new.read(info + "/WHEEL").decode(), end="")
"#;

fn python(args: &[&str]) -> Option<String> {
    let output = program("python3", &[])?.args(args).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    Some(text(&output.stdout))
}

/// Writes the wheel of another tool; `None` if this machine has no Python.
pub fn foreign(dir: &Path) -> Option<PathBuf> {
    let path = dir.join("Odd.Name-1.0-3-py2.py3-none-linux_x86_64.whl");
    python(&["-c", OTHERS, path.to_str().unwrap()])?;
    Some(path)
}

#[test]
fn repairs_a_foreign_wheel() {
    let dir = TempDir::new().unwrap();
    let Some(old) = foreign(dir.path()) else { return };
    let output = rockpack(
        dir.path(),
        &[
            "wheel",
            "retag",
            "--platform-tag",
            "manylinux_2_5_x86_64.manylinux1_x86_64",
            old.to_str().unwrap(),
        ],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("RECORD.jws"),
        "what was left out is said: {}",
        text(&output.stderr)
    );
    let new =
        dir.path().join("Odd.Name-1.0-3-py2.py3-none-manylinux_2_5_x86_64.manylinux1_x86_64.whl");
    assert_eq!(text(&output.stdout), format!("{}\n", new.display()));
    let wheel_file = python(&["-c", CHECK, old.to_str().unwrap(), new.to_str().unwrap()]).unwrap();
    let tags = [
        "py2-none-manylinux_2_5",
        "py2-none-manylinux1",
        "py3-none-manylinux_2_5",
        "py3-none-manylinux1",
    ];
    let tags = tags.map(|tag| format!("Tag: {tag}_x86_64\n")).concat();
    assert_eq!(
        wheel_file,
        format!("Wheel-Version: 1.0\nGenerator: other\nRoot-Is-Purelib: false\n{tags}Build: 3\n")
    );
    // Repeating it gives the same bytes, also for a wheel in order.
    let elsewhere = dir.path().join("elsewhere");
    let again =
        retag(&new, &platform("manylinux_2_5_x86_64.manylinux1_x86_64"), &elsewhere).unwrap().path;
    assert!(fs::read(&again).unwrap() == fs::read(&new).unwrap());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1, "nothing else is left");
    if let Some(mut pip) = program("python3", &["-m", "pip"]) {
        let target = dir.path().join("target");
        let any = retag(&old, &platform("any"), dir.path()).unwrap().path;
        let installed = pip
            .args(["install", "--no-index", "--disable-pip-version-check", "--target"])
            .arg(&target)
            .arg(any)
            .output()
            .unwrap();
        assert!(installed.status.success(), "{}", text(&installed.stderr));
        assert!(target.join("odd/a, \"b\" ü.txt").is_file());
    }
}

#[test]
fn overwrites_no_existing_file() {
    let dir = TempDir::new().unwrap();
    let old = wheel(dir.path(), "one", "1.0", &[]);
    let existing = dir.path().join("one-1.0-py3-none-linux_x86_64.whl");
    fs::write(&existing, "other").unwrap();
    let error = retag(&old, &platform("linux_x86_64"), dir.path()).unwrap_err();
    assert!(matches!(error, MakeError::Exists { .. }), "{error}");
    assert_eq!(fs::read(&existing).unwrap(), b"other");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left");
    let retagged = retag(&old, &platform("any"), dir.path()).unwrap();
    assert!(retagged.was_there && retagged.path == old, "it has that tag");
}

#[test]
fn refuses_malformed_tags() {
    let dir = TempDir::new().unwrap();
    let old = wheel(dir.path(), "one", "1.0", &[]);
    for tag in ["garbage", "manylinux2014", "Linux_x86_64", "linux_x86_64..any"] {
        let refused =
            rockpack(dir.path(), &["wheel", "retag", "--platform-tag", tag, old.to_str().unwrap()]);
        let stderr = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("--platform-tag <TAG>") && stderr.contains("write "), "{stderr}");
    }
    fs::write(dir.path().join("no-1.0-py3-none-any.whl"), "no zip").unwrap();
    let refused = rockpack(
        dir.path(),
        &[
            "wheel",
            "retag",
            "--platform-tag",
            "linux_x86_64",
            "no-1.0-py3-none-any.whl",
            old.to_str().unwrap(),
        ],
    );
    assert!(
        refused.status.code() == Some(1)
            && text(&refused.stderr).contains("no-1.0-py3-none-any.whl"),
        "{}",
        text(&refused.stderr)
    );
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "all are written, or none");
    let args = ["wheel", "retag", "--platform-tag", "linux_x86_64", old.to_str().unwrap()];
    let new = dir.path().join("one-1.0-py3-none-linux_x86_64.whl");
    assert_eq!(succeed(dir.path(), &args), format!("{}\n", new.display()));
    assert!(
        succeed(
            dir.path(),
            &["wheel", "retag", "--platform-tag", "linux_x86_64", old.to_str().unwrap()]
        )
        .contains("was there already")
    );
}

/// Writes 5 GiB of zeros, and more members than 16 bits can count.
fn write_large(place: &Path) {
    let mut zip =
        ZipWriter::new(BufWriter::new(fs::File::create(place).unwrap()), Timestamp::EARLIEST);
    let add = |zip: &mut ZipWriter<_>, name: &str, content: &[u8]| {
        let Packed { method, digest, bytes } = Packed::new(content, Level::Default);
        zip.entry(&name.parse().unwrap(), false, method, digest.size, digest.crc, &bytes).unwrap();
    };
    let blocks = u32::try_from((5_usize << 30) / BLOCK).unwrap();
    let mut member = zip
        .start(
            &"big/zeros".parse().unwrap(),
            false,
            Method::Deflate,
            u64::from(blocks) * BLOCK as u64,
        )
        .unwrap();
    let (zeros, mut checksum) = (vec![0; BLOCK], Checksum::default());
    let block_checksum = Checksum::of(&zeros);
    let mut encoder = Encoder::new(Level::Fast);
    let (middle, last) = (encoder.block(&zeros, false), encoder.block(&zeros, true));
    for block in 0..blocks {
        zip.append(&mut member, if block + 1 < blocks { &middle } else { &last }).unwrap();
        checksum.append(&block_checksum);
    }
    zip.end(member, checksum.value()).unwrap();
    let mut record = String::from("big/zeros,,\n");
    let info = "big-1.0.dist-info";
    let empty = Digest::of(b"").sha256.for_record();
    for number in 0..70_000 {
        add(&mut zip, &format!("big/{number}"), b"");
        writeln!(record, "big/{number},{empty},0").unwrap();
    }
    add(&mut zip, &format!("{info}/METADATA"), b"Metadata-Version: 2.1\nName: big\nVersion: 1.0\n");
    add(&mut zip, &format!("{info}/WHEEL"), wheel_file("linux_x86_64").as_bytes());
    writeln!(record, "{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,").unwrap();
    add(&mut zip, &format!("{info}/RECORD"), record.as_bytes());
    let mut file = zip.finish().unwrap();
    assert!(file.stream_position().unwrap() < 100 << 20);
    file.flush().unwrap();
}

/// Checks the large wheel and its copy.
const CHECK_LARGE: &str = "
import sys, zipfile
old, new = zipfile.ZipFile(sys.argv[1]), zipfile.ZipFile(sys.argv[2])
assert len(new.infolist()) == 70004, len(new.infolist())
a, b = old.getinfo('big/zeros'), new.getinfo('big/zeros')
assert b.file_size == 5 << 30 and (a.CRC, a.compress_size) == (b.CRC, b.compress_size)
with new.open(b) as member: assert member.read(1 << 20) == bytes(1 << 20)
assert b'Tag: py3-none-manylinux_2_28_x86_64' in new.read('big-1.0.dist-info/WHEEL')
";

#[test]
fn wheels_of_any_size() {
    let dir = TempDir::new().unwrap();
    let old = dir.path().join("big-1.0-py3-none-linux_x86_64.whl");
    write_large(&old);
    let new = retag(&old, &platform("manylinux_2_28_x86_64"), dir.path()).unwrap().path;
    python(&["-c", CHECK_LARGE, old.to_str().unwrap(), new.to_str().unwrap()]);
}
