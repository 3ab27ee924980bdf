//! Every file of every artifact is in a package or on a `drop` line: mistakes in the shipped
//! manifest that lose files.

use std::path::Path;
use std::process::Output;

use base::text::human_size;
use catalog::Catalog;
use fs_err as fs;
use plan::Plan;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{rockpack, stderr, succeed, text};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const TREES: [&str; 4] = ["kpack-small", "legacy-small", "kpack-full", "legacy-full"];

/// Change of packages.kdl: a line and the text to insert after it, or a text to replace.
struct Mistake {
    name: &'static str,
    /// Text that is in the file once.
    old: &'static str,
    new: &'static str,
    /// Text to remove in addition, at its first place: a line moves.
    removed: &'static str,
    /// Line of the changed file that the message shows.
    blamed: &'static str,
    /// Parts of the message.
    says: &'static [&'static str],
}

/// Lines of package `device` without which code is lost.
const DEVICE: &str = "    requires \"libraries\"\n\n    artifact \"blas\" \"lib\"\n";
const WITHOUT: &str = "    without-artifact \"rocprofiler-compute\"\n";

const MISTAKES: [Mistake; 9] = [
    Mistake {
        name: "an artifact line is removed from the device package",
        old: DEVICE,
        new: "    requires \"libraries\"\n\n",
        removed: "",
        blamed: "package \"device\" kind=\"runtime\"",
        says: &[
            "with device code for",
            "of artifact `blas`",
            "the libraries of which are in package `libraries`",
            "add to package `device`: artifact \"blas\" \"lib\"",
        ],
    },
    Mistake {
        name: "kernels are excluded",
        old: DEVICE,
        new: "    requires \"libraries\"\n\n    artifact \"blas\" \"lib\"\n    exclude \"lib/rocblas/library/**\"\n",
        removed: "",
        blamed: "exclude \"lib/rocblas/library/**\"",
        says: &[
            "with device code for",
            "from `device`",
            "remove the line, or take them in another package",
        ],
    },
    Mistake {
        name: "archives of kernels are excluded",
        old: DEVICE,
        new: "    requires \"libraries\"\n\n    artifact \"blas\" \"lib\"\n    exclude \".kpack/**\"\n",
        removed: "",
        blamed: "exclude \".kpack/**\"",
        says: &[
            "with device code for",
            "from `device`",
            "remove the line, or take them in another package",
        ],
    },
    Mistake {
        name: "a library goes to a package whose include lines leave nothing of it",
        old: "    artifact \"rocprofiler-compute\" \"lib\" \"run\"\n",
        new: "    artifact \"amd-dbgapi\" \"lib\"\n    artifact \"rocprofiler-compute\" \"lib\" \"run\"\n",
        removed: "    artifact \"amd-dbgapi\" \"lib\"\n",
        blamed: "artifact \"amd-dbgapi\" \"lib\"",
        says: &[
            "the rules of package `profiler` leave out all files of artifact `amd-dbgapi` `lib`",
            "this include line matches none",
        ],
    },
    Mistake {
        name: "a line counts in the other mode",
        old: "    artifact \"amd-dbgapi\" \"lib\"\n",
        new: "    artifact \"amd-dbgapi\" \"lib\" mode=\"legacy\"\n",
        removed: "",
        blamed: "artifact \"amd-dbgapi\" \"lib\" mode=\"legacy\"",
        says: &["applies in another mode", "drop \"**\" artifact=\"amd-dbgapi\""],
    },
    Mistake {
        name: "devel does not take what core names",
        old: "artifacts-of \"core\" \"libraries\"",
        new: "artifacts-of \"libraries\"",
        removed: "",
        blamed: "artifacts-of \"libraries\" \"device\" \"profiler\"",
        says: &["are in no package", "add to package `devel`: artifacts-of \"core\""],
    },
    Mistake {
        name: "devel leaves headers out",
        old: WITHOUT,
        new: "    without-component \"dev\"\n    without-artifact \"rocprofiler-compute\"\n",
        removed: "",
        blamed: "without-component \"dev\"",
        says: &[
            "development files",
            "out of `devel`",
            "drop \"**\" artifact=\"amd-llvm\" component=\"dev\"",
        ],
    },
    Mistake {
        name: "devel leaves an artifact out",
        old: WITHOUT,
        new: "    without-artifact \"blas\"\n    without-artifact \"rocprofiler-compute\"\n",
        removed: "",
        blamed: "without-artifact \"blas\"",
        says: &[
            "of artifact `blas`, the libraries of which are in package `libraries`",
            "out of `devel`",
        ],
    },
    Mistake {
        name: "no package names an artifact of headers",
        old: "    artifact \"prim\"\n",
        new: "",
        removed: "",
        blamed: "package \"devel\" kind=\"devel\"",
        says: &["of artifact `prim`", "add to package `devel`: artifact \"prim\""],
    },
];

