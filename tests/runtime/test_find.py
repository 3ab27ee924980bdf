"""find_library and similar functions: places, order, errors, and the command's answers."""

from __future__ import annotations

import json
import os
import sys
import unittest
from pathlib import Path
from typing import Any

import support

SHARED = {"hsa-runtime64": "lib/libhsa-runtime64.so.1", "LLVM": "lib/llvm/lib/libLLVM.so.22.0git"}
BITCODE = "lib/llvm/lib/clang/22/amdgcn/bitcode"


def core() -> support.Wheel:
    """Return core with more libraries, two bitcode directories and the program lld; only hiprtc has a `find-library` line."""
    wheel = support.core()
    wheel.more["shared"] = dict(SHARED, hiprtc="lib/libhiprtc.so.7")
    for path in SHARED.values():
        wheel.files[f"_rocm_sdk_core/{path}"] = support.real_library().read_bytes()
    wheel.files[f"_rocm_sdk_core/{BITCODE}/ocml.bc"] = b"BC"
    wheel.files["_rocm_sdk_core/lib/llvm/lib/clang/9/amdgcn/bitcode/ocml.bc"] = b"BC"
    wheel.files["*_rocm_sdk_core/lib/llvm/bin/lld"] = support.SAYS_WHERE
    return wheel


