//! Device code in the wrong wheel, found by names and by content.

use std::io::Write as _;

use serde_json::Value;
use tempfile::TempDir;

use super::wheel::wheel;
use super::zip::Member;
use super::{codes, make_dist, rockpack, text, verify_json};

const PACKAGES: &str = r#"common {
    author "A"
    requires-python ">=3.10"
}
package "core" kind="runtime" {
    distribution "demo" module="demo" per="none"
    summary "S"
    license "MIT"
    template "runtime"
}
package "device" kind="runtime" {
    distribution "demo-{isa}" module="demo_{isa}" per="isa"
    summary "S"
    license "MIT"
    template "runtime"
    artifact "blas" "lib"
}
"#;

/// Makes an ELF code object for the ISA of this number.
fn code_object(mach: u32) -> Vec<u8> {
    let mut file = vec![0; 64];
    file[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x40");
    file[16..20].copy_from_slice(&[3, 0, 224, 0]);
    file[20] = 1;
    file[48..52].copy_from_slice(&(0x500 | mach).to_le_bytes());
    file[52..54].copy_from_slice(&64_u16.to_le_bytes());
    file
}

fn bundle(targets: &[&str]) -> Vec<u8> {
    let mut file = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    file.extend((targets.len() as u64).to_le_bytes());
    for target in targets {
        let id = format!("hipv4-amdgcn-amd-amdhsa--{target}");
        for number in [4096, 9, id.len()] {
            file.extend((number as u64).to_le_bytes());
        }
        file.extend(id.as_bytes());
    }
    file
}

fn compressed(bundle: &[u8]) -> Vec<u8> {
    let mut file = b"CCOB\x03\0\x01\0".to_vec();
    file.extend([0; 24]);
    file.extend(zstd::encode_all(bundle, 1).unwrap());
    file
}

/// Makes a program with a bundle at the compilers' place; the rest is not ELF, which is another
/// finding.
fn with_bundle(bundle: &[u8]) -> Vec<u8> {
    let mut file = vec![0; 8192];
    file[..4].copy_from_slice(b"\x7fELF");
    file.write_all(bundle).unwrap();
    file
}

/// Makes an archive of code, like the build's tools.
fn kpack(target: &str) -> Vec<u8> {
    let text = |text: &str| [&[0xd9, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let mut file = b"KPAK\x01\0\0\0\x40\0\0\0\0\0\0\0".to_vec();
    file.resize(64, 0);
    for part in [&[0x81][..], &text("toc"), &[0x81], &text("lib/libx.so#0"), &[0x81]] {
        file.extend(part);
    }
    file.extend(text(target));
    file.extend([0x80]);
    file
}

/// Returns the findings about device code in a wheel with this member: severity, text, detail.
fn code_findings(name: &str, path: &str, bytes: &[u8], lines: &str) -> (i32, Vec<String>) {
    let (dir, _) = dist(name, &[(path, bytes)], lines);
    let (status, found) = verify_json(dir.path());
    (status, findings(&found))
}

fn dist(name: &str, members: &[(&str, &[u8])], lines: &str) -> (TempDir, String) {
    let dir = make_dist(&format!("{PACKAGES}{lines}"), &|dir| {
        let mut wheel = wheel(name, "any");
        for (path, bytes) in members {
            wheel.add(Member::new(&format!("_{name}/{path}"), *bytes));
        }
        wheel.write(dir);
    });
    (dir, name.to_owned())
}

fn findings(found: &Value) -> Vec<String> {
    let all = found["findings"].as_array().unwrap().iter();
    let about =
        all.filter(|f| ["misplaced-code", "unread-code"].contains(&f["code"].as_str().unwrap()));
    about
        .map(|f| {
            let field = |name: &str| f[name].as_str().unwrap_or_default().to_owned();
            format!("{}: {}: {}", field("severity"), field("what"), field("detail"))
        })
        .collect()
}

#[test]
fn finds_device_code_inside_files_of_a_wheel_for_all_isas() {
    let inside = "error: device code for an ISA in a package for all ISAs: ";
    for (path, bytes, expected) in [
        ("x.co", code_object(0x4c), "gfx942"),
        ("x.co", code_object(0x7f), "0x7f"),
        (
            "x.hsaco",
            bundle(&["gfx906:sramecc+", "gfx1250-strict"]),
            "gfx1250-strict, gfx906:sramecc+",
        ),
        ("x.hsaco", compressed(&bundle(&["gfx1100"])), "gfx1100"),
        ("lib/libx.so", with_bundle(&bundle(&["gfx942:xnack-"])), "gfx942:xnack-"),
        ("lib/libx.so", with_bundle(&compressed(&bundle(&["gfx942"]))), "gfx942"),
        (".kpack/x.kpack", kpack("gfx90a:xnack+"), "gfx90a:xnack+"),
        ("share/gfx906.kdb", b"SQLite -mcpu=gfx906:sramecc+ 'x'".to_vec(), "gfx906"),
    ] {
        let (status, findings) = code_findings("demo", path, &bytes, "");
        assert_eq!((status, findings), (1, vec![format!("{inside}{expected}")]), "{path}");
    }
    // A text may contain ISA names unless its file name has one.
    assert_eq!(code_findings("demo", "doc.txt", b"for gfx906 and gfx942", ""), (0, vec![]));
}

#[test]
fn a_name_alone_is_doubtful() {
    let warning = "warning: name of an ISA in a package for all ISAs: gfx942";
    assert_eq!(
        code_findings("demo", "share/db/gfx942130.db.txt", b"1x1", ""),
        (0, vec![warning.to_owned()])
    );
}

#[test]
fn a_wheel_for_an_isa_has_its_code_alone() {
    for (path, bytes) in [
        ("lib/k_gfx1250.co", code_object(0x49)),
        ("lib/k_gfx1250-strict.co", bundle(&["gfx1250-strict:xnack-"])),
        (".kpack/b_gfx1250.kpack", kpack("gfx1250-strict")),
        ("share/gfx1250-strict256.db.txt", b"gfx1250 gfx1250-strict".to_vec()),
        ("lib/gfx12-5/x", b"all of the level".to_vec()),
    ] {
        assert_eq!(code_findings("demo_gfx1250", path, &bytes, ""), (0, vec![]), "{path}");
    }
    let inside = "error: device code for another ISA than the package: ";
    for (path, bytes, expected) in [
        ("lib/k_gfx942.co", code_object(0x3f), "gfx90a"),
        ("lib/k_gfx942.co", bundle(&["gfx942", "gfx1100"]), "gfx1100"),
        (".kpack/b_gfx942.kpack", kpack("gfx942-strict"), "gfx942-strict"),
        ("lib/t_gfx942.dat", b"\xa6gfx942\xa6gfx90aP".to_vec(), "gfx90a"),
    ] {
        let (status, findings) = code_findings("demo_gfx942", path, &bytes, "");
        assert_eq!((status, findings), (1, vec![format!("{inside}{expected}")]), "{path}");
    }
    let called = "warning: name of another ISA than the package: gfx906";
    assert_eq!(
        code_findings("demo_gfx942", "lib/gfx906/x", b"x", ""),
        (0, vec![called.to_owned()])
    );
}

#[test]
fn an_isa_can_have_several_wheels() {
    let finer = r#"package "device-blas" kind="runtime" {
    distribution "demo-{isa}-blas" module="demo_{isa}_blas" per="isa"
    summary "S"
    license "MIT"
    artifact "fft" "lib"
}
"#;
    let path = "lib/k_gfx942.co";
    let findings_of = |mach| code_findings("demo_gfx942_blas", path, &code_object(mach), finer);
    assert_eq!(findings_of(0x4c), (0, vec![]));
    let other = "error: device code for another ISA than the package: gfx90a";
    assert_eq!(findings_of(0x3f), (1, vec![other.to_owned()]));
}

#[test]
fn unreadable_code_is_reported_and_can_be_ignored() {
    let mut cut = kpack("gfx942");
    cut.pop();
    let (status, told_of) = code_findings("demo_gfx942", ".kpack/b_gfx942.kpack", &cut, "");
    assert_eq!(
        (status, told_of),
        (0, vec!["warning: the table of contents of an archive of code cannot be read, so its ISAs are unknown: ".to_owned()])
    );
    let line = "ignore \"unread-code\" in=\".kpack/**\" reason=\"made for a test\"\n";
    assert_eq!(code_findings("demo_gfx942", ".kpack/b_gfx942.kpack", &cut, line), (0, vec![]));
}

#[test]
fn allowed_findings_are_ignored_with_a_reason() {
    let line = "ignore \"misplaced-code\" in=\"lib/*.hsaco\" package=\"core\" reason=\"one bundle for all\"\n";
    let (dir, _) = dist("demo", &[("lib/x.hsaco", &bundle(&["gfx942", "gfx1100"]))], line);
    let (status, found) = verify_json(dir.path());
    assert_eq!((status, findings(&found)), (0, vec![]));
    assert_eq!(found["ignored"][0]["reason"], "one bundle for all");
    assert_eq!(found["ignored"][0]["rule"], "packages.kdl:18");
    let output = rockpack(dir.path(), &["wheel", "verify", "dist", "--verbose"]);
    assert!(text(&output.stderr).contains("ignored: one bundle for all"), "{output:?}");
}

#[test]
fn reports_a_line_without_effect() {
    let line = "ignore \"misplaced-code\" in=\"lib/*.hsaco\" package=\"core\" reason=\"one bundle for all\"\n";
    let reports_line = |path: &str, bytes: &[u8], line: &str| {
        let (dir, _) = dist("demo", &[(path, bytes)], line);
        let output = rockpack(dir.path(), &["wheel", "verify", "dist"]);
        text(&output.stderr)
            .contains("`ignore \"misplaced-code\" in=\"lib/*.hsaco\"` matches no finding")
    };
    assert!(reports_line("lib/x.hsaco", b"no code", line));
    assert!(!reports_line("lib/x.hsaco", b"no code", &line.replace('\n', " optional=\"why\"\n")));
    // If no such file exists, the plan reports it.
    assert!(!reports_line("lib/x.txt", b"no code", line));
}

/// Makes a tar archive with these files.
pub fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, path, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

#[test]
fn devel_archives_are_read_too() {
    let inside = "error: device code for an ISA in a package for all ISAs: ";
    let called = "warning: name of an ISA in a package for all ISAs: ";
    let archive = tar(&[
        ("_demo_devel/lib/a.co", &code_object(0x4c)),
        ("_demo_devel/lib/b.kpack", &kpack("gfx1100")),
        ("_demo_devel/lib/gfx906/c.txt", b"text"),
        ("_demo_devel/lib/d.txt", b"for gfx942"),
    ]);
    let all =
        vec![format!("{inside}gfx942"), format!("{inside}gfx1100"), format!("{called}gfx906")];
    assert_eq!(code_findings("demo", "_devel.tar", &archive, ""), (1, all.clone()));
    let packed = liblzma::encode_all(&archive[..], 1).unwrap();
    assert_eq!(code_findings("demo", "_devel.tar.xz", &packed, ""), (1, all));
    let fine =
        r#"ignore "misplaced-code" in="{lib/*.co,lib/*.kpack,lib/gfx906/**/*}" reason="examples""#;
    assert_eq!(code_findings("demo", "_devel.tar", &archive, fine), (0, vec![]));
    let broken = |path: &str, archive: &[u8]| {
        let (dir, _) = dist("demo", &[(path, archive)], "");
        let (status, found) = verify_json(dir.path());
        assert_eq!((status, codes(&found).contains("broken-package")), (1, true), "{path}");
        findings(&found)
    };
    // Members before the damage are checked.
    assert_eq!(broken("_devel.tar", &archive[..1100]), [format!("{inside}gfx942")]);
    assert_eq!(broken("_devel.tar.xz", b"no xz"), [""; 0]);
}
