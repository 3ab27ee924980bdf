//! Files in a destination: packages of earlier builds, packages of several jobs, and the state
//! after a signal.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use base::regular::sha256;
use fs_err as fs;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use wheel::package::distribution_of;

use crate::demo_tree::scratch;
use crate::program::{self, Run, contents, rockpack, stderr, text};

/// Returns a build of packages that need no time for packing.
fn stored(dir: &Path, dest: &str) -> Command {
    let mut command = program::build(dir, dest);
    command.args(["--compression", "store"]);
    command
}

fn build(dir: &Path, dest: &str, more: &[&str]) -> Output {
    let output = stored(dir, dest).args(more).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

fn packages(dest: &Path) -> Vec<String> {
    let names = fs::read_dir(dest.join("dist")).unwrap().map(|e| e.unwrap().file_name());
    let names = names.map(|name| name.to_str().unwrap().to_owned());
    let is_package = |name: &String| distribution_of(name).is_some();
    let mut names: Vec<_> = names.filter(is_package).collect();
    names.sort();
    names
}

/// Returns the files in SHA256SUMS, after checking each hash.
fn listed(dest: &Path) -> Vec<String> {
    let text = fs::read_to_string(dest.join("dist/SHA256SUMS")).unwrap();
    let row = |line: &str| {
        let (hash, name) = line.split_once("  ").unwrap();
        assert_eq!(sha256(dest.join("dist").join(name)).unwrap(), hash, "{name}");
        name.to_owned()
    };
    text.lines().map(row).collect()
}

fn subjects(dest: &Path, statement: &str) -> Vec<String> {
    let text = fs::read_to_string(dest.join("dist").join(statement)).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let subjects = value["subject"].as_array().unwrap().iter();
    subjects.map(|subject| subject["name"].as_str().unwrap().to_owned()).collect()
}

fn only_parameter(value: &Path) -> Value {
    let text = fs::read_to_string(value.join("dist/provenance.intoto.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    value["predicate"]["buildDefinition"]["externalParameters"]["only"].clone()
}

fn verified(dir: &Path, what: &str) {
    let output = rockpack(dir, &["wheel", "verify", what]);
    let broken = text(&output.stderr).contains("checksum-list");
    assert!(!broken && output.status.code() != Some(2), "{}", text(&output.stderr));
}

#[test]
fn lists_packages_of_successive_builds_together() {
    let dir = scratch(true);
    let out = dir.path().join("out");
    build(dir.path(), "out", &["--only", "core"]);
    let core = packages(&out);
    build(dir.path(), "out", &["--only", "libraries"]);
    let both = packages(&out);
    assert!(core.len() == 1 && both.len() == 2, "{both:?}");
    assert_eq!(listed(&out), both);
    assert_eq!(subjects(&out, "provenance.intoto.json"), both);
    assert_eq!(only_parameter(&out), serde_json::json!(["core", "libraries"]));
    verified(dir.path(), "out/dist");
    // Building the same packages again changes nothing, and a whole build replaces them.
    let before = contents(&out);
    build(dir.path(), "out", &["--only", "core"]);
    assert_eq!(contents(&out), before);
    build(dir.path(), "out", &[]);
    assert_eq!((listed(&out), only_parameter(&out)), (packages(&out), Value::Null));
    assert!(packages(&out).len() > 2);
}

#[test]
fn packages_of_different_builds_have_separate_statements() {
    let dir = scratch(true);
    let out = dir.path().join("out");
    build(dir.path(), "out", &["--only", "core", "--version", "7.1.0"]);
    build(dir.path(), "out", &["--only", "libraries", "--version", "7.2.0"]);
    assert_eq!(listed(&out), packages(&out));
    assert!(subjects(&out, "provenance.intoto.json")[0].contains("libraries-7.2.0"));
    assert!(subjects(&out, "provenance.2.intoto.json")[0].contains("core-7.1.0"));
    // All packages of the second statement are replaced, so it is removed.
    build(dir.path(), "out", &["--only", "core", "--version", "7.2.0"]);
    assert!(!out.join("dist/provenance.2.intoto.json").exists());
    assert_eq!(subjects(&out, "provenance.intoto.json"), packages(&out));
}

#[test]
fn removes_only_recorded_and_unchanged_files() {
    let dir = scratch(true);
    let out = dir.path().join("out");
    build(dir.path(), "out", &["--version", "7.1.0"]);
    let recorded = packages(&out);
    // Like a package added by hand, also with a separate list.
    let theirs = "rocm_sdk_core-7.0.0-py3-none-linux_x86_64.whl";
    fs::write(out.join("dist").join(theirs), "theirs").unwrap();
    let changed = recorded.iter().find(|name| name.contains("libraries")).unwrap();
    fs::write(out.join("dist").join(changed), "changed").unwrap();
    let output = build(dir.path(), "out", &["--version", "7.2.0"]);
    let now = packages(&out);
    assert!(now.contains(&theirs.to_owned()) && now.contains(changed), "{now:?}");
    let left: Vec<_> = now.iter().filter(|name| name.contains("7.1.0")).collect();
    assert_eq!(left, [changed]);
    assert!(stderr(&output).contains("was changed after its build"));
    assert!(!listed(&out).contains(&theirs.to_owned()) && !listed(&out).contains(changed));
    // --keep leaves and lists the packages of both.
    let before = listed(&out);
    build(dir.path(), "out", &["--version", "7.3.0", "--keep"]);
    let after = listed(&out);
    assert!(before.iter().all(|name| after.contains(name)) && after.len() == 2 * before.len());
    assert_eq!(subjects(&out, "provenance.2.intoto.json"), before);
}

#[test]
fn jobs_of_a_matrix_are_united() {
    let dir = scratch(true);
    for job in ["core", "libraries", "device"] {
        build(dir.path(), job, &["--only", job]);
    }
    build(dir.path(), "whole", &["--only", "core", "--only", "libraries", "--only", "device"]);
    // A job's directory may be moved here as its `dist`.
    fs::rename(dir.path().join("device/dist"), dir.path().join("carried")).unwrap();
    let united = rockpack(dir.path(), &["merge", "core", "libraries", "carried", "-o", "out"]);
    assert!(united.status.success(), "{}", text(&united.stderr));
    let (out, whole) = (dir.path().join("out"), dir.path().join("whole"));
    assert_eq!(packages(&out), packages(&whole));
    assert_eq!(listed(&out), packages(&whole));
    assert_eq!(subjects(&out, "provenance.intoto.json"), packages(&whole));
    let hashes = |dir: &Path| contents(dir).into_values().collect::<Vec<_>>();
    assert_eq!(hashes(&out).len(), hashes(&whole).len());
    verified(dir.path(), "out/dist");
    let before = contents(&out);
    let again = rockpack(dir.path(), &["merge", "out", "core", "-o", "out"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert_eq!(contents(&out), before);
}

#[test]
fn jobs_that_do_not_belong_together_are_refused() {
    let dir = scratch(true);
    build(dir.path(), "one", &["--only", "core", "--version", "7.1.0"]);
    build(dir.path(), "two", &["--only", "libraries", "--version", "7.2.0"]);
    program::build(dir.path(), "three").args(["--only", "core", "--version", "7.1.0"]).succeed();
    fs::create_dir(dir.path().join("empty")).unwrap();
    let refused = |dirs: &[&str], needle: &str| {
        let output = rockpack(dir.path(), &[&["merge", "-o", "out"], dirs].concat());
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(stderr(&output).contains(needle), "{}", text(&output.stderr));
        assert!(!dir.path().join("out").exists());
    };
    refused(&["one", "two"], "version is `7.1.0` in one, and `7.2.0` in two");
    refused(&["one", "three"], "compression is `store` in one, and not given in three");
    refused(&["one", "empty"], "empty has no SHA256SUMS");
    let wheel = packages(&dir.path().join("one")).remove(0);
    fs::write(dir.path().join("one/dist").join(wheel), "changed").unwrap();
    refused(&["one"], "does not match SHA256SUMS of its directory");
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn lists_finished_files_with_their_commit() {
    let dir = scratch(true);
    let root = dir.path();
    for (file, text) in [("a/one.zip", "1"), ("b/two words.tar.xz", "2"), ("b/one.zip", "1")] {
        fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        fs::write(root.join(file), text).unwrap();
    }
    let assemble = |dirs: &[&str], more: &[&str]| {
        let mut command = program::command(root, &[&["merge", "-o", "out"], dirs, more].concat());
        command.env("ROCKPACK_BUILDER_ID", "https://example.org/ci").output().unwrap()
    };
    let named = ["--source-commit", COMMIT];
    let output = assemble(&["a", "b"], &named);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = root.join("out");
    let files = ["one.zip", "two words.tar.xz"];
    assert_eq!(listed(&out), files);
    assert_eq!(subjects(&out, "provenance.intoto.json"), files);
    let statement = fs::read(out.join("dist/provenance.intoto.json")).unwrap();
    let predicate = &serde_json::from_slice::<Value>(&statement).unwrap()["predicate"];
    let definition = &predicate["buildDefinition"];
    assert_eq!(definition["buildType"], "urn:rockpack:files:1");
    assert_eq!(definition["externalParameters"], json!({ "source-commit": COMMIT }));
    let source = json!([{ "name": "source", "digest": { "gitCommit": COMMIT } }]);
    assert_eq!(definition["resolvedDependencies"], source);
    assert_eq!(predicate["runDetails"]["builder"]["id"], "https://example.org/ci");
    // United packages have an ordinary record: later commands unite or replace it.
    let before = contents(&out);
    assert!(assemble(&["out"], &[]).status.success());
    assert_eq!(contents(&out), before);
    fs::remove_file(root.join("b/two words.tar.xz")).unwrap();
    assert!(assemble(&["a", "b"], &named).status.success());
    assert_eq!(listed(&out), ["one.zip"]);
    assert!(!out.join("dist/two words.tar.xz").exists());
}

#[test]
fn refuses_files_that_are_not_finished() {
    let dir = scratch(true);
    let root = dir.path();
    for name in ["one", "other", "linked", "deep/below", "recorded", "empty"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("one/file"), "1").unwrap();
    fs::write(root.join("other/file"), "2").unwrap();
    fs::write(root.join("recorded/SHA256SUMS"), "").unwrap();
    std::os::unix::fs::symlink("../one/file", root.join("linked/file")).unwrap();
    let refused = |status: i32, commit: &str, dirs: &[&str], needle: &str| {
        let options = ["merge", "-o", "out", "--source-commit", commit];
        let output = rockpack(root, &[&options, dirs].concat());
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
        assert!(stderr(&output).contains(needle), "{}", text(&output.stderr));
        assert!(!root.join("out").exists());
    };
    refused(1, COMMIT, &["one", "other"], "differs between");
    refused(
        1,
        COMMIT,
        &["linked"],
        "linked/file cannot be merged with the others: it is not a file",
    );
    refused(1, COMMIT, &["deep"], "deep/below cannot be merged with the others: it is not a file");
    refused(1, COMMIT, &["recorded"], "remove --source-commit");
    refused(1, COMMIT, &["empty"], "empty has no files");
    refused(2, "main", &["one"], "write the output of `git rev-parse HEAD`");
    refused(2, &COMMIT[..12], &["one"], "is not a full commit hash");
    // Packages of a build cannot share a directory with other files.
    build(root, "built", &["--only", "core"]);
    let finished = ["merge", "one", "-o", "finished", "--source-commit", COMMIT];
    assert!(rockpack(root, &finished).status.success());
    let output = rockpack(root, &["merge", "built", "finished", "-o", "out"]);
    assert!(stderr(&output).contains(
        "with different commands: the command is `rockpack build` in built, and `rockpack merge --source-commit` in finished"
    ));
}

#[test]
fn destinations_that_cannot_be_are_named() {
    let dir = scratch(true);
    std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
    for (dest, needle) in [
        ("/proc/x", "cannot create a directory at `/proc/x`"),
        ("/dev/null/x", "`/dev/null` is not a directory"),
        ("", "--output <OUT>"),
        ("link", "is a dangling link"),
        ("artifacts/base_lib_generic/stage/out", "inside of the artifact `base_lib_generic`"),
    ] {
        let output = stored(dir.path(), dest).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{dest}: {}", text(&output.stderr));
        assert!(stderr(&output).contains(needle), "{dest}: {}", text(&output.stderr));
    }
    assert!(!dir.path().join("nowhere").exists());
}

#[test]
fn a_reader_undoes_a_change_that_was_interrupted() {
    undone_by(&["wheel", "verify", "out/dist"]);
    undone_by(&["wheel", "retag", "--platform-tag", "linux_x86_64", "-o", "new", "out/dist"]);
    undone_by(&["diff", "out", "out"]);
}

fn undone_by(command: &[&str]) {
    let dir = scratch(true);
    build(dir.path(), "out", &["--only", "core"]);
    let (out, before) = (dir.path().join("out"), contents(&dir.path().join("out")));
    let wheel = packages(&out).remove(0);
    // State after a process was killed when it had moved one file.
    let hidden = out.join(".rockpack-partial");
    fs::create_dir_all(hidden.join("old/dist")).unwrap();
    fs::copy(out.join("dist").join(&wheel), hidden.join("old/dist").join(&wheel)).unwrap();
    fs::write(out.join("dist").join(&wheel), "new").unwrap();
    fs::write(out.join("dist/added.whl"), "new").unwrap();
    let journal = format!(r#"{{"made":[],"added":["dist/added.whl"],"kept":["dist/{wheel}"]}}"#);
    fs::write(hidden.join("journal"), journal).unwrap();
    let output = rockpack(dir.path(), command);
    let messages = stderr(&output);
    assert!(messages.contains("an earlier build was interrupted during changes of"), "{messages}");
    assert_eq!(contents(&out), before);
    assert!(!hidden.exists());
}

/// Directory with a build that unpacks an archive and then waits for an endless program.
struct Waiting {
    dir: TempDir,
    child: Child,
}

/// Replaces the Python that builds: accepts, then starts a program that ignores SIGTERM, one that
/// also leaves its process group, and waits.
const PYTHON: &str = r#"#!/bin/sh
case "$1" in
-c) echo "$0"; echo True; echo 26.0 ;;
*) trap '' TERM; sleep 1000 & one=$!; setsid sleep 1000 & echo "$$ $one $!" > HERE/started.new; mv HERE/started.new HERE/started; wait; wait ;;
esac
"#;

/// Like [`PYTHON`], but fails at once and leaves a program outside its group.
const LEAVING: &str = r#"#!/bin/sh
case "$1" in
-c) echo "$0"; echo True; echo 26.0 ;;
*) setsid sleep 1000 & echo "$$ $!" > HERE/started.new; mv HERE/started.new HERE/started; exit 3 ;;
esac
"#;

impl Waiting {
    fn new(prepare: impl FnOnce(&mut Command)) -> Self {
        let waiting = Self::with(PYTHON, prepare);
        // Unpacked files are unnamed: they are removed with the process.
        let tmp = waiting.dir.path().join("tmp");
        let open = fs::read_dir(format!("/proc/{}/fd", waiting.child.id())).unwrap().flatten();
        let targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
        let unpacked = targets.filter(|to| to.starts_with(&tmp) && !to.exists());
        assert_eq!(unpacked.count(), 1, "an archive is unpacked");
        assert_eq!(fs::read_dir(&tmp).unwrap().count(), 0);
        waiting
    }

    fn with(python: &str, prepare: impl FnOnce(&mut Command)) -> Self {
        let dir = scratch(true);
        let root = dir.path();
        pack(&root.join("artifacts/base_lib_generic"));
        fs::create_dir(root.join("tmp")).unwrap();
        fs::create_dir(root.join("src")).unwrap();
        let wheel = "\nwheel \"fetched\" index=\"fetched==1\"\n";
        crate::repository::copy(&root.join("manifest"), wheel);
        let script = python.replace("HERE", root.to_str().unwrap());
        fs::write(root.join("python"), script).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(root.join("python"), executable).unwrap();
        let python = root.join("python");
        let mut command = stored(root, "out/new");
        command.args(["--manifest", "manifest", "--sources", "src", "--only", "fetched"]);
        command.env("TMPDIR", root.join("tmp")).env("ROCKPACK_PYTHON", &python);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        prepare(&mut command);
        let mut child = command.spawn().unwrap();
        while !root.join("started").exists() {
            let ended = child.try_wait().unwrap().is_some();
            assert!(!ended || root.join("started").exists(), "the build ended");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { dir, child }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap()
    }

    fn programs(&self) -> Vec<Pid> {
        let text = fs::read_to_string(self.dir.path().join("started")).unwrap();
        text.split_whitespace().map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()).collect()
    }

    fn end(self) -> (TempDir, Output) {
        let programs = self.programs();
        let output = self.child.wait_with_output().unwrap();
        for program in programs {
            // The system takes a moment to end killed programs.
            let mut tries = 0..500;
            while is_running(program) {
                assert!(tries.next().is_some(), "{program:?} still runs");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        (self.dir, output)
    }
}

fn pack(artifact: &Path) {
    let file = fs::File::create(artifact.with_extension("tar.zst")).unwrap();
    let mut tar = tar::Builder::new(zstd::Encoder::new(file, 1).unwrap());
    tar.follow_symlinks(false);
    let manifest = "artifact_manifest.txt";
    tar.append_path_with_name(artifact.join(manifest), manifest).unwrap();
    tar.append_dir_all("stage", artifact.join("stage")).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
    fs::remove_dir_all(artifact).unwrap();
}

#[test]
fn a_program_outside_its_process_group_ends_with_the_build() {
    let (_dir, output) = Waiting::with(LEAVING, |_| {}).end();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn a_signal_removes_all_files_with_a_message() {
    use std::os::unix::process::ExitStatusExt;
    for (signal, name) in
        [(Signal::INT, "SIGINT"), (Signal::TERM, "SIGTERM"), (Signal::HUP, "SIGHUP")]
    {
        // The test's parent may ignore the signal; the build must not.
        let waiting = Waiting::new(|_| {});
        if ignored() >> (signal.as_raw() - 1) & 1 == 1 {
            kill_process(waiting.pid(), Signal::KILL).unwrap();
            continue;
        }
        kill_process(waiting.pid(), signal).unwrap();
        let (dir, output) = waiting.end();
        assert_eq!(output.status.signal(), Some(signal.as_raw()), "{}", text(&output.stderr));
        let lines: Vec<String> = text(&output.stderr)
            .lines()
            .filter(|line| line.contains("stopped"))
            .map(Into::into)
            .collect();
        assert_eq!(lines.len(), 1, "{}", text(&output.stderr));
        assert!(lines[0].contains(&format!("stopped by {name}")), "{lines:?}");
        assert!(!text(&output.stderr).contains('×'), "{}", text(&output.stderr));
        assert_eq!(fs::read_dir(dir.path().join("tmp")).unwrap().count(), 0);
        assert!(!dir.path().join("out/new/.rockpack-partial").exists());
    }
}

/// Returns whether a program runs; an ended one may be a zombie until its new parent reaps it.
fn is_running(program: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", program.as_raw_nonzero()));
    stat.is_ok_and(|stat| !stat.contains(") Z ")) && test_kill_process(program).is_ok()
}

/// Returns the signals that this process and its children ignore.
pub fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap()
}

#[test]
fn an_ignored_signal_stays_ignored_and_another_one_later_ends_at_once() {
    use std::os::unix::process::ExitStatusExt;
    let waiting = Waiting::new(|command| {
        let program = command.get_program().to_owned();
        let args: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "trap '' INT; exec \"$0\" \"$@\""]).arg(program).args(args);
        shell.current_dir(command.get_current_dir().unwrap());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        *command = shell;
    });
    kill_process(waiting.pid(), Signal::INT).unwrap();
    assert!(test_kill_process(waiting.pid()).is_ok());
    // The programs ignore SIGTERM, so ending them takes two seconds. A second signal soon after the
    // first has no effect.
    let begun = Instant::now();
    kill_process(waiting.pid(), Signal::TERM).unwrap();
    std::thread::sleep(Duration::from_millis(10));
    kill_process(waiting.pid(), Signal::TERM).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert!(is_running(waiting.pid()));
    while is_running(waiting.pid()) && begun.elapsed() < Duration::from_secs(10) {
        let _ = kill_process(waiting.pid(), Signal::TERM);
        std::thread::sleep(Duration::from_millis(50));
    }
    let programs = waiting.programs();
    let output = waiting.child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(Signal::TERM.as_raw()));
    assert!(
        !text(&output.stderr).contains("stopped"),
        "it ended at once: {}",
        text(&output.stderr)
    );
    for program in programs {
        let _ = kill_process(program, Signal::KILL);
    }
}

#[test]
fn unpacked_files_of_a_killed_build_are_removed() {
    let waiting = Waiting::new(|_| {});
    kill_process(waiting.pid(), Signal::KILL).unwrap();
    let programs = waiting.programs();
    let Waiting { dir, child } = waiting;
    child.wait_with_output().unwrap();
    for program in programs {
        let _ = kill_process(program, Signal::KILL);
    }
    assert_eq!(fs::read_dir(dir.path().join("tmp")).unwrap().count(), 0);
}

fn pipe(path: &Path) {
    let mode = Mode::from_raw_mode(0o644);
    mknodat(CWD, path, FileType::Fifo, mode, 0).unwrap();
}

/// Builds with a modified cache.
fn cached(dir: &Path, dest: &str) -> Output {
    let mut command = stored(dir, dest);
    command.args(["--only", "core", "--cache", "cache"]).env_remove("ROCKPACK_NO_CACHE");
    command.output().unwrap()
}

#[test]
fn survives_special_files_in_a_cache() {
    let dir = scratch(true);
    assert!(cached(dir.path(), "first").status.success());
    let expected: Vec<_> = contents(&dir.path().join("first")).into_values().collect();
    let root = dir.path().join("cache/rockpack-cache-1");
    let replace: [&dyn Fn(&Path); 3] = [
        &|path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
        &|path| pipe(path),
        &|path| fs::File::create(path).unwrap().set_len(1 << 40).unwrap(),
    ];
    for (number, replace) in replace.iter().enumerate() {
        for extension in ["idx", "seg"] {
            let files: Vec<PathBuf> =
                fs::read_dir(root.join("segments")).unwrap().map(|e| e.unwrap().path()).collect();
            let wanted = files.iter().filter(|path| path.extension().unwrap() == extension);
            for path in wanted.chain([&root.join("limit")]) {
                fs::remove_file(path).unwrap();
                replace(path);
            }
            replace(&root.join(format!("tmp/left-{number}-{extension}")));
            let dest = format!("out-{number}-{extension}");
            let output = cached(dir.path(), &dest);
            assert!(output.status.success(), "{}", text(&output.stderr));
            let built: Vec<_> = contents(&dir.path().join(dest)).into_values().collect();
            assert_eq!(built, expected);
            for command in ["stats", "verify"] {
                let output = rockpack(dir.path(), &["cache", command, "--cache", "cache"]);
                assert!(
                    output.status.code().is_some_and(|code| code < 2),
                    "{}",
                    text(&output.stderr)
                );
            }
        }
    }
}

#[test]
fn a_cache_is_not_followed_elsewhere() {
    let dir = scratch(true);
    let elsewhere = dir.path().join("elsewhere");
    for part in ["rockpack-cache-1", "rockpack-cache-1/segments", "rockpack-cache-1/tmp"] {
        fs::create_dir_all(&elsewhere).unwrap();
        let place = dir.path().join("cache").join(part);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &place).unwrap();
        let output = cached(dir.path(), "out");
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(stderr(&output).contains("links are not followed"), "{}", text(&output.stderr));
        for command in ["stats", "verify", "prune"] {
            let output = rockpack(dir.path(), &["cache", command, "--cache", "cache"]);
            assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        }
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "{part}");
        fs::remove_dir_all(dir.path().join("cache")).unwrap();
    }
    // The user chooses the directory, which may be a link.
    std::os::unix::fs::symlink(&elsewhere, dir.path().join("cache")).unwrap();
    assert!(cached(dir.path(), "out").status.success());
    assert!(elsewhere.join("rockpack-cache-1").is_dir());
}
