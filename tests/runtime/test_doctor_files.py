"""`rocm-sdk doctor` on the devel tree, and on libraries that cannot be loaded."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

import compiled
import support
from test_doctor import REINSTALL, Case

INIT = "rocm-sdk init"


class Devel(Case):
    gfx942 = {"ROCM_SDK_TARGET_FAMILY": "gfx942"}  # noqa: RUF012

    def setUp(self) -> None:
        super().setUp()
        self.layout.install(support.device("gfx942"))
        self.layout.install(support.devel())
        self.tree = self.site / "_rocm_sdk_devel"
        self.assertEqual(self.layout.sdk("init", "--quiet").returncode, 0)

    def mended(self, code: str, status: int) -> None:
        """Check that the fault has a finding, and that its command repairs it."""
        findings = self.findings(status, **self.gfx942)
        self.assertEqual([(k, v[2]) for k, v in findings.items()], [(code, INIT)])
        self.assertEqual(self.layout.sdk("init", "--quiet").returncode, 0)
        self.assert_no_findings(**self.gfx942)

    def test_an_incomplete_tree(self) -> None:
        (self.tree / ".rocm-sdk.json").unlink()
        self.mended("devel-unfinished", 0)
        (self.site / "_rocm_sdk_devel.partial").mkdir()
        self.mended("devel-unfinished", 0)

    def test_a_tree_that_is_being_expanded(self) -> None:
        (self.tree / ".rocm-sdk.json").unlink()
        code = (
            "from pathlib import Path; from rocm_sdk._lock import exclusive\n"
            f"with exclusive(Path({str(self.site / 'rocm_sdk_devel')!r})): print('held', flush=True); input()\n"
        )
        holder = subprocess.Popen(
            self.layout.command("-c", code),
            env=self.layout.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert holder.stdin is not None and holder.stdout is not None
        self.assertEqual(holder.stdout.readline(), "held\n")
        self.assertEqual(self.report(0, **self.gfx942)["devel"]["state"], "being expanded")
        holder.communicate("\n")
        self.mended("devel-unfinished", 0)

    def test_a_tree_of_another_archive(self) -> None:
        marker = self.tree / ".rocm-sdk.json"
        marker.write_text(marker.read_text().replace("7.2.4", "7.2.3"))
        self.mended("devel-outdated", 0)

    def test_missing_files(self) -> None:
        (self.tree / "include/hip/hip_runtime.h").unlink()
        self.mended("devel-damaged", 1)

    def test_a_device_package_that_came_later(self) -> None:
        (self.tree / ".device-gfx942").unlink()
        findings = self.findings(0, **self.gfx942)
        self.assertEqual(findings["devel-incomplete"][2], INIT)
        self.layout.sdk("init", "--quiet")
        self.assert_no_findings(**self.gfx942)

    def test_links_that_lead_to_nothing(self) -> None:
        (self.site / "_rocm_sdk_core/bin/amdclang").unlink()
        findings = self.findings(1, **self.gfx942)
        self.assertEqual(set(findings), {"files-missing", "link-broken"})
        _, message, remedy = findings["link-broken"]
        self.assertIn("_rocm_sdk_devel/bin/amdclang", message)
        self.assertEqual(remedy, REINSTALL.format("core"))


class Libraries(Case):
    """Faults of compiled libraries, compared with the real loader."""

    gfx942 = {"ROCM_SDK_TARGET_FAMILY": "gfx942"}  # noqa: RUF012

    def setUp(self) -> None:
        super().setUp()
        self.core = self.site / "_rocm_sdk_core/lib"
        self.libraries = self.site / "_rocm_sdk_libraries/lib"
        self.layout.install(support.device("gfx942"))
        hip = compiled.library(self.layout.top / "libamdhip64.so.7")
        files = {**support.core().files, "_rocm_sdk_core/lib/libamdhip64.so.7": hip.read_bytes()}
        self.layout.install(support.core(files=files))
        blas = compiled.library(
            self.libraries / "libblas.so.1",
            needs=(self.core / "libamdhip64.so.7",),
            rpath="$ORIGIN/../../_rocm_sdk_core/lib",
        )
        compiled.library(self.libraries / "libsolver.so.1", needs=(blas,))

    def test_all_is_found(self) -> None:
        self.assert_no_findings(**self.gfx942)

    def test_a_library_of_a_missing_package(self) -> None:
        (self.core / "libamdhip64.so.7").unlink()
        findings = self.findings(1, **self.gfx942)
        self.assertEqual(set(findings), {"files-missing", "library-missing"})
        subject, message, remedy = findings["library-missing"]
        self.assertEqual(subject, "libamdhip64.so.7")
        self.assertEqual(
            message,
            "it is missing; needed by _rocm_sdk_libraries/lib/libblas.so.1; "
            "1 more do not work without it",
        )
        self.assertEqual(remedy, REINSTALL.format("core"))

    def test_a_library_of_the_system(self) -> None:
        system = compiled.library(self.layout.top / "libnowhere.so.9")
        compiled.library(self.libraries / "libuser.so.1", needs=(system,))
        (self.layout.top / "bin").mkdir()
        for manager, command in (
            ("apt-get", "apt-file search libnowhere.so.9  # then install the package in its answer"),
            ("dnf", "dnf install 'libnowhere.so.9()(64bit)'"),
            ("zypper", "zypper install 'libnowhere.so.9()(64bit)'"),
            ("none", "install your system's package with libnowhere.so.9"),
        ):
            tool = self.layout.top / "bin" / manager
            tool.write_bytes(support.script(""))
            tool.chmod(0o755)
            findings = self.findings(1, PATH=str(tool.parent), **self.gfx942)
            self.assertEqual(findings["library-missing"][0], "libnowhere.so.9")
            self.assertEqual(findings["library-missing"][2], command)
            tool.unlink()

    def test_a_symbol_version_that_is_too_new(self) -> None:
        provider = compiled.library(self.libraries / "libx.so.1", versions="X_2.0 { global: *; };")
        code = "int libx(void); int user(void) { return libx(); }"
        compiled.library(self.libraries / "libuser.so.1", code=code, needs=(provider,))
        self.assert_no_findings(**self.gfx942)
        compiled.library(provider, versions="X_1.9 { global: *; };")
        subject, message, remedy = self.findings(1, **self.gfx942)["library-too-old"]
        self.assertEqual(subject, "libx.so.1")
        self.assertEqual(
            message,
            f"{provider} has no X_2.0 (X_1.9 at most); "
            "needed by _rocm_sdk_libraries/lib/libuser.so.1",
        )
        self.assertIn("X_2.0", remedy)

    def test_a_library_that_is_cut_off(self) -> None:
        path = self.libraries / "libsolver.so.1"
        path.write_bytes(path.read_bytes()[:300])
        subject, message, _ = self.findings(1, **self.gfx942)["library-damaged"]
        self.assertEqual(subject, "_rocm_sdk_libraries/lib/libsolver.so.1")
        self.assertIn("is damaged", message)

    def test_the_self_test_names_all_that_is_missing(self) -> None:
        (self.core / "libamdhip64.so.7").unlink()
        result = self.layout.sdk("test", "--only", "library:libraries:*")
        self.assertEqual(result.returncode, 1)
        self.assertIn(
            "FAIL library:libraries:lib/libsolver.so.1  "
            "(libamdhip64.so.7 is missing, needed by libblas.so.1)",
            result.stdout,
        )
        self.assertEqual(result.stdout.splitlines()[-1], "1 ok, 2 failed, 0 skipped")

    def test_python_modules_are_left_to_python(self) -> None:
        missing_library = compiled.library(self.layout.top / "libpython9.so")
        tag = f"x.{sys.implementation.cache_tag}-{os.uname().machine}-linux-gnu.so"
        compiled.library(Path(self.core, tag), needs=(missing_library,))
        self.assert_no_findings(**self.gfx942)


if __name__ == "__main__":
    unittest.main()
