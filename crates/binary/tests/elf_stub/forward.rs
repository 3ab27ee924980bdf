//! Forwarding libraries, opened from C (glibc and musl) and Python, preloaded and linked.

use std::path::{Path, PathBuf};
use std::process::Command;

use binary::elf::forward::{ForwardError, forwarding_library};
use binary::elf::stub::StubMachine;

use workbench::skips::has;

use super::tools::{
    arch, compile, fixture, gnu_tool, is_native, machines, native, run, run_successfully, start,
    temp_dir, write,
};

const TWICE: &str =
    "loaded\nanswer 43, counter 7\nunloaded\nloaded\nanswer 43, counter 7\nunloaded\n";

fn put_forward(machine: StubMachine, dir: &Path, rpath: &str) -> PathBuf {
    let path = dir.join("libreal.so");
    write(&path, &forwarding_library(machine, "libreal.so", "libreal.so.1", rpath).unwrap(), 0o755);
    path
}

fn put_real(machine: StubMachine, dir: &Path, options: &[&str]) {
    let always = ["-shared", "-fPIC", "-Wl,-soname,libreal.so.1"];
    compile(machine, "real.c", &dir.join("libreal.so.1"), &[&always, options].concat());
}

/// Makes a directory with the real library, the forwarding library and a program that opens it, for
/// each machine with a compiler and a way to run it. `check` gets the path of the forwarding
/// library.
fn for_each_machine(options: &[&str], check: impl Fn(StubMachine, &Path, &Path)) {
    for machine in machines() {
        if !is_native(machine)
            && !has(&gnu_tool(machine, "gcc"), &format!("forwarding libraries for {machine:?}"))
        {
            continue;
        }
        let (_guard, dir) = temp_dir();
        put_real(machine, &dir, options);
        compile(machine, "dlopen.c", &dir.join("dlopen"), &["-ldl"]);
        let forward = put_forward(machine, &dir, "$ORIGIN");
        check(machine, &dir, &forward);
    }
}

#[test]
fn functions_and_data_lazy_and_now_closed_and_opened_again() {
    for_each_machine(&[], |machine, dir, forward| {
        assert_eq!(
            run_successfully(start(machine, &dir.join("dlopen")).arg(forward)),
            TWICE,
            "{machine:?}"
        );
    });
}

#[test]
fn versioned_symbols() {
    let map = format!("-Wl,--version-script={}", fixture("real.map").display());
    for_each_machine(&["-DVERSIONED", &map], |machine, dir, forward| {
        let once = "loaded\nanswer 43, counter 7\nvalue 1 2 2\nunloaded\n";
        assert_eq!(
            run_successfully(start(machine, &dir.join("dlopen")).arg(forward).arg("versioned")),
            once.repeat(2),
            "{machine:?}"
        );
    });
}

#[test]
fn found_by_soname_on_the_search_path() {
    for_each_machine(&[], |machine, dir, _| {
        let mut command = start(machine, &dir.join("dlopen"));
        assert_eq!(
            run_successfully(command.arg("libreal.so").env("LD_LIBRARY_PATH", dir)),
            TWICE,
            "{machine:?}"
        );
    });
}

#[test]
fn another_library_on_the_search_path_does_not_win() {
    for_each_machine(&[], |machine, dir, forward| {
        let decoy = dir.join("decoy");
        put_real(machine, &decoy, &["-DANSWER=0"]);
        let mut command = start(machine, &dir.join("dlopen"));
        assert_eq!(
            run_successfully(command.arg(forward).env("LD_LIBRARY_PATH", &decoy)),
            TWICE,
            "{machine:?}"
        );
    });
}

#[test]
fn real_library_in_another_directory() {
    for_each_machine(&[], |machine, dir, _| {
        let forward = put_forward(machine, &dir.join("alias/deeper"), "$ORIGIN:$ORIGIN/../..");
        assert_eq!(
            run_successfully(start(machine, &dir.join("dlopen")).arg(forward)),
            TWICE,
            "{machine:?}"
        );
    });
}

#[test]
fn missing_real_library_is_named() {
    for_each_machine(&[], |machine, dir, forward| {
        fs_err::remove_file(dir.join("libreal.so.1")).unwrap();
        let ran = run(start(machine, &dir.join("dlopen")).arg(forward));
        assert!(ran.code == Some(1) && ran.out.starts_with("dlopen: libreal.so.1: "), "{ran:?}");
    });
}

#[test]
fn ctypes() {
    if !has("python3", "forwarding libraries from ctypes") {
        return;
    }
    let (_guard, dir) = temp_dir();
    put_real(native(), &dir, &[]);
    let forward = put_forward(native(), &dir, "$ORIGIN");
    let script = "import ctypes, sys\n\
                  library = ctypes.CDLL(sys.argv[1])\n\
                  print(library.answer(1), ctypes.c_int.in_dll(library, 'counter').value, hasattr(library, 'no_such_symbol'), flush=True)";
    assert_eq!(
        run_successfully(Command::new("python3").arg("-c").arg(script).arg(forward)),
        "loaded\n43 7 False\nunloaded\n"
    );
}

