# SPDX-License-Identifier: MIT
"""Projects built without artifacts, against Debian's ROCm in /usr of another root."""

import zipfile

import debian
from report import NotRun

# Headers and libraries of HIP; apt adds their dependencies from Debian.
PACKAGES = ("libamdhip64-dev", "libamdhip64-7", "libhiprtc-builtins7", "libhiprtc7", "libamd-comgr-dev", "libamd-comgr3",
            "libhsa-runtime-dev", "libhsa-runtime64-1", "libllvm22")
PROJECTS = ("hip-python", "rocgraph", "hipgraph", "amd-pylibhipgraph")


def rocm(scene):
    """Return a root with HIP, of the same versions as the tree that make-artifacts made."""
    lines = scene.tree.with_name(f"{scene.tree.name}.packages.tsv").read_text(encoding="utf-8").splitlines()
    versions = {name: version.replace(":", "%3a") for name, version, *_ in map(str.split, lines)}
    files = [next((scene.work / "cache/debs").glob(f"{name}_{versions.get(name)}_*.deb"), None) for name in PACKAGES]
    if None in files:
        raise NotRun("make-artifacts left no packages of HIP in its cache")
    return debian.ensure_copy(scene.root, "root-rocm", [scene.root.inside(path) for path in files])


def test_all(scene):
    """Build hip-python and a wheel with native libraries; the tests of their nodes run in the root with HIP."""
    scene.root, dest = rocm(scene), scene.place / "usr"
    only = [word for name in PROJECTS for word in ("--only", name)]
    words = ["build", "--manifest", scene.place, "--rocm-path", "/usr", "--sources", scene.sources, "-o", dest, *only,
             "--linux-amdgpu-families", "gfx942", "--libs", "hip-python=hip,hiprtc",
             "--variable", "c-compiler=cc", "--variable", "cxx-compiler=c++", "--projects", "tests"]
    result = scene.rockpack(*words, CFLAGS="-O0", CXXFLAGS="-O0", ROCKPACK_PYTHON=scene.root.inside(scene.place / "tools/bin/python"))
    log = dest / "logs/hip-python.tests.log"
    called = log.is_file() and "(<hipError_t.hipErrorNoDevice: 100>, 0)" in log.read_text(encoding="utf-8")
    problem = None if called and "tests of hip-python: 2 passed" in result.out else result.out
    if not scene.report.check("with --rocm-path /usr, hip-python is built against Debian's ROCm, and calls it", result.problem or problem):
        return
    wheels = {path.name.split("-")[0]: path for path in dest.glob("dist/*.whl")}
    expected = {"hip_python", "amd_pylibhipgraph"}
    scene.report.check("with --rocm-path, no package of artifacts is built", None if set(wheels) == expected else f"{sorted(wheels)}")
    requires = requirements(wheels["hip_python"])
    scene.report.check("hip-python requires no package of artifacts", f"{requires}" if any("rocm" in line for line in requires) else None)
    members = [name for name in zipfile.ZipFile(wheels["amd_pylibhipgraph"]).namelist() if ".libs/lib" in name]
    copied = sorted(name.split("/lib")[-1].split("-")[0] for name in members)
    scene.report.check("the wheel has only the libraries of native projects", None if copied == ["hipgraph", "rocgraph"] else f"{members}")


def requirements(wheel):
    """Return the requirements of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return [line for line in archive.read(name).decode().splitlines() if line.startswith("Requires-Dist")]
