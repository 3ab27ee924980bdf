"""Selection of targets, and errors without a target."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import support

DETERMINE = "from rocm_sdk import _targets; print(_targets.determine())"


class Targets(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self)

    def nodes(self, *versions: int) -> str:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        return support.kfd_nodes(Path(scratch.name), *versions)

    def test_kernel_versions_become_isa_names(self) -> None:
        expected = {
            90010: "gfx90a", 90012: "gfx90c", 90402: "gfx942", 90500: "gfx950",
            100300: "gfx1030", 110000: "gfx1100", 110501: "gfx1151", 120001: "gfx1201",
            90006: "gfx906", 0: None,
        }  # fmt: skip
        code = (
            f"from rocm_sdk._targets import isa_name; print([isa_name(v) for v in {list(expected)}])"
        )
        self.assertEqual(self.layout.code(code), str(list(expected.values())))

    def test_environment_has_priority(self) -> None:
        nodes = self.nodes(0, 90402)
        chosen = self.layout.code(
            DETERMINE, ROCM_SDK_TARGET_FAMILY="gfx1100", ROCM_SDK_KFD_NODES=nodes
        )
        self.assertEqual(chosen, "gfx1100")

    def test_family_with_one_published_isa_selects_it(self) -> None:
        for name in ("gfx110X-all", "gfx1100:xnack+", "dgpu-all"):
            with self.subTest(name):
                self.assertEqual(
                    self.layout.code(DETERMINE, ROCM_SDK_TARGET_FAMILY=name), "gfx1100"
                )

    def test_family_with_several_published_isas_is_an_error_naming_them(self) -> None:
        error = self.layout.error(DETERMINE, ROCM_SDK_TARGET_FAMILY="everything")
        self.assertIn("TargetError", error)
        self.assertIn("gfx942, gfx1100", error)

    def test_several_targets_can_be_asked_for(self) -> None:
        ask = "from rocm_sdk import _targets; print(*_targets.requested())"
        for value in ("gfx1100,gfx942", " gfx1100 ; gfx94X-all;gfx942:sramecc+:xnack-,"):
            with self.subTest(value):
                self.assertEqual(
                    self.layout.code(ask, ROCM_SDK_TARGET_FAMILY=value), "gfx1100 gfx942"
                )
                self.assertEqual(
                    self.layout.code(DETERMINE, ROCM_SDK_TARGET_FAMILY=value), "gfx1100"
                )
        self.assertIn("for gfx1", self.layout.error(ask, ROCM_SDK_TARGET_FAMILY="gfx942,gfx1"))

    def test_different_gpus_of_one_machine_are_all_served(self) -> None:
        match = "from rocm_sdk import _targets as t; print(*t.match_machine(t.machine().isas))"
        for versions, expected in (
            ((0, 110000, 90402, 90402), "gfx1100 gfx942"),
            ((0, 90402, 90006), "gfx942"),  # a small GPU without a package is skipped
        ):
            nodes = self.nodes(*versions)
            self.assertEqual(self.layout.code(match, ROCM_SDK_KFD_NODES=nodes), expected)

    def test_sources_of_the_gpu_list(self) -> None:
        ask = "from rocm_sdk import _targets; g = _targets.machine(); print(g.source, *g.isas)"
        self.assertEqual(self.layout.code(ask), "None")
        self.layout.install(support.core())
        self.assertEqual(self.layout.code(ask), "offload-arch gfx1100")
        kernel = self.layout.code(ask, ROCM_SDK_KFD_NODES=self.nodes(0, 90402))
        self.assertEqual(kernel, "kernel gfx942")

    def test_features_that_offload_arch_adds_do_not_count(self) -> None:
        files = support.core().files
        name = "*_rocm_sdk_core/lib/llvm/bin/offload-arch"
        says = support.script(
            "echo gfx90a:sramecc+:xnack-; echo gfx942:sramecc+:xnack-; echo x >&2"
        )
        self.layout.install(support.core(files={**files, name: says}))
        ask = "from rocm_sdk import _targets; print(*_targets.machine().isas)"
        self.assertEqual(self.layout.code(ask), "gfx90a gfx942")
        self.assertEqual(self.layout.code(DETERMINE), "gfx942")

    def test_an_offload_arch_that_fails_is_no_answer(self) -> None:
        files = support.core().files
        name = "*_rocm_sdk_core/lib/llvm/bin/offload-arch"
        for program in (support.script("exit 3"), b"not a program"):
            self.layout.install(support.core(files={**files, name: program}))
            self.assertEqual(self.layout.code(DETERMINE), "gfx942")  # the default

    def test_files_of_the_kernel_that_say_nothing(self) -> None:
        nodes = Path(self.nodes(0, 90402))
        (nodes / "2").mkdir()  # without properties: hidden in a container
        (nodes / "3").mkdir()
        (nodes / "3/properties").write_text("gfx_target_version\ngfx_target_version x\n")
        (nodes / "generation_id").write_text("7")
        self.assertEqual(self.layout.code(DETERMINE, ROCM_SDK_KFD_NODES=str(nodes)), "gfx942")

    def test_unknown_target_is_an_error_naming_those_there_are(self) -> None:
        for name in ("gfx90a", "nonsense"):
            with self.subTest(name):
                error = self.layout.error(DETERMINE, ROCM_SDK_TARGET_FAMILY=name)
                self.assertIn(f"has no package for {name}, only for: gfx942, gfx1100", error)

    def test_kernel_list_is_read_in_the_order_of_its_numbers(self) -> None:
        versions = [0] * 2 + [100306] + [0] * 7 + [110000, 90402]
        self.assertEqual(
            self.layout.code(DETERMINE, ROCM_SDK_KFD_NODES=self.nodes(*versions)), "gfx1100"
        )

    def test_gpu_without_package_is_an_error_naming_those_there_are(self) -> None:
        error = self.layout.error(DETERMINE, ROCM_SDK_KFD_NODES=self.nodes(0, 90006))
        self.assertIn("(gfx906), only for: gfx942, gfx1100", error)

    def test_offload_arch_of_core_is_asked_and_devel_not_expanded(self) -> None:
        self.layout.install(support.core())
        self.layout.install(support.devel())
        self.assertEqual(self.layout.code(DETERMINE), "gfx1100")
        self.assertFalse((self.layout.site / "_rocm_sdk_devel").exists())

    def test_default_is_last(self) -> None:
        self.assertEqual(self.layout.code(DETERMINE), "gfx942")

    def test_command_prints_isas_on_one_line(self) -> None:
        result = self.layout.sdk("targets")
        self.assertEqual((result.stdout, result.stderr), ("gfx942;gfx1100\n", ""))


class LegacyTargets(unittest.TestCase):
    def setUp(self) -> None:
        packages = {**support.DIST["packages"]}
        packages["libraries"] = {
            "distribution": "rocm-sdk-libraries-{family}",
            "module": "rocm_sdk_libraries_{family}",
            "platform_dir": "_rocm_sdk_libraries_{family}",
            "kind": "runtime",
            "extra": "libraries",
        }
        del packages["device"]
        info = support.dist(
            mode="legacy",
            packages=packages,
            targets={"linux": ["dgpu-all", "gfx110X-dgpu", "gfx94X-dcgpu"], "win32": []},
            families={
                **support.DIST["families"],
                "gfx1201": ["dgpu-all"],
            },
            default_target="gfx94X-dcgpu",
        )
        self.layout = support.Layout(self, support.core(), info=info)

    def test_isa_selects_its_smallest_family(self) -> None:
        for isa, family in (
            ("gfx1100", "gfx110X-dgpu"),
            ("gfx1201", "dgpu-all"),
            ("gfx942", "gfx94X-dcgpu"),
        ):
            with self.subTest(isa):
                self.assertEqual(self.layout.code(DETERMINE, ROCM_SDK_TARGET_FAMILY=isa), family)

    def test_libraries_are_found_in_the_package_of_the_family(self) -> None:
        find = "import rocm_sdk; print(rocm_sdk.find_libraries('hipblas')[0])"
        error = self.layout.error(find, ROCM_SDK_TARGET_FAMILY="gfx942")
        self.assertIn(
            'rocm-sdk-libraries-gfx94X-dcgpu is not installed; to install: pip install "rocm[libraries]"',
            error,
        )
        name = "_rocm_sdk_libraries_gfx94X_dcgpu"
        files = {f"{name}/__init__.py": b"", f"{name}/lib/libhipblas.so.3": b""}
        self.layout.install(
            support.libraries(
                distribution="rocm-sdk-libraries-gfx94X-dcgpu",
                module=name[1:],
                platform_dir=name,
                files=files,
            )
        )
        path = self.layout.code(find, ROCM_SDK_TARGET_FAMILY="gfx942")
        self.assertEqual(path, str(self.layout.site / name / "lib" / "libhipblas.so.3"))

    def test_command_prints_isas_not_families(self) -> None:
        self.assertEqual(self.layout.sdk("targets").stdout, "gfx1100;gfx1101;gfx1201;gfx942\n")


if __name__ == "__main__":
    unittest.main()
