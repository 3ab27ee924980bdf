"""Types and style of the runtime, checked by mypy, pyright and ruff if installed."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import support
from compiled import skip_loudly

USER = """
import re
from pathlib import Path
import rocm_sdk
paths: list[Path] = rocm_sdk.find_libraries("hiprtc")
paths += rocm_sdk.find_libraries("rccl", missing_ok=True)
rocm_sdk.preload_libraries("hiprtc", rtld_global=False)
rocm_sdk.initialize_process(preload_shortnames=("a",), check_version=re.compile("7"))
version: str = rocm_sdk.__version__
found: rocm_sdk.Found = rocm_sdk.find_library("hiprtc")
directory: Path = found.path
try:
    open(rocm_sdk.find_program("hipcc"))
except rocm_sdk.NotFoundError as error:
    places: list[tuple[str, str]] = error.places
tree: Path = rocm_sdk.root(require_devel=True)
usable: bool = rocm_sdk.driver().usable
"""


class Types(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self)

    def tool(self, name: str) -> list[str]:
        if importlib.util.find_spec(name) is not None:
            return [sys.executable, "-m", name]
        path = shutil.which(name)
        if path is None:
            raise skip_loudly(f"{name} is not installed")
        return [path]

    def passes(self, command: list[str]) -> None:
        result = subprocess.run(
            command,
            cwd=self.layout.site,
            env=support.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_mypy_is_content_on_both_systems(self) -> None:
        mypy = self.tool("mypy")
        for platform in ("linux", "win32", "darwin"):
            with self.subTest(platform):
                strict = ["--strict", "--python-version", "3.10", "--platform", platform]
                self.passes([*mypy, *strict, "--cache-dir", str(self.layout.top), "-p", "rocm_sdk"])

    def test_users_get_types(self) -> None:
        mypy = self.tool("mypy")
        self.assertTrue((self.layout.site / "rocm_sdk/py.typed").is_file())
        user = self.layout.top / "user.py"
        user.write_text(USER)
        command = [*mypy, "--strict", "--cache-dir", str(self.layout.top / "cache"), str(user)]
        self.passes(command)
        user.write_text(USER.replace('"hiprtc"', "7"))
        with self.assertRaises(AssertionError):
            self.passes(command)

    def test_pyright_is_content(self) -> None:
        pyright = self.tool("pyright")
        # The package of PyPI downloads pyright on first use.
        if subprocess.run([*pyright, "--version"], capture_output=True, check=False).returncode:
            raise skip_loudly("pyright does not start")
        (self.layout.site / "pyrightconfig.json").write_text(
            '{"include": ["rocm_sdk"], "pythonVersion": "3.10", "typeCheckingMode": "standard"}'
        )
        self.passes(pyright)

    def test_ruff_is_content(self) -> None:
        ruff = self.tool("ruff")
        rules = "E,F,W,I,B,UP,SIM,C4,RET,PIE,RUF,D1,PLE"
        ignored = "E501,D105,D107,SIM115"
        sources = [str(support.META), str(support.RUNTIME)]
        tests = str(Path(__file__).parent)
        common = ["--no-cache", "--line-length", "100", "--target-version", "py310", "--isolated"]
        self.passes([*ruff, "check", *common, "--select", rules, "--ignore", ignored, *sources])
        self.passes([*ruff, "check", *common, "--select", "F,I,B", tests])


if __name__ == "__main__":
    unittest.main()
