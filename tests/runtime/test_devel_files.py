"""Devel tree whose files are members of the wheel: only links are made, and uninstallers know them."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

import support
from test_devel import EXPECTED, TREE

MADE = {
    f"{TREE}/{name}"
    for name in (
        ".packages",
        ".rocm-sdk.json",
        "bin/hipcc",
        "bin/amdclang",
        "lib/libhiprtc.so.7",
        "lib/libhiprtc.so",
        "lib/libhipblas.so.3",
        "lib/libhipblas.so",
        "lib64",
        "lib64-file",
        "share/empty/.keep",
    )
}
STOPPED = (
    "import os\n"
    "from rocm_sdk import _expand, __main__\n"
    "def stop(*arguments: object) -> None:\n"
    "    os._exit(9)\n"
    "_expand.{function} = stop\n"
    "__main__.main(['init', '--quiet'])\n"
)


class DevelOfFiles(unittest.TestCase):
    def setUp(self) -> None:
        self.wheel = support.devel_of_files()
        self.layout = support.Layout(self, support.core(), support.libraries(), self.wheel)
        self.root = self.layout.site / TREE

    def init(self, *arguments: str) -> str:
        result = self.layout.sdk("init", *arguments)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        return result.stderr

    def rows(self) -> list[str]:
        return [path for path in self.layout.record("rocm-sdk-devel") if path.startswith(TREE)]

    def check_tree(self) -> None:
        self.assertEqual(self.layout.files(TREE), EXPECTED)
        self.assertEqual(sorted(self.rows()), sorted(EXPECTED))
        self.layout.check_hashes("rocm-sdk-devel")
        self.assertFalse((self.layout.site / f"{TREE}.partial").exists())

    def test_files_are_there_at_once_and_stay(self) -> None:
        self.assertEqual(self.layout.files(TREE), EXPECTED - MADE)
        self.layout.code(f"import {TREE}")
        self.assertIn("not expanded", self.layout.sdk("doctor").stdout)
        header = self.root / "include/hip/hip_runtime.h"
        before = header.stat()
        self.assertIn("linking rocm-sdk-devel", self.init())
        self.check_tree()
        after = header.stat()
        self.assertEqual((after.st_ino, after.st_mtime), (before.st_ino, before.st_mtime))
        hipcc = self.layout.site / "_rocm_sdk_core/bin/hipcc"
        self.assertTrue(os.path.samefile(self.root / "bin/hipcc", hipcc))
        self.assertEqual(os.readlink(self.root / "lib64"), "lib")
        record = next(self.layout.site.glob("rocm_sdk_devel-*/RECORD"))
        written = record.stat().st_mtime_ns
        self.assertEqual(self.init("--quiet"), "")
        self.assertEqual(record.stat().st_mtime_ns, written)
        self.assertIn("expanded", self.layout.sdk("doctor").stdout)

    def test_another_kind_of_links(self) -> None:
        self.init("--quiet")
        inode = (self.root / "tools/run.sh").stat().st_ino
        self.init("--quiet", "--symlinks")
        self.check_tree()
        self.assertTrue((self.root / "lib/libhipblas.so.3").is_symlink())
        self.assertEqual((self.root / "tools/run.sh").stat().st_ino, inode)

    def test_a_killed_run_can_be_repeated(self) -> None:
        for function in ("_assemble", "make_outer_links", "place_all"):
            with self.subTest(function):
                result = self.layout.run("-c", STOPPED.format(function=function))
                self.assertEqual(result.returncode, 9, result.stderr)
                listed = set(self.layout.record("rocm-sdk-devel"))
                self.assertLessEqual(self.layout.files(TREE), listed)
                self.init("--quiet")
                self.check_tree()
                (self.root / ".rocm-sdk.json").unlink()

    def test_a_missing_file_of_the_wheel_is_an_error_and_a_missing_link_is_not(self) -> None:
        self.init("--quiet")
        (self.root / "lib/libhiprtc.so").unlink()
        self.init("--quiet")
        self.check_tree()
        (self.root / "lib/cmake/hip/hip-config.cmake").unlink()
        result = self.layout.sdk("init", "--quiet")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("hip-config.cmake: reinstall it: pip install --force-reinstall", result.stderr)
        findings = self.layout.sdk("doctor").stdout
        self.assertIn("--force-reinstall", findings)

    def test_a_package_installed_later_is_linked(self) -> None:
        layout = support.Layout(self, support.core(), self.wheel)
        self.assertEqual(layout.sdk("init", "--quiet").returncode, 0)
        self.assertFalse((layout.site / TREE / "lib/libhipblas.so.3").exists())
        layout.install(support.libraries())
        self.assertEqual(layout.sdk("init", "--quiet").returncode, 0)
        self.assertEqual(layout.files(TREE), EXPECTED)
        layout.check_hashes("rocm-sdk-devel")

    def test_without_record(self) -> None:
        record: Path = next(self.layout.site.glob("rocm_sdk_devel-*/RECORD"))
        record.unlink()
        for _ in range(2):
            self.init()
            self.assertEqual(self.layout.files(TREE), EXPECTED)
            (self.root / ".rocm-sdk.json").unlink()

    def test_an_own_placeholder_and_a_made_one(self) -> None:
        members = {**support.DEVEL_MEMBERS, "share/own/.keep": b"text", "share/two/.keep": b""}
        layout = support.Layout(self, support.core(), support.devel_of_files(members))
        for _ in range(2):
            self.assertEqual(layout.sdk("init", "--quiet").returncode, 0)
            layout.check_hashes("rocm-sdk-devel")
            for name, text in (("own", "text"), ("two", ""), ("empty", "")):
                self.assertEqual((layout.site / TREE / f"share/{name}/.keep").read_text(), text)
            (layout.site / TREE / ".rocm-sdk.json").unlink()
