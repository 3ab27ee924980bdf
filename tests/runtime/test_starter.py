"""Selectors of other products: the starter of `rockpack init --minimal`, and one with a module.

`cargo test --test all runtime` builds them in ROCKPACK_STARTERS (`starter` and `other`).
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import support
from compiled import skip_loudly
from test_install import Installer, Pip, Uv


class Starters:
    """Cases for each installer `make`."""

    make: type[Installer]

    def setUp(self) -> None:
        assert isinstance(self, unittest.TestCase)
        built = os.environ.get("ROCKPACK_STARTERS")
        if built is None:
            raise skip_loudly("ROCKPACK_STARTERS, a directory with packages of rockpack, is not set")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.wheels = Path(scratch.name, "wheels")
        self.wheels.mkdir()
        for product in ("starter", "other"):
            for package in Path(built, product, "dist").glob("*-*.*"):
                shutil.copy(package, self.wheels)
        for wheel in (support.core(), support.libraries(), support.devel()):
            wheel.write(self.wheels)
        support.sdist(self.wheels)
        self.tool = self.make(Path(scratch.name), self.wheels)
        self.empty = self.tool.snapshot()
        self.test = self

    def python(self, *arguments: str) -> str:
        return self.tool.run([str(self.tool.python), *arguments]).stdout

    def leftovers(self) -> set[str]:
        return self.tool.snapshot() - self.empty

    def test_the_starter_is_installed_runs_and_is_uninstalled(self) -> None:
        self.tool.install("example")
        version = self.python("-m", "example", "version")
        self.test.assertEqual(
            self.python("-c", "import example; print(example.__version__)"), version
        )
        self.test.assertIn("everything is in order", self.python("-m", "example", "doctor"))
        self.test.assertIn(" 0 failed", self.python("-m", "example", "test"))
        core = f"{self.tool.site / '_example_core'}\n"
        self.test.assertEqual(self.python("-m", "example", "path", "--root"), core)
        self.test.assertFalse((self.tool.site / "rocm_sdk").exists())
        self.tool.uninstall("example", "example-core")
        self.test.assertEqual(self.leftovers(), set(), "left behind")

    def test_two_products_in_one_environment_leave_each_other_alone(self) -> None:
        for first in ("rocm", "other"):
            with self.test.subTest(first):
                second = "other" if first == "rocm" else "rocm"
                self.tool.install(f"{first}[devel]")
                before = self.installed()
                self.tool.install(f"{second}[devel]")
                self.check("rocm")
                self.check("other")
                self.tool.uninstall(*(name for name in self.names() if name.startswith(second)))
                changed = self.installed() ^ before
                self.test.assertEqual(changed, set(), f"after {second} came and went")
                self.check(first)
                self.tool.uninstall(*self.names())
                self.test.assertEqual(self.leftovers(), set(), "left behind")

    def check(self, product: str) -> None:
        module, name = {"rocm": ("rocm_sdk", "hiprtc"), "other": ("other_sdk", "o")}[product]
        self.test.assertIn(" 0 failed", self.python("-m", module, "test"))
        root = self.python("-m", module, "path", "--root").strip()
        self.test.assertEqual(Path(root), self.tool.site / f"_{module}_devel")
        command = str(self.tool.venv / "bin" / module.replace("_", "-"))
        self.test.assertEqual(self.tool.run([command, "path", "--root"]).stdout.strip(), root)
        code = (
            f"import {module} as sdk\n"
            f"from {module}._dist_info import ALL_PACKAGES as a\n"
            f"print(*sdk.find_libraries({name!r}), a['core'].get_py_package_name())\n"
        )
        path, core = self.python("-c", code).split()
        self.test.assertTrue(
            path.startswith(str(self.tool.site / f"_{module}_core" / "lib")), path
        )
        self.test.assertEqual(core, f"_{module}_core")
        if product == "other":
            self.test.assertEqual(self.python("-c", "import o_bindings as o; print(o.NAME)"), "o\n")

    def installed(self) -> set[str]:
        """Return the installed files, without compiled modules and the expanded tree."""
        ignored = re.compile(r"/__pycache__(/|$)|/_(rocm|other)_sdk_devel(/|$)")
        return {path for path in self.leftovers() if not ignored.search(path)}

    def names(self) -> list[str]:
        names = (path.name.partition("-")[0] for path in self.tool.site.glob("*.dist-info"))
        return sorted(name for name in names if name not in ("pip", "setuptools"))


@unittest.skipUnless(importlib.util.find_spec("pip"), "this Python has no pip")
class WithPip(Starters, unittest.TestCase):
    make = Pip


@unittest.skipUnless(shutil.which("uv"), "uv is not installed")
class WithUv(Starters, unittest.TestCase):
    make = Uv


if __name__ == "__main__":
    unittest.main()
