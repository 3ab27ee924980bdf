//! Malicious members of archives: every reader rejects each of them with its code, and no member
//! rejected by Python's `tarfile` is accepted.

use std::collections::BTreeSet;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::Command;

use ::wheel::package::{Fault, Sdist, Wheel, devel_archive};
use ::wheel::unpacking::TarMember;
use base::source::Code;
use flate2::Compression;
use flate2::write::GzEncoder;

use serde_json::Value;
use tempfile::TempDir;

use super::verify::wheel::wheel;
use super::verify::zip::Member;
use crate::program::{in_a_minute as rockpack, text};
use workbench::skips::skip;

#[path = "hostile_members/sparse.rs"]
mod sparse;
#[path = "hostile_members/table.rs"]
mod table;
#[path = "hostile_members/tar.rs"]
mod tar;

use table::{GOOD, HOSTILE};
use tar::Tar;

const TOP: &str = "demo-1.0";
const DEVEL: &str = "_demo_devel";
const STAGE: &str = "stage";

/// Writes an sdist with these members, otherwise valid.
fn sdist(members: fn(Tar) -> Tar, dist: &Path) {
    let info = "Metadata-Version: 2.2\nName: demo\nVersion: 1.0\n";
    let tar = Tar::new(TOP)
        .file("PKG-INFO", info)
        .file("pyproject.toml", "[project]\nname = \"demo\"\nversion = \"1.0\"\n");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&members(tar).finish()).unwrap();
    fs_err::write(dist.join("demo-1.0.tar.gz"), gzip.finish().unwrap()).unwrap();
}

/// Writes a devel wheel with these members in its archive, otherwise valid.
fn devel(members: fn(Tar) -> Tar, dist: &Path) {
    let mut wheel = wheel("demo", "any");
    wheel.add(Member::new("demo/_devel.tar", members(Tar::new(DEVEL)).finish()));
    wheel.write(dist);
}

