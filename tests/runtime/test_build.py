"""The in-tree backend: metadata, markers, and bytes that do not depend on the machine."""

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
        done = self.call(hook, out, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        return out / done.stdout.strip()

    def metadata(self, **variables: str) -> email.message.Message:
        with zipfile.ZipFile(self.build(**variables)) as wheel:
            return email.message_from_bytes(wheel.read("rocm-7.2.4.dist-info/METADATA"))

    def test_nothing_is_required_to_build(self) -> None:
        for kind in ("wheel", "sdist", "editable"):
            self.assertEqual(self.call(f"get_requires_for_build_{kind}").stdout, "[]\n")

    def test_metadata_with_a_target(self) -> None:
        metadata = self.metadata(ROCM_SDK_TARGET_FAMILY="gfx1100")
        self.assertEqual(
            metadata.get_all("Requires-Dist"),
            [
                "rocm-sdk-core==7.2.4",
                'rocm-sdk-devel==7.2.4 ; extra == "devel"',
                'rocm-sdk-device-gfx1100==7.2.4 ; extra == "device"',
                'rocm-sdk-device-gfx1100==7.2.4 ; (sys_platform == "linux") and extra == "device-gfx1100"',
                'rocm-sdk-device-gfx942==7.2.4 ; (sys_platform == "linux") and extra == "device-gfx942"',
                'rocm-sdk-libraries==7.2.4 ; extra == "libraries"',
                'rocm-profiler==7.2.4 ; extra == "profiler"',
            ],
        )
        extras = ["devel", "device", "device-gfx1100", "device-gfx942", "libraries", "profiler"]
        self.assertEqual(metadata.get_all("Provides-Extra"), extras)
        self.assertIsNone(metadata["Dynamic"])
        self.assertEqual(metadata["Author"], "Somebody\n with a second line")
        self.assertEqual(metadata.get_payload(), "Long text: with a colon.\n")
        self.assertEqual(self.said, "")

    def test_the_gpu_of_the_machine_is_the_target(self) -> None:
        nodes = support.kfd_nodes(self.top, 0, 110000)
        metadata = self.metadata(ROCM_SDK_KFD_NODES=nodes)
        self.assertIn(
            'rocm-sdk-device-gfx1100==7.2.4 ; extra == "device"',
            metadata.get_all("Requires-Dist", []),
        )

    def test_different_gpus_of_the_machine_get_a_package_each(self) -> None:
        expected = [
            'rocm-sdk-device-gfx1100==7.2.4 ; extra == "device"',
            'rocm-sdk-device-gfx942==7.2.4 ; extra == "device"',
        ]
        nodes = support.kfd_nodes(self.top, 0, 110000, 90402, 90402, 90006)
        for variables in (
            {"ROCM_SDK_KFD_NODES": nodes},
            {"ROCM_SDK_TARGET_FAMILY": "gfx1100;gfx942"},
        ):
            metadata = self.metadata(**variables)
            requires = metadata.get_all("Requires-Dist", [])
            self.assertEqual([r for r in requires if r.endswith('; extra == "device"')], expected)
            self.assertEqual(self.said, "")

    def test_no_requirement_refers_to_the_distribution_itself(self) -> None:
        """An extra that names `rocm[...]` would make installers look for it again."""
        metadata = self.metadata(ROCM_SDK_TARGET_FAMILY="gfx942")
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
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_without_a_gpu_there_is_no_device_extra_and_it_is_said(self) -> None:
        for nodes, problem in (
            (support.NO_GPU, "no GPU was found on this machine"),
            (support.kfd_nodes(self.top, 90006), "this machine's GPU (gfx906)"),
        ):
            metadata = self.metadata(ROCM_SDK_KFD_NODES=nodes)
            self.assertNotIn("device", metadata.get_all("Provides-Extra", []))
            self.assertNotIn('extra == "device"', str(metadata.get_all("Requires-Dist")))
            self.assertIn(problem, self.said)
            self.assertIn(
                "so there is no rocm[device]. Name the package of the target, such as "
                "rocm[device-gfx942]; or set ROCM_SDK_TARGET_FAMILY to one of: gfx942, gfx1100,",
                self.said,
            )

    def test_the_message_names_the_package_itself_where_no_extra_does(self) -> None:
        extras = {"libraries": ["rocm-sdk-libraries==7.2.4"]}
        info = support.dist(extras=extras, targets={"linux": ["gfx942"], "win32": []})
        (self.source / "src/rocm_sdk/_dist_info.py").write_bytes(support.literal(info))
        self.metadata(ROCM_SDK_KFD_NODES=support.NO_GPU)
        self.assertIn("such as rocm-sdk-device-gfx942==7.2.4;", self.said)

    def test_a_wrong_target_ends_the_build(self) -> None:
        for target in ("gfx90a", "everything"):
            done = self.call("build_wheel", self.top, ROCM_SDK_TARGET_FAMILY=target)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("ROCM_SDK_TARGET_FAMILY: ", done.stderr)
            self.assertIn("gfx942, gfx1100", done.stderr)

    def test_no_target_is_looked_for_where_no_extra_needs_it(self) -> None:
        info = support.dist(machine_extras={})
        (self.source / "src/rocm_sdk/_dist_info.py").write_bytes(support.literal(info))
        self.metadata()
        self.assertEqual(self.said, "")

    def test_markers(self) -> None:
        code = "import rocm_build; print(rocm_build.for_extra({!r}, 'x'))"
        for requirement, expected in (
            ("a==1", 'a==1 ; extra == "x"'),
            ('a ; os_name == "nt" or python_version < "3.11"',
             'a ; (os_name == "nt" or python_version < "3.11") and extra == "x"'),
            ("a @ https://b/c;d", 'a @ https://b/c;d ; extra == "x"'),
            ('a @ https://b/c;d ; os_name == "nt"', 'a @ https://b/c;d ; (os_name == "nt") and extra == "x"'),
        ):  # fmt: skip
            environment = support.environment(PYTHONPATH=str(self.source / "backend"))
            command = [sys.executable, "-c", code.format(requirement)]
            out = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            )
            self.assertEqual(out.stdout.strip(), expected)

    def test_the_wheel_is_whole_and_its_record_true(self) -> None:
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
        done = self.call(
            "prepare_metadata_for_build_wheel", self.top, ROCM_SDK_TARGET_FAMILY="gfx942"
        )
        directory = self.top / done.stdout.strip()
        with zipfile.ZipFile(self.build(ROCM_SDK_TARGET_FAMILY="gfx942")) as wheel:
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
