"""In-tree backend: metadata and bytes independent of the machine."""

from __future__ import annotations

import email
import hashlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

import support

CALL = "import sys, rocm_build; print(getattr(rocm_build, sys.argv[1])(*sys.argv[2:]))"


class Build(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = Path(scratch.name)
        self.source = support.sdist_tree(self.top)

    def call(
        self, hook: str, *arguments: object, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = support.environment(
            PYTHONPATH=str(self.source / "backend"), PYTHONDONTWRITEBYTECODE="1", **variables
        )
        command = [sys.executable, "-W", "error", "-c", CALL, hook, *map(str, arguments)]
        return subprocess.run(
            command, cwd=self.source, env=environment, capture_output=True, text=True, check=False
        )

    def build(self, hook: str = "build_wheel", **variables: str) -> Path:
        out = Path(tempfile.mkdtemp(dir=self.top))
        result = self.call(hook, out, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.said = result.stderr
        return out / result.stdout.strip()

    def metadata(self, **variables: str) -> email.message.Message:
        with zipfile.ZipFile(self.build(**variables)) as wheel:
            return email.message_from_bytes(wheel.read("rocm-7.2.4.dist-info/METADATA"))

    def test_nothing_is_required_to_build(self) -> None:
        for kind in ("wheel", "sdist", "editable"):
            self.assertEqual(self.call(f"get_requires_for_build_{kind}").stdout, "[]\n")

    def test_the_metadata_is_that_of_the_sdist_on_every_machine(self) -> None:
        """pip and uv share the built metadata between machines with a common cache."""
        pkg_info = (self.source / "PKG-INFO").read_bytes()
        for variables in (
            {},
            {"ROCM_SDK_TARGET_FAMILY": "gfx1100"},
            {"ROCM_SDK_TARGET_FAMILY": "no such GPU"},
            {"ROCM_SDK_KFD_NODES": support.kfd_nodes(self.top / "one", 0, 110000)},
            {"ROCM_SDK_KFD_NODES": support.kfd_nodes(self.top / "other", 90402, 90006)},
        ):
            with zipfile.ZipFile(self.build(**variables)) as wheel:
                self.assertEqual(wheel.read("rocm-7.2.4.dist-info/METADATA"), pkg_info)
            self.assertEqual(self.said, "")
        metadata = email.message_from_bytes(pkg_info)
        self.assertIsNone(metadata["Dynamic"])
        self.assertIn(
            'rocm-sdk-device==7.2.4; extra == "device"', metadata.get_all("Requires-Dist", [])
        )

    def test_no_requirement_refers_to_the_distribution_itself(self) -> None:
        """Installers would resolve an extra that requires `rocm[...]` again."""
        metadata = self.metadata()
        for requirement in metadata.get_all("Requires-Dist", []):
            self.assertNotRegex(requirement, r"^rocm(\[| |=)")

    def test_building_needs_no_setuptools_and_no_network(self) -> None:
        text = (self.source / "pyproject.toml").read_text()
        self.assertIn("requires = []", text)
        code = (
            "import sys, socket\n"
            "def refuse(*_): raise AssertionError('the network was asked')\n"
            "socket.socket.connect = refuse\n"
            "sys.modules['setuptools'] = sys.modules['pkg_resources'] = None\n"
            "import rocm_build\n"
            f"rocm_build.build_wheel({str(self.top)!r})\n"
        )
        environment = support.environment(PYTHONPATH=str(self.source / "backend"))
        command = [sys.executable, "-B", "-W", "error", "-c", code]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_wheel_is_complete_and_its_record_correct(self) -> None:
        path = self.build()
        self.assertEqual(path.name, "rocm-7.2.4-py3-none-any.whl")
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            rows = wheel.read("rocm-7.2.4.dist-info/RECORD").decode().splitlines()
            recorded = dict(row.split(",", 1) for row in rows)
            self.assertEqual(list(recorded), names)
            for name in names[:-1]:
                self.assertTrue(recorded[name].endswith(f",{len(wheel.read(name))}"))
        self.assertEqual(names[-1], "rocm-7.2.4.dist-info/RECORD")
        self.assertIn("rocm-7.2.4.dist-info/licenses/LICENSE", names)
        self.assertIn("rocm_sdk/py.typed", names)
        self.assertIn("rocm_sdk/tests/__init__.py", names)

    def test_the_same_bytes_again(self) -> None:
        for hook in ("build_wheel", "build_sdist"):
            first = self.build(hook, TZ="UTC")
            for path in self.source.rglob("*"):
                path.touch()
            (self.source / "src/rocm_sdk/__pycache__").mkdir(exist_ok=True)
            (self.source / "src/rocm_sdk/__pycache__/x.pyc").write_bytes(b"")
            second = self.build(hook, TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="7")
            self.assertEqual(digest(first), digest(second))

    def test_metadata_alone_equals_that_of_the_wheel(self) -> None:
        result = self.call("prepare_metadata_for_build_wheel", self.top)
        directory = self.top / result.stdout.strip()
        with zipfile.ZipFile(self.build()) as wheel:
            for name in ("METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE"):
                self.assertEqual(
                    (directory / name).read_bytes(), wheel.read(f"{directory.name}/{name}")
                )

    def test_an_sdist_of_the_sdist(self) -> None:
        with tarfile.open(self.build("build_sdist")) as tar:
            names = tar.getnames()
        for name in (
            "PKG-INFO",
            "pyproject.toml",
            "backend/rocm_build.py",
            "src/rocm_sdk/__main__.py",
        ):
            self.assertIn(f"rocm-7.2.4/{name}", names)

    def test_editable(self) -> None:
        with zipfile.ZipFile(self.build("build_editable")) as wheel:
            self.assertEqual(wheel.read("rocm_sdk.pth").decode(), f"{self.source / 'src'}\n")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    unittest.main()
