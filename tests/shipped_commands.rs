//! Commands of the shipped packages.kdl, run with imitated tools.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use manifest::{Filling, setting};
use plan::{RunCommand, RunScript};
use tempfile::TempDir;

use workbench::skips::has;

/// Imitates LLVM's: prints a line for each requested kind of option.
const CONFIG: &str = r#"#!/bin/sh
root=$(dirname "$0") kind=shared
[ -e "$root/works" ] || { echo "a library is missing" >&2; exit 127; }
for word; do case $word in
    --version) echo 22.1 ;;
    --link-static) kind=static ;;
    --cxxflags) echo "-DKIND=$kind" ;;
    --ldflags) echo "-L/$kind" ;;
    --system-libs) echo -lz ;;
    --libs) echo -lLLVM ;;
    --libfiles) echo "$root/libone.a"; echo "$root/libtwo.a" ;;
esac; done
"#;

/// Records the linked libraries.
const MAKEFILE: &str = "\
STATIC_LIBS ?= shared.so
librocmllvm.so: $(STATIC_LIBS)
\tprintf '%s\\n' $(notdir $^) $(LDFLAGS) > $@
shared.so:
\ttouch $@
";

/// Returns the command of rocm-llvm-python with a script, with `devel` as directory.
fn command(script: &str, devel: &Path) -> Vec<String> {
    let manifest = crate::repository::manifest();
    let project = manifest.python.project(&"rocm-llvm-python".parse().unwrap()).unwrap();
    let filled = |filling: &Filling| {
        (*filling == Filling::Devel).then(|| devel.to_str().unwrap().to_owned())
    };
    let has =
        |run: &&manifest::Command| run.script.as_ref().is_some_and(|it| it.path.as_str() == script);
    let run = project.run.iter().find(has).unwrap();
    let script = run
        .script
        .as_ref()
        .map(|script| RunScript { path: script.path.clone(), text: script.text.clone() });
    let words = run.words.iter().map(|word| word.as_str().to_owned()).collect();
    let command = RunCommand { words, script, if_there: None, needs: None };
    command.argv(|word| setting::fill(word, filled))
}

fn run(script: &str, place: &Path) -> Output {
    let words = command(script, &place.join("site/_rocm_sdk_devel"));
    Command::new(&words[0]).args(&words[1..]).current_dir(place).output().unwrap()
}

#[test]
fn llvms_library_is_linked_of_archives_or_finds_llvms_own() {
    if !has("make", "how rocm-llvm-python makes its library") {
        return;
    }
    let place = TempDir::new().unwrap();
    let bin = place.path().join("site/_rocm_sdk_devel/llvm/bin");
    let config = bin.join("llvm-config");
    fs_err::create_dir_all(&bin).unwrap();
    for directory in ["src", "rocm-llvm-python/rocm/llvm", "site/_rocm_sdk_core"] {
        fs_err::create_dir_all(place.path().join(directory)).unwrap();
    }
    fs_err::write(place.path().join("src/Makefile"), MAKEFILE).unwrap();
    fs_err::write(&config, CONFIG).unwrap();
    fs_err::set_permissions(&config, PermissionsExt::from_mode(0o755)).unwrap();
    let library = place.path().join("rocm-llvm-python/rocm/llvm/librocmllvm.so");
    let run = || run("manifest/rocm-llvm-python.sh", place.path());
    let broken = run();
    assert_eq!(broken.status.code(), Some(127), "what LLVM's own program says is the reason");
    assert!(!library.exists());
    fs_err::write(bin.join("works"), "").unwrap();
    let linked = || {
        let done = run();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let text = fs_err::read_to_string(&library).unwrap();
        fs_err::remove_file(&library).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    fs_err::write(bin.join("libone.a"), "").unwrap();
    let rpath = "-Wl,-rpath,$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib";
    assert_eq!(
        linked(),
        ["shared.so", "-DKIND=shared", "-L/shared", "-lz", "-lLLVM", rpath],
        "an archive is missing"
    );
    fs_err::write(bin.join("libtwo.a"), "").unwrap();
    assert_eq!(linked(), ["libone.a", "libtwo.a", "-DKIND=static", "-L/static", "-lz"]);
    fs_err::write(&library, "of the checkout").unwrap();
    assert_eq!(linked(), ["of the checkout"], "a library of the checkout is taken as it is");
}

#[test]
fn a_loader_finds_core_if_the_wheel_can_require_it() {
    let place = TempDir::new().unwrap();
    let at = |name: &str| place.path().join(name);
    let (settings, loader) =
        (at("rocm-llvm-python/setup.cfg"), at("rocm-llvm-python/rocm/llvm/_util/posixloader.pyx"));
    fs_err::create_dir_all(loader.parent().unwrap()).unwrap();
    fs_err::create_dir_all(at("site/_rocm_sdk_devel")).unwrap();
    fs_err::write(&settings, "[options]\nzip_safe = False\n").unwrap();
    fs_err::write(&loader, "cimport posix\n").unwrap();
    let read = || {
        let done = run("manifest/requires-core.sh", place.path());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        [&settings, &loader].map(|file| fs_err::read_to_string(file).unwrap())
    };
    assert_eq!(read(), ["[options]\nzip_safe = False\n", "cimport posix\n"], "an installed ROCm");
    for name in ["rocm_sdk_core-7.2.1.dist-info", "_rocm_sdk_core/lib", "_rocm_sdk_libraries_a/lib"]
    {
        fs_err::create_dir_all(at("site").join(name)).unwrap();
    }
    let rpath = "$ORIGIN/../../../_rocm_sdk_core/lib $ORIGIN/../../../_rocm_sdk_libraries_a/lib";
    let expected = [
        "[options]\ninstall_requires = rocm-sdk-core==7.2.1\nzip_safe = False\n".to_owned(),
        format!("# distutils: runtime_library_dirs = {rpath}\ncimport posix\n"),
    ];
    assert_eq!(read(), expected);
}
