"""Reader of PE files and search for their needs, on DLLs of MinGW."""

from __future__ import annotations

import json
import shutil
import subprocess
import unittest
from pathlib import Path

import compiled
import support

COMPILER = "x86_64-w64-mingw32-gcc"
LACKS = """
import json, sys; from pathlib import Path; from rocm_sdk._health._dlls import Dlls
opened, system, *files = map(Path, sys.argv[1:])
dlls = Dlls([opened], [system])
print(json.dumps([[l.library, l.reason, *l.functions] for file in files for l in dlls.lacks(file)]))
"""


class Dlls(unittest.TestCase):
    def setUp(self) -> None:
        if shutil.which(COMPILER) is None:
            raise compiled.skip_loudly(f"the compiler {COMPILER} is not installed")
        self.layout = support.Layout(self)
        self.opened, self.system = self.layout.top / "bin", self.layout.top / "system"
        self.lib = self.layout.top / "lib"
        for directory in (self.opened, self.system, self.lib):
            directory.mkdir()
        for name in ("KERNEL32.dll", "msvcrt.dll"):
            self.system.joinpath(name).touch()

    def make(self, path: Path, code: str, *more: str) -> Path:
        source = self.layout.top / f"{path.stem}.c"
        source.write_text(code)
        command = [COMPILER, "-o", str(path), str(source), *more]
        subprocess.run(command, check=True, capture_output=True)
        return path

    def library(self, path: Path, *functions: str) -> Path:
        code = "".join(f"__declspec(dllexport) int {name}(void) {{ return 1; }}\n" for name in functions)
        return self.make(path, code, "-shared")

    def missing_dlls(self, path: Path) -> list[list[str]]:
        result = self.layout.run("-c", LACKS, str(self.opened), str(self.system), str(path))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lacks: list[list[str]] = json.loads(result.stdout)
        return lacks

    def test_dlls_and_functions(self) -> None:
        other = self.library(self.opened / "other.dll", "one", "two")
        code = "int one(void), two(void); int main(void) { return one() + two(); }"
        user = self.make(self.lib / "user.exe", code, str(other))
        self.assertEqual(self.missing_dlls(user), [])
        self.library(other, "one")
        self.assertEqual(self.missing_dlls(user), [["other.dll", "is missing", "two"]])
        other.rename(self.opened / "OTHER.DLL")
        self.assertEqual(len(self.missing_dlls(user)), 1)
        (self.opened / "OTHER.DLL").unlink()
        self.assertEqual(self.missing_dlls(user), [["other.dll", "is missing"]])
        self.library(self.lib / "other.dll", "one", "two")
        self.assertEqual(self.missing_dlls(user), [])

    def test_another_processor_and_damage(self) -> None:
        other = self.library(self.opened / "other.dll", "one")
        code = "int one(void); int main(void) { return one(); }"
        user = self.make(self.lib / "user.exe", code, str(other))
        data = bytearray(other.read_bytes())
        at = int.from_bytes(data[0x3C:0x40], "little") + 4
        data[at : at + 2] = (0xAA64).to_bytes(2, "little")
        other.write_bytes(data)
        expected = [["other.dll", "is for another kind of processor"]]
        self.assertEqual(self.missing_dlls(user), expected)
        user.write_bytes(user.read_bytes()[:1000])
        result = self.layout.run("-c", LACKS, str(self.opened), str(self.system), str(user))
        self.assertIn("PeError", result.stderr)
