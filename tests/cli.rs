//! The program as used by scripts and people: wrong inputs, exit status, reproducible outputs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fs_err as fs;

use crate::demo_tree::scratch;
use crate::program::{self, Run, contents, rockpack, text, uncached};
use workbench::skips::{has, skip};

fn build(dir: &Path, dest: &str, more: &[&str]) -> Output {
    program::build(dir, dest).args(more).output().unwrap()
}

fn built(dir: &Path, dest: &str, more: &[&str]) -> BTreeMap<PathBuf, String> {
    program::build(dir, dest).args(more).succeed();
    contents(&dir.join(dest))
}

/// Runs a build that fails. Checks that it prints one problem with `needles`, and leaves a
/// destination with an earlier build unchanged.
fn fails(prepare: impl Fn(&Path), args: &[&str], status: i32, needles: &[&str]) {
    let dir = scratch(true);
    built(dir.path(), "out", &[]);
    fs::write(dir.path().join("out/dist/notes.txt"), "of somebody else\n").unwrap();
    let before = contents(&dir.path().join("out"));
    prepare(dir.path());
    let output = rockpack(dir.path(), &[&["build", "-o", "out"], args].concat());
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    assert_eq!(stderr.matches('×').count(), 1, "one problem, not a cascade:\n{stderr}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    for needle in needles {
        assert!(stderr.contains(needle), "{needle:?} is not in:\n{stderr}");
    }
    assert_eq!(contents(&dir.path().join("out")), before, "the destination is as it was");
}

const ARTIFACTS: [&str; 2] = ["--artifact-dir", "artifacts"];

#[test]
fn no_such_artifact_directory() {
    fails(|_| {}, &["--artifact-dir", "nowhere"], 2, &["nowhere", "does not exist"]);
}

#[test]
fn an_artifact_directory_without_an_artifact() {
    let empty = |dir: &Path| fs::create_dir_all(dir.join("empty/not-one")).unwrap();
    fails(
        empty,
        &["--artifact-dir", "empty"],
        1,
        &["no artifacts in empty", "{name}_{component}_{family}"],
    );
}

#[test]
fn an_unknown_family() {
    let args = [&ARTIFACTS[..], &["--linux-amdgpu-families", "gfx94X-dcgup"]].concat();
    fails(
        |_| {},
        &args,
        2,
        &["--linux-amdgpu-families", "`gfx94X-dcgup`", "did you mean `gfx94X-dcgpu`?"],
    );
    let args = [&ARTIFACTS[..], &["--linux-amdgpu-families", "gfx950"]].concat();
    fails(|_| {}, &args, 1, &["gfx950 is requested, but no artifact is for it", "gfx942, gfx1100"]);
    let alien = |dir: &Path| {
        fs::rename(dir.join("artifacts/blas_lib_gfx942"), dir.join("artifacts/blas_lib_gfx9999"))
            .unwrap();
    };
    fails(alien, &ARTIFACTS, 1, &["blas_lib_gfx9999", "families.kdl"]);
}

#[test]
fn a_base_directory_that_leads_outside() {
    let escape = |dir: &Path| {
        fs::write(
            dir.join("artifacts/blas_lib_generic/artifact_manifest.txt"),
            "stage\n../stage\n",
        )
        .unwrap();
    };
    fails(escape, &ARTIFACTS, 1, &["`../stage`", "blas_lib_generic/artifact_manifest.txt:2"]);
}

#[test]
fn an_artifact_without_a_manifest() {
    let remove = |dir: &Path| {
        fs::remove_file(dir.join("artifacts/blas_lib_generic/artifact_manifest.txt")).unwrap();
    };
    fails(remove, &ARTIFACTS, 1, &["`blas_lib_generic`", "artifact_manifest.txt"]);
}

