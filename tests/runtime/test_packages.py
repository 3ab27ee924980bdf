"""Runtime in packages of rockpack, installed by a real installer.

`cargo test --test all runtime` builds them and sets ROCKPACK_DIST to their directory.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support
from compiled import skip_loudly

# Lines by which public programs use the packages, and the end of each printed path.
PROGRAMS = (
    (
        "rocm-cli, a probe",
        "import rocm_sdk; print(*rocm_sdk.find_libraries('amdhip64', 'hipblas'), sep='|')",
        ("_rocm_sdk_core/lib/libamdhip64.so.7", "_rocm_sdk_libraries/lib/libhipblas.so.3"),
    ),
    (
        "triton, the HIP library",
        "import rocm_sdk; print(rocm_sdk.find_libraries('amdhip64')[0])",
        ("_rocm_sdk_core/lib/libamdhip64.so.7",),
    ),
    (
        "torch, _rocm_init.py",
        "import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['amdhip64', 'hipblas'],"
        " check_version='*'); print(*sorted(rocm_sdk._ALL_CDLLS), sep='|')",
        ("amdhip64", "hipblas"),
    ),
    (
        "TransformerEngine, CTranslate2 and hip-python, ROCM_PATH",
        "from rocm_sdk._devel import get_devel_root; print(get_devel_root().as_posix())",
        ("_rocm_sdk_devel",),
    ),
    (
        "SD.Next, the directory of libraries",
        "import rocm_sdk, os; di = rocm_sdk._dist_info; print(os.path.dirname("
        "di.ALL_PACKAGES['libraries'].get_py_package(di.determine_target_family()).origin))",
        ("_rocm_sdk_libraries",),
    ),
    (
        "PyInstaller recipes, the platform directories",
        "import _rocm_sdk_core, _rocm_sdk_libraries, os;"
        "print(*(os.path.dirname(m.__file__) for m in (_rocm_sdk_core, _rocm_sdk_libraries)), sep='|')",
        ("_rocm_sdk_core", "_rocm_sdk_libraries"),
    ),
    (
        "rocprof_trace_decoder, names of another package",
        "from rocm_sdk_core import _dist_info as di;"
        "print(di.ALL_PACKAGES['core'].get_py_package_name())",
        ("_rocm_sdk_core",),
    ),
    (
        "hipBLASLt, the version of core",
        "import rocm_sdk_core; print(rocm_sdk_core.__version__)",
        ("7.2.0.dev0",),
    ),
)


@unittest.skipUnless(
    importlib.util.find_spec("ensurepip"), "python3-venv: this Python makes no environment with pip"
)
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        dist = os.environ.get("ROCKPACK_DIST")
        if dist is None:
            raise skip_loudly("ROCKPACK_DIST, a directory with packages of rockpack, is not set")
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.venv = Path(scratch.name, "an environment")
        cls.command(sys.executable, "-m", "venv", str(cls.venv))
        extras = "libraries,devel,profiler,device-gfx942,device-gfx1100"
        cls.pip("install", "--no-index", "--find-links", dist, f"rocm[{extras}]")
        cls.site = Path(
            cls.command(
                str(cls.venv / "bin/python"),
                "-c",
                "import sysconfig; print(sysconfig.get_path('purelib'))",
            ).strip()
        )

    @classmethod
    def pip(cls, *arguments: str) -> str:
        pip = [str(cls.venv / "bin/pip"), "--disable-pip-version-check", "--no-cache-dir", "-q"]
        return cls.command(*pip, *arguments)

    @classmethod
    def command(cls, *command: str, status: int = 0, **variables: str) -> str:
        result = subprocess.run(
            command,
            env=support.environment(PYTHONDONTWRITEBYTECODE="1", **variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == status, (
            f"{command}: {result.returncode}\n{result.stdout}{result.stderr}"
        )
        return result.stdout

    def sdk(self, *arguments: str, status: int = 0, **variables: str) -> str:
        return self.command(str(self.venv / "bin/rocm-sdk"), *arguments, status=status, **variables)

    def test_1_doctor_has_nothing_to_say(self) -> None:
        report = json.loads(self.sdk("doctor", "--json", ROCM_SDK_TARGET_FAMILY="gfx942;gfx1100"))
        self.assertEqual(report["findings"], [])
        self.assertEqual(report["devel"]["state"], "not expanded")
        names = {one["name"] for one in report["packages"]}
        self.assertEqual(names, {"core", "libraries", "device", "profiler", "devel"})
        self.assertGreater(report["checked"]["binaries"], 40)

    def test_2_init_and_exact_records(self) -> None:
        self.sdk("init", "--quiet")
        for name in ("rocm_sdk_devel", "rocm_sdk_device_gfx942", "rocm_sdk_device_gfx1100"):
            (record,) = self.site.glob(f"{name}-*.dist-info/RECORD")
            with open(record, encoding="utf-8", newline="") as file:
                rows = {path: (digest, size) for path, digest, size in csv.reader(file)}
            tree = [path for path in rows if path.startswith("_rocm_sdk_devel/")]
            self.assertGreater(len(tree), 5)
            for path in tree:
                full = self.site / path
                if not full.is_symlink():
                    data = full.read_bytes()
                    expected = (f"sha256={support.sha256(data)}", str(len(data)))
                    self.assertEqual(rows[path], expected, path)
        self.assertEqual(
            self.sdk("doctor", ROCM_SDK_TARGET_FAMILY="gfx942,gfx1100").splitlines()[-1],
            "everything is in order",
        )

    def test_3_the_self_test(self) -> None:
        self.assertRegex(self.sdk("test").splitlines()[-1], r"^\d+ ok, 0 failed, \d+ skipped$")

    def test_3_targets_of_public_programs(self) -> None:
        python = str(self.venv / "bin/python")
        for program, code, ends in PROGRAMS:
            with self.subTest(program):
                printed = self.command(python, "-c", code, ROCM_SDK_TARGET_FAMILY="gfx942").strip()
                paths = printed.split("|")
                self.assertEqual(len(paths), len(ends), printed)
                for path, end in zip(paths, ends, strict=True):
                    self.assertTrue(path.endswith(end), printed)

    def test_4_scripts_that_are_registered_are_those_that_packages_know(self) -> None:
        for info in self.site.glob("rocm_*-*.dist-info"):
            module = self.site / info.name.partition("-")[0]
            entries = info / "entry_points.txt"
            if module.name == "rocm" or not (module / "_dist_info.py").is_file():
                continue
            text = entries.read_text() if entries.is_file() else ""
            registered = set(re.findall(r"^(\S+) = ", text, re.M))
            scripts = self.command(
                str(self.venv / "bin/python"),
                "-c",
                f"from {module.name}._dist_info import DIST; print(*DIST['scripts'])",
            ).split()
            self.assertEqual(set(scripts), registered, module.name)

    def test_5_damage_is_found_in_the_real_packages(self) -> None:
        library = self.site / "_rocm_sdk_core/lib/libamdhip64.so.7"
        away = library.with_name("away")
        library.rename(away)
        self.addCleanup(away.rename, library)
        text = self.sdk("doctor", status=1, ROCM_SDK_TARGET_FAMILY="gfx942,gfx1100")
        self.assertIn("files are missing: _rocm_sdk_core/lib/libamdhip64.so.7", text)

    def test_6_uninstalling_leaves_nothing(self) -> None:
        self.pip("uninstall", "-y", *self.distributions())
        names = sorted(p.name for p in self.site.iterdir() if "rocm" in p.name)
        self.assertEqual(names, [])

    def distributions(self) -> list[str]:
        names = {path.name.partition("-")[0] for path in self.site.glob("*.dist-info")}
        return sorted(names - {"pip", "setuptools"})


if __name__ == "__main__":
    unittest.main()
