"""find_libraries, preload_libraries, initialize_process, and the command's answers."""

from __future__ import annotations

import subprocess
import sys
import unittest

import compiled
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

    def test_the_name_with_most_numbers_wins_and_other_files_are_ignored(self) -> None:
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

    def test_a_directory_of_a_removed_package_is_no_package(self) -> None:
        (self.layout.site / "rocm_sdk_libraries" / "__pycache__").mkdir(parents=True)
        self.assertIn("rocm[libraries]", self.find_error("hipblas"))

    def test_without_core_its_requirement_is_named(self) -> None:
        error = support.Layout(self).error(FIND.format("'hiprtc'"))
        self.assertIn(f'pip install "rocm-sdk-core=={support.VERSION}"', error)

    def test_each_name_has_a_path_or_an_error(self) -> None:
        for name, expected in (
            ("rocdxg", "rocm-sdk-core 7.2.4 was built without the library 'rocdxg' (lib/librocdxg*.so*)"),
            ("windows-only", "no package for linux has the library 'windows-only'"),
        ):
            for call in ("find_libraries", "preload_libraries"):
                with self.subTest(name, call=call):
                    code = (
                        f"import rocm_sdk\ntry: rocm_sdk.{call}('hiprtc', {name!r})\n"
                        "except FileNotFoundError as error: print(error, rocm_sdk._ALL_CDLLS)\n"
                    )
                    self.assertEqual(self.layout.code(code), f"{expected} {{}}")
        self.add("librocdxg.so.1")
        self.assertEqual(self.find("rocdxg", "hiprtc"), "librocdxg.so.1 libhiprtc.so.7")

    def test_absent_libraries_are_skipped_on_request(self) -> None:
        code = (
            "import rocm_sdk; names = ('rocdxg', 'hiprtc', 'windows-only')\n"
            "print(*[p.name for p in rocm_sdk.find_libraries(*names, missing_ok=True)])\n"
            "rocm_sdk.preload_libraries(*names, missing_ok=True); print(list(rocm_sdk._ALL_CDLLS))\n"
        )
        self.assertEqual(self.layout.code(code), "libhiprtc.so.7\n['hiprtc']")

    def test_a_lost_file_is_an_error_on_any_request(self) -> None:
        (self.layout.site / "_rocm_sdk_core" / "lib" / "libhiprtc.so.7").unlink()
        error = self.layout.error(
            "import rocm_sdk; rocm_sdk.find_libraries('hiprtc', missing_ok=True)"
        )
        self.assertIn("libhiprtc.so.7 is missing: reinstall rocm-sdk-core 7.2.4", error)

    def test_a_library_that_was_never_built_needs_no_reinstallation(self) -> None:
        wheel = support.core()
        del wheel.files["_rocm_sdk_core/lib/libhiprtc.so.7"]
        error = support.Layout(self, wheel).error(FIND.format("'hiprtc'"))
        self.assertEqual(
            error,
            "rocm_sdk._errors.NotBuiltError: rocm-sdk-core 7.2.4 was built without the library"
            " 'hiprtc' (lib/libhiprtc.so*)",
        )

    def test_a_missing_library_is_named_with_its_place(self) -> None:
        (self.layout.site / "_rocm_sdk_core" / "lib" / "libhiprtc.so.7").unlink()
        self.assertEqual(
            self.find_error("hiprtc"),
            f"FileNotFoundError: {self.layout.site}/_rocm_sdk_core/lib/libhiprtc.so.7 is missing:"
            " reinstall rocm-sdk-core 7.2.4",
        )

    def test_an_unknown_name_suggests_the_nearest(self) -> None:
        error = self.find_error("hiprtcc")
        self.assertIn(
            "ModuleNotFoundError: unknown ROCm library 'hiprtcc'; did you mean 'hiprtc'?", error
        )

    def test_windows_names_are_ranked(self) -> None:
        code = (
            "from rocm_sdk._libraries import library_rank\n"
            "def best(short, *names): return max((library_rank(short, n), n) for n in names)[1]\n"
            "print(best('hipblas', 'hipblaslt.dll', 'libhipblaslt.dll', 'hipblas.dll'),\n"
            "      best('amdhip64', 'amdhip64.dll', 'amdhip64_7.dll'),\n"
            "      best('hiprtc', 'hiprtc0702.dll', 'hiprtc0701.dll'))\n"
        )
        self.assertEqual(self.layout.code(code), "hipblas.dll amdhip64_7.dll hiprtc0702.dll")

    def test_a_version_can_stand_before_the_ending(self) -> None:
        code = (
            "from rocm_sdk._libraries import library_rank\n"
            "def best(*names): return max((library_rank('clang', n), n) for n in names)[1]\n"
            "print(best('libclang-22.so.22', 'libclang-cpp.so.22.1'),\n"
            "      best('libclang.so.22.0git', 'libclang-cpp.so.22.0git'),\n"
            "      best('libclang-21.so.21', 'libclang-22.so.22'))\n"
        )
        self.assertEqual(
            self.layout.code(code), "libclang-22.so.22 libclang.so.22.0git libclang-22.so.22"
        )

    def test_nothing_is_asked_for(self) -> None:
        code = "import rocm_sdk; rocm_sdk.preload_libraries(); print(rocm_sdk.find_libraries())"
        self.assertEqual(self.layout.code(code), "[]")

    def test_preload_loads_once_and_keeps_the_library(self) -> None:
        code = (
            "import rocm_sdk\n"
            "rocm_sdk.preload_libraries('hiprtc', 'hiprtc', rtld_global=False)\n"
            "first = rocm_sdk._ALL_CDLLS['hiprtc']; rocm_sdk.preload_libraries('hiprtc')\n"
            "print(list(rocm_sdk._ALL_CDLLS), first is rocm_sdk._ALL_CDLLS['hiprtc'], first.cos is not None)\n"
        )
        self.assertEqual(self.layout.code(code), "['hiprtc'] True True")