/// Makes a directory with the shipped manifest, replacing a text.
fn replace_in_manifest(old: &str, new: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let packages = fs::read_to_string(Path::new(ROOT).join("packages.kdl")).unwrap();
    assert_eq!(packages.matches(old).count(), 1, "{old}");
    crate::repository::copy(dir.path(), "");
    fs::write(dir.path().join("packages.kdl"), packages.replace(old, new)).unwrap();
    dir
}

fn make_mistake(mistake: &Mistake) -> TempDir {
    let dir = replace_in_manifest(mistake.old, mistake.new);
    let file = dir.path().join("packages.kdl");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(mistake.removed), "{}", mistake.name);
    fs::write(&file, text.replacen(mistake.removed, "", 1)).unwrap();
    dir
}

fn catalog(name: &str) -> String {
    format!("{ROOT}/golden/{name}.catalog.json.xz")
}

fn with_catalog(dir: &Path, command: &str, name: &str, more: &[&str]) -> Output {
    rockpack(
        dir,
        &[&[command, "--catalog", &catalog(name), "--platform-tag", "linux_x86_64"], more].concat(),
    )
}

/// Returns the number of the line that begins with a text.
fn line(dir: &Path, text: &str) -> usize {
    let packages = fs::read_to_string(dir.join("packages.kdl")).unwrap();
    let found = packages.lines().position(|line| line.trim_start().starts_with(text));
    found.unwrap_or_else(|| panic!("no line {text}")) + 1
}

/// Returns whether a picture shows the line with its number.
fn shows(message: &str, number: usize, text: &str) -> bool {
    message.contains(&format!(" {number} {text}"))
}

#[test]
fn mistakes_that_lose_files_end_plans_and_name_the_line() {
    for mistake in &MISTAKES {
        let dir = make_mistake(mistake);
        let output = with_catalog(dir.path(), "plan", "kpack-small", &[]);
        let (name, message) = (mistake.name, stderr(&output));
        assert_eq!(output.status.code(), Some(1), "{name}: {message}");
        assert!(output.stdout.is_empty(), "{name}: {}", text(&output.stdout));
        let number = line(dir.path(), mistake.blamed);
        assert!(shows(&message, number, mistake.blamed), "{name}: {number}\n{message}");
        for says in mistake.says {
            assert!(message.contains(says), "{name}: `{says}` is not in\n{message}");
        }
    }
}

#[test]
fn builds_and_comparisons_end_as_plans_do() {
    let demo = crate::demo_tree::scratch(true);
    let artifacts = demo.path().join("artifacts").to_str().unwrap().to_owned();
    let dir = make_mistake(&MISTAKES[0]);
    let out = dir.path().join("out");
    let build = ["build", "--artifact-dir", &artifacts, "-o", "out", "--no-cache"];
    let output = rockpack(dir.path(), &build);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("no line of `device` takes them"), "{}", stderr(&output));
    assert!(!out.join("dist").exists(), "something is written");

    let output = rockpack(dir.path(), &["diff", "built-in", ".", "--artifact-dir", &artifacts]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let (printed, message) = (text(&output.stdout), stderr(&output));
    assert!(printed.contains("unowned now: no package for * takes `blas` `lib`"), "{printed}");
    assert!(message.contains("no line of `device` takes them"), "{message}");
    // The line that took them before.
    assert!(message.contains("and would be in none"), "{message}");
    let shipped = fs::read_to_string(Path::new(ROOT).join("packages.kdl")).unwrap();
    let before = shipped.split_once(DEVICE).unwrap().0.lines().count() + 3;
    assert!(shows(&message, before, "artifact \"blas\" \"lib\""), "{before}\n{message}");

    // A faulty old manifest does not prevent comparing it with a corrected one.
    let mended = rockpack(dir.path(), &["diff", ".", "built-in", "--artifact-dir", &artifacts]);
    assert_eq!(mended.status.code(), Some(0), "{}", stderr(&mended));
}

