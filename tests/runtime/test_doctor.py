"""`rocm-sdk doctor`: each fault has a finding with the command that repairs it."""

from __future__ import annotations

import json
import shutil
import subprocess
import unittest
from typing import Any

import support

REINSTALL = 'pip install --force-reinstall --no-deps "rocm-sdk-{}==7.2.4"'


class Case(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self, support.core(), support.libraries())
        self.site = self.layout.site

    def report(self, status: int | None = None, **variables: str) -> dict[str, Any]:
        """Return the report; checks that the doctor changes no file."""
        before = self.layout.files()
        result = self.layout.sdk("doctor", "--json", **variables)
        self.assertEqual(result.stderr, "")
        self.assertEqual(self.layout.files(), before)
        report: dict[str, Any] = json.loads(result.stdout)
        errors = sum(one["severity"] == "error" for one in report["findings"])
        self.assertEqual(report["summary"]["errors"], errors)
        self.assertEqual(result.returncode, int(errors > 0))
        if status is not None:
            self.assertEqual(result.returncode, status, result.stdout)
        return report

    def findings(self, status: int, **variables: str) -> dict[str, tuple[str, str, str]]:
        """Return subject, message and remedy by code; checks that codes are unique."""
        findings = self.report(status, **variables)["findings"]
        by_code = {one["code"]: (one["subject"], one["message"], one["remedy"]) for one in findings}
        self.assertEqual(len(findings), len(by_code), findings)
        return by_code

    def nodes(self, *versions: int) -> str:
        directory = self.layout.top / "-".join(map(str, versions))
        return support.kfd_nodes(directory, 0, *versions)

    def assert_no_findings(self, **variables: str) -> None:
        self.assertEqual(self.findings(0, **variables), {})


class Report(Case):
    def test_a_good_installation(self) -> None:
        self.layout.install(support.devel())
        self.layout.install(support.device("gfx942"))
        nodes = self.nodes(90402)
        result = self.layout.sdk("doctor", ROCM_SDK_KFD_NODES=nodes)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertNotIn("\x1b", result.stdout)
        lines = result.stdout.splitlines()
        self.assertRegex(lines[0], r"^rocm 7\.2\.4, Python 3\.\d+\.\d+ \(.+\)$")
        self.assertIn(f"  rocm-sdk-core           7.2.4     {self.site}/_rocm_sdk_core", lines)
        self.assertIn(f"GPU       gfx942 (kernel, {nodes})", lines)
        self.assertIn("devel     not expanded", lines)
        self.assertEqual(lines[-1], "everything is in order")
        self.assertFalse((self.site / "_rocm_sdk_devel").exists())
        self.layout.sdk("init", "--quiet")
        output = self.layout.sdk("doctor", ROCM_SDK_KFD_NODES=nodes).stdout
        self.assertRegex(output, r"\ndevel     expanded, \d+ files\n")
        self.assert_no_findings(ROCM_SDK_KFD_NODES=nodes)

    def test_the_fields_of_the_json(self) -> None:
        self.layout.install(support.device("gfx942"))
        report = self.report(0, ROCM_SDK_TARGET_FAMILY="gfx942")
        self.assertEqual(
            {key: value for key, value in report.items() if key not in ("python", "packages")},
            {
                "format": 1,
                "distribution": "rocm",
                "version": "7.2.4",
                "gpus": {
                    "names": ["gfx942"],
                    "source": "environment",
                    "detail": "ROCM_SDK_TARGET_FAMILY=gfx942",
                    "targets": ["gfx942"],
                    "unserved": [],
                },
                "devel": {"state": "not installed", "root": "", "files": 0},
                "checked": {"binaries": 3, "scripts": 3},
                "rivals": [],
                "findings": [],
                "summary": {"errors": 0, "warnings": 0},
            },
        )
        self.assertEqual(
            report["packages"][0],
            {
                "name": "core",
                "distribution": "rocm-sdk-core",
                "version": "7.2.4",
                "module": str(self.site / "rocm_sdk_core"),
                "root": str(self.site / "_rocm_sdk_core"),
            },
        )

    def test_errors_come_first_and_are_counted(self) -> None:
        (self.site / "_rocm_sdk_libraries_old").mkdir()
        (self.site / "_rocm_sdk_core/bin/hipcc").unlink()
        result = self.layout.sdk("doctor", ROCM_SDK_TARGET_FAMILY="gfx942")
        self.assertEqual(result.returncode, 1)
        lines = result.stdout.splitlines()
        kinds = [line.partition(":")[0] for line in lines if line.startswith(("err", "warn"))]
        self.assertEqual(kinds, ["error", "error", "error", "warning"])
        self.assertEqual(lines[-1], "3 errors, 1 warning")


