//! Exec stubs that find their target.

use std::path::{Path, PathBuf};
use std::process::Command;

use workbench::skips::has;

use super::tools::{
    Outcome, compile, machines, native, put_stub, run, run_successfully, start, start_as, temp_dir,
    write,
};

/// Makes a tree with the probe at `lib/real/probe` and its stub at `bin/tool`, for each machine.
/// (The probe is always native: emulators leave `execve` to the kernel.)
fn for_each_machine(check: impl Fn(binary::elf::stub::StubMachine, &Path)) {
    for machine in machines() {
        let (_guard, root) = temp_dir();
        compile(native(), "probe.c", &root.join("lib/real/probe"), &[]);
        put_stub(machine, &root.join("bin/tool"), "../lib/real/probe");
        check(machine, &root);
    }
}

fn probe(root: &Path) -> PathBuf {
    root.join("lib/real/probe")
}

fn says(exe: &Path, argv: &[&str]) -> Outcome {
    let lines = argv.iter().enumerate().map(|(index, arg)| format!("argv[{index}]={arg}\n"));
    Outcome {
        out: format!("exe={}\n{}", exe.display(), lines.collect::<String>()),
        err: String::new(),
        code: Some(0),
    }
}

#[test]
fn arguments_and_argv0_are_kept() {
    for_each_machine(|machine, root| {
        let mut command = start_as(machine, &root.join("bin/tool"), "another name");
        let ran = run(command.args(["0", "", "--flag=a b", "ü"]));
        assert_eq!(ran, says(&probe(root), &["another name", "0", "", "--flag=a b", "ü"]));
    });
}

#[test]
fn exit_code_of_the_target_is_kept() {
    for_each_machine(|machine, root| {
        assert_eq!(run(start(machine, &root.join("bin/tool")).arg("42")).code, Some(42));
    });
}

#[test]
fn environment_is_kept() {
    for_each_machine(|machine, root| {
        let mut command = start_as(machine, &root.join("bin/tool"), "tool");
        let ran = run(command.env("PROBE", "kept, ü"));
        assert_eq!(ran.out, says(&probe(root), &["tool"]).out + "PROBE=kept, ü\n");
    });
}