SYMBOL = "import ctypes; print(hasattr(ctypes.CDLL(None), 'only_in_hiprtc'))"


class RealLibraries(unittest.TestCase):
    """Loading of compiled libraries."""

    def setUp(self) -> None:
        self.layout = support.Layout(self, support.core(), support.libraries())
        self.core = self.layout.site / "_rocm_sdk_core/lib"
        self.hiprtc = compiled.library(
            self.core / "libhiprtc.so.7", code="int only_in_hiprtc(void) { return 1; }"
        )

    def test_global_symbols_serve_libraries_loaded_later(self) -> None:
        for is_global in (True, False):
            load = f"import rocm_sdk; rocm_sdk.preload_libraries('hiprtc', rtld_global={is_global})"
            self.assertEqual(self.layout.code(f"{load}; {SYMBOL}"), str(is_global))

    def test_later_libraries_find_it_by_its_soname(self) -> None:
        user = compiled.library(
            self.layout.top / "libuser.so.1",
            code="int only_in_hiprtc(void); int user(void) { return only_in_hiprtc(); }",
            needs=(self.hiprtc,),
            rpath=None,
        )
        load = f"import ctypes; print(ctypes.CDLL({str(user)!r}).user())"
        self.assertIn("libhiprtc.so.7", self.layout.error(load))
        preload = "import rocm_sdk; rocm_sdk.preload_libraries('hiprtc'); "
        self.assertEqual(self.layout.code(preload + load), "1")

    def test_later_programs_open_it_by_its_name_without_a_version(self) -> None:
        compiled.library(self.core / "libhiprtc.so", needs=(self.hiprtc,))
        load = "import ctypes; print(ctypes.CDLL('libhiprtc.so').only_in_hiprtc())"
        self.assertIn("libhiprtc.so: cannot open", self.layout.error(load))
        preload = "import rocm_sdk; rocm_sdk.preload_libraries('hiprtc', rtld_global=False); "
        self.assertEqual(self.layout.code(preload + load), "1")

    def test_a_load_error_names_the_missing_dependency(self) -> None:
        missing_library = compiled.library(self.layout.top / "libgone.so.1")
        compiled.library(self.hiprtc, needs=(missing_library,))
        code = "import rocm_sdk; rocm_sdk.preload_libraries('hiprtc')"
        self.assertIn("OSError: libgone.so.1: cannot open", self.layout.error(code))
        error = self.layout.error(
            "import rocm_sdk; rocm_sdk.initialize_process()", ROCM_SDK_PRELOAD_LIBRARIES="hiprtc"
        )
        self.assertIn("OSError: libgone.so.1: cannot open", error)
        self.assertIn("(asked for by ROCM_SDK_PRELOAD_LIBRARIES=hiprtc)", error)

    def test_libraries_before_a_failure_stay_loaded_and_a_repeat_continues(self) -> None:
        compiled.library(self.layout.site / "_rocm_sdk_libraries/lib/libhipblas.so.3")
        blas = self.layout.site / "_rocm_sdk_libraries/lib/libhipblas.so.3"
        code = (
            "import os, shutil, rocm_sdk; from rocm_sdk import _libraries as l\n"
            f"os.rename({str(blas)!r}, 'away'); open({str(blas)!r}, 'w').close()\n"
            "try: rocm_sdk.preload_libraries('hiprtc', 'hipblas')\n"
            "except OSError as error: print('hipblas' in str(error), list(rocm_sdk._ALL_CDLLS))\n"
            f"os.replace('away', {str(blas)!r}); rocm_sdk.preload_libraries('hiprtc', 'hipblas')\n"
            "print(list(rocm_sdk._ALL_CDLLS))\n"
        )
        output = self.layout.code(f"import os; os.chdir({str(self.layout.top)!r})\n{code}")
        self.assertEqual(output, "True ['hiprtc']\n['hiprtc', 'hipblas']")

    def test_a_second_copy_in_the_process_is_a_warning_that_names_both_files(self) -> None:
        other = compiled.library(self.layout.top / "rocm" / "libhiprtc.so.7")
        load = f"import ctypes, warnings, rocm_sdk; ctypes.CDLL({str(other)!r})\n"
        catch = "with warnings.catch_warnings(record=True) as seen:\n    warnings.simplefilter('always')\n"
        for call in ("preload_libraries('hiprtc')", "initialize_process()"):
            twice = f"{load}{catch}    rocm_sdk.{call}; rocm_sdk.{call}\nprint(*(one.message for one in seen), sep='\\n')"
            lines = self.layout.code(twice).splitlines()
            self.assertEqual(len(lines), 1, lines)
            self.assertTrue(lines[0].startswith(f"{other} was loaded before {self.hiprtc}: "), lines)
        code = f"import ctypes, rocm_sdk; ctypes.CDLL({str(self.hiprtc)!r}); rocm_sdk.initialize_process()"
        self.assertEqual(self.layout.code(code), "")

    def test_initialize_loads_in_the_order_that_was_asked_for(self) -> None:
        code = (
            "import rocm_sdk\n"
            "rocm_sdk.initialize_process(preload_shortnames=iter(['hipblas', 'hiprtc']),"
            " rtld_global=False)\n"
            f"print(list(rocm_sdk._ALL_CDLLS)); {SYMBOL}\n"
        )
        self.assertEqual(self.layout.code(code), "['hipblas', 'hiprtc']\nFalse")


