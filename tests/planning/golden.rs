//! Reviewed plan of the demo artifacts, made with the repository's manifest.
//!
//! `./tasks accept planning::golden` rewrites `golden/*.txt`.

use plan::resolve;

use base::names::System;
use binary::elf::stub::{StubMachine, exec_stub};

use plan::{Request, Templates};

fn planned(system: System, kpack: bool) -> String {
    let dir = tempfile::tempdir().unwrap();
    let artifacts = dir.path().join("artifacts");
    let program = exec_stub(StubMachine::X86_64, "true").unwrap();
    catalog::demo::make_for(system, &artifacts, kpack, &program).unwrap();
    let (catalog, _tree) = catalog::scan(&artifacts).unwrap();
    let manifest = crate::repository::manifest();
    let file = |path: &str| (path.parse().unwrap(), String::new());
    let templates = Templates::from([
        ("meta".to_owned(), vec![file("pyproject.toml"), file("src/rocm_sdk/__init__.py")]),
        ("runtime".to_owned(), vec![file("LICENSE"), file("__init__.py")]),
        ("choice".to_owned(), vec![file("LICENSE"), file("__init__.py")]),
    ]);
    let platform_tag = (system == System::Linux).then(|| "manylinux_2_28_x86_64".parse().unwrap());
    let request = Request { platform_tag, ..Request::default() };
    let (plan, warnings) = resolve::plan(&manifest, &catalog, &templates, &request).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    format!("{}\n{}", review::summary_text(&plan, true), review::files_text(&plan))
}

/// Compares with the reviewed plan; only libraries are from this machine, and they are alike on all
/// machines.
fn compare(name: &str, found: &str) {
    workbench::expected::compare(&format!("golden/{name}"), found);
}

#[test]
fn the_demo_plans_are_the_reviewed_ones() {
    compare("demo-kpack.txt", &planned(System::Linux, true));
    compare("demo-legacy.txt", &planned(System::Linux, false));
    compare("demo-windows-kpack.txt", &planned(System::Windows, true));
    compare("demo-windows-legacy.txt", &planned(System::Windows, false));
}
