//! Archives as Python, GNU tar, xz and pip read them; full and read-only disks.

use std::collections::BTreeMap;
use std::io::{BufWriter, Cursor, Write};
use std::path::Path;
use std::process::Command;

use base::names::{DistName, RelPath};
use base::version::Version;
use wheel::archive::Timestamp;
use wheel::archive::checksum::Digest;
use wheel::archive::deflate::{BLOCK, Encoder, Level, Method, Packed};
use wheel::archive::entry_points::{CONSOLE_SCRIPTS, EntryPoint, entry_points};
use wheel::archive::metadata::Metadata;
use wheel::archive::sdist::{SdistMember, write_sdist};
use wheel::archive::stage::{Stage, StageError};
use wheel::archive::tarball::{Preset, TarWriter, XzStream, xz_block};
use wheel::archive::wheel::{WheelWriter, dist_info_dir, wheel_file, wheel_file_name};
use wheel::archive::zip::ZipWriter;

use workbench::skips::{has, mounts, skip};

fn path(text: &str) -> RelPath {
    text.parse().unwrap()
}

fn names() -> (DistName, Version) {
    ("Test-Dist".parse().unwrap(), "1.0+local".parse().unwrap())
}

/// Returns the output of `program`; skips the test if it is not installed.
fn run(program: &str, args: &[&str]) -> Option<String> {
    let Ok(output) = Command::new(program).args(args).output() else {
        skip("archives as other programs read them", program);
        return None;
    };
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program} {args:?}\n{stdout}{stderr}");
    Some(stdout.into_owned())
}

/// Writes a wheel with a streamed program, difficult names, a command and metadata.
fn write_wheel(place: &Path) {
    let (dist, version) = names();
    let info = dist_info_dir(&dist, &version).unwrap();
    let sink = Cursor::new(Vec::new());
    let mut wheel = WheelWriter::new(sink, &dist, &version, Timestamp::EARLIEST).unwrap();
    let main = "import sys\ndef main():\n    print('it runs')\n";
    for (name, content) in [
        ("test_dist/__init__.py", ""),
        ("test_dist/cli.py", main),
        ("test_dist/a, \"b\" ü.txt", "x"),
    ] {
        wheel.member(&path(name), false, &Packed::new(content.as_bytes(), Level::Default)).unwrap();
    }
    let program: Vec<u8> = (0..u32::try_from(BLOCK).unwrap()).flat_map(u32::to_le_bytes).collect();
    let mut member = wheel
        .start(&path("test_dist/program"), true, Method::Deflate, program.len() as u64)
        .unwrap();
    for start in (0..program.len()).step_by(BLOCK) {
        let end = start + BLOCK;
        let block = &program[start..end.min(program.len())];
        wheel
            .append(&mut member, &Encoder::new(Level::Default).block(block, end >= program.len()))
            .unwrap();
    }
    wheel.end(member, &Digest::of(&program)).unwrap();
    let metadata = Metadata { summary: "A test".into(), ..Metadata::default() };
    let metadata = metadata.render(&dist, &version, &[]).unwrap();
    let script = EntryPoint {
        group: CONSOLE_SCRIPTS.into(),
        name: "test-tool".into(),
        reference: "test_dist.cli:main".into(),
    };
    let scripts = entry_points(&[script]).unwrap();
    for (name, content) in
        [("METADATA", metadata), ("WHEEL", wheel_file("any")), ("entry_points.txt", scripts)]
    {
        wheel
            .member(
                &info.join(&path(name)),
                false,
                &Packed::new(content.as_bytes(), Level::Default),
            )
            .unwrap();
    }
    fs_err::write(place, wheel.finish().unwrap().into_inner()).unwrap();
}

#[test]
fn python_reads_a_wheel_and_its_record_is_correct() {
    let dir = tempfile::tempdir().unwrap();
    let (dist, version) = names();
    let place = dir.path().join(wheel_file_name(&dist, &version, "any"));
    write_wheel(&place);
    let check = "
import base64, csv, hashlib, io, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
names = z.namelist()
assert len(set(names)) == len(names) and names[-1].endswith('.dist-info/RECORD'), names
rows = list(csv.reader(io.StringIO(z.read(names[-1]).decode())))
assert [row[0] for row in rows] == names, rows
for name, digest, size in rows[:-1]:
    data = z.read(name)
    assert digest == 'sha256=' + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
    assert int(size) == len(data)
assert rows[-1][1:] == ['', '']
assert all(i.flag_bits & 8 == 0 and not i.extra and not i.comment for i in z.infolist()) and not z.comment
assert {i.external_attr >> 16 for i in z.infolist() if 'program' in i.filename} == {0o100755}
print('fine')
";
    if let Some(printed) = run("python3", &["-c", check, place.to_str().unwrap()]) {
        assert_eq!(printed, "fine\n");
    }
}