class Find(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self, core(), support.libraries())
        self.site = self.layout.site

    def ask(self, call: str, **environment: str) -> list[Any]:
        """Return name, path (relative to site-packages if below), place and distribution."""
        code = (
            "import json, os, rocm_sdk\n"
            f"one = rocm_sdk.{call}\n"
            "print(json.dumps([one.name, os.fspath(one), one.found_via, one.distribution]))"
        )
        name, path, via, distribution = json.loads(self.layout.code(code, **environment))
        return [name, path.replace(f"{self.site}/", ""), via, distribution]

    def error_of(self, call: str, **environment: str) -> str:
        result = self.layout.run("-c", f"import rocm_sdk; rocm_sdk.{call}", **environment)
        self.assertEqual(result.returncode, 1, result.stdout)
        return result.stderr

    def test_every_library_of_a_package_has_a_short_name(self) -> None:
        for name, path in SHARED.items():
            answer = [name, f"_rocm_sdk_core/{path}", "package", "rocm-sdk-core"]
            self.assertEqual(self.ask(f"find_library({name!r})"), answer)
        declared = [
            "hiprtc",
            "_rocm_sdk_core/lib/libhiprtc.so.7",
            "package",
            "rocm-sdk-core",
        ]
        self.assertEqual(self.ask("find_library('hiprtc')"), declared)
        code = (
            "import rocm_sdk; print(*(p.name for p in rocm_sdk.find_libraries('LLVM', 'hiprtc')))"
        )
        self.assertEqual(self.layout.code(code), "libLLVM.so.22.0git libhiprtc.so.7")

    def test_file_names_are_accepted_as_names(self) -> None:
        for name in ("libLLVM.so.22.0git", "libLLVM.so", "libLLVM"):
            path = self.ask(f"find_library({name!r})")[1]
            self.assertEqual(path, "_rocm_sdk_core/lib/llvm/lib/libLLVM.so.22.0git")

    def test_a_wrong_name_suggests_the_nearest_and_lists_the_places(self) -> None:
        error = self.error_of("find_library('hsa-runtime')", ROCM_PATH="/nonexistent")
        self.assertIn("no library 'hsa-runtime' was found; did you mean 'hsa-runtime64'?", error)
        self.assertIn(
            '  package      rocm-profiler is not installed; to install: pip install "rocm[profiler]"',
            error,
        )
        self.assertIn(
            '  devel        rocm-sdk-devel is not installed; to install: pip install "rocm[devel]"',
            error,
        )
        self.assertIn("no rocm-sdk-device-* is installed; rocm-sdk doctor names", error)
        for package in ("core", "libraries"):
            self.assertIn(f"  package      {self.site}/_rocm_sdk_{package}", error)
        self.assertIn("  environment  ROCM_PATH=/nonexistent is not a directory", error)
        self.assertIn("  system       /opt/rocm", error)

    def test_the_error_has_the_places_as_data(self) -> None:
        code = (
            "import rocm_sdk\n"
            "try:\n    rocm_sdk.find_static_library('nothing')\n"
            "except rocm_sdk.NotFoundError as error:\n"
            "    print(error.name, [kind for kind, _ in error.places], isinstance(error, LookupError))"
        )
        kinds = ["package", "package", "package", "package", "devel", "environment", "system"]
        self.assertEqual(self.layout.code(code), f"nothing {kinds} True")

    def test_rocm_path_is_searched_after_the_packages(self) -> None:
        other = self.layout.top / "other rocm"
        for name in (
            "lib/libhsa-runtime64.so.1",
            "lib/libonly.so.3",
            "lib/libonly.so",
            "include/only/a.h",
        ):
            path = other / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
        environment = {"ROCM_PATH": str(other)}
        self.assertEqual(self.ask("find_library('hsa-runtime64')", **environment)[2], "package")
        only = ["only", f"{other}/lib/libonly.so.3", "environment", None]
        self.assertEqual(self.ask("find_library('only')", **environment), only)
        header = ["only/a.h", f"{other}/include", "environment", None]
        self.assertEqual(self.ask("find_header_directory('only/a.h')", **environment), header)

    def test_in_a_directory_the_longest_then_the_highest_version_wins(self) -> None:
        directory = self.layout.top / "rocm" / "lib"
        directory.mkdir(parents=True)
        names = ("libonly.so", "libonly.so.9", "libonly.so.11", "libonly.so.10.2", "libonly.so.9.3")
        for name in names:
            (directory / name).write_bytes(b"")
        answer = self.ask("find_library('only')", ROCM_PATH=str(directory.parent))
        self.assertEqual(answer[1], f"{directory}/libonly.so.10.2")

    def test_the_system_is_searched_last(self) -> None:
        rocm = self.layout.top / "rocm"
        (rocm / "lib").mkdir(parents=True)
        (rocm / "lib/libc.so.6").write_bytes(b"")
        self.assertEqual(self.ask("find_library('c')", ROCM_PATH=str(rocm))[2], "environment")
        library = self.ask("find_library('c')")
        self.assertEqual(library[2:], ["system", None])
        self.assertTrue(Path(library[1]).name.startswith("libc.so"), library)
        self.assertEqual(self.ask("find_program('sh')")[2], "system")

    def test_finds_programs_of_packages(self) -> None:
        hipcc = ["hipcc", "_rocm_sdk_core/bin/hipcc", "package", "rocm-sdk-core"]
        self.assertEqual(self.ask("find_program('hipcc')"), hipcc)
        arch = self.ask("find_program('offload-arch')")
        self.assertEqual(arch[1], "_rocm_sdk_core/lib/llvm/bin/offload-arch")
        self.assertEqual(self.ask("find_program('lld')")[1], "_rocm_sdk_core/lib/llvm/bin/lld")
        error = self.error_of("find_program('rocminf')", PATH=str(Path(sys.executable).parent))
        self.assertIn("no program 'rocminf' was found; did you mean 'rocminfo'?", error)

    def test_a_console_script_of_this_python_is_no_program(self) -> None:
        scripts = self.layout.top / "scripts"
        scripts.mkdir()
        (scripts / "only-a-script").write_bytes(support.SAYS_WHERE)
        (scripts / "only-a-script").chmod(0o755)
        call = "find_program('only-a-script')"
        answer = ["only-a-script", f"{scripts}/only-a-script", "system", None]
        self.assertEqual(self.ask(call, PATH=str(scripts)), answer)
        # The answer of sysconfig is replaced: a test must not write to the true directory.
        code = (
            f"import sysconfig; sysconfig.get_path = lambda *_: {str(scripts)!r}\n"
            f"import rocm_sdk; rocm_sdk.{call}"
        )
        result = self.layout.run("-c", code, PATH=str(scripts))
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("no program 'only-a-script' was found", result.stderr)

    def test_bitcode_of_the_newest_compiler_wins(self) -> None:
        for name in ("ocml", "ocml.bc"):
            self.assertEqual(
                self.ask(f"find_bitcode_library({name!r})")[1], f"_rocm_sdk_core/{BITCODE}/ocml.bc"
            )

    def test_names_that_leave_the_directory_or_are_empty_are_errors(self) -> None:
        for name in ("../../etc/passwd", "/etc/passwd", ""):
            # find_library is not here: it compares names of files and joins no path.
            for call in (
                "find_header_directory",
                "find_program",
                "find_static_library",
                "find_bitcode_library",
            ):
                self.assertIn("must be a name", self.error_of(f"{call}({name!r})"))

    def test_the_root_without_devel_is_core(self) -> None:
        code = "import rocm_sdk; print(rocm_sdk.root())"
        self.assertEqual(self.layout.code(code), f"{self.site}/_rocm_sdk_core")
        self.assertIn('pip install "rocm[devel]"', self.error_of("root(require_devel=True)"))

    def test_the_command_prints_paths_or_json(self) -> None:
        result = self.layout.sdk("find", "library", "LLVM", "hiprtc")
        paths = [f"{self.site}/_rocm_sdk_core/{p}" for p in (SHARED["LLVM"], "lib/libhiprtc.so.7")]
        self.assertEqual(result.stdout.splitlines(), paths)
        document = json.loads(self.layout.sdk("find", "bitcode", "ocml", "--json").stdout)
        row = {
            "name": "ocml",
            "path": f"{self.site}/_rocm_sdk_core/{BITCODE}/ocml.bc",
            "found_via": "package",
            "distribution": "rocm-sdk-core",
        }
        self.assertEqual(document, {"format": 1, "found": [row]})
        failed = self.layout.sdk("find", "header", "hip/hip_runtime.h")
        self.assertEqual([failed.returncode, failed.stdout], [1, ""])
        self.assertIn("no header 'hip/hip_runtime.h' was found", failed.stderr)
        failed = self.layout.sdk("find", "static", "../x")
        self.assertEqual([failed.returncode, failed.stdout], [1, ""])
        self.assertIn("must be a name", failed.stderr)

    def test_the_path_is_printed_as_json(self) -> None:
        result = self.layout.sdk("path", "--bin", "--no-require-devel", "--json")
        expected = {
            "format": 1,
            "name": "bin",
            "path": f"{self.site}/_rocm_sdk_core/bin",
            "devel": False,
        }
        self.assertEqual(json.loads(result.stdout), expected)


