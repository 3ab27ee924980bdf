"""Real installers: install, use and uninstall without leftovers."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support

Snapshot = set[str]


class Installer:
    """pip or uv with a separate environment."""

    def __init__(self, top: Path, wheels: Path) -> None:
        self.wheels = wheels
        self.environment = support.environment(PYTHONDONTWRITEBYTECODE="1")
        self.venv = top / "venv"
        self.make()
        self.python = self.venv / "bin" / "python"
        answer = self.run([str(self.python), "-c", "import site; print(site.getsitepackages()[0])"])
        self.site = Path(answer.stdout.strip())

    def make(self) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.venv)], check=True)

    def command(self, *arguments: str) -> list[str]:
        raise NotImplementedError

    def install(self, *requirements: str, **variables: str) -> str:
        links = ["--no-index", "--find-links", str(self.wheels)]
        result = self.run([*self.command("install"), *links, *requirements], **variables)
        return result.stdout + result.stderr

    def uninstall(self, *names: str) -> None:
        self.run([*self.command("uninstall"), *names])

    def run(self, command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            command,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            raise AssertionError(f"{command}\n{result.stdout}{result.stderr}")
        return result

    def sdk(self, *arguments: str) -> str:
        return self.run([str(self.venv / "bin" / "rocm-sdk"), *arguments]).stdout

    def snapshot(self) -> Snapshot:
        """Return every file and directory of the environment."""
        paths = set()
        for parent, directories, names in os.walk(self.venv):
            paths |= {os.path.join(parent, name) for name in [*directories, *names]}
        return paths - {str(self.venv / ".lock")}  # uv's file, one per environment


class Pip(Installer):
    def command(self, *arguments: str) -> list[str]:
        yes = ["-y"] if "uninstall" in arguments else ["--no-cache-dir"]
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        return [*pip, "--python", str(self.python), *arguments, *yes]


class Uv(Installer):
    def command(self, *arguments: str) -> list[str]:
        cache = ["--cache-dir", str(self.venv.parent / "cache")]
        return ["uv", "pip", *arguments, "--python", str(self.python), *cache]


class Installation:
    """Cases for each installer `make`."""

    make: type[Installer]
    sees_all: bool  # true if it removes directories without files
    test: unittest.TestCase

    def setUp(self) -> None:
        assert isinstance(self, unittest.TestCase)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        top = Path(scratch.name)
        self.wheels = top / "wheels"
        self.wheels.mkdir()
        for wheel in (
            support.core(),
            support.libraries(),
            support.profiler(),
            support.devel(),
            support.device("gfx942"),
            support.device("gfx1100"),
            support.choice(),
        ):
            wheel.write(self.wheels)
        support.sdist(self.wheels)
        self.tool = self.make(top, self.wheels)
        self.empty = self.tool.snapshot()
        self.test = self

    def everything(self) -> None:
        self.tool.install("rocm[libraries,devel,profiler,device-gfx942,device-gfx1100]")

    def distributions(self) -> set[str]:
        names = (path.name for path in self.tool.site.glob("*.dist-info"))
        distributions = {name.partition("-")[0] for name in names}
        return distributions - {"pip", "setuptools"}

    def leftovers(self) -> Snapshot:
        return self.tool.snapshot() - self.empty

    def check_empty(self) -> None:
        self.test.assertEqual(self.leftovers(), set(), "left behind")

    def test_install_use_uninstall(self) -> None:
        self.everything()
        root = self.tool.site / "_rocm_sdk_devel"
        self.test.assertEqual(self.tool.sdk("path", "--root"), f"{root}\n")
        self.test.assertTrue((root / "lib/db/gfx942.dat").is_file())
        report = self.tool.sdk("test")
        self.test.assertIn(" 0 failed", report)
        answer = self.tool.run([str(self.tool.venv / "bin/hipcc"), "--version"]).stdout
        self.test.assertEqual(answer, f"{root}/bin/hipcc --version\n")
        self.tool.uninstall(*sorted(self.distributions()))
        self.check_empty()

    def test_orders_of_uninstalling_leave_nothing(self) -> None:
        core, devel, libraries = "rocm-sdk-core", "rocm-sdk-devel", "rocm-sdk-libraries"
        devices = ["rocm-sdk-device-gfx942", "rocm-sdk-device-gfx1100"]
        rest = ["rocm", "rocm-profiler"]
        orders = [
            [core, libraries, *devices, devel, *rest],
            [devices[0], devel, devices[1], libraries, core, *rest],
            [devel, *devices, libraries, core, *rest],
            [*devices, devel, core, libraries, *rest],
        ]
        for order in orders if support.THOROUGH else orders[:2]:
            with self.test.subTest(order):
                self.everything()
                self.tool.sdk("init", "--quiet")
                for name in order:  # one command per package, like users
                    self.tool.uninstall(name)
                self.check_empty()

    def test_a_device_package_is_uninstalled_alone(self) -> None:
        self.everything()
        self.tool.sdk("init", "--quiet")
        self.tool.uninstall("rocm-sdk-device-gfx942")
        tree = self.tool.site / "_rocm_sdk_devel"
        for name in ("lib/db/gfx942.dat", ".device-gfx942"):
            self.test.assertFalse((tree / name).exists())
        self.test.assertTrue((tree / "lib/db/gfx1100.dat").is_file())
        self.test.assertIn(" 0 failed", self.tool.sdk("test"))
        self.tool.install("rocm[device-gfx942]")
        self.tool.sdk("init", "--quiet")
        self.test.assertTrue((tree / "lib/db/gfx942.dat").is_file())

    def test_a_killed_expansion_is_uninstalled(self) -> None:
        from test_devel import KILLED_AT

        self.everything()
        site = str(self.tool.site)
        for step in (1, 4, 9, 14, 20, 27, 33) if support.THOROUGH else (4, 20):
            with self.test.subTest(step):
                command = [str(self.tool.python), "-c", KILLED_AT, str(step), site]
                result = subprocess.run(command, env=self.tool.environment, check=False)
                self.test.assertEqual(result.returncode, -9)
                self.tool.uninstall(*sorted(self.distributions()))
                remaining = {path for path in self.leftovers() if self.sees_all or not os.path.isdir(path)}
                self.test.assertEqual(remaining, set(), "left behind")
                self.everything()

    def test_the_extra_is_the_same_on_every_machine_and_in_every_cache(self) -> None:
        """Machines share the cached selector, so its build must not read the GPU."""
        for place, isa in (("first", 90402), ("second", 110000)):
            nodes = support.kfd_nodes(self.wheels / place, isa)
            self.tool.install("rocm[device]", ROCM_SDK_KFD_NODES=nodes, ROCM_SDK_TARGET_FAMILY="")
            self.test.assertEqual(
                self.distributions(), {"rocm", "rocm_sdk_core", "rocm_sdk_device"}
            )
            self.tool.uninstall(*sorted(self.distributions()))

    def test_an_upgrade_replaces_the_tree(self) -> None:
        self.tool.install("rocm[libraries,devel,device-gfx942]")
        self.tool.sdk("init", "--quiet")
        newer = support.newer_wheels(self.wheels, "7.3.0")
        self.tool.install("--upgrade", *(f"{name}==7.3.0" for name in newer))
        self.tool.sdk("init", "--quiet")
        self.test.assertEqual(self.tool.sdk("version"), "7.3.0\n")
        self.test.assertIn(" 0 failed", self.tool.sdk("test"))
        self.tool.uninstall(*sorted(self.distributions()))
        self.check_empty()


@unittest.skipUnless(importlib.util.find_spec("pip"), "this Python has no pip")
class WithPip(Installation, unittest.TestCase):
    make = Pip
    sees_all = True


@unittest.skipUnless(shutil.which("uv"), "uv is not installed")
class WithUv(Installation, unittest.TestCase):
    make = Uv
    sees_all = False


if __name__ == "__main__":
    unittest.main()
