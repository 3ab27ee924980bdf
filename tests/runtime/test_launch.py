"""Console scripts: started programs, arguments and environment."""

from __future__ import annotations

import unittest

import support

CORE = "_rocm_sdk_core/bin/hipcc"
TREE = "_rocm_sdk_devel/bin/hipcc"


class Launch(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self, support.core(), support.libraries(), support.profiler())

    def start(
        self, module: str, function: str, *arguments: str, **variables: str
    ) -> tuple[int, str, str]:
        code = f"from {module}._cli import {function}; {function}()"
        done = self.layout.run("-c", code, *arguments, **variables)
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    def hipcc(self, *arguments: str) -> tuple[int, str, str]:
        return self.start("rocm_sdk_core", "hipcc", *arguments)

    def test_without_devel_the_program_of_core_starts(self) -> None:
        answer = f"{self.layout.site}/{CORE} -c a b"
        self.assertEqual(self.hipcc("-c", "a b"), (0, answer, ""))

    def test_devel_is_expanded_where_the_script_says_so(self) -> None:
        self.layout.install(support.devel())
        status, answer, said = self.start("rocm_sdk_core", "rocminfo")
        self.assertEqual((status, answer, said), (3, "no GPU", ""))
        self.assertFalse((self.layout.site / "_rocm_sdk_devel").exists())
        status, answer, said = self.hipcc()
        self.assertEqual((status, answer), (0, f"{self.layout.site}/{TREE}"))
        self.assertIn("expanding", said)
        self.assertEqual(self.hipcc("x"), (0, f"{self.layout.site}/{TREE} x", ""))

    def test_a_program_that_the_tree_lacks_comes_from_core(self) -> None:
        self.layout.install(support.devel())
        self.hipcc()
        (self.layout.site / TREE).unlink()
        self.assertEqual(self.hipcc(), (0, f"{self.layout.site}/{CORE}", ""))

    def test_where_devel_cannot_be_expanded_core_starts_and_says_so(self) -> None:
        self.layout.install(support.devel(archive=b"nonsense"))
        status, answer, said = self.hipcc()
        self.assertEqual((status, answer), (0, f"{self.layout.site}/{CORE}"))
        self.assertIn("is damaged", said)
        self.assertIn("starting the program of rocm-sdk-core", said)

    def test_devel_of_another_version_is_not_used(self) -> None:
        self.layout.install(support.devel(version="7.1.0"))
        status, answer, said = self.hipcc()
        self.assertEqual((status, answer), (0, f"{self.layout.site}/{CORE}"))
        ignored = "rocm-sdk-devel 7.1.0 is ignored: rocm-sdk-core is 7.2.4"
        self.assertEqual(said, f"hipcc: {ignored}; install the same version of both")

    def test_devel_of_another_night_is_used_if_the_selector_names_it(self) -> None:
        info = {**support.DIST, "versions": {"rocm-sdk-devel": "7.1.0"}}
        self.layout = support.Layout(self, support.core(), info=info)
        self.layout.install(support.devel(version="7.1.0"))
        status, answer, _ = self.hipcc()
        self.assertEqual((status, answer), (0, f"{self.layout.site}/{TREE}"))

    def test_without_rocm_devel_stays_as_it_is(self) -> None:
        self.layout.install(support.devel())
        (self.layout.site / "rocm_sdk").rename(self.layout.top / "away")
        self.assertEqual(self.hipcc(), (0, f"{self.layout.site}/{CORE}", ""))

    def test_a_missing_program(self) -> None:
        (self.layout.site / CORE).unlink()
        status, answer, said = self.hipcc()
        self.assertEqual((status, answer), (127, ""))
        self.assertEqual(
            said, f"hipcc: {self.layout.site}/{CORE} is missing: reinstall rocm-sdk-core 7.2.4"
        )

    def test_a_program_that_does_not_start(self) -> None:
        (self.layout.site / CORE).chmod(0o644)
        status, _, said = self.hipcc()
        self.assertEqual(status, 126)
        self.assertEqual(said, f"hipcc: cannot start {self.layout.site}/{CORE}: Permission denied")

    def test_directories_come_before_what_the_variables_have(self) -> None:
        site = self.layout.site
        ours = f"{site}/_rocm_profiler/lib:{site}/_rocm_sdk_core/lib"
        module = ("rocm_profiler", "rocprof_2d_sys_2d_run")
        status, answer, said = self.start(*module, LD_LIBRARY_PATH="/a:/b")
        self.assertEqual((status, said), (0, ""))
        self.assertEqual(
            answer, f"{ours}:/a:/b|{site}/_rocm_profiler/lib/python/site-packages:{site}"
        )
        # An empty entry means the current directory.
        self.assertTrue(self.start(*module)[1].startswith(f"{ours}|"))
        again = self.start(*module, LD_LIBRARY_PATH=f"{ours}:/a")
        self.assertTrue(again[1].startswith(f"{ours}:/a|"))


if __name__ == "__main__":
    unittest.main()
