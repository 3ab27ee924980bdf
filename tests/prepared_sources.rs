//! Scripts of `manifest/` that prepare checkouts of projects.

use std::path::Path;
use std::process::{Command, Output};

use fs_err as fs;
use tempfile::TempDir;

/// Makes a checkout of rocshmem4py next to an expanded devel tree with `core`.
fn checkout(core: &str, setup: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    for path in ["site/_rocm_sdk_devel", core, "source/python/rocshmem"] {
        fs::create_dir_all(dir.path().join(path)).unwrap();
    }
    let files = [
        ("setup.py", setup),
        ("pyproject.toml", "[project]\nname = \"rocshmem4py\"\ndynamic = [\"version\"]\n"),
        ("CMakeLists.txt", "project(rocshmem4py)\n"),
    ];
    for (file, text) in files {
        fs::write(dir.path().join("source/python/rocshmem").join(file), text).unwrap();
    }
    dir
}

fn prepare(dir: &Path) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifest/rocshmem4py.sh");
    let devel = dir.join("site/_rocm_sdk_devel");
    let mut command = Command::new("sh");
    command.arg(script).arg(devel).arg("python/rocshmem");
    command.current_dir(dir.join("source")).output().unwrap()
}

const SETUP: &str = "BASE_VERSION = \"0.1.0\"\nsetup(version=_package_version())\n";

#[test]
fn rocshmem4py_has_the_version_and_the_libraries_of_core() {
    let versions = [
        ("7.14.0", "rocm7.14.0"),
        ("7.14.0a20260801", "rocm7.14.0a20260801"),
        ("7.14.0.dev0+abc", "devrocm7.14.0.dev0.abc"),
    ];
    for (version, local) in versions {
        let dir = checkout(&format!("site/rocm_sdk_core-{version}.dist-info"), SETUP);
        let output = prepare(dir.path());
        assert!(output.status.success(), "{output:?}");
        let text = |file: &str| {
            fs::read_to_string(dir.path().join("source/python/rocshmem").join(file)).unwrap()
        };
        assert!(text("setup.py").contains(&format!("version=f'{{BASE_VERSION}}+{local}'")));
        let requirement = format!("dependencies = [\"rocm-sdk-core=={version}\"]");
        assert!(text("pyproject.toml").contains(&requirement), "{}", text("pyproject.toml"));
        assert!(text("CMakeLists.txt").contains("\"$ORIGIN/_rocm_sdk_core/lib\""));
    }
}

#[test]
fn rocshmem4py_of_another_form_is_refused() {
    let dir = checkout("site/rocm_sdk_core-7.14.0.dist-info", "setup(version=\"1\")\n");
    let output = prepare(dir.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("setup.py"), "{output:?}");
}

#[test]
fn rocshmem4py_beside_an_installed_rocm_stays() {
    let dir = checkout("site/other", SETUP);
    assert!(prepare(dir.path()).status.success());
    let setup = dir.path().join("source/python/rocshmem/setup.py");
    assert_eq!(fs::read_to_string(setup).unwrap(), SETUP);
}
