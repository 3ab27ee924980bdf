# SPDX-License-Identifier: MIT
"""Checkouts in the shape of rocGRAPH's and hipGRAPH's, with next to nothing in them.

The nodes of the repository's own packages.kdl build them: two native libraries, of which one needs the other,
and three Python projects on top. Each library has a function and a CMake package, as the real ones have.
"""

from pathlib import Path

from scenes import decoy

# References of nodes to others.
OTHERS = ("numba_hip", "amd_cupy", "amd_hipmm", "amd_hipdf")

NATIVE = '''cmake_minimum_required(VERSION 3.18)
project({name} VERSION 1.2.3 LANGUAGES C)
{find}
add_library({name} SHARED {name}.c)
set_target_properties({name} PROPERTIES VERSION 1.2.3 SOVERSION 1 INSTALL_RPATH "$ORIGIN")
target_compile_definitions({name} PRIVATE TARGETS="${{GPU_TARGETS}}" BUILD_TYPE="${{CMAKE_BUILD_TYPE}}")
target_include_directories({name} INTERFACE $<INSTALL_INTERFACE:include>)
{link}
install(TARGETS {name} EXPORT {name}-targets LIBRARY DESTINATION lib)
install(FILES {name}.h DESTINATION include)
install(EXPORT {name}-targets NAMESPACE roc:: DESTINATION lib/cmake/{name})
file(WRITE ${{CMAKE_BINARY_DIR}}/{name}-config.cmake "{config}include(${{CMAKE_CURRENT_LIST_DIR}}/{name}-targets.cmake)\\n")
install(FILES ${{CMAKE_BINARY_DIR}}/{name}-config.cmake DESTINATION lib/cmake/{name})
'''.replace("include(${{CMAKE_CURRENT_LIST_DIR}}", "include(\\${{CMAKE_CURRENT_LIST_DIR}}")

# The real one downloads libraries while it is configured. A closed port refuses, confinement denies.
NETWORK = '''execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND python3 -c
  "import errno, socket, sys; sys.exit(socket.socket().connect_ex(('127.0.0.1', 9)) == errno.EACCES)")'''

ROCGRAPH = '''#include "rocgraph.h"
const char *rocgraph_build(void) { return TARGETS " " BUILD_TYPE; }
int rocgraph_edges(int vertices) { return vertices * (vertices - 1) / 2; }
'''
HIPGRAPH = '''#include <rocgraph.h>
#include "hipgraph.h"
const char *hipgraph_build(void) { return rocgraph_build(); }
int hipgraph_edges(int vertices) { return 2 * rocgraph_edges(vertices); }
'''

BINDINGS = '''cmake_minimum_required(VERSION 3.18)
project({name} LANGUAGES C)
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
find_package(rocgraph CONFIG REQUIRED)
find_package(hipgraph CONFIG REQUIRED)
Python_add_library(_{name} MODULE WITH_SOABI _{name}.c)
target_link_libraries(_{name} PRIVATE roc::hipgraph)
install(TARGETS _{name} LIBRARY DESTINATION {name})
'''
MODULE = '''#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <hipgraph.h>
static PyObject *edges(PyObject *self, PyObject *given) {{ return PyLong_FromLong(hipgraph_edges((int)PyLong_AsLong(given))); }}
static PyObject *build(PyObject *self, PyObject *given) {{ return PyUnicode_FromString(hipgraph_build()); }}
static PyMethodDef methods[] = {{{{"edges", edges, METH_O, ""}}, {{"build", build, METH_NOARGS, ""}}, {{0}}}};
static struct PyModuleDef module = {{PyModuleDef_HEAD_INIT, "_{name}", "", -1, methods}};
PyMODINIT_FUNC PyInit__{name}(void) {{ return PyModule_Create(&module); }}
'''
SKBUILD = '''[build-system]
requires = ["scikit-build-core"{requires}]
build-backend = "scikit_build_core.build"
[project]
name = "amd-{name}"
version = "1.0.0b1"
{dependencies}
[tool.scikit-build]
wheel.packages = ["{name}"]
'''
NX = '''[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"
[project]
name = "amd-nx-hipgraph"
version = "1.0.0b1"
dependencies = ["amd-pylibhipgraph"]
[tool.setuptools.packages.find]
include = ["nx_hipgraph*", "_nx_hipgraph*"]
'''


def write(directory, files):
    """Write texts by their paths."""
    for path, text in files.items():
        place = directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def native(directory, name, source, before=None):
    """Write a native library, which may need another."""
    find = f"find_package({before} CONFIG REQUIRED)" if before else NETWORK
    link = f"target_link_libraries({name} PUBLIC roc::{before})" if before else ""
    config = f"include(CMakeFindDependencyMacro)\\nfind_dependency({before})\\n" if before else ""
    header = f"const char *{name}_build(void);\nint {name}_edges(int vertices);\n"
    text = NATIVE.format(name=name, find=find, link=link, config=config)
    write(directory, {"CMakeLists.txt": text, f"{name}.c": source, f"{name}.h": header})


def bindings(directory, name, requires="", dependencies=""):
    """Write a Python project with an extension module on hipgraph."""
    write(directory, {
        "pyproject.toml": SKBUILD.format(name=name, requires=requires, dependencies=dependencies),
        "CMakeLists.txt": BINDINGS.format(name=name), f"_{name}.c": MODULE.format(name=name),
        f"{name}/__init__.py": f"from ._{name} import build, edges\n",
    })


def checkouts(sources):
    """Write all of them below a directory."""
    graph = sources / "hipGRAPH"
    native(sources / "rocGRAPH", "rocgraph", ROCGRAPH)
    native(graph, "hipgraph", HIPGRAPH, "rocgraph")
    bindings(graph / "python/pylibhipgraph", "pylibhipgraph")
    # It imports the project before it while it is built.
    requires = ', "amd-pylibhipgraph", "amd-cupy", "amd-hipmm", "numba-hip[rocm-6-4-0]@git+https://example.invalid/numba-hip.git"'
    bindings(graph / "python/hipgraph", "hipgraph", requires, 'dependencies = ["amd-pylibhipgraph"]')
    for name in OTHERS:
        decoy(sources / "wheels", name, "13.1")
    # As upstream lays it out: the package's directory has another name, and VERSION is a link.
    nx = graph / "python/nx-hipgraph"
    write(nx, {
        "pyproject.toml": NX, "VERSION": "1.0.0b1\n", "nx-hipgraph/__init__.py": "from pylibhipgraph import edges\nfrom _nx_hipgraph import VERSION\n",
        "_nx_hipgraph/__init__.py": "from importlib.resources import files\nVERSION = files(__package__).joinpath('VERSION').read_text().strip()\n",
    })
    (nx / "_nx_hipgraph/VERSION").symlink_to(Path("../VERSION"))
