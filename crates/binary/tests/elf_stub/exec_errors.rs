//! Exec stubs that cannot start their target, and targets without a stub.

use std::path::Path;
use std::process::Command;

use binary::elf::stub::{MAX_TARGET, StubError, StubMachine, exec_stub};
use proptest::prelude::*;

use workbench::skips::{has, skip};

use super::tools::{
    Outcome, compile, fixture, machines, native, put_stub, run, run_successfully, start_as,
    temp_dir, write,
};

fn fails(message: String, code: i32) -> Outcome {
    Outcome { out: String::new(), err: message + "\n", code: Some(code) }
}

/// Checks the error of a stub at `bin/tool` about its target `bin/target`, which `make` may create.
fn check(reason: &str, code: i32, target: &str, make: impl Fn(&Path)) {
    for machine in machines() {
        let (_guard, root) = temp_dir();
        put_stub(machine, &root.join("bin/tool"), target);
        make(&root.join("bin/target"));
        let ran = run(&mut start_as(machine, &root.join("bin/tool"), "some/name"));
        let path = root.join("bin").join(target);
        assert_eq!(
            ran,
            fails(format!("some/name: cannot start {}: {reason}", path.display()), code),
            "{machine:?}"
        );
    }
}

#[test]
fn missing_target() {
    check("no such file or directory", 127, "target", |_| ());
}

#[test]
fn dangling_symlink() {
    check("no such file or directory", 127, "target", |path| {
        fs_err::os::unix::fs::symlink("nothing", path).unwrap();
    });
}

#[test]
fn file_in_place_of_a_directory() {
    check("a part of the path is not a directory", 127, "target/deeper", |path| {
        write(path, b"", 0o755);
    });
}

#[test]
fn not_executable() {
    check("permission denied", 126, "target", |path| write(path, b"#!/bin/sh\n", 0o644));
}

#[test]
fn directory() {
    check("permission denied", 126, "target", |path| fs_err::create_dir(path).unwrap());
}

#[test]
fn not_a_program() {
    check("not a program for this machine", 126, "target", |path| {
        write(path, b"echo no interpreter line\n", 0o755);
    });
}

#[test]
fn missing_interpreter() {
    let reason = "the interpreter or loader it asks for is missing";
    check(reason, 126, "target", |path| write(path, b"#!/no/such/interpreter\n", 0o755));
    check(reason, 126, "target", |path| {
        compile(native(), "probe.c", path, &["-Wl,--dynamic-linker=/no/such/loader"]);
    });
}

#[test]
fn symlink_loop() {
    check("too many symbolic links", 126, "target", |path| {
        fs_err::os::unix::fs::symlink("target", path).unwrap();
    });
}

#[test]
fn error_without_text_shows_its_number() {
    // A file that is not a loader: ELIBBAD.
    check("error number 80", 126, "target", |path| {
        let loader = path.with_file_name("loader");
        write(&loader, &[b'x'; 4096], 0o755);
        compile(
            native(),
            "probe.c",
            path,
            &[&format!("-Wl,--dynamic-linker={}", loader.display())],
        );
    });
}

#[test]
fn path_that_gets_too_long() {
    let target = format!("{}target", "d/".repeat(2040));
    check("the path is too long", 126, &target, |_| ());
}

#[test]
fn stub_in_a_path_that_is_too_long() {
    if !has("python3", "a stub in a very deep directory") {
        return;
    }
    // The script changes the directory step by step, because such a long path cannot be given at once.
    let deep = "import os, shutil, sys\n\
                tool = sys.argv[1]\n\
                for _ in range(20): os.mkdir('d' * 250); os.chdir('d' * 250)\n\
                shutil.copy(tool, 'tool')\n\
                os.execv('./tool', ['./tool'])";
    let (_guard, root) = temp_dir();
    put_stub(native(), &root.join("tool"), "target");
    let ran =
        run(Command::new("python3").args(["-c", deep]).arg(root.join("tool")).current_dir(&root));
    assert_eq!(
        ran,
        fails("./tool: cannot read /proc/self/exe: the path is too long".to_owned(), 126)
    );
}

