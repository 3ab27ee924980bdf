"""Parts of the runtime for Windows that Linux can test; `tests/windows/run` tests the others."""

from __future__ import annotations

import json
import shutil
import struct
import unittest
from pathlib import Path

import support

EXTENDED = """
import ntpath, sys
from rocm_sdk._paths import extended, joined
for path in sys.argv[1:]:
    print(extended(path))
print(joined(extended("C:/a"), "b/c.h"))
"""
# Windows with programs, libraries and paths of Linux.
RIVALS = """
import sys, json
import rocm_sdk._health._rivals as rivals
sys.platform, sys._base_executable = "win32", sys.argv[1]
found = rivals.look()
print(json.dumps([[one.description(), one.is_newer] for one in found]))
print(json.dumps([[one.code, one.message, one.remedy] for one in rivals.check(found)]))
"""

DENIED = """
import errno, os, sys
from rocm_sdk import _devel
from rocm_sdk._packages import require
for sys.platform in ("linux", "win32"):
    print(_devel._explain(PermissionError(errno.EACCES, os.strerror(errno.EACCES)), require("core")))
"""


def dll(version: tuple[int, int, int, int]) -> bytes:
    """Return a file that contains VS_FIXEDFILEINFO."""
    high, low = version[0] << 16 | version[1], version[2] << 16 | version[3]
    return bytes(64) + struct.pack("<IIII", 0xFEEF04BD, 0x00010000, high, low) + bytes(36)


class Paths(unittest.TestCase):
    def test_paths_without_a_limit_are_absolute_and_have_backslashes(self) -> None:
        layout = support.Layout(self, support.core())
        paths = ["C:/a/./b/../c", "C:\\a", "\\\\host\\share\\a/b", "\\\\?\\C:\\a", "\\\\?\\UNC\\host\\a"]
        result = layout.run("-c", EXTENDED, *paths)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(
            result.stdout.splitlines(),
            [
                "\\\\?\\C:\\a\\c",
                "\\\\?\\C:\\a",
                "\\\\?\\UNC\\host\\share\\a\\b",
                "\\\\?\\C:\\a",
                "\\\\?\\UNC\\host\\a",
                "\\\\?\\C:\\a\\b\\c.h",
            ],
        )


class Programs(unittest.TestCase):
    def test_the_file_that_windows_can_start_is_found(self) -> None:
        wheel = support.core()
        layout = support.Layout(self, wheel)
        place = layout.site / "_rocm_sdk_core/bin"
        code = (
            "import sys; sys.platform = 'win32'\n"
            "from rocm_sdk._find import program; print(program(sys.argv[1]).path)"
        )
        for suffix in (".bat", ".exe"):  # beside the Perl script `hipcc`
            (place / f"hipcc{suffix}").write_bytes(b"")
            result = layout.run("-c", code, "hipcc")
            self.assertEqual(result.stdout.strip(), str(place / f"hipcc{suffix}"), result.stderr)


class Devel(unittest.TestCase):
    def test_a_file_in_use_is_an_error_like_one_without_permission(self) -> None:
        result = support.Layout(self, support.core()).run("-c", DENIED)
        linux, windows = result.stdout.splitlines()
        self.assertTrue(linux.endswith("as a user with write access"), linux)
        self.assertTrue(windows.endswith("and first end the programs that use these files"), windows)