#[test]
fn pip_installs_and_removes_a_wheel() {
    let dir = tempfile::tempdir().unwrap();
    let (dist, version) = names();
    let place = dir.path().join(wheel_file_name(&dist, &version, "any"));
    write_wheel(&place);
    let target = dir.path().join("venv");
    if Command::new("python3")
        .args(["-m", "venv", target.to_str().unwrap()])
        .status()
        .is_ok_and(|status| status.success())
    {
        let python = target.join("bin/python");
        let python = python.to_str().unwrap();
        run(python, &["-m", "pip", "install", "--no-index", "--no-deps", place.to_str().unwrap()])
            .unwrap();
        assert_eq!(run(target.join("bin/test-tool").to_str().unwrap(), &[]).unwrap(), "it runs\n");
        run(python, &["-m", "pip", "uninstall", "-y", "test-dist"]).unwrap();
        let remaining: Vec<_> = walkdir::WalkDir::new(&target)
            .into_iter()
            .map(Result::unwrap)
            .filter(|entry| {
                let path = entry.path().to_str().unwrap();
                path.contains("test_dist") || path.contains("test-tool")
            })
            .collect();
        assert!(remaining.is_empty(), "{remaining:?}");
    } else {
        skip("a wheel as pip installs it", "python3 with venv and pip");
    }
}

#[test]
fn python_reads_more_than_65535_members_and_more_than_4_gib() {
    let dir = tempfile::tempdir().unwrap();
    let many = dir.path().join("many.zip");
    let mut zip =
        ZipWriter::new(BufWriter::new(fs_err::File::create(&many).unwrap()), Timestamp::EARLIEST);
    for i in 0..65_600 {
        zip.entry(&path(&format!("m{i}")), false, Method::Store, 0, 0, &[]).unwrap();
    }
    zip.finish().unwrap();
    let large = dir.path().join("large.zip");
    let mut zip = ZipWriter::new(Holes(fs_err::File::create(&large).unwrap()), Timestamp::EARLIEST);
    let mut entry = zip.start(&path("zeros"), false, Method::Store, (1 << 32) + 7).unwrap();
    let zeros = vec![0; 64 << 20];
    (0..64).for_each(|_| zip.append(&mut entry, &zeros).unwrap());
    zip.append(&mut entry, &[0; 7]).unwrap();
    zip.end(entry, 0).unwrap();
    zip.entry(&path("after"), false, Method::Store, 5, crc32fast::hash(b"hello"), b"hello")
        .unwrap();
    zip.finish().unwrap();
    let check = "
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert len(z.namelist()) == 65600 and z.read('m65599') == b''
z = zipfile.ZipFile(sys.argv[2])
assert z.getinfo('zeros').file_size == 2**32 + 7 and z.open('zeros').read(5) == bytes(5)
assert z.getinfo('after').header_offset > 2**32 and z.read('after') == b'hello'
print('fine')
";
    if let Some(printed) =
        run("python3", &["-c", check, many.to_str().unwrap(), large.to_str().unwrap()])
    {
        assert_eq!(printed, "fine\n");
    }
}

/// File that skips writes of 4096 bytes or more, which are zeros here: the file has holes, and needs no
/// disk of 4 GiB.
struct Holes(fs_err::File);