class SecondCopies(Case):
    """Other libraries with the names of the packages' libraries."""

    def setUp(self) -> None:
        super().setUp()
        self.layout.install(support.device("gfx942"))
        self.ours = f"{self.site}/_rocm_sdk_core/lib/libhiprtc.so.7"

    def test_a_directory_of_ld_library_path(self) -> None:
        other = self.layout.top / "rocm"
        other.mkdir()
        shutil.copy(self.ours, other / "libhiprtc.so.7")
        findings = self.findings(
            0, ROCM_SDK_TARGET_FAMILY="gfx942", LD_LIBRARY_PATH=f"/nowhere:{other}"
        )
        subject, message, remedy = findings["library-shadowed"]
        self.assertEqual(subject, str(other))
        self.assertIn(f"{other}/libhiprtc.so.7, here {self.ours}", message)
        self.assertEqual(remedy, f"remove {other} from LD_LIBRARY_PATH")

    def test_the_packages_own_directory_is_no_second_copy(self) -> None:
        directory = str(self.site / "_rocm_sdk_core" / "lib")
        findings = self.findings(0, ROCM_SDK_TARGET_FAMILY="gfx942", LD_LIBRARY_PATH=directory)
        self.assertNotIn("library-shadowed", findings)

    def test_a_wheel_with_bundled_rocm(self) -> None:
        torch = support.Wheel("torch", "torch", "torch", "_torch")
        torch.files["torch/lib/libhiprtc.so.7"] = b"other"
        self.layout.install(torch)
        subject, message, remedy = self.findings(0, ROCM_SDK_TARGET_FAMILY="gfx942")["other-sdk"]
        self.assertEqual(subject, "torch")
        self.assertIn(f"{self.site}/torch/lib/libhiprtc.so.7, here {self.ours}", message)
        self.assertEqual(remedy, "install a build of torch that requires rocm")