#[test]
fn an_invalid_version() {
    let dir = scratch(true);
    let output = build(dir.path(), "out", &["--version", "7.x"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--version") && stderr.contains("`7.x`"), "{stderr}");
    assert!(!dir.path().join("out").exists());
}

#[test]
fn a_version_is_read_with_the_command_line_and_before_the_artifacts() {
    let dir = scratch(true);
    // Every command that reads the artifacts fails here.
    fs::write(dir.path().join("artifacts/broken_lib_generic.tar.zst"), "no archive").unwrap();
    let version = ["--version", "7.2.0 and some"];
    for command in ["plan", "build", "explain"] {
        let more: &[&str] = match command {
            "build" => &["-o", "out"],
            "explain" => &["lib/x"],
            _ => &[],
        };
        let args = [&[command, "--artifact-dir", "artifacts"], &version[..], more].concat();
        let output = rockpack(dir.path(), &args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {stderr}");
        assert!(stderr.contains("--version") && !stderr.contains("broken"), "{command}: {stderr}");
        assert!(!dir.path().join("out").exists());
    }
}

#[test]
fn sources_are_surveyed_once() {
    let what = "that a build surveys its sources once";
    if !has("strace", what) {
        return;
    }
    let dir = scratch(true);
    fs::create_dir(dir.path().join("sources")).unwrap();
    let build = [
        "build",
        "--artifact-dir",
        "artifacts",
        "-o",
        "out",
        "--sources",
        "sources",
        "--only",
        "core",
        "--platform-tag",
        "linux_x86_64",
        "--no-cache",
    ];
    let traced = |program: &str, args: &[&str]| {
        Command::new("strace")
            .args(["-f", "-e", "trace=%file", "-o", "trace", program])
            .args(args)
            .current_dir(dir.path())
            .output()
            .unwrap()
    };
    if !traced("true", &[]).status.success() {
        return skip(what, "strace isn't permitted");
    }
    let output = traced(env!("CARGO_BIN_EXE_rockpack"), &build);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let trace = fs::read_to_string(dir.path().join("trace")).unwrap();
    let looks =
        trace.lines().filter(|line| line.contains("sources/hip-python/hip-python/pyproject"));
    let looks: Vec<&str> = looks.collect();
    assert_eq!(looks.len(), 1, "{looks:?}");
}

#[test]
fn an_unknown_package() {
    fails(|_| {}, &[&ARTIFACTS[..], &["--only", "libs"]].concat(), 2, &["`libs`", "libraries"]);
}

#[test]
fn a_manifest_with_a_mistake() {
    let write = |dir: &Path| {
        crate::repository::copy(dir, "");
        let wrong =
            include_str!("../packages.kdl").replacen("artifact \"base\"", "artefact \"base\"", 1);
        fs::write(dir.join("packages.kdl"), wrong).unwrap();
    };
    fails(write, &ARTIFACTS, 1, &["artefact", "packages.kdl:", "artifact"]);
}

#[test]
fn an_elf_file_that_is_cut_short() {
    let cut = |dir: &Path| {
        let path = dir.join("artifacts/blas_lib_generic/stage/lib/libhipblas.so.3.2");
        let whole = fs::read(&path).unwrap();
        fs::write(path, &whole[..100]).unwrap();
    };
    fails(cut, &ARTIFACTS, 1, &["libhipblas.so.3.2", "blas_lib_generic"]);
}

#[test]
fn a_destination_that_is_a_file() {
    let dir = scratch(true);
    fs::write(dir.path().join("file"), "").unwrap();
    let output = build(dir.path(), "file", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("file"), "{}", text(&output.stderr));
    let output = build(dir.path(), "file/below", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(dir.path().join("file")).unwrap(), b"");
}

#[test]
fn a_failed_build_removes_the_destination_that_it_made() {
    let dir = scratch(true);
    fs::remove_file(dir.path().join("artifacts/blas_lib_generic/artifact_manifest.txt")).unwrap();
    assert!(!build(dir.path(), "new/deep", &[]).status.success());
    assert!(!dir.path().join("new").exists());
}

#[test]
fn equal_inputs_give_equal_bytes() {
    let dir = scratch(true);
    let first = built(dir.path(), "out", &["--jobs", "1"]);
    let other = scratch(true);
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "umask 077 && exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_rockpack"),
        "build",
        "--jobs",
        "7",
    ]);
    shell
        .arg("--artifact-dir")
        .arg(other.path().join("artifacts"))
        .arg("-o")
        .arg(other.path().join("elsewhere"));
    shell.args(["--platform-tag", "linux_x86_64"]);
    shell
        .env("TZ", "Asia/Kathmandu")
        .env("LC_ALL", "tr_TR.UTF-8")
        .env("SOURCE_DATE_EPOCH", "1234567890")
        .current_dir("/");
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(first, contents(&other.path().join("elsewhere")));
    assert_eq!(first.len(), 10, "eight packages, checksums and provenance");
}

