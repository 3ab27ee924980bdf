"""`rocm-sdk libraries`, `rpath` and `framework-init`: answers for builds of frameworks."""

from __future__ import annotations

import json
import subprocess
import unittest
from pathlib import Path

import compiled
import support

HIPBLAS = "_rocm_sdk_libraries/lib/libhipblas.so.3"
HIPRTC = "_rocm_sdk_core/lib/libhiprtc.so.7"


class Framework(unittest.TestCase):
    """hipblas needs hiprtc through a library without a short name."""

    layout: support.Layout

    def setUp(self) -> None:
        layout = self.layout = support.Layout(self)
        core, math = layout.top / "b/_rocm_sdk_core/lib", layout.top / "b/_rocm_sdk_libraries/lib"
        rpath = "$ORIGIN:$ORIGIN/../../_rocm_sdk_core/lib"
        hiprtc = compiled.library(core / "libhiprtc.so.7")
        between = compiled.library(math / "libbetween.so.1", needs=(hiprtc,), rpath=rpath)
        hipblas = compiled.library(math / "libhipblas.so.3", needs=(between,), rpath=rpath)
        alias = {"_rocm_sdk_core/lib/libhiprtc.so": support.real_library().read_bytes()}
        layout.install(
            support.core(files={**support.core().files, **alias, HIPRTC: hiprtc.read_bytes()})
        )
        files = {
            "_rocm_sdk_libraries/__init__.py": b"",
            "_rocm_sdk_libraries/lib/libbetween.so.1": between.read_bytes(),
            HIPBLAS: hipblas.read_bytes(),
        }
        layout.install(support.libraries(files=files))

    def output(self, *arguments: str) -> str:
        result = self.layout.sdk(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def refused(self, *arguments: str) -> str:
        result = self.layout.sdk(*arguments)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        return result.stderr

    def test_libraries_are_printed_in_load_order(self) -> None:
        expected = (
            f"hiprtc   libhiprtc.so.7   {HIPRTC}\n"
            f"hipblas  libhipblas.so.3  {HIPBLAS}\n"
            "rocdxg   -                not in rocm-sdk-core\n"
        )
        self.assertEqual(self.output("libraries"), expected)
        lines = self.output("libraries", "--libraries", "hipblas, hiprtc").splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["hiprtc", "hipblas"])

    def test_programs_read_them_too(self) -> None:
        document = json.loads(self.output("libraries", "--json"))
        self.assertEqual((document["format"], document["version"]), (1, support.VERSION))
        hipblas = next(row for row in document["libraries"] if row["name"] == "hipblas")
        self.assertEqual(
            hipblas,
            {
                "name": "hipblas",
                "soname": "libhipblas.so.3",
                "file": HIPBLAS,
                "path": str(self.layout.site / HIPBLAS),
                "distribution": "rocm-sdk-libraries",
                "requirement": "rocm[libraries]",
            },
        )

    def test_dependencies_come_first(self) -> None:
        """As in TheRock's pull request 1983, where a program names the libraries that it needs."""
        code = "import rocm_sdk; print(rocm_sdk.resolve_deps({}))"
        names = "['hiprtc', 'hipblas']"
        self.assertEqual(self.layout.code(code.format("'hipblas'")), names)
        self.assertEqual(self.layout.code(code.format("'hipblas', 'hiprtc'")), names)
        self.assertEqual(self.layout.code(code.format("'hiprtc'")), "['hiprtc']")
        self.assertIn("unknown ROCm library", self.layout.error(code.format("'x'")))

    def test_an_rpath_leads_to_the_libraries(self) -> None:
        core, math = "_rocm_sdk_core/lib", "_rocm_sdk_libraries/lib"
        self.assertEqual(
            self.output("rpath", "--from", "torch/lib"),
            f"$ORIGIN/../../{core}:$ORIGIN/../../{math}\n",
        )
        inside = str(self.layout.site / "x" / "a" / "b")
        self.assertEqual(
            self.output("rpath", "--from", inside, "--libraries", "hipblas", "--cmake"),
            f"$ORIGIN/../../../{math}\n",
        )
        rpath = self.output("rpath", "--from", "x", "--libraries", "hipblas,hiprtc", "--cmake")
        self.assertEqual(rpath, f"$ORIGIN/../{core};$ORIGIN/../{math}\n")

    def test_a_library_with_the_rpath_loads(self) -> None:
        rpath = self.output("rpath", "--from", "torch/lib").strip()
        needs = (self.layout.site / HIPBLAS,)
        user = self.layout.site / "torch/lib/libuser.so"
        compiled.library(user, needs=needs, rpath=rpath, tag="runpath")
        self.layout.code(f"import ctypes; ctypes.CDLL({str(user)!r})")

    def test_a_place_outside_is_refused(self) -> None:
        for place in ("../torch", "/usr/lib"):
            self.assertIn("write a path", self.refused("rpath", "--from", place))

    def test_a_framework_starts_by_the_module_that_was_written(self) -> None:
        package = self.layout.site / "torch"
        package.mkdir()
        (package / "__init__.py").write_text("from . import _rocm_init\n_rocm_init.initialize()\n")
        module = package / "_rocm_init.py"
        names = ("--libraries", "hipblas,windows-only,hiprtc")
        self.output("framework-init", *names, "-o", str(module))
        order = '"hiprtc",\n            "hipblas",\n            "windows-only",'
        self.assertIn(order, module.read_text())
        loaded = "import torch; print(open('/proc/self/maps').read())"
        maps = self.layout.code(loaded)
        self.assertTrue(HIPRTC in maps and HIPBLAS in maps, maps)

    def test_a_framework_cannot_ask_for_a_library_that_was_not_built(self) -> None:
        names = ("--libraries", "hipblas,rocdxg")
        for command in (("framework-init", *names), ("rpath", "--from", "torch/lib", *names)):
            with self.subTest(command):
                self.assertIn("was built without the library 'rocdxg'", self.refused(*command))

    def test_another_version_is_a_warning_or_an_error(self) -> None:
        for options, version, expected in (
            ((), "7.2.9", "UserWarning: The program was compiled against a ROCm version matching 7.2.4, but 7.2.9"),
            (("--strict",), "7.2.9", "RuntimeError: The program was compiled against a ROCm version matching 7.2.4"),
            (("--check-version", "minor"), "7.2.9", ""),
            (("--check-version", "minor"), "7.3.0", "a ROCm version matching 7.2.*, but 7.3.0"),
            (("--check-version", "7.*"), "7.3.0", ""),
        ):
            with self.subTest(options=options, version=version):
                text = self.output("framework-init", "--libraries", "hiprtc", *options)
                code = f"import rocm_sdk\nimport rocm_sdk._process as p\np.__version__ = {version!r}\n"
                result = self.run_code(code + text + "\ninitialize()\n")
                self.assertIn(expected, result.stderr)
                self.assertEqual(result.returncode != 0, "Error" in expected, result.stderr)
                self.assertEqual(bool(result.stderr), bool(expected), result.stderr)

    def run_code(self, code: str) -> subprocess.CompletedProcess[str]:
        place = Path(self.layout.top, "run.py")
        place.write_text(code)
        return self.layout.run("-W", "default", str(place))

    def test_wrong_names_and_versions_are_refused(self) -> None:
        self.assertIn("did you mean 'hipblas'?", self.refused("libraries", "--libraries", "hipbla"))
        odd = ("--libraries", "hiprtc", "--check-version", '7" + evil() + "')
        self.assertIn("is not a version", self.refused("framework-init", *odd))

    def test_without_the_package_the_error_names_the_extra(self) -> None:
        layout = support.Layout(self, support.core())
        output = layout.sdk("libraries").stdout
        self.assertIn("hipblas  -          not installed: rocm[libraries]\n", output)
        result = layout.sdk("rpath", "--from", "x", "--libraries", "hipblas")
        self.assertIn('"rocm[libraries]"', result.stderr)


if __name__ == "__main__":
    unittest.main()