class Packages(Case):
    gfx942 = {"ROCM_SDK_TARGET_FAMILY": "gfx942"}  # noqa: RUF012

    def setUp(self) -> None:
        super().setUp()
        self.layout.install(support.device("gfx942"))

    def test_without_core(self) -> None:
        shutil.rmtree(self.site / "rocm_sdk_core")
        shutil.rmtree(self.site / "_rocm_sdk_core")
        for path in self.site.glob("rocm_sdk_core-*"):
            shutil.rmtree(path)
        subject, message, remedy = self.findings(1, **self.gfx942)["package-missing"]
        self.assertEqual((subject, remedy), ("rocm-sdk-core", 'pip install "rocm-sdk-core==7.2.4"'))
        self.assertIn("every other package needs it", message)

    def test_a_device_package_without_the_libraries(self) -> None:
        layout = support.Layout(self, support.core(), support.device("gfx942"))
        self.layout, self.site = layout, layout.site
        finding = self.findings(1, **self.gfx942)["package-missing"]
        self.assertEqual(finding[0], "rocm-sdk-libraries")
        self.assertEqual(finding[2], 'pip install "rocm[libraries]==7.2.4"')

    def test_another_version(self) -> None:
        self.layout.install(support.profiler(version="7.1.0"))
        self.assertEqual(
            self.findings(1, **self.gfx942),
            {
                "version-mismatch": (
                    "rocm-profiler",
                    "its version is 7.1.0, but rocm is 7.2.4",
                    'pip install "rocm[profiler]==7.2.4"',
                )
            },
        )

    def test_a_version_of_an_earlier_night(self) -> None:
        info = {**support.DIST, "versions": {"rocm-profiler": "7.1.0"}}
        self.layout.install(support.profiler())
        (self.site / "rocm_sdk/_dist_info.py").write_bytes(support.literal(info))
        subject, message, remedy = self.findings(1, **self.gfx942)["version-mismatch"]
        self.assertEqual(subject, "rocm-profiler")
        self.assertEqual(message, "its version is 7.2.4, but rocm 7.2.4 needs 7.1.0")
        self.assertEqual(remedy, 'pip install "rocm[profiler]==7.2.4"')
        self.layout.install(support.profiler(version="7.1.0"))
        shutil.rmtree(self.site / "rocm_profiler-7.2.4.dist-info")
        self.assertNotIn("version-mismatch", self.findings(0, **self.gfx942))

    def test_a_distribution_that_is_there_twice(self) -> None:
        old = self.site / "rocm_sdk_core-7.1.0.dist-info"
        shutil.copytree(self.site / "rocm_sdk_core-7.2.4.dist-info", old)
        subject, message, remedy = self.findings(1, **self.gfx942)["installed-twice"]
        self.assertEqual(subject, "rocm-sdk-core")
        self.assertIn(f"7.1.0 in {self.site}, 7.2.4 in {self.site}", message)
        self.assertTrue(remedy.startswith("pip uninstall rocm-sdk-core"), remedy)

    def test_two_names_of_a_directory_are_one_place(self) -> None:
        # `lib64` of virtual environments is such a link.
        link = self.layout.top / "link"
        link.symlink_to(self.site)
        environment = {"PYTHONPATH": f"{self.site}:{link}", **self.gfx942}
        self.assertNotIn("installed-twice", self.findings(0, **environment))

    def test_directories_of_removed_packages(self) -> None:
        for name in ("_rocm_sdk_core_nightly", "_rocm_sdk_libraries_gfx94X_dcgpu", "_other"):
            (self.site / name).mkdir()
        other = self.site / "another-1.0.dist-info"  # the owner of a directory with a similar name
        other.mkdir()
        (other / "RECORD").write_text("_rocm_sdk_core_tools/x,,\n")
        (self.site / "_rocm_sdk_core_tools").mkdir()
        subject, _, remedy = self.findings(0, **self.gfx942)["leftover-directory"]
        self.assertEqual(subject, "_rocm_sdk_core_nightly, _rocm_sdk_libraries_gfx94X_dcgpu")
        subprocess.run(remedy, shell=True, check=True)
        self.assert_no_findings(**self.gfx942)

    def test_missing_and_changed_files(self) -> None:
        (self.site / "_rocm_sdk_core/bin/amdclang").unlink()
        (self.site / "_rocm_sdk_libraries/lib/db/gfx942.dat").write_bytes(b"longer than it was")
        findings = self.findings(1, **self.gfx942)
        self.assertEqual(
            findings["files-missing"],
            (
                "rocm-sdk-core",
                "files are missing: _rocm_sdk_core/bin/amdclang",
                REINSTALL.format("core"),
            ),
        )
        self.assertEqual(findings["files-changed"][0], "rocm-sdk-device-gfx942")

    def test_a_package_that_cannot_be_read(self) -> None:
        (self.site / "rocm_sdk_libraries/_dist_info.py").write_text("DIST = {")
        findings = self.findings(1, **self.gfx942)
        self.assertEqual(findings["package-broken"][0], "rocm-sdk-libraries")
        self.assertIn("SyntaxError", findings["package-broken"][1])
        self.assertEqual(findings["package-broken"][2], REINSTALL.format("libraries"))

    def test_a_program_that_is_missing(self) -> None:
        (self.site / "_rocm_sdk_core/bin/hipcc").unlink()
        subject, message, remedy = self.findings(1, **self.gfx942)["program-missing"]
        self.assertEqual((subject, remedy), ("rocm-sdk-core", REINSTALL.format("core")))
        self.assertIn(f"hipcc ({self.site}/_rocm_sdk_core/bin/hipcc)", message)

    def test_the_installer_of_the_user_is_named(self) -> None:
        self.layout.add_metadata("rocm", support.VERSION)
        info = self.site / "rocm-7.2.4.dist-info"
        (info / "INSTALLER").write_text("uv\n")
        (self.site / "_rocm_sdk_core/bin/amdclang").unlink()
        remedy = self.findings(1, **self.gfx942)["files-missing"][2]
        self.assertEqual(remedy, 'uv pip install --reinstall --no-deps "rocm-sdk-core==7.2.4"')


