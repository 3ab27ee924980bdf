//! Refused wheels: a clear reason, and no output.

use std::io::{Cursor, Write};
use std::path::Path;

use binary::elf::forward::forwarding_library;
use binary::elf::stub::StubMachine;
use fs_err as fs;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::test_wheel::{TestWheel, bundle};
use super::{INPUT, METADATA, PACKAGES, frame, place, rockpack, stderr, succeed};
use workbench::code_object::object;

const NAME: &str = "frame-2.1+ex7-cp312-cp312-linux_x86_64.whl: ";

/// Checks that splitting fails with this code and message, and leaves no files; and so does a dry run.
fn assert_refused(dir: &Path, args: &[&str], code: i32, expected: &[&str]) {
    for more in [&[][..], &["--dry-run"]] {
        let output = rockpack(dir, &[args, more].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?} {more:?}: {said}");
        for text in expected {
            assert!(said.contains(text), "{text:?} in {said}");
        }
        assert!(!dir.join("out").exists(), "{args:?} left something");
    }
}

const SPLIT: [&str; 7] = ["wheel", "split", INPUT, "--version", "7.0", "-o", "out"];

fn assert_split_refused(made: &TestWheel, expected: &[&str]) {
    let dir = place();
    made.write(&dir.path().join("in"));
    assert_refused(dir.path(), &SPLIT, 1, expected);
}

#[test]
fn libraries_with_an_executable_stack() {
    let rpath = "$ORIGIN";
    let mut library =
        forwarding_library(StubMachine::X86_64, "libs.so", "libc.so.6", rpath).unwrap();
    let header = library.windows(4).position(|it| it == 0x6474_e551_u32.to_le_bytes()).unwrap();
    library[header + 4] |= 1;
    assert_split_refused(
        &frame().file("frame/lib/libs.so", &library),
        &[NAME, "glibc 2.41", "executable-stack"],
    );
}

#[test]
fn files_that_nobody_can_place() {
    let with = |name: &str, content: &[u8]| frame().file(name, content);
    assert_split_refused(
        &with("frame/bin/tool_gpu90", b"x"),
        &[
            NAME,
            "1 file with the name of a target, but not on a `files` line: `frame/bin/tool_gpu90` (gpu90)",
            "`host` line",
        ],
    );
    // Outside the root, and in a data directory.
    assert_split_refused(
        &with("other/blas/k_gpu90.co", b"x"),
        &["not on a `files` line: `other/blas/k_gpu90.co`"],
    );
    assert_split_refused(
        &with("frame-2.1+ex7.data/data/gpu100.db", b"x"),
        &["not on a `files` line: `frame-2.1+ex7.data/data/gpu100.db` (gpu100)"],
    );
    assert_split_refused(
        &with("frame/lib/blas/gpu90_gpu91.dat", b"x"),
        &["with the names of several targets: `frame/lib/blas/gpu90_gpu91.dat` (gpu90, gpu91)"],
    );
    assert_split_refused(
        &with("frame/lib/blas/k_old-all.dat", b"x").file("frame/lib/blas/gpu999.dat", b"x"),
        &[
            "with the name of an ISA that families.kdl does not declare: `frame/lib/blas/gpu999.dat` (gpu999)",
        ],
    );
    let mut many = frame();
    for index in 0..5 {
        many = many.file(&format!("frame/bin/{index}/gpu90"), b"x");
    }
    assert_split_refused(
        &many,
        &["5 files with the name of a target", "`frame/bin/2/gpu90` (gpu90) and 2 more"],
    );
}

#[test]
fn code_that_is_elsewhere_than_its_path_says() {
    let foreign = "1 file with code for another target than in its path: ";
    for (content, other) in
        [(object(0x23), "gpu100"), (object(0x7f), "0x7f"), (bundle(&["gpu90", "gpu91"]), "gpu91")]
    {
        let made = frame().file("frame/lib/blas/other_gpu90.co", &content);
        assert_split_refused(
            &made,
            &[foreign, &format!("`frame/lib/blas/other_gpu90.co` ({other} in gpu90)")],
        );
    }
    let unclaimed = "1 file with device code for an unknown target: ";
    for (content, told) in [
        (object(0x21), "gpu90"),
        (bundle(&["gpu90", "gpu91"]), "gpu90, gpu91"),
        (b"KPAK\x01\0\0\0\x10\0\0\0\0\0\0\0not a table of contents".to_vec(), "unreadable"),
    ] {
        let made = frame().file("frame/lib/blas/kernels.bin", &content);
        assert_split_refused(
            &made,
            &[unclaimed, &format!("`frame/lib/blas/kernels.bin` ({told})")],
        );
    }
}