class FindInDevel(unittest.TestCase):
    def setUp(self) -> None:
        members = dict(support.DEVEL_MEMBERS)
        members["lib/libx.a"] = b"!<arch>\n"
        self.layout = support.Layout(
            self, support.core(), support.libraries(), support.devel(members)
        )

    def test_headers_and_static_libraries_expand_the_tree(self) -> None:
        tree = f"{self.layout.site}/_rocm_sdk_devel"
        code = (
            "import rocm_sdk\n"
            "found = [rocm_sdk.find_header_directory('hip'), rocm_sdk.find_static_library('x')]\n"
            "print(*(f'{one} {one.found_via} {one.distribution}' for one in found), rocm_sdk.root())"
        )
        expected = (
            f"{tree}/include devel rocm-sdk-devel {tree}/lib/libx.a devel rocm-sdk-devel {tree}"
        )
        self.assertEqual(self.layout.code(code), expected)

    def test_finding_a_packaged_library_does_not_expand_the_tree(self) -> None:
        self.layout.code("import rocm_sdk; rocm_sdk.find_library('hiprtc')")
        self.assertFalse(os.path.exists(f"{self.layout.site}/_rocm_sdk_devel"))


class Driver(unittest.TestCase):
    """Report of the driver, for made-up /sys/module/amdgpu, /dev/kfd and /dev/dxg; the last test asks this machine."""

    def setUp(self) -> None:
        self.layout = support.Layout(self)
        self.module = self.layout.top / "amdgpu"
        self.device = self.layout.top / "kfd"
        self.wsl_device = self.layout.top / "dxg"

    def look(self, first_code: str = "") -> dict[str, Any]:
        code = (
            f"{first_code}"
            "import json, dataclasses; from rocm_sdk import _driver\n"
            f"devices = {str(self.device)!r}, {str(self.wsl_device)!r}\n"
            f"print(json.dumps(dataclasses.asdict(_driver.look({str(self.module)!r}, *devices))))"
        )
        report: dict[str, Any] = json.loads(self.layout.code(code))
        return report

    def test_without_the_module_nothing_is_loaded(self) -> None:
        report = self.look()
        self.assertEqual([report["loaded"], report["usable"], report["version"]], [False, False, None])
        self.assertIn("is not loaded", report["problem"])

    def test_wsl_lends_the_driver_of_windows(self) -> None:
        self.wsl_device.touch()
        expected = {
            "loaded": True,
            "usable": True,
            "version": None,
            "source": None,
            "problem": None,
            "supported": None,
        }
        self.assertEqual(self.look(), expected)
        report = self.look("import os; os.access = lambda *_: False\n")
        self.assertIn(f"this user cannot open {self.wsl_device}", report["problem"])

    def test_an_out_of_tree_module_has_its_version(self) -> None:
        self.module.mkdir()
        self.device.touch()
        (self.module / "version").write_text("6.16.6\n")
        expected = {
            "loaded": True,
            "usable": True,
            "version": "6.16.6",
            "source": "module",
            "problem": None,
            "supported": None,
        }
        self.assertEqual(self.look(), expected)

    def test_the_packages_name_the_oldest_supported_version(self) -> None:
        self.module.mkdir()
        declaration = "from rocm_sdk import _packages; _packages.DIST['driver'] = {'module': '6.2'}\n"
        cases = [("6.16.6", True), ("6.2", True), ("6.1.99", False), ("none", None)]
        for version, expected in cases:
            (self.module / "version").write_text(f"{version}\n")
            self.assertIs(self.look(declaration)["supported"], expected, version)
        (self.module / "version").unlink()
        self.assertIsNone(self.look(declaration)["supported"], "the packages declare no kernel version")

    def test_an_in_tree_module_has_the_version_of_the_kernel(self) -> None:
        self.module.mkdir()
        report = self.look()
        self.assertEqual([report["version"], report["source"]], [os.uname().release, "kernel"])
        self.assertIn(f"a container needs --device={self.device}", report["problem"])

    def test_an_inaccessible_device_names_its_group(self) -> None:
        self.module.mkdir()
        self.device.touch()
        # Root may open every file, so the answer of the system is replaced.
        report = self.look("import os; os.access = lambda *_: False\n")
        self.assertIn(f"sudo usermod -a -G {self.device.group()} ", report["problem"])

    def test_the_command_prints_the_driver_as_json(self) -> None:
        result = self.layout.sdk("driver", "--json")
        self.assertEqual(json.loads(result.stdout)["format"], 1)
        self.assertEqual(result.returncode, 0 if json.loads(result.stdout)["usable"] else 1)
