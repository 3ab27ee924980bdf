//! Steps that hip-python, rocm-llvm-python and hipGRAPH document, with the shipped nodes: the table
//! of `docs/hip-python.md`.

use std::path::Path;

use base::names::RelPath;
use base::source::Source;
use fs_err as fs;
use manifest::{Manifest, ManifestFiles};
use plan::{Plan, Request, resolve};
use tempfile::TempDir;

const DOCS: &str = include_str!("../docs/hip-python.md");

/// Files that make checkouts of release branches complete.
const FILES: [&str; 15] = [
    "hip-python/hip-python/pyproject.toml",
    "hip-python/hip-python/hip/_version.py",
    "hip-python/hip-python/hip/hip.pyx",
    "hip-python/hip-python/hip/chip.pyx",
    "hip-python/hip-python/hip/chiprtc.pyx",
    "hip-python/hip-python/hip/chiprand.pyx",
    "hip-python/hip-python/hip/chipsparse.pyx",
    "hip-python/hip-python-as-cuda/setup.py",
    "hip-python/hip-python-as-cuda/cuda/_version.py",
    "hip-python/hip-python-as-cuda/cuda/cuda.pyx",
    "hip-python/hip-python-as-cuda/cuda/nvrtc.pyx",
    "rocGRAPH/CMakeLists.txt",
    "hipGRAPH/CMakeLists.txt",
    "hipGRAPH/python/pylibhipgraph/pyproject.toml",
    "hipGRAPH/python/nx-hipgraph/pyproject.toml",
];

