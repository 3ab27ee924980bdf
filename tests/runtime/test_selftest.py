"""`rocm-sdk test`: each fault of an installation fails a case and the command."""

from __future__ import annotations

import json
import struct
import subprocess
import unittest
from typing import Any

import support


class SelfTest(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(
            self, support.core(), support.libraries(), support.device("gfx942")
        )
        # Layout has no installer, so the test writes the scripts and their rows of RECORD.
        for name in ("hipcc", "rocminfo", "offload-arch"):
            self.add_script(name)

    def add_script(self, name: str, text: str | None = None) -> None:
        function = name.replace("-", "_2d_")
        command = f'PYTHONPATH={self.layout.site} exec python3 -c "from rocm_sdk_core._cli import {function}; {function}()" "$@"'
        path = self.layout.top / name
        path.write_bytes(support.script(text or command))
        path.chmod(0o755)
        record = next(self.layout.site.glob("rocm_sdk_core-*/RECORD"))
        row = f"../{name},,\n"
        if row not in record.read_text("utf-8"):
            record.write_text(record.read_text("utf-8") + row, "utf-8")

    def report(self, *arguments: str) -> tuple[int, dict[str, tuple[str, str]]]:
        file = self.layout.top / "report.json"
        result = self.layout.sdk("test", "--json", str(file), *arguments)
        self.assertEqual(result.stderr, "")
        self.output = result.stdout
        report: dict[str, Any] = json.loads(file.read_text())
        cases = {case["name"]: (case["status"], case["reason"]) for case in report["cases"]}
        self.assertEqual(len(cases), len(report["cases"]), "a name occurs twice")
        self.assertEqual(sum(report["summary"].values()), len(cases))
        return result.returncode, cases

    def test_a_good_installation(self) -> None:
        self.layout.install(support.devel())
        status, cases = self.report()
        failed = {name: outcome for name, outcome in cases.items() if outcome[0] == "FAIL"}
        self.assertEqual((status, failed), (0, {}), self.output)
        for name in (
            "layout:rocm-sdk-core",
            "layout:rocm-sdk-device-gfx942",
            "library:core:lib/libhiprtc.so",
            "library:core:lib/libhiprtc.so.7",
            "library:libraries:lib/libhipblas.so.3",
            "preload:hiprtc",
            "script:hipcc",
            "devel:expand",
            "devel:rocm-sdk-core",
            "devel:rocm-sdk-libraries",
        ):
            self.assertEqual(cases[name], ("ok", ""))
        self.assertEqual(cases["script:rocminfo"], ("ok", "--version: exit status 3: no GPU"))
        self.assertEqual(cases["layout:profiler"][0], "skip")
        self.assertIn('"rocm[profiler]"', cases["layout:profiler"][1])
        self.assertEqual(cases["preload:rocdxg"][0], "skip")
        self.assertEqual(
            self.output.splitlines()[0],
            'skip layout:profiler  (not installed; to install: pip install "rocm[profiler]")',
        )
        self.assertRegex(self.output.splitlines()[-1], r"^\d+ ok, 0 failed, \d+ skipped$")

    def failures(self, *arguments: str) -> dict[str, str]:
        status, cases = self.report(*arguments)
        self.assertEqual(status, 1)
        return {name: reason for name, (outcome, reason) in cases.items() if outcome == "FAIL"}

    def test_a_library_that_does_not_load(self) -> None:
        path = self.layout.site / "_rocm_sdk_core/lib/libhiprtc.so.7"
        path.write_bytes(path.read_bytes()[:200])
        failures = self.failures()
        self.assertEqual(set(failures), {"library:core:lib/libhiprtc.so.7", "preload:hiprtc"})
        self.assertIn("libhiprtc.so.7", failures["library:core:lib/libhiprtc.so.7"])

    def test_libraries_that_cannot_be_loaded_alone_are_named(self) -> None:
        library = support.real_library().read_bytes()
        lib = self.layout.site / "_rocm_sdk_core/lib"
        other = bytearray(library)
        struct.pack_into("<H", other, 18, 224)  # EM_AMDGPU
        for name, data in (
            ("x.cpython-310-x86_64-linux-gnu.so", library),
            ("y.abi3.so", library),
            ("libclang_rt.asan-x86_64.so", library),
            ("libdevice.so", bytes(other)),
            ("linker-script.so", b"INPUT(libc.so)"),
        ):
            (lib / name).write_bytes(data)
        _, cases = self.report("--only", "library:core:*")
        skipped = {name.rpartition("/")[2]: r for name, (s, r) in cases.items() if s == "skip"}
        self.assertEqual(
            skipped,
            {
                "x.cpython-310-x86_64-linux-gnu.so": "a Python extension module loads by import",
                "y.abi3.so": "a Python extension module loads by import",
                "libclang_rt.asan-x86_64.so": "a sanitizer runtime must be the first library of a process",
                "libdevice.so": "it is for another kind of processor",
            },
        )
        self.assertNotIn("library:core:lib/linker-script.so", cases)

    def test_layout_faults(self) -> None:
        (self.layout.site / "_rocm_sdk_libraries/__init__.py").unlink()
        (self.layout.site / "_rocm_sdk_core/bin/amdclang").unlink()
        self.layout.install(support.profiler(version="7.1.0"))
        failures = self.failures("--only", "layout:*")
        self.assertIn("is not a regular Python package", failures["layout:rocm-sdk-libraries"])
        self.assertEqual(
            failures["layout:rocm-sdk-core"],
            "files are missing: _rocm_sdk_core/bin/amdclang; remedy: "
            'pip install --force-reinstall --no-deps "rocm-sdk-core==7.2.4"',
        )
        self.assertEqual(
            failures["layout:rocm-profiler"],
            "its version is 7.1.0, but rocm is 7.2.4; remedy: "
            'pip install "rocm[profiler]==7.2.4"',
        )

    def test_scripts_that_do_not_start(self) -> None:
        (self.layout.site / "_rocm_sdk_core/bin/hipcc").unlink()
        (self.layout.top / "rocminfo").unlink()
        self.add_script("offload-arch", "kill -SEGV $$")
        failures = self.failures("--only", "script:*")
        self.assertIn(
            "programs of console scripts are missing: hipcc", failures["script:hipcc"]
        )
        self.assertEqual(failures["script:rocminfo"], "the script is not installed")
        self.assertIn("--version: SIGSEGV", failures["script:offload-arch"])

    def test_scripts_that_the_loader_refuses(self) -> None:
        def refuses(name: str, message: str) -> None:
            self.add_script(name, f"echo \"{message}\" >&2\nexit 1")

        missing = "cannot open shared object file: No such file or directory"
        version = "/lib/x86_64-linux-gnu/libstdc++.so.6: version \\`GLIBCXX_3.4.32' not found"
        refuses("hipcc", f"hipcc: {version} (required by hipcc)")
        refuses("rocminfo", f"rocminfo: error while loading shared libraries: libnuma.so.1: {missing}")
        refuses("offload-arch", "offload-arch: symbol lookup error: undefined symbol: gone")
        failures = self.failures("--only", "script:*")
        self.assertRegex(
            failures["script:hipcc"],
            r"GLIBCXX_3\.4\.32' not found .*; remedy: use .* with GLIBCXX_3\.4\.32 in libstdc\+\+\.so\.6",
        )
        self.assertRegex(failures["script:rocminfo"], r"; remedy: .*libnuma\.so\.1")
        self.assertIn("; remedy: install the packages", failures["script:offload-arch"])

    def test_scripts_that_fail_to_start_their_program(self) -> None:
        for text, reason in (
            ("exec python3 -c 'import gone_module'", "ModuleNotFoundError: No module named 'gone_module'"),
            ("exec python3 -c 'from os import gone'", "ImportError: cannot import name 'gone' from 'os'"),
            ("python3 -m gone_module; exit 1", "No module named gone_module"),
            ("echo 'import error: No module named (x)'; exit 1", "import error: No module named (x)"),
            ("exec python3 -c 'x ='", "SyntaxError: invalid syntax"),
            ("exec python3 -c 'raise KeyError(1)'", "exit status 1: KeyError: 1"),
            (
                'echo "Can\'t locate File/Which.pm in @INC (@INC entries checked: /a) at x line 2."; exit 2',
                "Can't locate File/Which.pm in @INC",
            ),
            ("echo 'BEGIN failed--compilation aborted at x line 25.'; exit 2", "BEGIN failed--compilation aborted"),
            ("exit 126", "exit status 126: no output"),
            ("exec gone_program", "exit status 127: "),
            ("PATH=/nowhere; perl x; exit 1", "perl: not found"),
            ("PATH=/nowhere; /usr/bin/env python3 x; exit 0", "env: 'python3': No such file or directory"),
        ):
            with self.subTest(text):
                self.add_script("hipcc", text)
                message = self.failures("--only", "script:hipcc")["script:hipcc"]
                self.assertTrue(message.startswith("--version: "), message)
                self.assertIn(reason, message)

    def test_output_in_another_encoding_ends_no_report(self) -> None:
        self.add_script("hipcc", "printf 'Traceback (most recent call last):\\n\\351\\n'; exit 1")
        file = self.layout.top / "report.json"
        variables = {"PYTHONIOENCODING": "cp1252"}
        result = self.layout.sdk("test", "--json", str(file), "--only", "script:*", **variables)
        self.assertIn(" 1 failed, ", result.stdout.splitlines()[-1], result.stderr)
        self.assertTrue(file.is_file())

    def test_scripts_of_a_directory_that_pip_chose(self) -> None:
        """`pip install --target` puts scripts there, and RECORD names them elsewhere."""
        (self.layout.site / "bin").mkdir()
        for name in ("hipcc", "rocminfo", "offload-arch"):
            (self.layout.top / name).rename(self.layout.site / "bin" / name)
        self.assertEqual(self.report()[0], 0, self.output)
        findings = json.loads(self.layout.sdk("doctor", "--json").stdout)["findings"]
        self.assertNotIn("files-missing", [one["code"] for one in findings])

    def test_a_script_may_reject_an_option(self) -> None:
        self.add_script("hipcc", '[ "$1" = --help ] || exec python3 -c "raise KeyError(1)"')
        self.assertEqual(self.report("--only", "script:hipcc")[0], 0)

    def test_a_devel_tree_that_lacks_libraries(self) -> None:
        members = {k: v for k, v in support.DEVEL_MEMBERS.items() if "hiprtc" not in k}
        members["lib/libhipblas.so.3"] = b"other"
        self.layout.install(support.devel(members))
        failures = self.failures("--only", "devel:*")
        self.assertEqual(
            failures,
            {
                "devel:rocm-sdk-core": "the tree lacks libraries: lib/libhiprtc.so.7",
                "devel:rocm-sdk-libraries": "libraries differ in the tree: lib/libhipblas.so.3",
            },
        )

    def test_no_module_of_the_current_directory_runs(self) -> None:
        start = self.layout.top / "rocm-sdk"
        start.write_text("import sys; from rocm_sdk.__main__ import main; sys.exit(main())")
        work = self.layout.top / "work"
        (work / "rocm_sdk").mkdir(parents=True)
        report = self.layout.top / "report.json"
        for name in ("rocm_sdk/__init__.py", "ctypes.py", "json.py", "pathlib.py"):
            (work / name).write_text("raise SystemExit('a module of the current directory')\n")
        for path in (self.layout.site, f"../{self.layout.site.name}"):
            with self.subTest(path=path):
                result = subprocess.run(
                    self.layout.command(str(start), "test", "--json", str(report)),
                    env=self.layout.environment(PYTHONPATH=str(path)),
                    cwd=work,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual((result.stderr, result.returncode), ("", 0), result.stdout)

    def test_a_package_of_the_current_directory_is_tested_by_python_m(self) -> None:
        result = subprocess.run(
            self.layout.command("-m", "rocm_sdk", "test", "--only", "preload:hiprtc"),
            env=self.layout.environment(PYTHONPATH=""),
            cwd=self.layout.site,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((result.stdout[:19], result.returncode), ("ok   preload:hiprtc", 0), result)

    def test_list_runs_nothing(self) -> None:
        self.layout.install(support.devel())
        result = self.layout.sdk("test", "--list")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("devel:expand\n", result.stdout)
        self.assertFalse((self.layout.site / "_rocm_sdk_devel").exists())

    def test_a_selection_without_cases_is_a_failure(self) -> None:
        self.assertEqual(self.report("--only", "nonsense")[0], 1)


if __name__ == "__main__":
    unittest.main()
