"""C extension built with CMake against the devel tree, started by initialize_process."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import unittest
from pathlib import Path

import compiled
import support

CONFIG = """
get_filename_component(prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
add_library(hip::hiprtc SHARED IMPORTED)
set_target_properties(hip::hiprtc PROPERTIES
    IMPORTED_LOCATION "${prefix}/lib/libhiprtc.so"
    INTERFACE_INCLUDE_DIRECTORIES "${prefix}/include")
"""
LISTS = """
cmake_minimum_required(VERSION 3.15)
project(extension C)
include("${CMAKE_BINARY_DIR}/rocm.cmake")
find_package(hip REQUIRED CONFIG)
add_library(user MODULE user.c)
target_include_directories(user PRIVATE "${PYTHON_INCLUDE}")
target_link_libraries(user hip::hiprtc)
# No rpath, as in another project's wheel, because its build does not know where ROCm is installed.
set_target_properties(user PROPERTIES PREFIX "" SKIP_BUILD_RPATH TRUE)
"""
MODULE = """
#include <Python.h>
#include <hip/hip_runtime.h>
static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT, "user", NULL, -1, NULL };
PyMODINIT_FUNC PyInit_user(void) {
    PyObject *module = PyModule_Create(&definition);
    PyModule_AddIntConstant(module, "version", hiprtc_version());
    return module;
}
"""


class Extension(unittest.TestCase):
    def test_cmake_finds_hip_and_the_module_loads_after_initialize_process(self) -> None:
        if shutil.which("cmake") is None:
            raise compiled.skip_loudly("cmake is not installed")
        include = sysconfig.get_path("include")
        if not Path(include, "Python.h").is_file():
            raise compiled.skip_loudly("the headers of this Python are not installed")
        layout = self.installed()
        source, build = layout.top / "source", layout.top / "build"
        source.mkdir()
        build.mkdir()
        (source / "CMakeLists.txt").write_text(LISTS)
        (source / "user.c").write_text(MODULE)
        (build / "rocm.cmake").write_text(layout.sdk("env", "--shell", "cmake").stdout)
        self.cmake("-S", str(source), "-B", str(build), f"-DPYTHON_INCLUDE={include}")
        self.cmake("--build", str(build))
        start = "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['hiprtc'], check_version='7.2.*')"
        use = f"import sys; sys.path.insert(0, {str(build)!r}); import user; print(user.version)"
        self.assertIn("libhiprtc.so.7", layout.error(use))
        self.assertEqual(layout.code(f"{start}; {use}"), "702")

    def installed(self) -> support.Layout:
        layout = support.Layout(self)
        code = "int hiprtc_version(void) { return 702; }"
        library = compiled.library(layout.top / "libhiprtc.so.7", code=code)
        files = {
            **support.core().files,
            "_rocm_sdk_core/lib/libhiprtc.so.7": library.read_bytes(),
        }
        members = {
            **support.DEVEL_MEMBERS,
            "include/hip/hip_runtime.h": b"int hiprtc_version(void);\n",
            "lib/cmake/hip/hip-config.cmake": CONFIG.encode(),
        }
        for wheel in (support.core(files=files), support.libraries(), support.devel(members)):
            layout.install(wheel)
        return layout

    def cmake(self, *arguments: str) -> None:
        result = subprocess.run(["cmake", *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
