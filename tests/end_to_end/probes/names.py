# SPDX-License-Identifier: MIT
"""Uses each name that other projects import from the installed packages, as they use it.

Usage: names.py SITE {devel|plain}   Prints JSON: {"PROJECTS: USE (FUNCTION)": error, or null}.
"""

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

# Variables that change the loader's search or load further libraries.
HIDDEN = ("LD_LIBRARY_PATH", "LD_PRELOAD", "ROCM_SDK_PRELOAD_LIBRARIES")
CASES = {}


def case(projects):
    """Register a check by the projects that need it."""
    return lambda check: CASES.setdefault(f"{projects} ({check.__name__})", check)


@case("rocm-cli, mlir-aie: root of core")
def all_packages(site):
    from rocm_sdk._dist_info import ALL_PACKAGES

    core = ALL_PACKAGES["core"]
    assert core.get_py_package_name().startswith("_rocm_sdk_core"), core.get_py_package_name()
    assert Path(core.get_py_package().origin).parent.parent == site, core.get_py_package()
    assert core.has_py_package() and core.is_required and core.pure_py_package_name == "rocm_sdk_core"
    assert [one.logical_name for one in ALL_PACKAGES.values()] == list(ALL_PACKAGES)


@case("SD.Next: directory of the libraries for the target")
def determine_target_family(site):
    import rocm_sdk

    target = rocm_sdk._dist_info.determine_target_family()
    spec = rocm_sdk._dist_info.ALL_PACKAGES["libraries"].get_py_package(target)
    assert (Path(spec.origin).parent / "lib").is_dir(), spec


def libraries_of(shortname):
    """Return the result of `find_libraries`, which may be incomplete in a reduced build."""
    import rocm_sdk

    try:
        return rocm_sdk.find_libraries(shortname)
    except FileNotFoundError:
        return []


@case("SD.Next, TheRock's ASan and RAND checks, PyInstaller recipes: patterns of libraries")
def all_libraries(site):
    from rocm_sdk._dist_info import ALL_LIBRARIES, determine_target_family

    library_count = 0
    for one in ALL_LIBRARIES.values():
        target = determine_target_family() if one.package.is_target_specific else None
        if one.so_pattern and one.package.has_py_package(target):
            root = Path(one.package.get_py_package(target).origin).parent
            files = list((root / one.posix_relpath).glob(one.so_pattern))
            assert set(libraries_of(one.shortname)) <= set(files), f"{one.so_pattern} in {root}: {files}"
            library_count += bool(files)
        assert one.windows_relpath and isinstance(one.dll_pattern, str), one
    assert library_count > 10, library_count


@case("rocm-cli, TheRock's tests: targets")
def default_target_family(site):
    from rocm_sdk import _dist_info as di

    assert di.DEFAULT_TARGET_FAMILY in di.AVAILABLE_TARGET_FAMILIES, di.AVAILABLE_TARGET_FAMILIES
    assert di.__version__ == importlib.import_module("rocm_sdk").__version__


@case("rocprof_trace_decoder: the same names in each package")
def dist_info_of_packages(site):
    names = ["rocm_sdk_core", "rocm_profiler", *(path.name for path in site.glob("rocm_sdk_libraries*"))]
    # Names with a dot are those of metadata directories.
    for module in [name for name in names if "." not in name and (site / name).is_dir()]:
        info = importlib.import_module(f"{module}._dist_info")
        for logical in ("core", "profiler"):
            entry = info.ALL_PACKAGES[logical]
            assert importlib.util.find_spec(entry.get_py_package_name()), (module, logical)


@case("sglang, vLLM: a library that the program has loaded")
def all_cdlls(site):
    import ctypes

    import rocm_sdk

    handle = ctypes.CDLL(None)
    rocm_sdk._ALL_CDLLS["hiprtc"] = handle
    rocm_sdk.initialize_process(preload_shortnames=["hiprtc"])
    assert rocm_sdk._ALL_CDLLS["hiprtc"] is handle


@case("_rocm_init.py of newer projects: unknown arguments are ignored")
def initialize_process(site):
    import rocm_sdk

    rocm_sdk.initialize_process(from_a_newer_version=True)


@case("TheRock's self-test: message of a version mismatch")
def version_mismatch(site):
    import rocm_sdk

    try:
        rocm_sdk.initialize_process(check_version="bad", fail_on_version_mismatch=True)
    except RuntimeError as error:
        assert "The program was compiled against a ROCm version matching" in str(error), error
    else:
        raise AssertionError("initialize_process accepts a wrong version")


@case("TransformerEngine, hip-python, CTranslate2, Dockerfiles of llama.cpp: root of devel")
def get_devel_root(site, devel=True):
    from rocm_sdk._devel import get_devel_root

    if not devel:
        try:
            get_devel_root()
        except ModuleNotFoundError:
            return
        raise AssertionError("get_devel_root succeeds without devel")
    root = get_devel_root(force_initialize=True)
    assert root == get_devel_root() and (root / "lib/cmake").is_dir(), root


@case("scripts, COLMAP: targets between semicolons")
def targets(site):
    result = subprocess.run([sys.executable, "-m", "rocm_sdk", "targets"], capture_output=True, text=True, check=True)
    assert all(one.startswith("gfx") and " " not in one for one in result.stdout.rstrip("\n").split(";")), result.stdout


@case("detection of devel: path --root")
def path_root(site, devel=True):
    result = subprocess.run([sys.executable, "-m", "rocm_sdk", "path", "--root"], capture_output=True, text=True, check=False)
    assert result.returncode == (0 if devel else 1) and bool(result.stdout) == devel, (result.returncode, result.stdout)


def main(site, devel):
    for name in HIDDEN:
        os.environ.pop(name, None)
    errors = {}
    for name, check in CASES.items():
        arguments = {"devel": devel == "devel"} if "devel" in check.__code__.co_varnames else {}
        try:
            check(Path(site), **arguments)
            errors[name] = None
        except Exception:
            errors[name] = traceback.format_exc().strip().splitlines()[-1] or "it fails"
    json.dump(errors, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