#[test]
fn removes_earlier_packages_and_keeps_foreign_files() {
    let dir = scratch(true);
    let old = built(dir.path(), "out", &["--version", "7.1"]);
    fs::write(dir.path().join("out/dist/torch-2.9-py3-none-any.whl"), "of somebody else").unwrap();
    let new = built(dir.path(), "out", &["--version", "7.2"]);
    assert_eq!(new.len(), old.len() + 1);
    assert!(new.keys().all(|path| !path.to_string_lossy().contains("-7.1-")), "{new:?}");
    assert!(new.contains_key(Path::new("dist/torch-2.9-py3-none-any.whl")));
}

#[test]
fn only_one_package() {
    let dir = scratch(true);
    let all = built(dir.path(), "all", &[]);
    let only = built(dir.path(), "only", &["--only", "core"]);
    let (path, hash) =
        only.iter().find(|(path, _)| path.extension().is_some_and(|e| e == "whl")).unwrap();
    assert_eq!(only.len(), 3, "one package, checksums and provenance");
    assert_eq!(all.get(path), Some(hash), "the same bytes as in a whole build");
    let again = built(dir.path(), "all", &["--only", "core", "--version", "8"]);
    let packages = |files: &BTreeMap<PathBuf, String>| {
        files.keys().filter(|path| path.extension().is_some_and(|e| e == "whl")).count()
    };
    assert_eq!(packages(&again), packages(&all), "the others stay, and the old core goes");
}

#[test]
fn each_family_has_a_selector_and_a_devel_package_in_legacy_mode() {
    let dir = scratch(false);
    let names: Vec<String> = built(dir.path(), "out", &["--version", "7.2"])
        .keys()
        .map(|p| p.to_string_lossy().into_owned())
        .collect();
    assert_eq!(
        names,
        [
            "dist/SHA256SUMS",
            "dist/gfx110X-all/rocm-7.2.tar.gz",
            "dist/gfx110X-all/rocm_sdk_devel-7.2-py3-none-linux_x86_64.whl",
            "dist/gfx94X-dcgpu/rocm-7.2.tar.gz",
            "dist/gfx94X-dcgpu/rocm_sdk_devel-7.2-py3-none-linux_x86_64.whl",
            "dist/provenance.intoto.json",
            "dist/rocm_profiler-7.2-py3-none-linux_x86_64.whl",
            "dist/rocm_sdk_core-7.2-py3-none-linux_x86_64.whl",
            "dist/rocm_sdk_libraries_gfx110x_all-7.2-py3-none-linux_x86_64.whl",
            "dist/rocm_sdk_libraries_gfx94x_dcgpu-7.2-py3-none-linux_x86_64.whl",
        ]
    );
}

/// Returns the provenance statement of a build with builder and run from these variables.
fn provenance(dir: &Path, variables: &[(&str, &str)], more: &[&str]) -> serde_json::Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
    command.args(["build", "--artifact-dir", "artifacts", "-o", "out"]).args(more).current_dir(dir);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&fs::read(dir.join("out/dist/provenance.intoto.json")).unwrap()).unwrap()
}

