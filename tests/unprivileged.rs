//! Users without rights: commands read inputs of others, write as the mask says, and name each file that they cannot
//! read or write.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use fs_err as fs;
use tempfile::TempDir;
use walkdir::WalkDir;

use crate::program::{self, PROGRAM, Run, stderr};
use crate::split_command::{frame, manifest};
use workbench::skips::{has, skip};

/// User and group without rights.
const NOBODY: u32 = 65_534;
const WHEEL: &str = "frame-2.1+ex7-cp312-cp312-linux_x86_64.whl";
const LIBRARY: &str = "artifacts/hipfile_lib_generic/stage/lib/libhipfile.so.0";

/// Inputs of root in `read`, and a directory of the user in `write`.
struct Place(TempDir);

impl Place {
    /// Returns `None` without the rights of root.
    fn new() -> Option<Self> {
        let lacking = "users without rights";
        if !has("setpriv", lacking) {
            return None;
        }
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            skip(lacking, "root");
            return None;
        }
        let scratch = crate::demo_tree::scratch(true);
        let dir = scratch.path();
        for name in ["in", "write", "write/home", "write/tmp"] {
            fs::create_dir(dir.join(name)).unwrap();
        }
        manifest(dir);
        frame().write(&dir.join("in"));
        for name in ["write", "write/home", "write/tmp"] {
            chown(dir.join(name), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let place = Self(scratch);
        place.allow("in", 0o555);
        place.allow("artifacts", 0o555);
        fs::set_permissions(place.dir(), PermissionsExt::from_mode(0o755)).unwrap();
        Some(place)
    }

    fn dir(&self) -> &Path {
        self.0.path()
    }

    /// Sets the mode of directories below a path, and of files as far as they have rights to execute.
    fn allow(&self, below: &str, mode: u32) {
        for entry in WalkDir::new(self.dir().join(below)) {
            let entry = entry.unwrap();
            let is_program = entry.metadata().unwrap().mode() & 0o111 != 0;
            let mode = if is_program { mode } else { mode & !0o111 };
            if !entry.path_is_symlink() {
                fs::set_permissions(entry.path(), PermissionsExt::from_mode(mode)).unwrap();
            }
        }
    }

    /// Runs a command in `write` as the user, with the mask 077.
    fn run(&self, args: &str) -> Command {
        let user = NOBODY.to_string();
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
        command.args(["sh", "-c", "umask 077; exec \"$0\" \"$@\"", PROGRAM]).args(args.split(' '));
        command.current_dir(self.dir().join("write")).env("TMPDIR", self.dir().join("write/tmp"));
        command.env("HOME", self.dir().join("write/home")).env("NO_COLOR", "1");
        command.env_remove("ROCKPACK_MANIFEST").env_remove("XDG_CACHE_HOME");
        command
    }

    fn succeed(&self, args: &str) -> String {
        self.run(args).succeed()
    }

    fn sums(&self, output: &str) -> String {
        fs::read_to_string(self.dir().join(output).join("dist/SHA256SUMS")).unwrap()
    }

    /// Checks that a command ends with this status, names the file, and leaves no output.
    fn assert_refused(&self, args: &str, status: i32, file: &str) {
        let output = self.run(args).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{args}: {said}");
        assert!(said.contains(file) && said.contains("ermission denied"), "{args}: {said}");
        assert!(!said.contains("is broken"), "{args}: {said}");
        let left: Vec<_> =
            WalkDir::new(self.dir().join("write/new")).into_iter().flatten().collect();
        assert!(left.iter().all(|entry| entry.file_type().is_dir()), "{args}: {left:?}");
    }
}

const BUILD: &str = "build --artifact-dir ../artifacts --platform-tag linux_x86_64 --manifest built-in --version 7.2.0rc1";

#[test]
fn users_without_rights_make_the_same_packages_for_themselves_alone() {
    let Some(place) = Place::new() else { return };
    let build: Vec<String> = format!("{BUILD} -o of-root --cache cache")
        .replace("../", "")
        .split(' ')
        .map(str::to_owned)
        .collect();
    let build: Vec<&str> = build.iter().map(String::as_str).collect();
    program::succeed(place.dir(), &build);
    let expected = place.sums("of-root");
    for args in [
        // Its own cache, a cache of root, and one that root lets everyone write.
        "-o out",
        "-o of-cache --cache ../cache",
        "-o of-open-cache --cache ../cache",
    ] {
        if args.contains("open") {
            place.allow("cache", 0o777);
        }
        place.succeed(&format!("{BUILD} {args}"));
        let output = args.split(' ').nth(1).unwrap();
        assert_eq!(place.sums(&format!("write/{output}")), expected, "{args}");
    }
    place.succeed("wheel verify out --manifest built-in");
    place.succeed("merge out -o merged --manifest built-in");
    assert_eq!(place.sums("write/merged"), expected);
    place.succeed("wheel promote out --to 7.2.0 -o promoted --manifest built-in");
    place.succeed("index publish merged/dist store --manifest built-in");
    place.succeed(&format!("wheel split ../in/{WHEEL} --version 7.0 -o split --manifest .."));
    // Packages are readable for all, in directories as private as the mask.
    for entry in fs::read_dir(place.dir().join("write")).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().mode();
        let of_others = mode & 0o077;
        let is_made = !["home", "tmp"].iter().any(|name| entry.file_name() == *name);
        assert!(!is_made || of_others == 0, "{}: {mode:o}", entry.path().display());
    }
}

#[test]
fn files_of_others_are_named() {
    let Some(place) = Place::new() else { return };
    place.succeed(&format!("{BUILD} -o out"));
    fs::create_dir(place.dir().join("closed")).unwrap();
    let build = |rest: &str| format!("{BUILD} {rest}");
    for (args, status, file) in [
        (build("-o ../closed/new"), 2, "closed"),
        ("merge out -o ../closed/new --manifest built-in".to_owned(), 2, "closed"),
        ("index publish out/dist ../closed/new --manifest built-in".to_owned(), 2, "closed"),
        (
            format!("wheel split ../in/{WHEEL} --version 7.0 -o ../closed/new --manifest .."),
            2,
            "closed",
        ),
    ] {
        place.assert_refused(&args, status, file);
        assert_eq!(fs::read_dir(place.dir().join("closed")).unwrap().count(), 0, "{args}");
    }
    let hide = |path: &str| {
        let path = place.dir().join(path);
        chown(&path, Some(0), Some(0)).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    };
    hide(LIBRARY);
    place.assert_refused(&build("-o new"), 1, "libhipfile.so.0");
    hide(&format!("in/{WHEEL}"));
    place.assert_refused(
        &format!("wheel split ../in/{WHEEL} --version 7.0 -o new --manifest .."),
        2,
        WHEEL,
    );
    let core = "rocm_sdk_core-7.2.0rc1-py3-none-linux_x86_64.whl";
    hide(&format!("write/out/dist/{core}"));
    for (args, status) in [
        ("wheel verify out", 2),
        ("merge out -o new", 2),
        ("wheel promote out --to 7.2.0 -o new", 2),
        ("index publish out/dist new", 2),
        ("index write out/dist", 2),
    ] {
        place.assert_refused(&format!("{args} --manifest built-in"), status, core);
    }
}