#[test]
fn musl() {
    let compiler = "musl-gcc";
    if !has(compiler, "forwarding libraries under musl") {
        return;
    }
    let (_guard, dir) = temp_dir();
    let build = |source: &str, out: &str, options: &[&str]| {
        run_successfully(
            Command::new(compiler).arg("-o").arg(dir.join(out)).arg(fixture(source)).args(options),
        );
    };
    build("real.c", "libreal.so.1", &["-shared", "-fPIC", "-Wl,-soname,libreal.so.1"]);
    build("dlopen.c", "dlopen", &[]);
    let forward = put_forward(native(), &dir, "$ORIGIN");
    // musl never unloads: the constructor runs once, and the variable keeps its changes.
    let expected = "loaded\nanswer 43, counter 7\nanswer 43, counter 8\nunloaded\n";
    assert_eq!(run_successfully(Command::new(dir.join("dlopen")).arg(forward)), expected);
}

#[test]
fn preloaded() {
    for_each_machine(&[], |machine, dir, forward| {
        // Only for the emulated program: the emulator cannot load a library of another machine.
        let program = dir.join("dlopen");
        let mut command = start(machine, &program);
        if is_native(machine) {
            command.env("LD_PRELOAD", forward);
        } else {
            command = Command::new(format!("qemu-{}", arch(machine)));
            command.args(["-L", &format!("/usr/{}-linux-gnu", arch(machine).replace('_', "-"))]);
            command.arg("-E").arg(format!("LD_PRELOAD={}", forward.display())).arg(&program);
        }
        assert_eq!(
            run_successfully(&mut command),
            "loaded\npreloaded 42\nunloaded\n",
            "{machine:?}"
        );
    });
}

#[test]
fn linkers_accept_it() {
    let (_guard, dir) = temp_dir();
    put_real(native(), &dir, &[]);
    put_forward(native(), &dir, "$ORIGIN");
    let search = [format!("-L{}", dir.display()), format!("-Wl,-rpath,{}", dir.display())];
    for (linker, program) in
        [("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld"), ("mold", "mold")]
    {
        if !has(program, "linking with a forwarding library") {
            continue;
        }
        let out = dir.join(linker);
        let options =
            [&format!("-fuse-ld={linker}"), &search[0], &search[1], "-Wl,--no-as-needed", "-lreal"];
        compile(native(), "linked.c", &out, &options);
        assert_eq!(run_successfully(&mut Command::new(out)), "loaded\n42\nunloaded\n", "{linker}");
    }
    let out = dir.join("uses");
    compile(
        native(),
        "linked.c",
        &out,
        &[
            "-DUSE",
            "-fuse-ld=bfd",
            "-Wl,--no-as-needed,--copy-dt-needed-entries",
            &search[0],
            &search[1],
            "-lreal",
        ],
    );
    assert_eq!(run_successfully(&mut Command::new(out)), "loaded\n42\nunloaded\n");
}

#[test]
fn stripped_library_still_works() {
    for strip in ["strip", "llvm-strip", "eu-strip"] {
        if !has(strip, "stripping a forwarding library") {
            continue;
        }
        let (_guard, dir) = temp_dir();
        put_real(native(), &dir, &[]);
        compile(native(), "dlopen.c", &dir.join("dlopen"), &["-ldl"]);
        let forward = put_forward(native(), &dir, "$ORIGIN");
        run_successfully(Command::new(strip).arg(&forward));
        assert_eq!(
            run_successfully(start(native(), &dir.join("dlopen")).arg(forward)),
            TWICE,
            "{strip}"
        );
    }
}

#[test]
fn impossible_arguments_are_refused() {
    let refused = |soname: &str, needed: &str, rpath: &str| {
        forwarding_library(StubMachine::X86_64, soname, needed, rpath).unwrap_err()
    };
    for name in ["", "lib/x.so", "x\0"] {
        assert_eq!(
            refused(name, "b", "$ORIGIN"),
            ForwardError::NotAFileName { field: "SONAME", value: name.to_owned() }
        );
        assert_eq!(
            refused("a", name, "$ORIGIN"),
            ForwardError::NotAFileName { field: "NEEDED", value: name.to_owned() }
        );
    }
    assert_eq!(refused("a.so", "a.so", "$ORIGIN"), ForwardError::NeedsItself("a.so".to_owned()));
    for rpath in ["", ":", "$ORIGIN:", ":$ORIGIN", "a::b", "a\0"] {
        assert_eq!(
            refused("a", "b", rpath),
            ForwardError::Rpath { soname: "a".to_owned(), rpath: rpath.to_owned() }
        );
    }
}