#[test]
fn wheels_that_cannot_be_copied() {
    let file = "frame/lib/blas/generic.dat";
    let row = "`frame/lib/blas/generic.dat`";
    // A row of another form is written anew, one of another size only if allowed.
    let short = format!("{file},sha256={},7", "a".repeat(43));
    assert_split_refused(
        &frame().row(file, Some(&short)),
        &[row, "has 2400 bytes, but its row has `7`"],
    );
    let other = METADATA.replace("Version: 2.1+ex7", "Version: 2.2");
    let info = "frame-2.1+ex7.dist-info/METADATA";
    let made = frame().without(info).info("METADATA", other.as_bytes());
    assert_split_refused(
        &made,
        &["METADATA is for ", " 2.2, but the file name is for frame 2.1+ex7"],
    );
    // Names that lead outside, and a duplicate name.
    for name in ["../evil.py", "frame/../../evil.py", "/evil.py", "frame\\evil.py"] {
        assert_split_refused(&frame().file(name, b"x"), &[NAME, "evil.py"]);
    }
    let dir = place();
    let bytes = frame().file("frame/__init__.pz", b"import evil\n").bytes();
    let bytes = replaced(bytes, b"frame/__init__.pz", b"frame/__init__.py");
    fs::write(dir.path().join(INPUT), bytes).unwrap();
    assert_refused(dir.path(), &SPLIT, 1, &["`frame/__init__.py`: there twice"]);
    // A link.
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    zip.add_symlink("frame/link", "../../etc", options).unwrap();
    for (name, text) in [("METADATA", METADATA), ("WHEEL", "Wheel-Version: 1.0\n"), ("RECORD", "")]
    {
        zip.start_file(format!("frame-2.1+ex7.dist-info/{name}"), options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    fs::write(dir.path().join(INPUT), zip.finish().unwrap().into_inner()).unwrap();
    assert_refused(dir.path(), &SPLIT, 1, &[NAME, "`frame/link`: link"]);
    // Truncated, and not a zip.
    let bytes = frame().bytes();
    for bytes in [&bytes[..bytes.len() / 2], b"no zip"] {
        fs::write(dir.path().join(INPUT), bytes).unwrap();
        assert_refused(
            dir.path(),
            &SPLIT,
            1,
            &["is not a readable zip archive", "`rockpack wheel verify`"],
        );
    }
}

/// Replaces a text in bytes by another of the same length.
fn replaced(mut bytes: Vec<u8>, old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(old.len()).position(|window| window == old) {
        bytes[at + found..at + found + new.len()].copy_from_slice(new);
        at += found + new.len();
    }
    bytes
}

#[test]
fn damaged_code_is_noticed_while_it_is_read() {
    let dir = place();
    let whole = [&b"\x7fELF"[..], &b"content ".repeat(4000)].concat();
    let bytes = TestWheel::new("frame", "2.1+ex7", METADATA)
        .file("frame/lib/blas/k_gpu90.dat", b"x")
        .file("frame/images/acme-gpu9xx/a.img", b"x")
        .file("frame/lib/pad", b"x")
        .file("frame/lib/stored.so", &whole)
        .bytes();
    fs::write(dir.path().join(INPUT), replaced(bytes, b"content content", b"CONTENT content"))
        .unwrap();
    assert_refused(dir.path(), &SPLIT, 1, &["`frame/lib/stored.so`", "its CRC-32 is wrong"]);
}

#[test]
fn sets_that_do_not_fit_together() {
    let orphan = frame().without("frame/lib/blas/k_gpu100");
    assert_split_refused(
        &orphan,
        &["it has files for the level gpu10-0, but for no ISA below it that would require them"],
    );
    let extra = METADATA.replace("Provides-Extra: opt", "Provides-Extra: Device_All");
    let info = "frame-2.1+ex7.dist-info/METADATA";
    let again = frame().without(info).info("METADATA", extra.as_bytes());
    assert_split_refused(&again, &["it already has an extra `device-all`", "split before"]);
    let plain =
        frame().without("frame/lib/blas/k").without("frame/lib/blas/gpu91").without("frame/images");
    assert_split_refused(&plain, &["`images/*/**` matches no file", "packages.kdl:13:25"]);
    let dir = place();
    let dir = dir.path();
    frame().write(&dir.join("in"));
    assert_refused(
        dir,
        &["wheel", "split", INPUT, "-o", "out"],
        2,
        &["--version is missing", "uses `{version}`"],
    );
    assert_refused(
        dir,
        &["wheel", "split", INPUT, "--version", "7.1", "-o", "out"],
        1,
        &["it requires `ex-core==7.0`, and --version is 7.1"],
    );
    let metadata = "Metadata-Version: 2.1\nName: ex-device-gpu90\nVersion: 6.9\n";
    fs::create_dir(dir.join("sdk")).unwrap();
    assert_refused(
        dir,
        &[&SPLIT[..], &["--beside", "sdk"]].concat(),
        2,
        &["give --beside a directory with the packages"],
    );
    TestWheel::new("ex-device-gpu90", "6.9", metadata).write(&dir.join("sdk"));
    assert_refused(
        dir,
        &[&SPLIT[..], &["--beside", "sdk"]].concat(),
        1,
        &[
            "a wheel for gpu90 would require `ex-device-gpu90==7.0`, but --beside has ex-device-gpu90 6.9",
        ],
    );
    assert_refused(
        dir,
        &["wheel", "split", INPUT, INPUT, "--version", "7.0", "-o", "out"],
        1,
        &["two wheels would have the name frame"],
    );
    assert_refused(dir, &["wheel", "split", "in/none.whl", "-o", "out"], 2, &["none.whl"]);
}

#[test]
fn several_wheels_are_of_one_version_and_have_each_path_once() {
    let dir = place();
    let dir = dir.path();
    let more = PACKAGES.to_owned()
        + r#"
wheel "vision" {
    device-by "path" distribution="vision-device-{isa}"
    files "vision/**"
}
"#;
    fs::write(dir.join("packages.kdl"), more).unwrap();
    frame().write(&dir.join("in"));
    let other = METADATA.replace("Version: 2.1+ex7", "Version: 2.2+ex7");
    let next = TestWheel::new("frame", "2.2+ex7", &other).write(&dir.join("in"));
    let next = next.to_str().unwrap();
    assert_refused(
        dir,
        &[&SPLIT[..], &[next]].concat(),
        1,
        &["it has version 2.2+ex7, but another wheel has 2.1+ex7"],
    );
    let metadata =
        "Metadata-Version: 2.1\nName: vision\nVersion: 0.9\nRequires-Dist: frame==2.1+ex7\n";
    let vision =
        TestWheel::new("vision", "0.9", metadata).file("vision/ops_gpu90.co", &object(0x21));
    let path = vision.clone().file("frame/__init__.py", b"").write(&dir.join("in"));
    let path = path.to_str().unwrap();
    assert_refused(
        dir,
        &[&SPLIT[..], &[path]].concat(),
        1,
        &["vision: `frame/__init__.py` is also a file of frame"],
    );
    vision.write(&dir.join("in"));
    let shown = succeed(dir, &[&SPLIT[..], &[path]].concat());
    assert!(shown.contains("\n8 wheels of 2 in out\n"), "{shown}");
    succeed(dir, &["wheel", "verify", "out/dist"]);
    // Wheels of an earlier run are removed; the split wheel never is.
    let shown = succeed(dir, &["wheel", "split", path, "-o", "out"]);
    assert!(shown.contains("removed dist/frame_device_gpu90-2.1+ex7"), "{shown}");
    let before = fs::read_dir(dir.join("out/dist")).unwrap().count();
    fs::copy(path, dir.join("out/dist/vision-0.9-cp312-cp312-linux_x86_64.whl")).unwrap();
    let inside = "out/dist/vision-0.9-cp312-cp312-linux_x86_64.whl";
    let output = rockpack(dir, &["wheel", "split", inside, "-o", "out"]);
    assert!(stderr(&output).contains("the directory of the new wheels"), "{}", stderr(&output));
    assert_eq!(
        (output.status.code(), fs::read_dir(dir.join("out/dist")).unwrap().count()),
        (Some(1), before)
    );
}

#[test]
fn a_wheel_without_a_line_is_refused() {
    let dir = place();
    let dir = dir.path();
    let metadata = "Metadata-Version: 2.1\nName: frames\nVersion: 1\n";
    let path = TestWheel::new("frames", "1", metadata).write(&dir.join("in"));
    let path = path.to_str().unwrap();
    let said =
        ["packages.kdl has no `wheel` line with `device-by` for `frames`", "did you mean `frame`?"];
    assert_refused(dir, &["wheel", "split", path, "-o", "out"], 1, &said);
}