#[test]
fn checksums_and_provenance_match_the_packages_in_their_directory() {
    let dir = scratch(false);
    let files = built(dir.path(), "out", &["--version", "7.2"]);
    let packages =
        files.iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "whl" || e == "gz"));
    let mut lines: Vec<String> = packages
        .map(|(path, hash)| format!("{hash}  {}", path.strip_prefix("dist").unwrap().display()))
        .collect();
    lines.sort_by(|a, b| a[64..].cmp(&b[64..]));
    assert_eq!(lines.len(), 8);
    assert_eq!(
        fs::read_to_string(dir.path().join("out/dist/SHA256SUMS")).unwrap(),
        lines.join("\n") + "\n"
    );
    let statement: serde_json::Value = serde_json::from_slice(
        &fs::read(dir.path().join("out/dist/provenance.intoto.json")).unwrap(),
    )
    .unwrap();
    let subjects = statement["subject"].as_array().unwrap().iter();
    let told: Vec<String> = subjects
        .map(|s| {
            format!("{}  {}", s["digest"]["sha256"].as_str().unwrap(), s["name"].as_str().unwrap())
        })
        .collect();
    assert_eq!(told, lines);
    let asked = &statement["predicate"]["buildDefinition"]["externalParameters"];
    assert_eq!(*asked, serde_json::json!({"version": "7.2", "platform-tag": "linux_x86_64"}));
}

#[test]
fn a_statement_names_the_builder_of_the_environment() {
    let dir = scratch(true);
    let run = |variables: &[(&str, &str)], more: &[&str]| {
        provenance(dir.path(), variables, more)["predicate"]["runDetails"].clone()
    };
    let (id, invocation) = ("ROCKPACK_BUILDER_ID", "ROCKPACK_INVOCATION_ID");
    let nobody = run(&[(id, ""), (invocation, "")], &[]);
    assert_eq!(
        (&nobody["builder"]["id"], nobody.get("metadata")),
        (&"urn:rockpack:unidentified-builder".into(), None)
    );
    let told = run(&[(id, "https://example.org/ci"), (invocation, "7")], &[]);
    assert_eq!(
        (&told["builder"]["id"], &told["metadata"]["invocationId"]),
        (&"https://example.org/ci".into(), &"7".into())
    );
    let mut command = uncached(dir.path(), &["build", "--artifact-dir", "artifacts", "-o", "no"]);
    let output = command.env(id, "the nightly builder").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is not a URI"), "{}", text(&output.stderr));
}

#[test]
fn reads_the_platform_tag_from_the_environment() {
    let dir = scratch(true);
    let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
    command
        .args(["plan", "--artifact-dir", "artifacts"])
        .current_dir(dir.path())
        .env("ROCM_SDK_WHEEL_PLATFORM_TAG", "manylinux_2_28_x86_64");
    assert!(text(&command.output().unwrap().stdout).contains("platform manylinux_2_28_x86_64"));
}

#[test]
fn refuses_an_uninstallable_platform_tag_at_its_place() {
    let dir = scratch(true);
    let plan = |variable: &str, more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_rockpack"))
            .args(["plan", "--artifact-dir", "artifacts"])
            .args(more)
            .current_dir(dir.path())
            .env("ROCM_SDK_WHEEL_PLATFORM_TAG", variable)
            .output()
            .unwrap()
    };
    for (tag, remedy) in [
        ("garbage", "`linux_x86_64`, `manylinux_2_28_x86_64`"),
        ("manylinux2014", "`manylinux2014_x86_64`"),
        ("manylinux_2_28_x86_64.Linux_x86_64", "`linux_x86_64`"),
    ] {
        let given = plan("", &["--platform-tag", tag]);
        let stderr = text(&given.stderr);
        assert_eq!(given.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("--platform-tag <T>") && stderr.contains(remedy), "{stderr}");
        let set = plan(tag, &[]);
        let stderr = text(&set.stderr);
        assert_eq!(set.status.code(), Some(2), "{stderr}");
        assert!(set.stdout.is_empty() && stderr.contains("packages.kdl:"), "{stderr}");
        assert!(
            stderr.contains("× ROCM_SDK_WHEEL_PLATFORM_TAG: `") && stderr.contains(remedy),
            "{stderr}"
        );
        let both = plan(tag, &["--platform-tag", "linux_x86_64"]);
        assert!(both.status.success(), "what is not used is not read: {}", text(&both.stderr));
    }
}