#[test]
fn allowed_unowned_files_are_a_warning_with_files_and_bytes() {
    let dir = make_mistake(&MISTAKES[1]);
    let file = dir.path().join("packages.kdl");
    // Otherwise the line without files is an error, with any permission.
    let packages = fs::read_to_string(&file).unwrap().replace(
        "    artifact \"blas\" \"lib\"\n    exclude",
        "    artifact \"blas\" \"lib\" optional=\"-\"\n    exclude",
    );
    fs::write(&file, packages).unwrap();
    let output =
        with_catalog(dir.path(), "plan", "kpack-small", &["--allow", "unowned-files", "--json"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{message}");
    let plan: Plan = Plan::read(&text(&output.stdout)).unwrap();
    let bytes = human_size(plan.unowned.iter().map(|u| u.size).sum());
    let files = plan.unowned.len();
    assert!(files > 3, "{files}");
    let wanted =
        format!("{files} files ({bytes}) are in no package; allowed by --allow unowned-files");
    assert!(message.contains(&wanted), "{message}");
    assert!(plan.unowned.iter().all(|u| u.reason.starts_with("excluded by packages.kdl:")));

    let allow = "ignore \"unowned-files\" in=\"lib/rocblas/library/**\" artifact=\"blas\" reason=\"their package is not decided\"\n";
    fs::write(&file, fs::read_to_string(&file).unwrap() + allow).unwrap();
    let output = with_catalog(dir.path(), "plan", "kpack-small", &[]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(message.contains(&format!("{files} files ({bytes}) are in no package")), "{message}");

    let diff = ["diff", "built-in", ".", "--catalog", &catalog("kpack-small")];
    let output = rockpack(dir.path(), &diff);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains(&format!("{files} files ({bytes})")), "{}", stderr(&output));
}

#[test]
fn a_drop_line_from_the_message_makes_the_plan() {
    let dir = make_mistake(&MISTAKES[8]);
    let file = dir.path().join("packages.kdl");
    let packages =
        fs::read_to_string(&file).unwrap() + "drop \"**\" artifact=\"prim\" reason=\"…\"\n";
    fs::write(&file, packages).unwrap();
    let output = with_catalog(dir.path(), "plan", "kpack-small", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn the_shipped_manifest_leaves_no_file_of_the_trees_in_no_package() {
    for name in TREES {
        let output = with_catalog(Path::new(ROOT), "plan", name, &["--json"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        let plan = Plan::read(&text(&output.stdout)).unwrap();
        assert!(plan.unowned.is_empty(), "{name}: {:?}", plan.unowned);
        let loaded = Catalog::load(Path::new(&catalog(name))).unwrap();
        assert!(plan.sources().count() > loaded.artifacts.len(), "{name}");
    }
    let demo = crate::demo_tree::scratch(true);
    let args = ["plan", "--json", "--artifact-dir", "artifacts", "--manifest", "built-in"];
    let plan: Value = serde_json::from_str(&succeed(demo.path(), &args)).unwrap();
    assert_eq!(plan["unowned"], serde_json::json!([]));
}

#[test]
fn fewer_packages_or_targets_raise_no_false_alarm() {
    for more in [
        &["--only", "core"][..],
        &["--only", "rocm-sdk-device-gfx942"],
        &["--linux-amdgpu-families", "gfx942"],
    ] {
        let output = with_catalog(Path::new(ROOT), "plan", "kpack-small", more);
        assert_eq!(output.status.code(), Some(0), "{more:?}: {}", stderr(&output));
    }
    // Files of a package that is not selected are rejected too.
    let dir = make_mistake(&MISTAKES[1]);
    let output = with_catalog(dir.path(), "plan", "kpack-small", &["--only", "core"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn a_target_that_is_not_there_is_one_error() {
    for target in ["gfx94Y-dcgpu", "gfx90a"] {
        let more = ["--linux-amdgpu-families", target];
        let output = with_catalog(Path::new(ROOT), "plan", "legacy-small", &more);
        let message = stderr(&output);
        assert_eq!(message.matches('×').count(), 1, "{message}");
        assert!(!output.status.success() && message.contains(target), "{message}");
    }
}
