# SPDX-License-Identifier: MIT
"""A user's C extension: CMake finds HIP in the devel tree, and it starts through rocm_sdk.

The artifact tree is a small real one, with Debian's own CMake packages in it, which are edited to find the files in
`lib`. Libraries that it leaves out for their size are stand-ins.
"""

import platform
import re
import shutil
from pathlib import Path

import records
import standins
from environment import Environment
from packages import OLD
from process import run
from report import NotRun

PROJECT = Path(__file__).parent / "extension"


def built_against_devel(bench, python, uv):
    """Build the extension outside, against the devel tree of an environment; start it there."""
    try:
        cmake, compiler, include = _tools(bench, python)
        python = next((one for one in bench.pythons if one.root), python)
        _extension(bench, Environment(python, uv, bench.place(), bench.settings), cmake, compiler, include)
    except NotRun as reason:
        bench.not_run("C extension against the devel tree", reason)


def _tools(bench, python):
    if bench.arguments.real_tree is None:
        raise NotRun("there is no real artifact tree (--real-tree)")
    if platform.machine() != "x86_64":
        raise NotRun("the real artifact tree is for x86_64")
    cmake, compiler = shutil.which("cmake"), shutil.which("gcc")
    if cmake is None or compiler is None:
        raise NotRun("cmake and gcc are needed")
    result = run([python.path, "-c", "import sysconfig; print(sysconfig.get_path('include'))"], bench.work)
    include = Path(result.out.strip())
    if not (include / "Python.h").is_file():
        raise NotRun(f"Python {python.full} has no Python.h")
    return cmake, compiler, include


def _extension(bench, environment, cmake, compiler, include):
    name = f"Python {environment.python.label}: C extension"
    root = _devel_tree(bench, name, environment, compiler)
    if root is None:
        return
    build, in_root = environment.work / "build", environment.python.root is not None
    configure = [cmake, "-S", PROJECT, "-B", build, f"-DCMAKE_PREFIX_PATH={root}", f"-DPYTHON_INCLUDE={include}",
                 f"-DWITH_HIPRTC={'ON' if in_root else 'OFF'}", "-DCMAKE_BUILD_TYPE=Release"]
    result = run(configure, environment.work)
    bench.step(f"{name}: CMake configures", result)
    match = re.search(r"hip (\S+) from (.+)", result.out)
    bench.report.check(f"{name}: hip's CMake package is that of the devel tree",
                       not (match and Path(match[2]).is_relative_to(root)) and f"it is {match and match[0]}: {result.out}")
    bench.step(f"{name}: it compiles and links", run([cmake, "--build", build], environment.work))
    library = next(build.glob("extension*.so"), build / "extension.so")
    needed = run(["readelf", "-d", library], build).out
    bench.report.check(f"{name}: it needs libamdhip64 and has no search path into the devel tree",
                       ("libamdhip64.so.7" not in needed or "PATH" in needed) and needed)
    _starts(bench, name, environment, build, in_root)


def _starts(bench, name, environment, build, in_root):
    """Without rocm_sdk the libraries are not found; initialize_process makes them be."""
    shortnames = ["amdhip64", *["hiprtc"] * in_root]
    settings = {"PYTHONPATH": str(build)}
    python = environment.place / "bin/python"
    probe = shutil.copy2(PROJECT / "probe.py", build)  # to where the root sees it
    alone = environment.run([python, "-c", "import extension"], settings)
    bench.report.check(f"{name}: by itself it does not find the libraries",
                       ("cannot open shared object" not in alone.err) and f"{alone.ending}: {alone.err}")
    result = environment.run([python, probe, OLD, *shortnames], settings)
    expected = f"hip {standins.HIP_VERSION}" + (r" hiprtc \d+\.\d+" if in_root else "")
    bench.report.check(f"{name}: it starts through initialize_process, and calls {' and '.join(shortnames)}",
                       result.problem or (not re.fullmatch(expected, result.out.strip()) and f"it says {result.out!r}"))
    if not in_root:
        bench.report.note(f"{name}: real HIP libraries need a newer libc than this machine's: only with --root")
    result = environment.installer("uninstall", *records.distributions(environment.site))
    bench.report.check(f"{name}: nothing of the devel tree is left", result.problem or environment.leftovers())


def _devel_tree(bench, name, environment, compiler):
    """Build packages of the real tree and install them; return the root of the devel tree."""
    tree, built = environment.work / "tree", environment.work / "built"
    shutil.copytree(bench.arguments.real_tree, tree, symlinks=True)
    standins.complete(tree, compiler)
    result = run([bench.arguments.rockpack.resolve(), "build", "--artifact-dir", tree, "-o", built, "--version", OLD],
                 environment.work)
    if not bench.step(f"{name}: build packages of the real tree", result):
        return None
    environment.make()
    result = environment.installer("install", "--no-index", "--find-links", built / "dist", f"rocm[devel]=={OLD}")
    if not bench.step(f"{name}: install them", result):
        return None
    result = environment.program("rocm-sdk", "path", "--root")
    bench.step(f"{name}: rocm-sdk path --root expands the devel tree", result)
    return Path(result.out.strip()) if result.out else None
