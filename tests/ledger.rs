//! `rockpack diff --ledger`: a case for each class of difference, mistakes of a ledger, and the shipped ledger.

use std::io::Write as _;
use std::path::Path;

use fs_err as fs;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::demo_tree::scratch;
use crate::program::{self, Run, rockpack};

#[path = "ledger/theirs.rs"]
pub mod theirs;

/// Writes a wheel as another tool does.
fn wheel(dir: &Path, name: &str, metadata: &str, files: &[(&str, &str)]) {
    fs::create_dir_all(dir).unwrap();
    let stem = format!("{}-1.0", name.replace('-', "_"));
    let file = fs::File::create(dir.join(format!("{stem}-py3-none-any.whl"))).unwrap();
    let mut zip = ZipWriter::new(file);
    let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{metadata}");
    let own = [
        (format!("{stem}.dist-info/METADATA"), &*metadata),
        (format!("{stem}.dist-info/WHEEL"), "Wheel-Version: 1.0\nTag: py3-none-any\n"),
        (format!("{stem}.dist-info/RECORD"), ""),
    ];
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), *text));
    for (name, text) in own.into_iter().chain(files) {
        zip.start_file(&*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
}

/// Two sets with one difference of each class that texts can show.
fn sets(dir: &Path) {
    let (theirs, ours) = (dir.join("theirs"), dir.join("ours"));
    let old = [
        ("_a/equal", "1"),
        ("_a/data.json", "{\"a\": 1, \"b\": 2}"),
        ("_a/lines", "x\r\ny\r\n"),
        ("_a/gone", "gone"),
        ("_a/changed", "old\n"),
        ("_a/from", "moved"),
    ];
    let new = [
        ("_a/equal", "1"),
        ("_a/data.json", "{\"b\":2,\"a\":1}\n"),
        ("_a/lines", "x\ny"),
        ("_a/come", "come"),
        ("_a/changed", "new\n"),
        ("_a/to", "moved"),
    ];
    wheel(&theirs, "a", "License-Expression: MIT\nRequires-Dist: b (==1)\n", &old);
    wheel(&ours, "A", "License-Expression: BSD-2-Clause\nRequires-Dist: b==1\n", &new);
    wheel(&ours, "c", "", &[]);
}

const LEDGER: &str = r#"accept "only-theirs" "gone" package="a" reason="nobody reads it"
accept "only-ours" "come" reason="new"
accept "different" "_a/changed" reason="mended"
accept "moved" "from" reason="renamed"
accept "metadata" "License-Expression" reason="relicensed"
accept "package" "c" reason="new"
"#;

/// Returns the exit status and the output.
fn diff(dir: &Path, ledger: &str, format: &str) -> (Option<i32>, String, String) {
    fs::write(dir.join("parity.kdl"), ledger).unwrap();
    let args = ["diff", "theirs", "ours", "--ledger", "parity.kdl", "--format", format];
    let output = rockpack(dir, &args);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn explains_each_class_of_difference_with_a_line() {
    let dir = tempfile::tempdir().unwrap();
    sets(dir.path());
    let (status, json, errors) = diff(dir.path(), LEDGER, "json");
    assert_eq!(status, Some(0), "{json}{errors}");
    let ledger: serde_json::Value = serde_json::from_str(&json).unwrap();
    let counts = &ledger["packages"][0];
    let of = |name: &str| counts[name].as_u64().unwrap();
    assert_eq!((of("equal"), of("meaning"), of("moved")), (1, 2, 1), "{counts}");
    assert_eq!((of("theirs"), of("ours"), of("different")), (1, 1, 1), "{counts}");
    assert_eq!((of("accepted"), of("unexplained")), (5, 0), "{counts}");
}

#[test]
fn fails_for_each_difference_without_a_line() {
    let dir = tempfile::tempdir().unwrap();
    sets(dir.path());
    for (index, line) in LEDGER.lines().enumerate() {
        let rest: Vec<&str> = LEDGER.lines().filter(|other| *other != line).collect();
        let rest = rest.join("\n");
        for format in ["text", "markdown", "html"] {
            let (status, text, errors) = diff(dir.path(), &rest, format);
            assert_eq!(status, Some(1), "line {index}: {text}{errors}");
            assert!(text.contains("1 difference unexplained"), "line {index}: {text}");
            assert!(errors.contains("accepts 1 difference"), "line {index}: {errors}");
        }
    }
}

#[test]
fn fails_for_a_line_without_a_difference() {
    let dir = tempfile::tempdir().unwrap();
    sets(dir.path());
    let idle = format!("{LEDGER}accept \"rpath\" \"lib/**\" reason=\"none\"\n");
    let (status, _, errors) = diff(dir.path(), &idle, "text");
    assert_eq!(status, Some(1), "{errors}");
    assert!(
        errors.contains("accepts no difference") && errors.contains("parity.kdl:7"),
        "{errors}"
    );
    let excused = idle.replace("reason=\"none\"", "reason=\"none\" optional=\"no programs\"");
    assert_eq!(diff(dir.path(), &excused, "text").0, Some(0));
}

#[test]
fn refuses_an_unknown_class_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    sets(dir.path());
    let (status, text, errors) =
        diff(dir.path(), "accept \"only-hours\" \"x\" reason=\"y\"", "text");
    assert_eq!((status, text.as_str()), (Some(1), ""), "{errors}");
    assert!(
        errors.contains("did you mean `only-ours`?") && errors.contains("parity.kdl:1"),
        "{errors}"
    );
}

const VERSION: &str = "7.2.0";

/// Builds the packages of `artifacts` into `ours`, and lays them out as the script does into
/// `theirs`.
fn both_sets(dir: &Path, kpack: bool) {
    let build = ["build", "--artifact-dir", "artifacts", "-o", "ours", "--version", VERSION];
    program::uncached(dir, &build).succeed();
    theirs::make(&dir.join("artifacts"), &dir.join("theirs/dist"), kpack, VERSION);
}

/// Returns the exit status, the ledger and the errors.
fn by_shipped_ledger(dir: &Path) -> (Option<i32>, serde_json::Value, String) {
    let args = ["diff", "theirs/dist", "ours/dist", "--ledger", "built-in", "--format", "json"];
    let output = rockpack(dir, &args);
    let ledger = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), ledger, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn shipped_ledger_explains_each_difference_from_the_script() {
    for kpack in [true, false] {
        let dir = scratch(kpack);
        both_sets(dir.path(), kpack);
        let (status, ledger, errors) = by_shipped_ledger(dir.path());
        assert_eq!(status, Some(0), "kpack {kpack}: {:#}\n{errors}", ledger["unexplained"]);
        let sum = |count: &str| -> u64 {
            let packages = ledger["packages"].as_array().unwrap();
            packages.iter().map(|package| package[count].as_u64().unwrap()).sum()
        };
        for count in ["equal", "rpath", "theirs", "ours", "different", "facts"] {
            assert!(sum(count) > 0, "no file or fact is {count}: the layout is not the script's");
        }
    }
}

#[test]
fn shipped_ledger_does_not_explain_a_lost_library() {
    let dir = scratch(true);
    both_sets(dir.path(), true);
    let lost = dir.path().join("artifacts/base_lib_generic/stage/lib/libgone.so.1");
    fs::write(lost, "lost").unwrap();
    theirs::make(&dir.path().join("artifacts"), &dir.path().join("theirs/dist"), true, VERSION);
    let (status, ledger, errors) = by_shipped_ledger(dir.path());
    assert_eq!(status, Some(1), "{errors}");
    let unexplained = ledger["unexplained"].as_array().unwrap();
    let names: Vec<&str> = unexplained.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"_rocm_sdk_core/lib/libgone.so.1"), "{names:?}");
}