#[test]
fn descriptors_and_process_id_are_kept() {
    for_each_machine(|machine, root| {
        let note = root.join("note");
        write(&note, b"handed down", 0o644);
        let stub = start_as(machine, &root.join("bin/tool"), "tool");
        let mut shell = Command::new("sh");
        shell
            .args(["-c", r#"echo shell=$$; exec 9<"$0"; exec "$@""#])
            .arg(&note)
            .arg(stub.get_program())
            .args(stub.get_args());
        let ran = run(shell.env("PROBE_PID", "1"));
        let value =
            |key: &str| ran.out.lines().find_map(|line| line.strip_prefix(key)).map(str::to_owned);
        assert_eq!(value("fd 9="), Some("handed down".to_owned()), "{ran:?}");
        assert_eq!(value("pid="), value("shell="), "{ran:?}");
    });
}

#[test]
fn found_through_path() {
    let (_guard, root) = temp_dir();
    compile(native(), "probe.c", &probe(&root), &[]);
    put_stub(native(), &root.join("bin/tool"), "../lib/real/probe");
    let path = format!("{}:/usr/bin:/bin", root.join("bin").display());
    let ran = run(Command::new("/bin/sh").args(["-c", "tool 0"]).env("PATH", path));
    assert_eq!(ran, says(&probe(&root), &["tool", "0"]));
}

#[test]
fn found_through_symlinks() {
    for_each_machine(|machine, root| {
        let elsewhere = root.join("a/b/c");
        fs_err::create_dir_all(&elsewhere).unwrap();
        fs_err::os::unix::fs::symlink("../../../bin/tool", elsewhere.join("second")).unwrap();
        fs_err::os::unix::fs::symlink(elsewhere.join("second"), elsewhere.join("first")).unwrap();
        let ran = run(&mut start_as(machine, &elsewhere.join("first"), "first"));
        assert_eq!(ran, says(&probe(root), &["first"]));
    });
}

#[test]
fn found_by_relative_calls() {
    for_each_machine(|machine, root| {
        fs_err::create_dir_all(root.join("a/b")).unwrap();
        for (cwd, call) in
            [("bin", "./tool"), ("a/b", "../../bin/tool"), ("a/b", "../.././a/../bin//tool")]
        {
            let mut command = start_as(machine, Path::new(call), call);
            assert_eq!(
                run(command.current_dir(root.join(cwd))),
                says(&probe(root), &[call]),
                "{call} in {cwd}"
            );
        }
    });
}

#[test]
fn found_in_directories_with_spaces_and_other_scripts() {
    for machine in machines() {
        let (_guard, root) = temp_dir();
        let odd = root.join("a b/日本語 — 'q\"\\ $HOME\n%s");
        compile(native(), "probe.c", &odd.join("zu starten: ü"), &[]);
        put_stub(machine, &odd.join("in ner/the tool"), "../zu starten: ü");
        let ran = run(&mut start_as(machine, &odd.join("in ner/the tool"), "t"));
        assert_eq!(ran, says(&odd.join("zu starten: ü"), &["t"]));
    }
}

#[test]
fn target_in_same_and_lower_directory() {
    for_each_machine(|machine, root| {
        put_stub(machine, &root.join("lib/real/beside"), "probe");
        put_stub(machine, &root.join("above"), "lib/real/../real/./probe");
        for stub in ["lib/real/beside", "above"] {
            assert_eq!(
                run(&mut start_as(machine, &root.join(stub), "t")),
                says(&probe(root), &["t"])
            );
        }
    });
}

#[test]
fn chains_are_followed() {
    // The kernel itself starts the second stub, so it is always native.
    for_each_machine(|machine, root| {
        put_stub(native(), &root.join("x/y/second"), "../../bin/third");
        put_stub(native(), &root.join("bin/third"), "../lib/real/probe");
        put_stub(machine, &root.join("first"), "x/y/second");
        assert_eq!(
            run(start_as(machine, &root.join("first"), "name").arg("0")),
            says(&probe(root), &["name", "0"])
        );
    });
}

#[test]
fn scripts_get_their_plain_path() {
    for machine in machines() {
        let (_guard, root) = temp_dir();
        write(&root.join("libexec/script"), b"#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\"\n", 0o755);
        put_stub(machine, &root.join("bin/script"), "../libexec/script");
        let ran = run(start(machine, &root.join("bin/script")).args(["a b", "c"]));
        assert_eq!(
            ran.out,
            format!("{}\na b\nc\n", root.join("libexec/script").display()),
            "{ran:?}"
        );
    }
}

#[test]
fn hard_link_starts_the_program_in_its_directory_tree() {
    for_each_machine(|machine, root| {
        compile(native(), "probe.c", &root.join("devel/lib/real/probe"), &[]);
        fs_err::create_dir_all(root.join("devel/bin")).unwrap();
        fs_err::hard_link(root.join("bin/tool"), root.join("devel/bin/tool")).unwrap();
        let ran = run(&mut start_as(machine, &root.join("devel/bin/tool"), "t"));
        assert_eq!(ran, says(&root.join("devel/lib/real/probe"), &["t"]));
    });
}

#[test]
fn moved_tree_still_works() {
    for_each_machine(|machine, root| {
        fs_err::create_dir(root.join("moved")).unwrap();
        fs_err::rename(root.join("bin"), root.join("moved/bin")).unwrap();
        fs_err::rename(root.join("lib"), root.join("moved/lib")).unwrap();
        let ran = run(&mut start_as(machine, &root.join("moved/bin/tool"), "t"));
        assert_eq!(ran, says(&probe(&root.join("moved")), &["t"]));
    });
}

#[test]
fn stripped_stub_still_works() {
    let (_guard, root) = temp_dir();
    compile(native(), "probe.c", &probe(&root), &[]);
    for strip in ["strip", "llvm-strip", "eu-strip"] {
        if has(strip, "stripping a stub") {
            put_stub(native(), &root.join("bin/tool"), "../lib/real/probe");
            run_successfully(Command::new(strip).arg(root.join("bin/tool")));
            assert_eq!(
                run(&mut start_as(native(), &root.join("bin/tool"), "t")),
                says(&probe(&root), &["t"]),
                "{strip}"
            );
        }
    }
}
