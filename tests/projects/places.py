# SPDX-License-Identifier: MIT
"""Equal bytes of wheels from different clones, directories, umasks and time zones."""

import json
import os
import shutil

from process import run
from scenes import digests
from sources import write

NODES = '''
native-project "example-deep" {
    source "deep" subdirectory="native"
    cmake "-DCMAKE_BUILD_TYPE=RelWithDebInfo"
}
python-project "example-bytes" {
    source "deep"
    after "example-deep"
    build-requires "setuptools"
    env "DEEP_ROOT" "{prefix:example-deep}"
}
python-project "example-skbuild" {
    source "deep" subdirectory="skbuild"
    build-requires "cmake" "ninja"
}
'''
# The assertion stores the path of the header, `directory` the build's, and debug information both.
HEADER = '#include <assert.h>\nstatic inline int deep(int x) { assert(x != 3); return x; }\nint deeper(int x);\n'
MODULE = '''#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "deep.h"
static PyObject *call(PyObject *self, PyObject *args) { return Py_BuildValue("ss", __FILE__, PyErr_Occurred() || !deep(1) ? "" : "x"); }
static PyMethodDef methods[] = {{"call", call, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_bytes", 0, -1, methods};
PyMODINIT_FUNC PyInit__bytes(void) { return PyModule_Create(&module); }
'''
SETUP = '''import os
from setuptools import Extension, setup
root = os.environ["DEEP_ROOT"]
with open("example_bytes/place.py", "w") as file:
    file.write(f"BUILT_IN = {os.getcwd()!r}\\nROOT = {root!r}\\n")
setup(ext_modules=[Extension("example_bytes._bytes", ["example_bytes/_bytes.c"], include_dirs=[f"{root}/include"],
                             undef_macros=["NDEBUG"], extra_compile_args=["-g"])])
'''
SKBUILD = '''cmake_minimum_required(VERSION 3.18)
project(example_skbuild LANGUAGES C)
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/place.py "BUILT_IN = '${CMAKE_CURRENT_BINARY_DIR}'\\n")
Python_add_library(_module MODULE WITH_SOABI module.c)
install(TARGETS _module DESTINATION example_skbuild)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/place.py DESTINATION example_skbuild)
'''
FILES = {
    "native/CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(deep LANGUAGES C)\nadd_library(deep SHARED deep.c)\n"
                             "install(TARGETS deep)\ninstall(FILES deep.h DESTINATION include)\n",
    "native/deep.h": HEADER,
    "native/deep.c": '#include "deep.h"\nint deeper(int x) { return deep(x) + (__FILE__[0] == 47); }\n',
    "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
                      '[project]\nname = "example-bytes"\nversion = "1.0"\n[tool.setuptools]\npackages = ["example_bytes"]\n',
    "setup.py": SETUP,
    "example_bytes/__init__.py": "",
    "example_bytes/_bytes.c": MODULE,
    "skbuild/pyproject.toml": '[build-system]\nrequires = ["scikit-build-core"]\nbuild-backend = "scikit_build_core.build"\n'
                              '[project]\nname = "example-skbuild"\nversion = "1.0"\n',
    "skbuild/CMakeLists.txt": SKBUILD,
    "skbuild/module.c": MODULE.replace("_bytes", "_module").replace('#include "deep.h"\n', "#define deep(x) (x)\n"),
}
PLACES = {
    "bytes": {"TZ": "UTC", "umask": 0o022},
    "bytes in a/much/deeper/directory with blanks": {"TZ": "Asia/Tokyo", "umask": 0o077},
}


def clone(scene, place, umask):
    """Clone the repository below a place, with this umask."""
    sources = scene.work / place / "the sources"
    sources.mkdir(parents=True, exist_ok=True)
    before = os.umask(umask)
    try:
        result = run(["git", "clone", "--quiet", "--branch", "main", scene.work / "deep.git", sources / "deep"], scene.work)
    finally:
        os.umask(before)
    return sources, result.problem


def test_all(scene):
    """Build the same commit in two places."""
    origin = scene.work / "deep.git"
    write(origin, FILES)
    for words in (["init", "--quiet", "--initial-branch=main"], ["add", "."],
                  ["-c", "user.name=test", "-c", "user.email=test@example.invalid", "commit", "--quiet", "--message=deep"]):
        run(["git", *words], origin)
    digests_by_place = {}
    only = [word for name in ("example-deep", "example-bytes", "example-skbuild") for word in ("--only", name)]
    tree = scene.work / "bytes rocm"
    write(tree, {"include/tree.h": ""})
    for place, settings in PLACES.items():
        sources, problem = clone(scene, place, settings["umask"])
        dest = scene.work / place / "out"
        within = ["sh", "-c", f"umask {settings['umask']:04o}; exec \"$@\"", "sh"]
        result = scene.build(dest, NODES, *only, artifacts=("--rocm-path", tree), sources=sources, within=within, env={"TZ": settings["TZ"]})
        if not scene.check(f"projects are built in `{place}`", problem or result.problem):
            return
        scene.check("in the usual directory", None if "other builds have the usual directory" not in result.err else result.err)
        digests_by_place[place] = {name: digest for name, digest in digests(dest / "dist").items() if name.endswith(".whl")}
    one, other = digests_by_place.values()
    differ = [name for name in {*one, *other} if one.get(name) != other.get(name)]
    scene.check("wheels from both places have equal bytes", f"{differ}" if differ or len(one) != 2 else None)
    first_place = next(iter(PLACES))
    shutil.rmtree(scene.work / first_place / "out/kept/example-deep/include")
    result = scene.build(scene.work / first_place / "out", NODES, *only, artifacts=("--rocm-path", tree), sources=scene.work / first_place / "the sources")
    again = {name: digest for name, digest in digests(scene.work / first_place / "out/dist").items() if name.endswith(".whl")}
    scene.check("a native library that was changed is built again, with equal bytes", result.problem or (None if again == one else json.dumps(again)))
    result = scene.build(scene.work / "bytes named", NODES, *only, artifacts=("--rocm-path", tree), sources=sources, env={"ROCKPACK_BUILD_DIR": "/var/tmp/a b"})
    refused = result.status == 2 and "ROCKPACK_BUILD_DIR: must be an absolute path without blanks, not `/var/tmp/a b`" in result.err
    scene.check("a directory with blanks is refused", None if refused else f"{result.ending}: {result.err}")
