//! The table of `TheRock`'s other scripts in docs/: every rockpack line works on the demo.

use std::path::Path;

use crate::demo_tree::scratch;
use crate::program::{text, uncached};

const PAGE: &str = "docs/coming-from-therock.md";

/// Returns the rows of the table: `TheRock`'s script and rockpack's line.
fn rows(page: &str) -> Vec<(&str, &str)> {
    let table = page.split("## The other scripts\n").nth(1).unwrap();
    let lines = table.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| "));
    let cells = lines.skip(1).map(|line| line.trim_matches(['|', ' ']).split_once(" | ").unwrap());
    cells.collect()
}

fn run(dir: &Path, line: &str) {
    let stores = format!("file://{}/stores/", dir.display());
    let line = line.replace("s3://", &stores);
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let output = uncached(dir, &words).output().unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
}

#[test]
fn each_line_of_the_table_works_on_the_demo() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = fs_err::read_to_string(page).unwrap();
    let rows = rows(&page);
    let scripts = rows.iter().map(|(script, _)| *script).collect::<String>();
    for script in [
        "fetch_artifacts.py",
        "artifact_manager.py",
        "indexer.py",
        "upload_python_packages.py",
        "promote_packages.py",
        "manage_structured.py",
        "aggregate_index.py",
        "piprepo",
    ] {
        assert!(scripts.contains(script), "{script}");
    }
    let scratch = scratch(true);
    let dir = scratch.path();
    fs_err::create_dir_all(dir.join("build")).unwrap();
    fs_err::rename(dir.join("artifacts"), dir.join("build/artifacts")).unwrap();
    run(dir, "rockpack artifact pack build/artifacts -o stores/ci/1234567-linux");
    run(dir, "rockpack build --artifact-dir build/artifacts -o rc1 --version 7.2.0rc1");
    for (_, line) in &rows {
        run(dir, line.split('`').nth(1).unwrap());
    }
    for path in [
        "artifacts/base_lib_generic.tar.zst",
        "artifacts-gfx942/base_lib_generic.tar.zst",
        "archives/base_lib_generic.tar.zst",
        "out/dist/index.html",
        "out/dist/simple/index.html",
        "stores/ci/1234567-linux/python/index.html",
        "stores/nightly/v5/rocm/core/whl-next/rocm/index.html",
        "stores/nightly/v5/rocm/whl-next/index.html",
        "release/dist/SHA256SUMS",
        "kept/dist/SHA256SUMS",
    ] {
        assert!(dir.join(path).exists(), "{path}");
    }
}

#[test]
fn options_of_the_scripts_have_tips() {
    for (option, tip) in [
        ("--stage=math-libs", "`rockpack build --artifact-dir URL` fetches these"),
        ("--filter=blas", "--all fetches every artifact"),
        ("--artifact-group=gfx94X-dcgpu", "a similar argument exists: '--linux-amdgpu-families'"),
        ("--run-id=1", "a similar argument exists: '--run'"),
    ] {
        let output = uncached(Path::new("."), &["artifact", "fetch", option]).output().unwrap();
        let message = text(&output.stderr);
        assert!(output.status.code() == Some(2) && message.contains(tip), "{option}: {message}");
    }
}