#[test]
fn plan_writes_nothing_and_is_reproducible() {
    let dir = scratch(true);
    let before = contents(dir.path());
    let plan = |more: &[&str]| {
        let output = rockpack(
            dir.path(),
            &[&["plan", "--artifact-dir", "artifacts", "-o", "out"], more].concat(),
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    assert_eq!(plan(&["--format", "files"]), plan(&["--format", "files", "--jobs", "1"]));
    let json: serde_json::Value = serde_json::from_str(&plan(&["--json"])).unwrap();
    assert_eq!(json["format"], 1);
    assert!(
        !plan(&["--json"]).contains(dir.path().to_str().unwrap()),
        "no path of this machine is in a plan"
    );
    assert_eq!(contents(dir.path()), before);
}

#[test]
fn a_plan_is_printed_in_one_form() {
    let dir = scratch(true);
    let forms = ["--format=files", "--json", "--format=markdown", "--format=html"];
    for (at, form) in forms.iter().enumerate() {
        let output = rockpack(dir.path(), &["plan", "--artifact-dir", "artifacts", form]);
        assert!(
            output.status.success() && output.stdout.ends_with(b"\n"),
            "{form}: {}",
            text(&output.stderr)
        );
        assert_eq!(
            output.stdout,
            rockpack(dir.path(), &["plan", "--artifact-dir", "artifacts", "--jobs", "1", form])
                .stdout,
            "{form}"
        );
        for other in &forms[at + 1..] {
            let output =
                rockpack(dir.path(), &["plan", "--artifact-dir", "artifacts", form, other]);
            assert_eq!(output.status.code(), Some(2), "{form} {other}");
        }
    }
    let plan = |form: &[&str]| {
        rockpack(dir.path(), &[&["plan", "--artifact-dir", "artifacts"], form].concat())
    };
    assert_eq!(plan(&["--json"]).stdout, plan(&["--format", "json"]).stdout);
    assert_eq!(plan(&[]).stdout, plan(&["--format", "text"]).stdout);
    for (wrong, needle) in [
        (&["--format", "shards"][..], "--shards <N>"),
        (&["--format", "json", "--shards", "2"], "--shards is for --format shards"),
    ] {
        let output = plan(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(text(&output.stderr).contains(needle), "{}", text(&output.stderr));
    }
}

#[test]
fn refuses_a_too_large_glob_of_any_source() {
    let dir = scratch(true);
    let nested = format!("lib/{}b{}", "{a,".repeat(500), "}".repeat(500));
    let stars = "a*".repeat(50_000);
    for glob in [&nested, &stars] {
        let output = rockpack(dir.path(), &["explain", "--artifact-dir", "artifacts", glob]);
        let stderr = text(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{stderr:.400}");
        assert!(stderr.contains("limit"), "{stderr:.400}");
        for command in [
            &["plan", "--artifact-dir", "artifacts", "--only", glob][..],
            &["wheel", "verify", "artifacts", "--plan", "plan.json", "--only", glob],
        ] {
            let output = rockpack(dir.path(), command);
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{stderr:.400}");
            assert!(
                stderr.contains("--only <NAME>") && stderr.contains("is not a name"),
                "{stderr:.400}"
            );
        }
    }
}