impl Write for Holes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.len() < 4096 {
            return self.0.write(bytes);
        }
        std::io::Seek::seek_relative(&mut self.0, i64::try_from(bytes.len()).unwrap())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl std::io::Seek for Holes {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

/// Writes a tarball with difficult names and links.
fn write_tarball(place: &Path) -> BTreeMap<String, String> {
    let long = format!("top/{}/{}", "d".repeat(120), "ü".repeat(30));
    let up = format!("../{}", "t".repeat(110));
    let mut tar = TarWriter::new(Vec::new(), Timestamp::EARLIEST);
    tar.directory(&path("top/empty")).unwrap();
    tar.file(&path("top/run"), true, 3, &b"abc"[..]).unwrap();
    tar.file(&path(&long), false, 1, &b"x"[..]).unwrap();
    tar.symlink(&path("top/link"), &up).unwrap();
    let block = xz_block(&tar.finish().unwrap(), Preset::DEFAULT).unwrap();
    let mut stream = XzStream::default();
    stream.add(&block);
    fs_err::write(place, [&XzStream::START, &block.bytes[..], &stream.end()].concat()).unwrap();
    let expected = [
        ("top/empty", "drwxr-xr-x"),
        ("top/run", "-rwxr-xr-x"),
        (&long, "-rw-r--r--"),
        ("top/link", "lrwxrwxrwx"),
    ];
    expected.into_iter().map(|(name, mode)| (name.to_owned(), mode.to_owned())).collect()
}

#[test]
fn python_and_gnu_tar_read_a_tarball() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("t.tar.xz");
    let expected = write_tarball(&place);
    let check = "
import stat, sys, tarfile
t = tarfile.open(sys.argv[1])
for m in t.getmembers():
    assert (m.uid, m.gid, m.uname, m.gname, m.mtime) == (0, 0, '', '', 315532800), m.get_info()
    kind = stat.S_IFDIR if m.isdir() else stat.S_IFLNK if m.issym() else stat.S_IFREG
    print(m.name, stat.filemode(kind | m.mode))
assert t.extractfile('top/run').read() == b'abc' and len(t.getmember('top/link').linkname) == 113
";
    if let Some(printed) = run("python3", &["-X", "utf8", "-c", check, place.to_str().unwrap()]) {
        let found: BTreeMap<String, String> = printed
            .lines()
            .map(|line| line.rsplit_once(' ').unwrap())
            .map(|(name, mode)| (name.to_owned(), mode.to_owned()))
            .collect();
        assert_eq!(found, expected);
    }
    let out = dir.path().join("out");
    fs_err::create_dir(&out).unwrap();
    let can_unpack = has("xz", "a .tar.xz as GNU tar reads it");
    if can_unpack
        && run("tar", &["-xf", place.to_str().unwrap(), "-C", out.to_str().unwrap()]).is_some()
    {
        assert!(expected.keys().all(|name| fs_err::symlink_metadata(out.join(name)).is_ok()));
        assert_eq!(fs_err::read(out.join("top/run")).unwrap(), b"abc");
    }
}

#[test]
fn python_reads_an_sdist() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("s.tar.gz");
    let (dist, version) = names();
    let member = |name: &str| SdistMember {
        path: path(name),
        executable: false,
        content: name.as_bytes().to_vec(),
    };
    let members = [member("pyproject.toml"), member("PKG-INFO")];
    fs_err::write(
        &place,
        write_sdist(Vec::new(), &dist, &version, Timestamp::EARLIEST, &members).unwrap(),
    )
    .unwrap();
    let check = "
import sys, tarfile
t = tarfile.open(sys.argv[1], 'r:gz')
print(t.getnames(), t.extractfile('test_dist-1.0+local/PKG-INFO').read().decode())
";
    if let Some(printed) = run("python3", &["-c", check, place.to_str().unwrap()]) {
        assert_eq!(
            printed,
            "['test_dist-1.0+local/PKG-INFO', 'test_dist-1.0+local/pyproject.toml'] PKG-INFO\n"
        );
    }
}

/// Runs the ignored test `inside` of this file in a mount namespace with a tmpfs of 1 MB, mounted
/// with `options`. The variable `ROCKPACK_TEST_DISK` has its path.
fn on_small_disk(options: &str, inside: &str) {
    if !mounts("full disks") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o \"size=1m,$1\" tmpfs \"$ROCKPACK_TEST_DISK\" && exec \"$2\" --exact \"$3\" --ignored";
    let this = std::env::current_exe().unwrap();
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", script, "sh", options, this.to_str().unwrap(), inside])
        .env("ROCKPACK_TEST_DISK", dir.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

fn disk() -> std::path::PathBuf {
    std::env::var_os("ROCKPACK_TEST_DISK").expect("run by `on_small_disk`").into()
}

#[test]
fn a_full_disk_is_reported_and_no_file_remains() {
    on_small_disk("rw", "archive::a_full_disk_inside");
}

#[test]
#[ignore = "needs a disk of 1 MB, run by a_full_disk_is_reported_and_no_file_remains"]
fn a_full_disk_inside() {
    let dest = disk().join("dest");
    let stage = Stage::open(&dest).unwrap();
    let mut file = stage.create(&path("dist/a.whl")).unwrap();
    let error = (0..256).find_map(|_| file.write_all(&[1; 8192]).err()).unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    assert_eq!(
        error.to_string(),
        format!("the disk of `{}` is full", dest.join("dist/a.whl").display())
    );
    drop((file, stage));
    assert_eq!(fs_err::read_dir(disk()).unwrap().count(), 0);
}

#[test]
fn a_read_only_disk_is_reported() {
    on_small_disk("ro", "archive::a_read_only_disk_inside");
}

#[test]
#[ignore = "needs a read-only disk, run by a_read_only_disk_is_reported"]
fn a_read_only_disk_inside() {
    for dest in [disk(), disk().join("new")] {
        let error = Stage::open(&dest).unwrap_err();
        assert!(matches!(&error, StageError::ReadOnly { .. }), "{error:?}");
    }
}
