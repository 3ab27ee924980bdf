"""`rocm-sdk doctor` on replaced files: findings, no tracebacks, no waiting."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

import support
from test_doctor import REINSTALL, Case

CORE = REINSTALL.format("core")


class Damaged(Case):
    def setUp(self) -> None:
        super().setUp()
        self.layout.install(support.device("gfx942"))
        self.record = self.site / "rocm_sdk_core-7.2.4.dist-info/RECORD"
        self.variables = {"ROCM_SDK_TARGET_FAMILY": "gfx942"}

    def damaged(self, fault: str) -> None:
        findings = self.findings(1, **self.variables)
        self.assertEqual(set(findings), {"record-damaged"})
        subject, message, remedy = findings["record-damaged"]
        self.assertEqual((subject, remedy), ("rocm-sdk-core", CORE))
        self.assertTrue(message.startswith(f"{self.record} is damaged: "), message)
        self.assertIn(fault, message)

    def test_a_record_that_is_not_utf8(self) -> None:
        self.record.write_bytes(self.record.read_bytes() + b"\xff\xfe,,\n")
        self.damaged("utf-8")

    def test_a_field_that_is_too_long(self) -> None:
        self.record.write_text(self.record.read_text() + "n" * 140_000 + ",,\n")
        self.damaged("131072")

    def test_another_distribution_with_such_a_record(self) -> None:
        other = self.site / "other-1.0.dist-info"
        other.mkdir()
        (other / "RECORD").write_bytes(b"\xff,,\n")
        (self.site / "_rocm_sdk_core_old").mkdir()
        self.assertEqual(set(self.findings(0, **self.variables)), {"leftover-directory"})

    def test_another_distribution_with_damaged_metadata(self) -> None:
        library = next((self.site / "_rocm_sdk_core/lib").iterdir()).name
        for name, files in {
            "nul": {"METADATA": b"Name: nul\n", "RECORD": bytes(64)},
            "none": {"RECORD": f"none/{library},,\n".encode()},
            "empty": {},
        }.items():
            other = self.site / f"{name}-1.0.dist-info"
            other.mkdir()
            for file, content in files.items():
                (other / file).write_bytes(content)
        result = self.layout.run("-W", "error", "-m", "rocm_sdk", "doctor", **self.variables)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_rows_that_no_file_fits(self) -> None:
        text = self.record.read_text()
        self.record.write_text(f"{text}{'n' * 5000},,\nrocm_sdk_core/__init__.py,,many\n")
        self.assertEqual(set(self.findings(1, **self.variables)), {"files-missing", "files-changed"})

    def test_a_package_with_an_empty_dist_info(self) -> None:
        (self.site / "rocm_sdk_core/_dist_info.py").write_text("")
        findings = self.findings(1, **self.variables)
        self.assertEqual(findings["package-broken"][2], CORE)

    def test_a_package_that_does_not_know_itself(self) -> None:
        for text in ("", "DIST = (", "DIST = 1\n"):
            (self.site / "rocm_sdk/_dist_info.py").write_text(text)
            result = self.layout.sdk("doctor", **self.variables)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertNotIn("Traceback", result.stderr)
            self.assertIn("_dist_info.py cannot be read", result.stderr)
            self.assertIn("pip install --force-reinstall --no-deps", result.stderr)


class Replaced(Case):
    def setUp(self) -> None:
        super().setUp()
        self.layout.install(support.device("gfx942"))

    def replace(self, path: str) -> None:
        (self.site / path).unlink()
        os.mkfifo(self.site / path)

    def test_a_fifo_in_place_of_a_library(self) -> None:
        library = next(path for path in self.libraries() if not path.is_symlink())
        short = str(library.relative_to(self.site))
        self.replace(short)
        findings = self.findings(1, ROCM_SDK_TARGET_FAMILY="gfx942")
        subject, message, remedy = findings["files-replaced"]
        self.assertEqual((subject, remedy), ("rocm-sdk-core", CORE))
        self.assertIn(short, message)

    def libraries(self) -> list[Path]:
        return sorted((self.site / "_rocm_sdk_core/lib").glob("*.so*"))

    def test_a_node_of_the_kernel_that_is_a_fifo(self) -> None:
        nodes = Path(self.nodes(90402))
        (nodes / "7").mkdir()
        os.mkfifo(nodes / "7/properties")
        report = self.report(0, ROCM_SDK_KFD_NODES=str(nodes))
        self.assertEqual(report["gpus"]["names"], ["gfx942"])

    def test_names_that_move_the_cursor(self) -> None:
        (self.site / "_rocm_sdk_core_\x1b[2J\u202e").mkdir()
        result = self.layout.sdk("doctor", ROCM_SDK_TARGET_FAMILY="gfx942")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("_rocm_sdk_core_\\x1b[2J\\u202e", result.stdout)
        self.assertNotIn("\x1b", result.stdout)


if __name__ == "__main__":
    unittest.main()