#[test]
fn no_proc_for_either_machine() {
    // The emulator handles /proc itself, so the stub is changed to open another path.
    for machine in machines() {
        let mut stub = exec_stub(machine, "target").unwrap();
        let name = stub.windows(14).position(|bytes| bytes == b"/proc/self/exe").unwrap();
        stub[name..name + 14].copy_from_slice(b"/proc/self/exX");
        let (_guard, root) = temp_dir();
        write(&root.join("tool"), &stub, 0o755);
        let ran = run(&mut start_as(machine, &root.join("tool"), "t"));
        assert_eq!(ran, fails("t: cannot read /proc/self/exX: is /proc mounted?".to_owned(), 127));
    }
}

/// Returns a `chroot` command, as root or in a new user namespace.
fn chroot(root: &Path) -> Option<Command> {
    let tries: [&[&str]; 2] = [&["chroot"], &["unshare", "-r", "chroot"]];
    tries.into_iter().find_map(|words| {
        let command = || {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).arg(root);
            command
        };
        put_stub(native(), &root.join("try"), "nothing");
        (run(command().arg("/try")).code == Some(127)).then(command)
    })
}

#[test]
fn no_proc_in_a_chroot() {
    let (_guard, root) = temp_dir();
    let Some(mut command) = chroot(&root) else {
        return skip("a stub without /proc", "neither chroot nor unshare -r is permitted");
    };
    put_stub(native(), &root.join("bin/tool"), "target");
    let ran = run(command.arg("/bin/tool"));
    assert_eq!(
        ran,
        fails("/bin/tool: cannot read /proc/self/exe: is /proc mounted?".to_owned(), 127)
    );
}

#[test]
fn proc_that_answers_otherwise() {
    let (_guard, root) = temp_dir();
    if chroot(&root).is_none() {
        return skip("a stub with a strange /proc", "neither chroot nor unshare -r is permitted");
    }
    put_stub(native(), &root.join("tool"), "../../up/../target");
    fs_err::create_dir_all(root.join("proc/self")).unwrap();
    let missing = |path: &str| format!("/tool: cannot start {path}: no such file or directory");
    let unreadable = || "/tool: cannot read /proc/self/exe: is /proc mounted?".to_owned();
    for (link, message) in [
        ("/tool", missing("/up/../target")),
        ("/a/tool", missing("/up/../target")),
        ("/a/b/tool (deleted)", missing("/up/../target")),
        ("/a/b/c/tool", missing("/a/up/../target")),
        ("/", missing("/up/../target")),
        ("(unreachable)/tool", unreadable()),
        ("tool", unreadable()),
    ] {
        let exe = root.join("proc/self/exe");
        fs_err::os::unix::fs::symlink(link, &exe).unwrap();
        assert_eq!(run(chroot(&root).unwrap().arg("/tool")), fails(message, 127), "{link}");
        fs_err::remove_file(exe).unwrap();
    }
}

#[test]
fn without_any_argv() {
    let (_guard, root) = temp_dir();
    put_stub(native(), &root.join("tool"), "target");
    compile(native(), "no_argv.c", &root.join("no_argv"), &[]);
    let ran = run(Command::new(root.join("no_argv")).arg(root.join("tool")));
    // Kernels from 5.18 on make argv[0] an empty string.
    let name = ran.err.split(':').next().unwrap_or_default();
    assert!(matches!(name, "" | "exec stub"), "{ran:?}");
    let message = format!(
        "{name}: cannot start {}: no such file or directory",
        root.join("target").display()
    );
    assert_eq!(ran, fails(message, 127));
}