class Import(unittest.TestCase):
    def test_importing_loads_one_module_and_starts_no_process(self) -> None:
        """The time of an import depends on the machine; the modules that it loads do not."""
        code = (
            "import sys\n"
            "started = []\n"
            "events = ('subprocess.Popen', 'os.fork', 'os.exec', 'os.posix_spawn', 'os.system')\n"
            "sys.addaudithook(lambda event, _: started.append(event) if event in events else None)\n"
            "before = set(sys.modules)\n"
            "import rocm_sdk\n"
            "print(sorted(set(sys.modules) - before), started)\n"
        )
        result = self.isolated(code)
        self.assertEqual(result, "['__future__', 'rocm_sdk'] []\n")

    def test_the_version_asks_for_nothing_more(self) -> None:
        code = "import sys, rocm_sdk; rocm_sdk.__version__; print('re' in sys.modules, 'pathlib' in sys.modules)"
        self.assertEqual(self.isolated(code), "False False\n")

    def isolated(self, code: str) -> str:
        """Run code in a Python without its site-packages."""
        layout = support.Layout(self, support.core())
        code = f"import sys; sys.path.insert(0, {str(layout.site)!r})\n{code}"
        result = subprocess.run(
            [sys.executable, "-I", "-S", "-B", "-c", code],
            capture_output=True,
            text=True,
            check=True,
        )
        return result.stdout

    def test_public_names_are_these_and_documented(self) -> None:
        layout = support.Layout(self)
        code = (
            "import inspect, rocm_sdk\n"
            "public = [n for n in vars(rocm_sdk) if not n.startswith('_')]\n"
            "print(*sorted(set(public) - {'annotations', 'TYPE_CHECKING'}))\n"
            "print(*sorted(set(rocm_sdk.__all__) - set(public)))\n"
            "for name in sorted(set(public) & set(rocm_sdk.__all__)):\n"
            "    function = getattr(rocm_sdk, name)\n"
            "    print(name, len(inspect.getdoc(function)) > 80, inspect.signature(function))\n"
        )
        self.assertEqual(layout.code(code).splitlines(), PUBLIC)


