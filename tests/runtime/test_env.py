"""`rocm-sdk path` and `rocm-sdk env`, in real shells and for directories with odd names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path

import support
from compiled import skip_loudly

ODD = "a b'c\"d$HOME`e\\f!g é;h&(i)*"
SHOW = 'printf "%s\\n" "$ROCM_PATH" "$HIP_PATH" "$PATH" "$CMAKE_PREFIX_PATH" "${LD_LIBRARY_PATH-unset}"'


class Env(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(
            self, support.core(), support.libraries(), support.devel(), name=ODD
        )
        self.root = str(self.layout.site / "_rocm_sdk_devel")
        self.layout.sdk("init", "--quiet")
        command = self.layout.top / "rocm-sdk"
        site = "'" + str(self.layout.site).replace("'", "'\\''") + "'"
        python = os.path.realpath(self.layout.command()[0])
        command.write_bytes(
            support.script(f'PYTHONPATH={site} exec "{python}" -B -m rocm_sdk "$@"')
        )
        command.chmod(0o755)

    def shell(self, name: str, *arguments: str, text: str, **variables: str) -> list[str]:
        path = shutil.which(name)
        if path is None:
            raise skip_loudly(f"{name} is not installed")
        environment = support.environment(**variables)
        if "CMAKE_PREFIX_PATH" not in variables:
            environment.pop("CMAKE_PREFIX_PATH", None)
        environment["PATH"] = f"{self.layout.top}:/usr/bin:/bin"
        environment["HOME"] = str(self.layout.top)
        result = subprocess.run(
            [path, *arguments, "-c", text],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.splitlines()

    def check(self, lines: list[str], cmake: str = "") -> None:
        path = f"{self.root}/bin:{self.layout.top}:/usr/bin:/bin"
        expected = [self.root, self.root, path, self.root + cmake, "unset"]
        self.assertEqual(lines, expected)

    def test_posix_shells(self) -> None:
        for name in ("sh", "bash", "dash", "zsh", "ksh", "busybox"):
            with self.subTest(name):
                applet = ("sh",) if name == "busybox" else ()
                # Rare shells: without the others, the test is skipped loudly.
                if shutil.which(name) is None and name in ("ksh", "busybox"):
                    continue
                strict = "set -eu; "
                self.check(
                    self.shell(name, *applet, text=strict + f'eval "$(rocm-sdk env)"; {SHOW}')
                )
                # A second evaluation changes nothing; existing entries remain.
                twice = 'eval "$(rocm-sdk env)"; eval "$(rocm-sdk env --shell sh)"; ' + SHOW
                self.check(self.shell(name, *applet, text=twice, CMAKE_PREFIX_PATH="/x y"), ":/x y")

    def test_fish(self) -> None:
        text = "rocm-sdk env --shell fish | source; rocm-sdk env --shell fish | source; "
        show = 'string join : $PATH; string join : $CMAKE_PREFIX_PATH; set -q LD_LIBRARY_PATH; or echo "unset"'
        show = f'printf "%s\\n" $ROCM_PATH $HIP_PATH; {show}'
        self.check(self.shell("fish", "--no-config", text=text + show))
        self.check(
            self.shell("fish", "--no-config", text=text + show, CMAKE_PREFIX_PATH="/x y"), ":/x y"
        )

    def test_csh(self) -> None:
        text = 'eval "`rocm-sdk env --shell csh`"; eval "`rocm-sdk env --shell csh`"; env'
        for name in ("csh", "tcsh"):
            with self.subTest(name):
                lines = self.shell(name, "-f", text=text, CMAKE_PREFIX_PATH="/x y")
                values = dict(line.split("=", 1) for line in lines if "=" in line)
                names = ("ROCM_PATH", "HIP_PATH", "PATH", "CMAKE_PREFIX_PATH")
                self.check([*(values[n] for n in names), "unset"], ":/x y")
                self.assertNotIn("LD_LIBRARY_PATH", values)

    def test_cmake(self) -> None:
        if shutil.which("cmake") is None:
            raise skip_loudly("cmake is not installed")
        text = self.layout.sdk("env", "--shell", "cmake").stdout
        script = self.layout.top / "script.cmake"
        show = [f'message("$ENV{{{n}}}")' for n in ("ROCM_PATH", "HIP_PATH", "PATH")]
        script.write_text(
            "cmake_minimum_required(VERSION 3.15)\nset(CMAKE_PREFIX_PATH /x)\n"
            + text
            + "list(LENGTH CMAKE_PREFIX_PATH length)\nlist(GET CMAKE_PREFIX_PATH 0 first)\n"
            + "\n".join([*show, 'message("${first}")', 'message("${length}")'])
        )
        result = subprocess.run(
            ["cmake", "-P", str(script)], capture_output=True, text=True, check=False
        )
        lines = result.stderr.splitlines()
        path = f"{self.root}/bin:{os.environ['PATH']}"
        self.assertEqual(lines[:3], [self.root, self.root, path])
        self.assertEqual(lines[3:], [self.root, "2"])

    def test_json(self) -> None:
        content = json.loads(self.layout.sdk("env", "--shell", "json").stdout)
        self.assertEqual(
            content,
            {
                "format": 1,
                "set": {"ROCM_PATH": self.root, "HIP_PATH": self.root},
                "prepend": {"PATH": [f"{self.root}/bin"], "CMAKE_PREFIX_PATH": [self.root]},
            },
        )

    def test_powershell(self) -> None:
        text = self.layout.sdk("env", "--shell", "powershell").stdout
        self.assertTrue(text.isascii(), "PowerShell reads it in the console's code page")
        quoted = self.root.replace("`", "``").replace('"', '`"').replace("$", "`$")
        quoted = quoted.replace("é", "$([char]233)")
        self.assertEqual(text.splitlines()[0], f'$env:ROCM_PATH = "{quoted}"')
        if shutil.which("pwsh") is None:
            raise skip_loudly("pwsh is not installed: the text for PowerShell was not run")
        script = self.layout.top / "script.ps1"
        names = ("ROCM_PATH", "HIP_PATH", "PATH", "CMAKE_PREFIX_PATH")
        # PowerShell prepends its own directory to PATH.
        script.write_text("$env:PATH\n" + text + text + "\n".join(f"$env:{name}" for name in names))
        result = subprocess.run(
            ["pwsh", "-NoProfile", str(script)],
            env=support.environment(CMAKE_PREFIX_PATH="/x y"),
            capture_output=True,
            text=True,
            check=True,
        )
        path, *lines = result.stdout.splitlines()
        # A second evaluation changes nothing; existing entries remain.
        expected = [self.root, self.root, f"{self.root}/bin:{path}", f"{self.root}:/x y"]
        self.assertEqual(lines, expected)

    def test_other_characters_are_numbers_in_powershell(self) -> None:
        # The first is a quote of PowerShell, the last has two units.
        code = "from rocm_sdk._env import _ps_quoted; print(_ps_quoted('a\\u2019b\\U0001f600'))"
        self.assertEqual(self.layout.code(code), '"a$([char]8217)b$([char]55357)$([char]56832)"')
        code = "from rocm_sdk._env import _ps_quoted; print(_ps_quoted(\"a'b$c\"))"
        self.assertEqual(self.layout.code(code), "'a''b$c'")

    def test_shells_on_windows_have_their_own_path(self) -> None:
        code = (
            "import sys; from pathlib import PureWindowsPath; from rocm_sdk import _env\n"
            "sys.platform = 'win32'; _env.os.path = __import__('ntpath')\n"
            "print(_env.render(_env.of(PureWindowsPath('D:/r r'), has_devel=True), 'sh'))"
        )
        lines = self.layout.code(code).splitlines()
        self.assertEqual(lines[0], "export ROCM_PATH='D:\\r r'")
        self.assertIn("*) export PATH='/d/r r/bin'\"${PATH:+:$PATH}\" ;; esac", lines[2])
        self.assertIn("export CMAKE_PREFIX_PATH='D:\\r r'\"${CMAKE_PREFIX_PATH:+;$CMAKE", lines[3])


class WithoutDevel(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self, support.core())
        self.core = self.layout.site / "_rocm_sdk_core"

    def test_directories_of_core(self) -> None:
        for option, below in (("root", ""), ("bin", "bin"), ("lib", "lib")):
            result = self.layout.sdk("path", f"--{option}", "--no-require-devel")
            self.assertEqual((result.stdout, result.returncode), (f"{self.core / below}\n", 0))
            self.assertIn('devel is not installed (pip install "rocm[devel]")', result.stderr)

    def test_path_fails_without_devel(self) -> None:
        for option in ("root", "bin", "lib"):
            for more in ([], ["--require-devel"]):
                result = self.layout.sdk("path", f"--{option}", *more)
                self.assertEqual((result.stdout, result.returncode), ("", 1))
                self.assertIn(f"rocm-sdk path --{option} --no-require-devel", result.stderr)
                self.assertIn('pip install "rocm[devel]"', result.stderr)

    def test_include_and_cmake_name_the_extra(self) -> None:
        for option in ("include", "cmake"):
            result = self.layout.sdk("path", f"--{option}", "--no-require-devel")
            self.assertEqual((result.stdout, result.returncode), ("", 1))
            self.assertIn(
                'rocm-sdk-devel is not installed; to install: pip install "rocm[devel]"',
                result.stderr,
            )

    def test_environment_of_core(self) -> None:
        result = self.layout.sdk("env")
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"export ROCM_PATH='{self.core}'\n", result.stdout)
        self.assertNotIn("CMAKE_PREFIX_PATH", result.stdout)
        self.assertIn("devel is not installed", result.stderr)

    def test_directories_with_devel(self) -> None:
        self.layout.install(support.devel())
        tree = self.layout.site / "_rocm_sdk_devel"
        for option, below in (
            ("root", ""),
            ("bin", "bin"),
            ("lib", "lib"),
            ("include", "include"),
            ("cmake", "lib/cmake"),
        ):
            answer = self.layout.sdk("path", f"--{option}").stdout
            self.assertEqual(answer, f"{tree / below}\n")
            self.assertTrue(Path(answer.strip()).is_dir())

    def test_paths_that_are_no_text_keep_their_bytes(self) -> None:
        layout = support.Layout(self, support.core(), name="a\udcffb")
        result = subprocess.run(
            layout.command("-m", "rocm_sdk", "path", "--root", "--no-require-devel"),
            env=layout.environment(PYTHONIOENCODING="utf-8:strict"),
            capture_output=True,
            check=False,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.strip(), os.fsencode(layout.site / "_rocm_sdk_core"))

    def test_closed_output_is_not_reported(self) -> None:
        # Without an expanded devel tree, the command prints notes.
        self.layout.install(support.devel())
        self.layout.sdk("init", "--quiet")
        command = self.layout.command("-m", "rocm_sdk", "env", "--shell", "json")
        read, write = os.pipe()
        os.close(read)
        result = subprocess.run(
            command,
            env=self.layout.environment(PYTHONUNBUFFERED="1"),
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        os.close(write)
        self.assertEqual((result.returncode, result.stderr), (1, ""))


if __name__ == "__main__":
    unittest.main()