fn manifest() -> Manifest {
    let packages = Source::new("packages.kdl", include_str!("../packages.kdl"));
    let families = Source::new("families.kdl", include_str!("../families.kdl"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read =
        |path: &RelPath| fs::read_to_string(root.join(path.as_str())).map_err(|e| e.to_string());
    let beside =
        ManifestFiles { templates: vec!["meta", "runtime", "choice"], read: &read, built_in: None };
    let manifest = Manifest::decode_beside(&packages, &families, &beside);
    manifest.unwrap_or_else(|problems| panic!("{:?}", problems.iter().collect::<Vec<_>>()))
}

/// Plans the projects of complete checkouts against an installed tree.
fn planned(change: impl FnOnce(&mut Request)) -> Plan {
    let (dir, manifest) = (TempDir::new().unwrap(), manifest());
    for file in FILES {
        let place = dir.path().join(file);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, "").unwrap();
    }
    let mut request = Request {
        version: "6.2.0".parse().ok(),
        sources: Some(projects::survey(&manifest, dir.path()).unwrap()),
        linux_families: Some(vec!["gfx942".to_owned(), "gfx1100".to_owned()]),
        platform_tag: "linux_x86_64".parse().ok(),
        ..Request::default()
    };
    change(&mut request);
    resolve::plan_installed(&manifest, &request)
        .unwrap_or_else(|problems| panic!("{:?}", problems.iter().collect::<Vec<_>>()))
}

/// Lines of a project: variables and CMake arguments.
fn lines(plan: &Plan, name: &str) -> Vec<String> {
    let project = plan.projects.iter().find(|project| project.name.as_str() == name).unwrap();
    let variables = project.environment.iter().map(|(name, value)| format!("{name}={value}"));
    let cmake = project.native.iter().filter_map(|native| native.cmake.clone()).flatten();
    variables.chain(cmake).collect()
}

#[test]
fn steps_have_the_documented_lines() {
    // Step and option as in the table, change of the request, project, and its expected line.
    type Step = (&'static str, &'static str, fn(&mut Request), &'static str, &'static str);
    let steps: [Step; 16] = [
        ("`ROCM_PATH`", "--rocm-path D", |_| {}, "hip-python", "ROCM_PATH={devel}"),
        ("`ROCM_PATH`", "--rocm-path D", |_| {}, "rocgraph", "CMAKE_PREFIX_PATH={devel}"),
        (
            "`HIP_PYTHON_LIBS`",
            "--libs hip-python=L",
            |r| select(r, "hip-python", "hiprtc"),
            "hip-python",
            "HIP_PYTHON_LIBS=hiprtc,hip",
        ),
        (
            "hiprand",
            "--libs hip-python=^hipsparse,hiprand",
            |r| select(r, "hip-python", "^hipsparse,hiprand"),
            "hip-python",
            "HIP_PYTHON_LIBS=hip,hiprtc",
        ),
        (
            "`HIP_PYTHON_CUDA_LIBS`",
            "--libs hip-python-as-cuda=L",
            |r| select(r, "hip-python-as-cuda", "cuda"),
            "hip-python-as-cuda",
            "HIP_PYTHON_CUDA_LIBS=cuda,nvrtc",
        ),
        (
            "`CMAKE_HIP_ARCHITECTURES`",
            "--linux-amdgpu-families",
            |_| {},
            "rocgraph",
            "CMAKE_HIP_ARCHITECTURES=gfx942;gfx1100",
        ),
        (
            "`AMDGPU_TARGETS`",
            "--variable targets=…",
            |r| set(r, "targets", "gfx90a"),
            "amd-pylibhipgraph",
            "CMAKE_HIP_ARCHITECTURES=gfx90a",
        ),
        (
            "`GPU_TARGETS`",
            "default: those with wavefronts of 64",
            |_| {},
            "hipgraph",
            "-DGPU_TARGETS=gfx942",
        ),
        (
            "`GPU_TARGETS`",
            "--variable graph-targets=…",
            |r| set(r, "graph-targets", "gfx1100"),
            "rocgraph",
            "-DGPU_TARGETS=gfx1100",
        ),
        (
            "`WAVEFRONT_SIZE=32`",
            "--variable warpsize-32=1",
            |r| set(r, "warpsize-32", "1"),
            "rocgraph",
            "-DROCGRAPH_USE_WARPSIZE_32=1",
        ),
        (
            "`WAVEFRONT_SIZE=32`",
            "--variable warpsize-32=1",
            |r| set(r, "warpsize-32", "1"),
            "amd-pylibhipgraph",
            "SKBUILD_CMAKE_ARGS=-DCMAKE_BUILD_TYPE=Release;-DUSE_WARPSIZE_32=1",
        ),
        (
            "`CMAKE_MODULE_PATH`",
            "set by the nodes",
            |_| {},
            "hipgraph",
            "rocgraph_ROOT={prefix:rocgraph}",
        ),
        (
            "`cmake<4.0`",
            "CMAKE_POLICY_VERSION_MINIMUM",
            |_| {},
            "hipgraph",
            "CMAKE_POLICY_VERSION_MINIMUM=3.5",
        ),
        (
            "`-g`",
            "--variable build-type=Debug",
            |r| set(r, "build-type", "Debug"),
            "rocgraph",
            "-DCMAKE_BUILD_TYPE=Debug",
        ),
        ("`CC`", "--variable c-compiler=…", |r| set(r, "c-compiler", "gcc"), "hipgraph", "CC=gcc"),
        ("`CXX` (hipcc)", "--variable cxx-compiler=…", |_| {}, "rocgraph", "CXX={devel}/bin/hipcc"),
    ];
    for (step, line, change, project, expected) in steps {
        let is_documented = |row: &&str| {
            let cells: Vec<&str> = row.split(" | ").collect();
            row.starts_with("| ") && cells[0].contains(step) && cells[1].contains(line)
        };
        assert!(DOCS.lines().any(|row| is_documented(&row)), "no row for {step}: {line}");
        let lines = lines(&planned(change), project);
        assert!(lines.iter().any(|line| line == expected), "{step}: {lines:?}");
    }
}

fn select(request: &mut Request, project: &str, list: &str) {
    request.libraries.push((project.parse().unwrap(), list.to_owned()));
}

fn set(request: &mut Request, name: &str, value: &str) {
    request.variables.push((name.to_owned(), value.to_owned()));
}

#[test]
fn documented_options_exist() {
    let help = ["build", "project"].map(|command| {
        let words: &[&str] = match command {
            "build" => &["build", "--help"],
            _ => &["project", "clone", "--help"],
        };
        crate::program::succeed(Path::new("."), words)
    });
    let help = help.concat();
    let rows =
        DOCS.lines().filter(|line| line.starts_with("| ") && line.matches(" | ").count() == 1);
    for cell in rows.filter_map(|row| row.split(" | ").nth(1)) {
        for word in cell.split(['`', ' ', '=']).filter(|word| word.starts_with("--")) {
            assert!(help.contains(word), "{word} of `{cell}`");
        }
    }
}

#[test]
fn nx_hipgraph_needs_no_compiler() {
    let plan = planned(|_| {});
    let nx =
        plan.projects.iter().find(|project| project.name.as_str() == "amd-nx-hipgraph").unwrap();
    assert!(nx.after.is_empty() && !nx.environment.contains_key("CC"));
}