class Gpus(Case):
    def test_a_gpu_without_its_package(self) -> None:
        self.layout.install(support.device("gfx942"))
        findings = self.findings(1, ROCM_SDK_KFD_NODES=self.nodes(90402, 110000))
        self.assertEqual(list(findings), ["device-missing"])
        subject, message, remedy = findings["device-missing"]
        self.assertEqual(subject, "rocm-sdk-device-gfx1100")
        self.assertIn("this machine has a gfx1100", message)
        self.assertEqual(remedy, 'pip install "rocm[device-gfx1100]==7.2.4"')

    def test_a_package_without_its_gpu(self) -> None:
        for isa in ("gfx942", "gfx1100"):
            self.layout.install(support.device(isa))
        findings = self.findings(0, ROCM_SDK_KFD_NODES=self.nodes(90402))
        self.assertEqual(
            findings["device-superfluous"][::2],
            ("rocm-sdk-device-gfx1100", "pip uninstall rocm-sdk-device-gfx1100"),
        )

    def test_both_gpus_with_their_packages(self) -> None:
        for isa in ("gfx942", "gfx1100"):
            self.layout.install(support.device(isa))
        self.assert_no_findings(ROCM_SDK_KFD_NODES=self.nodes(110000, 90402))

    def test_a_gpu_that_the_distribution_does_not_know(self) -> None:
        findings = self.findings(1, ROCM_SDK_KFD_NODES=self.nodes(90006))
        self.assertEqual(findings["gpu-unknown"][0], "gfx906")
        self.assertIn("only for: gfx942, gfx1100", findings["gpu-unknown"][1])
        self.layout.install(support.device("gfx942"))
        findings = self.findings(0, ROCM_SDK_KFD_NODES=self.nodes(90006, 90402))
        self.assertEqual(list(findings), ["gpu-unknown"])

    def test_without_a_gpu(self) -> None:
        offload_arch = self.site / "_rocm_sdk_core/lib/llvm/bin/offload-arch"
        data = support.script("exit 1")
        offload_arch.write_bytes(data + b"#" * (offload_arch.stat().st_size - len(data)))
        _, _, remedy = self.findings(0)["device-missing"]
        self.assertEqual(
            remedy, 'pip install "rocm[device-gfx942]==7.2.4"  # or another of: gfx942, gfx1100'
        )
        self.assertIn("none found", self.layout.sdk("doctor").stdout)
        self.layout.install(support.device("gfx1100"))
        self.assert_no_findings()

    def test_offload_arch_is_asked_and_named(self) -> None:
        report = self.report(1)
        self.assertEqual(report["gpus"]["source"], "offload-arch")
        self.assertEqual(report["gpus"]["names"], ["gfx1100"])
        self.assertTrue(report["gpus"]["detail"].endswith("/lib/llvm/bin/offload-arch"))

    def test_a_wrong_request(self) -> None:
        subject, message, remedy = self.findings(1, ROCM_SDK_TARGET_FAMILY="gfx90a")[
            "target-unknown"
        ]
        self.assertEqual(subject, "ROCM_SDK_TARGET_FAMILY")
        self.assertIn("gfx90a", message)
        self.assertIn("gfx942, gfx1100", remedy)

    def test_without_libraries_no_device_is_missed(self) -> None:
        layout = support.Layout(self, support.core())
        self.layout, self.site = layout, layout.site
        self.assert_no_findings(ROCM_SDK_KFD_NODES=self.nodes(90402))


if __name__ == "__main__":
    unittest.main()