#[test]
fn message_is_one_system_call() {
    let what = "counting system calls of a stub";
    if !has("strace", what) {
        return;
    }
    if run(Command::new("strace").arg("true")).code != Some(0) {
        return skip(what, "strace isn't permitted");
    }
    let (_guard, root) = temp_dir();
    put_stub(native(), &root.join("tool"), "target");
    let trace = run(Command::new("strace")
        .args(["-qq", "-o"])
        .arg(root.join("trace"))
        .arg(root.join("tool")));
    assert_eq!(trace.code, Some(127));
    let trace = fs_err::read_to_string(root.join("trace")).unwrap();
    let calls: Vec<_> = trace.lines().filter_map(|line| Some(line.split_once('(')?.0)).collect();
    let (readlink, access) = match native() {
        StubMachine::X86_64 => ("readlink", "access"),
        StubMachine::Aarch64 => ("readlinkat", "faccessat"),
    };
    assert_eq!(calls, ["execve", readlink, "execve", access, "writev", "exit_group"], "{trace}");
}

#[test]
fn targets_that_are_refused() {
    let refused = |target: &str| exec_stub(StubMachine::X86_64, target).unwrap_err();
    assert_eq!(refused(""), StubError::Empty);
    assert_eq!(refused("/usr/bin/cc"), StubError::Absolute("/usr/bin/cc".to_owned()));
    assert_eq!(refused("a\0b"), StubError::Nul("a\0b".to_owned()));
    for directory in [".", "..", "../..", "bin/", "bin/."] {
        assert_eq!(refused(directory), StubError::Directory(directory.to_owned()));
    }
    assert_eq!(refused(&"x".repeat(MAX_TARGET + 1)), StubError::TooLong { len: 4096 });
    assert_eq!(
        refused("a\0b").to_string(),
        r#"cannot write an exec stub for "a\0b": the target has a NUL"#
    );
}

/// Returns the path that the stub must make of `target` in the directory `dir`.
fn resolved(dir: &Path, target: &str) -> String {
    let mut dir = dir.to_owned();
    let mut rest = target;
    while let Some(below) = rest.strip_prefix("../") {
        dir.pop();
        rest = below;
    }
    format!("{}/{rest}", dir.display().to_string().trim_end_matches('/'))
}

fn check_any_target(machine: StubMachine, root: &Path, target: &str) {
    let stub = root.join("a/b/c/tool");
    put_stub(machine, &stub, target);
    let path = resolved(stub.parent().unwrap(), target);
    let expected = if path.len() > MAX_TARGET {
        fails(format!("t: cannot start {path}: the path is too long"), 126)
    } else {
        fails(format!("t: cannot start {path}: no such file or directory"), 127)
    };
    assert_eq!(run(&mut start_as(machine, &stub, "t")), expected);
}

/// Generates any file name.
fn name() -> impl Strategy<Value = String> {
    let letter = any::<char>().prop_filter("ends a name", |letter| !['/', '\0'].contains(letter));
    prop::collection::vec(letter, 1..=60).prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_target_is_resolved(ups in 0_usize..12, names in prop::collection::vec(name(), 0..60)) {
        let mut target = "../".repeat(ups) + "no such directory";
        for name in names {
            if target.len() + name.len() < 4000 {
                target = target + "/" + &name;
            }
        }
        target += "/program";
        for machine in machines() {
            let (_guard, root) = temp_dir();
            check_any_target(machine, &root, &target);
        }
    }
}

#[test]
fn longest_target() {
    for machine in machines() {
        let (_guard, root) = temp_dir();
        let target = "../".repeat(20) + &"no-such-directory/".repeat(230);
        let target = target[..MAX_TARGET].trim_end_matches('/');
        check_any_target(machine, &root, target);
        check_any_target(machine, &root, &format!("{:x<1$}", "no-such-directory/", MAX_TARGET));
    }
}

#[test]
fn fixtures_compile_without_warnings() {
    let (_guard, root) = temp_dir();
    for source in ["probe.c", "no_argv.c", "dlopen.c", "real.c", "linked.c"] {
        run_successfully(
            Command::new("cc")
                .args(["-Wall", "-Wextra", "-Werror", "-c", "-o"])
                .arg(root.join("x.o"))
                .arg(fixture(source)),
        );
    }
}
