"""find_libraries, preload_libraries, initialize_process, and the command's answers."""

from __future__ import annotations

import unittest

import support

FIND = "import rocm_sdk; print(*[p.name for p in rocm_sdk.find_libraries({})])"


class Libraries(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self, support.core())

    def find(self, *names: str) -> str:
        return self.layout.code(FIND.format(", ".join(map(repr, names))))

    def find_error(self, *names: str) -> str:
        return self.layout.error(FIND.format(", ".join(map(repr, names))))

    def add(self, name: str) -> None:
        (self.layout.site / "_rocm_sdk_core" / "lib" / name).write_bytes(b"")

    def test_the_forwarding_library_is_not_the_answer(self) -> None:
        self.assertEqual(self.find("hiprtc"), "libhiprtc.so.7")

    def test_the_fullest_version_wins_and_other_files_do_not_count(self) -> None:
        for name in (
            "libhiprtc.so.7.2",
            "libhiprtc.so.10",
            "libhiprtc.so.7.2.debug",
            "libhiprtc.so.old",
        ):
            self.add(name)
        self.assertEqual(self.find("hiprtc"), "libhiprtc.so.7.2")
        self.add("libhiprtc.so.7.10")
        self.assertEqual(self.find("hiprtc"), "libhiprtc.so.7.10")

    def test_a_missing_package_is_an_error_naming_the_extra(self) -> None:
        error = self.find_error("hiprtc", "hipblas")
        self.assertEqual(
            error,
            "ModuleNotFoundError: rocm-sdk-libraries is not installed; "
            'to install: pip install "rocm[libraries]"',
        )

    def test_a_directory_that_was_left_behind_is_no_package(self) -> None:
        (self.layout.site / "rocm_sdk_libraries" / "__pycache__").mkdir(parents=True)
        self.assertIn("rocm[libraries]", self.find_error("hipblas"))

    def test_without_core_its_requirement_is_named(self) -> None:
        error = support.Layout(self).error(FIND.format("'hiprtc'"))
        self.assertIn(f'pip install "rocm-sdk-core=={support.VERSION}"', error)

    def test_an_optional_library_may_be_absent(self) -> None:
        self.assertEqual(self.find("rocdxg", "hiprtc", "windows-only"), "libhiprtc.so.7")
        self.add("librocdxg.so.1")
        self.assertEqual(self.find("rocdxg", "hiprtc"), "librocdxg.so.1 libhiprtc.so.7")

    def test_a_library_that_is_gone_is_named_with_its_place(self) -> None:
        (self.layout.site / "_rocm_sdk_core" / "lib" / "libhiprtc.so.7").unlink()
        error = self.find_error("hiprtc")
        self.assertIn(
            "FileNotFoundError: rocm-sdk-core 7.2.4 is installed, but has no lib/libhiprtc.so*",
            error,
        )

    def test_an_unknown_name_suggests_the_nearest(self) -> None:
        error = self.find_error("hiprtcc")
        self.assertIn(
            "ModuleNotFoundError: there is no ROCm library 'hiprtcc'; did you mean 'hiprtc'?", error
        )

    def test_windows_names_are_ranked(self) -> None:
        code = (
            "from rocm_sdk._libraries import _rank\n"
            "def best(short, *names): return max((_rank(short, n), n) for n in names)[1]\n"
            "print(best('hipblas', 'hipblaslt.dll', 'libhipblaslt.dll', 'hipblas.dll'),\n"
            "      best('amdhip64', 'amdhip64.dll', 'amdhip64_7.dll'),\n"
            "      best('hiprtc', 'hiprtc0702.dll', 'hiprtc0701.dll'))\n"
        )
        self.assertEqual(self.layout.code(code), "hipblas.dll amdhip64_7.dll hiprtc0702.dll")

    def test_preload_loads_once_and_keeps_the_library(self) -> None:
        code = (
            "import rocm_sdk; from rocm_sdk import _libraries as l\n"
            "rocm_sdk.preload_libraries('hiprtc', 'rocdxg', 'hiprtc', rtld_global=False)\n"
            "first = l._loaded['hiprtc']; rocm_sdk.preload_libraries('hiprtc')\n"
            "print(list(l._loaded), first is l._loaded['hiprtc'], first.cos is not None)\n"
        )
        self.assertEqual(self.layout.code(code), "['hiprtc'] True True")

    def test_importing_starts_nothing_and_is_quick(self) -> None:
        code = (
            "import sys, time\n"
            "before = {*sys.modules, '__future__'}; start = time.perf_counter()\n"
            "import rocm_sdk\n"
            "took = time.perf_counter() - start\n"
            "print(sorted(set(sys.modules) - before), took < 0.05)\n"
        )
        self.assertEqual(self.layout.code(code), "['rocm_sdk', 'rocm_sdk._dist_info'] True")