/// Returns the codes of errors from `verify`.
fn verified(make: impl FnOnce(&Path)) -> BTreeSet<String> {
    let dir = TempDir::new().unwrap();
    fs_err::create_dir(dir.path().join("dist")).unwrap();
    make(&dir.path().join("dist"));
    let output =
        rockpack(dir.path(), &["wheel", "verify", "dist", "--json", "--manifest", "built-in"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let errors = findings.iter().filter(|finding| finding["severity"] == "error");
    let codes: BTreeSet<_> =
        errors.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect();
    assert_eq!(output.status.success(), codes.is_empty(), "{}", text(&output.stderr));
    codes
}

/// Returns the problem of an artifact's archive with these members.
fn artifact(members: fn(Tar) -> Tar) -> Option<(Code, String)> {
    let dir = TempDir::new().unwrap();
    let tar = members(Tar::new(STAGE).file_at("artifact_manifest.txt", b"stage\n")).finish();
    let packed = zstd::encode_all(&tar[..], 1).unwrap();
    fs_err::write(dir.path().join("base_lib_generic.tar.zst"), packed).unwrap();
    let problems = catalog::scan(dir.path()).err()?;
    let first = problems.iter().next().unwrap();
    Some((first.code(), first.to_string()))
}

/// Opens an sdist with the readers of other commands.
fn opened(dist: &Path) -> io::Result<Sdist> {
    Sdist::open(&dist.join("demo-1.0.tar.gz"), |_, _| Ok(()))
}

/// Unpacks a devel archive with the readers of other commands.
fn unpacked(members: fn(Tar) -> Tar) -> io::Result<()> {
    let tar = members(Tar::new(DEVEL)).finish();
    let visit = |_: &TarMember, bytes: &mut dyn Read| io::copy(bytes, &mut io::sink()).map(drop);
    devel_archive::visit("demo/_devel.tar", &tar[..], visit)
}

#[test]
fn every_reader_refuses_every_hostile_member() {
    for case in HOSTILE {
        let (title, code) = (case.title, case.code.to_string());
        // A name outside the archive is also outside its top directory.
        let codes = verified(|dist| sdist(case.members, dist));
        // uv refuses GNU headers among POSIX headers, before it looks at names.
        let is_refused = codes.contains(&code) || codes.contains("broken-package");
        assert!(is_refused, "{title}: sdist: {codes:?}");
        let codes = verified(|dist| devel(case.members, dist));
        let expected = if case.only_in_sdist { None } else { Some(code) };
        assert_eq!(codes, BTreeSet::from_iter(expected), "{title}: devel wheel");
        let dir = TempDir::new().unwrap();
        sdist(case.members, dir.path());
        assert!(opened(dir.path()).is_err(), "{title}: sdist that is used");
        assert_eq!(unpacked(case.members).is_ok(), case.only_in_sdist, "{title}: devel archive");
        let refused = artifact(case.members);
        let is_allowed = case.only_in_sdist || case.allowed_in_artifacts;
        assert_eq!(refused.is_none(), is_allowed, "{title}: artifact: {refused:?}");
        if let Some((code, message)) = refused {
            assert_eq!(code, Code::BrokenArchive, "{title}: {message}");
            assert!(message.contains("archive base_lib_generic.tar.zst"), "{title}: {message}");
        }
    }
}

/// Members that tar programs take, and uv not in sdists.
const REFUSED_BY_UV: [&str; 3] =
    ["a hard link to a link", "a name of GNU tar's long form", "a long target of GNU tar's form"];

#[test]
fn every_reader_accepts_sound_members() {
    for (title, members) in GOOD {
        let codes = verified(|dist| sdist(*members, dist));
        let is_accepted = codes.is_empty();
        assert_eq!(is_accepted, !REFUSED_BY_UV.contains(title), "{title}: sdist: {codes:?}");
        assert_eq!(verified(|dist| devel(*members, dist)), BTreeSet::new(), "{title}: devel wheel");
        let dir = TempDir::new().unwrap();
        sdist(*members, dir.path());
        assert!(is_accepted == opened(dir.path()).is_ok(), "{title}: sdist that is used");
        unpacked(*members).unwrap_or_else(|error| panic!("{title}: {error}"));
        assert_eq!(artifact(*members), None, "{title}: artifact");
    }
}

/// The rule for zips; their only links are members that installers write as text files.
#[test]
fn wheels_with_hostile_members_are_refused_by_every_reader() {
    let cases: [(&str, u32, Code); 8] = [
        ("../evil.py", 0o100_644, Code::UnsafeName),
        ("demo/../../evil.py", 0o100_644, Code::UnsafeName),
        ("/tmp/evil.py", 0o100_644, Code::UnsafeName),
        ("demo\\evil.py", 0o100_644, Code::UnsafeName),
        ("./demo/evil.py", 0o100_644, Code::UnsafeName),
        ("demo/link", 0o120_777, Code::MemberKind),
        ("demo/pipe", 0o010_644, Code::MemberKind),
        ("demo/device", 0o020_644, Code::MemberKind),
    ];
    for (name, mode, code) in cases {
        let make = |dist: &Path| {
            let mut wheel = wheel("demo", "any");
            wheel.add(Member { mode, ..Member::new(name, "../../evil") });
            wheel.write(dist);
        };
        assert_eq!(verified(make), BTreeSet::from([code.to_string()]), "{name}");
        let dir = TempDir::new().unwrap();
        make(dir.path());
        let error = Wheel::open(&dir.path().join("demo-1.0-py3-none-any.whl")).unwrap_err();
        assert!(error.to_string().contains(&*name.escape_debug().to_string()), "{error}");
    }
}

/// Unpacks each given archive like an installer; prints a line for each rejected one.
const FILTER: &str = r"
import os, sys, tarfile, tempfile
if not hasattr(tarfile, 'data_filter'):
    sys.exit(3)
for path in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as place:
        into = os.path.join(place, 'into', 'here')
        os.makedirs(into)
        try:
            with tarfile.open(path) as tar:
                tar.extractall(into, filter='data')
        except Exception as error:
            print(path, type(error).__name__, sep='\t')
";

/// Returns the archives that Python's `data` filter rejects; `None` without such a filter.
fn filtered(dirs: &[TempDir]) -> Option<BTreeSet<usize>> {
    let path = |dir: &TempDir| dir.path().join("demo-1.0.tar.gz");
    let mut command = Command::new("python3");
    command.args(["-c", FILTER]).args(dirs.iter().map(path));
    let output = command.output().ok().filter(|output| output.status.code() != Some(3));
    let Some(output) = output else {
        skip("archives as tarfile's data filter takes them", "python3 with tarfile.data_filter");
        return None;
    };
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let refused = printed.lines().filter_map(|line| line.split('\t').next());
    Some(
        refused
            .map(|line| dirs.iter().position(|dir| path(dir) == Path::new(line)).unwrap())
            .collect(),
    )
}

/// Returns the errors of an sdist.
fn faults(dir: &TempDir) -> Vec<String> {
    let sdist = Sdist::read(&dir.path().join("demo-1.0.tar.gz"), |_, bytes| {
        io::copy(bytes, &mut io::sink()).map(drop)
    });
    let sdist = sdist.unwrap();
    let broken = sdist.broken.iter().map(ToString::to_string);
    broken.chain(sdist.faults.iter().filter_map(Fault::rejection_reason)).collect()
}

#[test]
fn members_that_pythons_filter_refuses_are_refused() {
    let mut dirs = Vec::new();
    for members in HOSTILE.iter().map(|case| case.members).chain(GOOD.iter().map(|good| good.1)) {
        let dir = TempDir::new().unwrap();
        sdist(members, dir.path());
        dirs.push(dir);
    }
    let Some(refused) = filtered(&dirs) else { return };
    assert!(
        refused.iter().all(|at| *at < HOSTILE.len()),
        "accepted members that Python refuses: {refused:?}"
    );
    assert!(refused.len() > 15, "the filter works: {refused:?}");
}

/// Some hundred archives with few names and many links, in every order.
#[test]
fn random_links_that_pythons_filter_refuses_are_refused() {
    const NAMES: [&str; 8] = ["a", "b", "c", "d/a", "d/b", "d/e/a", "d/e/b", "f/a"];
    const PARTS: [&str; 9] = ["a", "b", "c", "d", "e", "f", "..", "..", "."];
    let mut random = Random(7);
    let (mut dirs, mut accepted) = (Vec::new(), 0);
    for _ in 0..600 {
        let dir = TempDir::new().unwrap();
        let mut archive = Tar::new(TOP);
        for _ in 0..random.below(7) + 2 {
            let name = NAMES[random.below(NAMES.len())];
            let target: Vec<&str> =
                (0..=random.below(4)).map(|_| PARTS[random.below(PARTS.len())]).collect();
            archive = match random.below(8) {
                0 => archive.file(name, "text"),
                1 => archive.hard_link(name, &format!("{TOP}/{}", target.join("/"))),
                _ => archive.link(name, &target.join("/")),
            };
        }
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&archive.finish()).unwrap();
        fs_err::write(dir.path().join("demo-1.0.tar.gz"), gzip.finish().unwrap()).unwrap();
        accepted += usize::from(faults(&dir).is_empty());
        dirs.push(dir);
    }
    assert!((20..580).contains(&accepted), "{accepted} of 600 are accepted");
    let Some(refused) = filtered(&dirs) else { return };
    let missed: Vec<usize> =
        refused.iter().copied().filter(|at| faults(&dirs[*at]).is_empty()).collect();
    assert!(missed.is_empty(), "refused by tarfile, and accepted here: {missed:?}");
}

/// Pseudo-random numbers, equal in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}