PUBLIC = [
    "driver find_bitcode_library find_header_directory find_libraries find_library find_program "
    "find_static_library initialize_process preload_libraries resolve_deps root",
    "Driver Found NotFoundError __version__",
    "driver True () -> 'Driver'",
    "find_bitcode_library True (name: 'str') -> 'Found'",
    "find_header_directory True (name: 'str') -> 'Found'",
    "find_libraries True (*shortnames: 'str', missing_ok: 'bool' = False) -> 'list[Path]'",
    "find_library True (name: 'str') -> 'Found'",
    "find_program True (name: 'str') -> 'Found'",
    "find_static_library True (name: 'str') -> 'Found'",
    "initialize_process True (*, preload_shortnames: 'Iterable[str] | None' = None, "
    "rtld_global: 'bool' = True, env_override: 'bool' = True, "
    "check_version: 'str | re.Pattern[str] | None' = None, "
    "fail_on_version_mismatch: 'bool' = False, **unknown: 'object') -> 'None'",
    "preload_libraries True (*shortnames: 'str', rtld_global: 'bool' = True, "
    "missing_ok: 'bool' = False) -> 'None'",
    "resolve_deps True (*shortnames: 'str') -> 'list[str]'",
    "root True (*, require_devel: 'bool' = False) -> 'Path'",
]