class Process(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self, support.core())

    def initialize(self, arguments: str, **variables: str) -> str:
        code = (
            "import re, warnings, rocm_sdk\n"
            "from rocm_sdk import _libraries\n"
            "with warnings.catch_warnings(record=True) as seen:\n"
            "    warnings.simplefilter('always')\n"
            f"    rocm_sdk.initialize_process({arguments})\n"
            "print([str(w.message) for w in seen], [w.filename for w in seen], list(_libraries._loaded))\n"
        )
        return self.layout.code(code, **variables)

    def test_versions_that_match(self) -> None:
        for version in ("'7.2.4'", "'7.2.*'", "'*'", "'7*4'", "re.compile(r'7\\.')", "None"):
            with self.subTest(version):
                self.assertEqual(self.initialize(f"check_version={version}"), "[] [] []")

    def test_versions_that_do_not_match_warn_the_caller(self) -> None:
        for version in ("'7.2'", "'7.2.40'", "'7x2.4'", "''", "re.compile('8')"):
            with self.subTest(version):
                said = self.initialize(f"check_version={version}")
                self.assertIn("but 7.2.4 is installed", said)
                self.assertIn("['<string>']", said)

    def test_a_compiled_pattern_can_fail(self) -> None:
        code = "import re, rocm_sdk; rocm_sdk.initialize_process(check_version={}, fail_on_version_mismatch=True)"
        for version in ("re.compile('8[.]')", "'8.*'"):
            with self.subTest(version):
                self.assertIn(
                    "RuntimeError: this program was built for ROCm 8",
                    self.layout.error(code.format(version)),
                )

    def test_the_environment_adds_libraries(self) -> None:
        for value in ("hiprtc", " hiprtc ,;", "rocdxg;hiprtc"):
            with self.subTest(value):
                said = self.initialize(
                    "preload_shortnames=['rocdxg']", ROCM_SDK_PRELOAD_LIBRARIES=value
                )
                self.assertEqual(said, "[] [] ['hiprtc']")
        ignored = self.initialize("env_override=False", ROCM_SDK_PRELOAD_LIBRARIES="hiprtc")
        self.assertEqual(ignored, "[] [] []")

    def test_a_wrong_value_in_the_environment_is_named(self) -> None:
        code = "import rocm_sdk; rocm_sdk.initialize_process()"
        error = self.layout.error(code, ROCM_SDK_PRELOAD_LIBRARIES="hipblas")
        self.assertIn("ModuleNotFoundError: rocm-sdk-libraries is not installed", error)
        self.assertIn("ROCM_SDK_PRELOAD_LIBRARIES=hipblas", error)


class Command(unittest.TestCase):
    def test_version(self) -> None:
        done = support.Layout(self).sdk("version")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("7.2.4\n", "", 0))

    def test_root_and_bin_work_with_core_alone_and_say_so(self) -> None:
        layout = support.Layout(self, support.core())
        root = layout.site / "_rocm_sdk_core"
        for option, answer in (("--root", root), ("--bin", root / "bin")):
            done = layout.sdk("path", option)
            self.assertEqual(done.stdout, f"{answer}\n")
            self.assertIn('devel is not installed (pip install "rocm[devel]")', done.stderr)

    def test_cmake_needs_devel(self) -> None:
        done = support.Layout(self, support.core()).sdk("path", "--cmake")
        self.assertEqual((done.stdout, done.returncode), ("", 1))
        self.assertIn(
            'rocm-sdk-devel is not installed; to install: pip install "rocm[devel]"', done.stderr
        )

    def test_paths_of_the_devel_tree(self) -> None:
        layout = support.Layout(self, support.core(), support.libraries(), support.devel())
        root = layout.site / "_rocm_sdk_devel"
        for option, answer in (
            ("--cmake", root / "lib/cmake"),
            ("--bin", root / "bin"),
            ("--root", root),
        ):
            done = layout.sdk("path", option)
            self.assertEqual((done.stdout, done.returncode), (f"{answer}\n", 0))
            self.assertTrue(answer.is_dir())

    def test_verbose_goes_to_standard_error(self) -> None:
        layout = support.Layout(self, support.core())
        done = layout.run("-c", FIND.format("'rocdxg'"), ROCM_SDK_VERBOSE="1")
        self.assertEqual(done.stdout, "\n")
        self.assertIn("rocdxg is optional", done.stderr)

    def test_wrong_usage(self) -> None:
        layout = support.Layout(self)
        for arguments in ([], ["path"], ["path", "--bin", "--root"], ["nonsense"]):
            done = layout.sdk(*arguments)
            self.assertEqual((done.stdout, done.returncode), ("", 2))


if __name__ == "__main__":
    unittest.main()