class Rivals(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(
            self,
            support.core(files={"_rocm_sdk_core/__init__.py": b"", "_rocm_sdk_core/bin/x.dll": dll((7, 2, 0, 1))}),
        )
        self.program = self.layout.top / "python"
        self.system = self.layout.top / "Windows" / "System32"
        for directory in (self.program, self.system):
            directory.mkdir(parents=True)
        self.ours = self.layout.site / "_rocm_sdk_core/bin/x.dll"

    def look(self) -> tuple[list[list[object]], list[list[str]]]:
        result = self.layout.run(
            "-c", RIVALS, str(self.program / "python.exe"), SYSTEMROOT=str(self.system.parent)
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        rivals, findings = map(json.loads, result.stdout.splitlines())
        return rivals, findings

    def test_one_library_of_a_name_is_in_order(self) -> None:
        (self.system / "other.dll").write_bytes(dll((9, 0, 0, 0)))
        self.assertEqual(self.look(), ([], []))

    def test_a_driver_that_is_as_old_loses_and_is_in_order(self) -> None:
        for version, text_expected in [((7, 2, 0, 1), "7.2.0.1"), ((6, 4, 9, 9), "6.4.9.9")]:
            other = self.system / "x.dll"
            other.write_bytes(dll(version))
            rivals, findings = self.look()
            text = (
                f"x.dll: {self.ours} (7.2.0.1) wins over {other} ({text_expected}): "
                "Windows searches the directories that rocm_sdk adds before System32"
            )
            self.assertEqual((rivals, findings), ([[text, False]], []))

    def test_reports_a_newer_driver(self) -> None:
        (self.system / "x.dll").write_bytes(dll((7, 10, 0, 0)))
        _, findings = self.look()
        self.assertEqual([one[0] for one in findings], ["library-older"])
        self.assertIn("the system's newer library is not used: x.dll: ", findings[0][1])
        self.assertEqual(findings[0][2], 'pip install --upgrade "rocm"')

    def test_one_without_a_version_is_not_newer(self) -> None:
        (self.system / "x.dll").write_bytes(b"")
        rivals, findings = self.look()
        self.assertEqual((len(rivals), findings), (1, []))

    def test_a_library_beside_the_program_wins(self) -> None:
        other = self.program / "x.dll"
        shutil.copy(self.ours, other)
        _, findings = self.look()
        self.assertEqual([one[0] for one in findings], ["library-shadowed"])
        self.assertTrue(findings[0][1].startswith(f"x.dll: {other} (7.2.0.1) wins over {self.ours} "))
        self.assertIn("the program's directory", findings[0][1])


class Directories(unittest.TestCase):
    def test_those_of_named_libraries_are_opened_and_the_devel_tree_is_not(self) -> None:
        layout = support.Layout(self, support.core(), support.libraries(), support.devel())
        for name in ("_rocm_sdk_core/bin", "_rocm_sdk_libraries/bin", "_rocm_sdk_devel/bin"):
            Path(layout.site / name).mkdir(parents=True, exist_ok=True)
        code = (
            "import rocm_sdk._libraries as l\n"
            "print(*(d.relative_to(d.parents[1]).as_posix() for d in l.dll_directories()))"
        )
        self.assertEqual(layout.code(code), "_rocm_sdk_core/bin _rocm_sdk_libraries/bin")


class Environment(unittest.TestCase):
    def findings(self, **variables: str) -> list[dict[str, str]]:
        layout = support.Layout(self, support.core())
        filled = {name: value.format(site=layout.site) for name, value in variables.items()}
        result = layout.sdk("doctor", "--json", **filled)
        findings: list[dict[str, str]] = json.loads(result.stdout)["findings"]
        return [one for one in findings if one["code"] == "other-sdk"]

    def test_reports_another_rocm(self) -> None:
        findings = self.findings(HIP_PATH="/usr", ROCM_PATH="/nowhere/rocm")
        self.assertEqual([one["subject"] for one in findings], ["ROCM_PATH", "HIP_PATH"])
        self.assertTrue(findings[0]["message"].startswith("it is /nowhere/rocm, which does not exist: hipcc"))
        self.assertTrue(findings[1]["message"].startswith("it is /usr: hipcc and CMake use it"))
        self.assertEqual(findings[1]["remedy"], 'eval "$(rocm-sdk env)"')

    def test_our_own_is_in_order(self) -> None:
        self.assertEqual(self.findings(HIP_PATH="{site}/_rocm_sdk_core/", ROCM_PATH=""), [])


if __name__ == "__main__":
    unittest.main()