class Process(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self, support.core())

    def initialize(self, arguments: str, **variables: str) -> str:
        code = (
            "import re, warnings, rocm_sdk\n"
            "with warnings.catch_warnings(record=True) as seen:\n"
            "    warnings.simplefilter('always')\n"
            f"    rocm_sdk.initialize_process({arguments})\n"
            "print([str(w.message) for w in seen], [w.filename for w in seen], list(rocm_sdk._ALL_CDLLS))\n"
        )
        return self.layout.code(code, **variables)

    def test_versions_that_match(self) -> None:
        for version in ("'7.2.4'", "'7.2.*'", "'*'", "'7*4'", "re.compile(r'7\\.')", "None"):
            with self.subTest(version):
                self.assertEqual(self.initialize(f"check_version={version}"), "[] [] []")

    def test_versions_that_do_not_match_warn_the_caller(self) -> None:
        for version in ("'7.2'", "'7.2.40'", "'7x2.4'", "''", "re.compile('8')"):
            with self.subTest(version):
                output = self.initialize(f"check_version={version}")
                self.assertIn("but 7.2.4 is installed", output)
                self.assertIn("['<string>']", output)

    def test_a_version_mismatch_can_be_an_error(self) -> None:
        code = "import re, rocm_sdk; rocm_sdk.initialize_process(check_version={}, fail_on_version_mismatch=True)"
        for version in ("re.compile('8[.]')", "'8.*'"):
            with self.subTest(version):
                self.assertIn(
                    "RuntimeError: The program was compiled against a ROCm version matching 8",
                    self.layout.error(code.format(version)),
                )

    def test_the_environment_adds_libraries(self) -> None:
        for value in ("hiprtc", " hiprtc ,;", "hiprtc;hiprtc"):
            with self.subTest(value):
                output = self.initialize(
                    "preload_shortnames=['windows-only']", ROCM_SDK_PRELOAD_LIBRARIES=value
                )
                self.assertEqual(output, "[] [] ['hiprtc']")
        ignored = self.initialize("env_override=False", ROCM_SDK_PRELOAD_LIBRARIES="hiprtc")
        self.assertEqual(ignored, "[] [] []")

    def test_a_gpu_without_its_package_is_reported_once_and_in_one_line(self) -> None:
        layout = support.Layout(self, support.core(), support.libraries())
        code = (
            "import warnings, rocm_sdk\n"
            "with warnings.catch_warnings(record=True) as seen:\n"
            "    warnings.simplefilter('always')\n"
            "    rocm_sdk.initialize_process()\n"
            "    rocm_sdk.initialize_process()\n"
            "print(*(f'{w.filename}: {w.message}' for w in seen), sep='\\n')\n"
        )
        nodes = support.kfd_nodes(layout.site, 0, 110000, 90402, 90006)
        remedy = 'to install: pip install "rocm[device-gfx1100]"'
        missing = "rocm-sdk-device-gfx1100 is not installed"
        names = "rocm-sdk-device-gfx1100, rocm-sdk-device-gfx942 are not installed"
        self.assertEqual(
            layout.code(code, ROCM_SDK_KFD_NODES=nodes),
            f"<string>: this machine has a gfx1100, gfx942, but {names}; to install: "
            'pip install "rocm[device-gfx1100,device-gfx942]"',
        )
        self.assertEqual(
            layout.code(code, ROCM_SDK_KFD_NODES=nodes, ROCM_SDK_TARGET_FAMILY="gfx1100"),
            f"<string>: this machine has a gfx1100, but {missing}; {remedy}",
        )
        for nothing in (
            {"ROCM_SDK_TARGET_FAMILY": "no such GPU"},
            {"ROCM_SDK_KFD_NODES": support.kfd_nodes(layout.site / "other", 90006)},
            {},
        ):
            self.assertEqual(layout.code(code, **nothing), "")
        whole = support.Layout(
            self,
            support.core(),
            support.libraries(),
            support.device("gfx1100"),
            support.device("gfx942"),
        )
        self.assertEqual(whole.code(code, ROCM_SDK_KFD_NODES=nodes), "")
        without = support.Layout(self, support.core())
        self.assertEqual(without.code(code, ROCM_SDK_KFD_NODES=nodes), "")

    def test_a_wrong_value_in_the_environment_is_named(self) -> None:
        code = "import rocm_sdk; rocm_sdk.initialize_process()"
        error = self.layout.error(code, ROCM_SDK_PRELOAD_LIBRARIES="hipblas")
        self.assertIn("ModuleNotFoundError: rocm-sdk-libraries is not installed", error)
        self.assertIn("ROCM_SDK_PRELOAD_LIBRARIES=hipblas", error)
        error = self.layout.error(code, ROCM_SDK_PRELOAD_LIBRARIES="rocdxg")
        self.assertIn("was built without the library 'rocdxg'", error)
        self.assertIn("ROCM_SDK_PRELOAD_LIBRARIES=rocdxg", error)


class Command(unittest.TestCase):
    def test_version(self) -> None:
        result = support.Layout(self).sdk("version")
        self.assertEqual((result.stdout, result.stderr, result.returncode), ("7.2.4\n", "", 0))

    def test_verbose_prints_to_standard_error(self) -> None:
        layout = support.Layout(self, support.core())
        result = layout.run(
            "-c",
            "import rocm_sdk; print(rocm_sdk.find_libraries('rocdxg', missing_ok=True))",
            ROCM_SDK_VERBOSE="1",
        )
        self.assertEqual(result.stdout, "[]\n")
        self.assertIn("built without the library 'rocdxg' (lib/librocdxg*.so*): skipped", result.stderr)

    def test_wrong_usage(self) -> None:
        layout = support.Layout(self)
        for arguments in (
            [],
            ["path"],
            ["path", "--bin", "--root"],
            ["env", "--shell", "cmd"],
            ["init", "--quiet", "--verbose"],
            ["doctor", "--fix"],
            ["nonsense"],
        ):
            result = layout.sdk(*arguments)
            self.assertEqual((result.stdout, result.returncode), ("", 2))


if __name__ == "__main__":
    unittest.main()
