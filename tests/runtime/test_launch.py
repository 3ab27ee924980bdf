"""Console scripts: started programs, arguments and environment."""

from __future__ import annotations

import os
import signal
import sys
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
        result = self.layout.run("-c", code, *arguments, **variables)
        return result.returncode, result.stdout.strip(), result.stderr.strip()

    def hipcc(self, *arguments: str) -> tuple[int, str, str]:
        return self.start("rocm_sdk_core", "hipcc", *arguments)

    def test_without_devel_the_program_of_core_starts(self) -> None:
        answer = f"{self.layout.site}/{CORE} -c a b"
        self.assertEqual(self.hipcc("-c", "a b"), (0, answer, ""))

    def test_a_program_has_the_signals_of_a_shell(self) -> None:
        program = self.layout.site / CORE
        program.write_bytes(support.script("grep SigIgn /proc/$$/status"))
        _, answer, _ = self.hipcc()
        ignored = int(answer.split()[1], 16)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            self.assertFalse(ignored & 1 << number - 1, f"{number.name} is ignored: {answer}")

    def test_devel_is_expanded_if_the_script_requires_it(self) -> None:
        self.layout.install(support.devel())
        status, answer, messages = self.start("rocm_sdk_core", "rocminfo")
        self.assertEqual((status, answer, messages), (3, "no GPU", ""))
        self.assertFalse((self.layout.site / "_rocm_sdk_devel").exists())
        status, answer, messages = self.hipcc()
        self.assertEqual((status, answer), (0, f"{self.layout.site}/{TREE}"))
        self.assertIn("expanding", messages)
        self.assertEqual(self.hipcc("x"), (0, f"{self.layout.site}/{TREE} x", ""))

    def test_a_program_absent_from_the_tree_comes_from_core(self) -> None:
        self.layout.install(support.devel())
        self.hipcc()
        (self.layout.site / TREE).unlink()
        self.assertEqual(self.hipcc(), (0, f"{self.layout.site}/{CORE}", ""))

    def test_without_expansion_core_starts_with_a_note(self) -> None:
        self.layout.install(support.devel(archive=b"nonsense"))
        status, answer, messages = self.hipcc()
        self.assertEqual((status, answer), (0, f"{self.layout.site}/{CORE}"))
        self.assertIn("is damaged", messages)
        self.assertIn("starting the program of rocm-sdk-core", messages)

    def test_devel_of_another_version_is_not_used(self) -> None:
        self.layout.install(support.devel(version="7.1.0"))
        status, answer, messages = self.hipcc()
        self.assertEqual((status, answer), (0, f"{self.layout.site}/{CORE}"))
        ignored = "rocm-sdk-devel 7.1.0 is ignored: rocm-sdk-core is 7.2.4"
        self.assertEqual(messages, f"hipcc: {ignored}; install the same version of both")

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
        status, answer, messages = self.hipcc()
        self.assertEqual((status, answer), (127, ""))
        self.assertEqual(
            messages, f"hipcc: {self.layout.site}/{CORE} is missing: reinstall rocm-sdk-core 7.2.4"
        )

    def test_a_program_that_does_not_start(self) -> None:
        (self.layout.site / CORE).chmod(0o644)
        status, _, messages = self.hipcc()
        self.assertEqual(status, 126)
        self.assertEqual(messages, f"hipcc: cannot start {self.layout.site}/{CORE}: Permission denied")

    def program(self, text: str) -> str:
        """Replace hipcc, and return the answer with another `python3` first in PATH."""
        (self.layout.site / CORE).write_text(text)
        other = self.layout.top / "other"
        other.mkdir(exist_ok=True)
        (other / "python3").write_bytes(support.script("echo another Python"))
        (other / "python3").chmod(0o755)
        path = f"{other}:{os.environ['PATH']}"
        code = "from rocm_sdk_core._cli import hipcc; hipcc()"
        result = self.layout.run("-c", code, "a b", PATH=path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.strip()

    def test_a_python_program_has_this_interpreter(self) -> None:
        program = "import sys; print(sys.executable, sys.flags.no_user_site, sys.argv)"
        argv = [f"{self.layout.site}/{CORE}", "a b"]
        for line, has_option in (
            ("#!/usr/bin/env python3", 0),
            ("#!/usr/bin/python3 -s", 1),
            ("#! /usr/bin/env -S python3.9 -s", 1),
        ):
            with self.subTest(line):
                answer = self.program(f"{line}\n{program}\n")
                self.assertEqual(answer, f"{sys.executable} {has_option} {argv}")

    def test_a_shell_script_finds_this_interpreter(self) -> None:
        text = """#!/bin/sh\nexec python3 -c 'import sys; print(sys.executable)'\n"""
        self.assertTrue(os.path.samefile(self.program(text), sys.executable))
        (self.layout.site / CORE).write_text('#!/bin/sh\necho "$PATH"\n')
        directory = os.path.dirname(sys.executable)
        same = f"{directory}:/usr/bin:/bin"
        code = "from rocm_sdk_core._cli import hipcc; hipcc()"
        self.assertEqual(self.layout.code(code, PATH=same), same)

    def test_the_script_behind_a_stub_has_this_interpreter(self) -> None:
        wheel = support.core()
        wheel.scripts["hipcc"]["starts"] = "../libexec/hipcc.py"
        wheel.files["*_rocm_sdk_core/libexec/hipcc.py"] = (
            b"#!/usr/bin/env python3\nimport sys; print(sys.executable, sys.argv[0])\n"
        )
        self.layout.install(wheel)
        script = f"{self.layout.site}/_rocm_sdk_core/libexec/hipcc.py"
        self.assertEqual(self.program("stub"), f"{sys.executable} {script}")

    def test_directories_precede_entries_of_the_variables(self) -> None:
        site = self.layout.site
        directories = f"{site}/_rocm_profiler/lib:{site}/_rocm_sdk_core/lib"
        module = ("rocm_profiler", "rocprof_2d_sys_2d_run")
        status, answer, messages = self.start(*module, LD_LIBRARY_PATH="/a:/b")
        self.assertEqual((status, messages), (0, ""))
        self.assertEqual(
            answer, f"{directories}:/a:/b|{site}/_rocm_profiler/lib/python/site-packages:{site}"
        )
        # An empty entry means the current directory.
        self.assertTrue(self.start(*module)[1].startswith(f"{directories}|"))
        again = self.start(*module, LD_LIBRARY_PATH=f"{directories}:/a")
        self.assertTrue(again[1].startswith(f"{directories}:/a|"))


if __name__ == "__main__":
    unittest.main()
