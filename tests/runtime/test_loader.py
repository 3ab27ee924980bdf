"""Reader of ELF files and search for their needs, compared with the real loader."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import unittest
from pathlib import Path

import compiled
import support

MISSING = """
import sys; from rocm_sdk._loader import Loader
for path in sys.argv[1:]:
    print(*Loader().missing(path), sep='; ')
"""
READ = """
import json, sys
from rocm_sdk._elf import read
out = {}
for path in sys.argv[1:]:
    elf = read(path)
    if elf is not None:
        out[path] = [elf.needed, elf.soname, elf.rpath, elf.runpath, elf.versions, sorted(elf.defined)]
print(json.dumps(out))
"""
MAP_1 = "V_1 { global: *; };"
MAP_2 = "V_1 { global: x1; }; V_2 { global: *; } V_1;"
USES_X = "int x(void); int user(void) { return x(); }"


class Needs(unittest.TestCase):
    def setUp(self) -> None:
        self.layout = support.Layout(self)
        self.lib = self.layout.top / "lib"

    def missing(self, *paths: Path) -> list[str]:
        result = self.layout.run("-c", MISSING, *map(str, paths))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.splitlines()

    def loads(self, path: Path) -> bool:
        code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
        return self.layout.run("-c", code, str(path)).returncode == 0

    def agree(self, path: Path, expected: str) -> None:
        """Compare with the expected need, and with success of the real loader."""
        self.assertEqual(self.missing(path), [expected])
        self.assertEqual(self.loads(path), expected == "")

    def test_a_chain_whose_end_is_missing(self) -> None:
        end = compiled.library(self.lib / "libend.so.1")
        middle = compiled.library(self.lib / "libmiddle.so.1", needs=(end,))
        start = compiled.library(self.lib / "libstart.so.1", needs=(middle,))
        self.agree(start, "")
        end.unlink()
        self.agree(start, f"libend.so.1, needed by {middle}, is missing")
        middle.unlink()
        self.agree(start, f"libmiddle.so.1, needed by {start}, is missing")

    def test_rpath_is_inherited_and_runpath_is_not(self) -> None:
        end = compiled.library(self.lib / "libend.so.1")
        for tag, is_resolved in (("rpath", True), ("runpath", False)):
            with self.subTest(tag):
                directory = self.layout.top / tag
                middle = compiled.library(directory / "libmiddle.so.1", needs=(end,), rpath=None)
                start = compiled.library(
                    directory / "libstart.so.1",
                    needs=(middle,),
                    rpath="$ORIGIN:$ORIGIN/../lib",
                    tag=tag,
                )
                expected = "" if is_resolved else f"libend.so.1, needed by {middle}, is missing"
                self.agree(start, expected)

    def test_runpath_of_a_library_hides_the_rpath_of_its_loader(self) -> None:
        end = compiled.library(self.lib / "libend.so.1")
        middle = compiled.library(
            self.layout.top / "a/libmiddle.so.1", needs=(end,), rpath="/nowhere", tag="runpath"
        )
        start = compiled.library(
            self.layout.top / "a/libstart.so.1", needs=(middle,), rpath="$ORIGIN:${ORIGIN}/../lib"
        )
        self.agree(start, f"libend.so.1, needed by {middle}, is missing")

    def test_a_library_that_is_loaded_already_serves(self) -> None:
        """The dependency that the first library loaded meets the need of the second."""
        end = compiled.library(self.lib / "libend.so.1")
        first = compiled.library(self.lib / "libfirst.so.1", needs=(end,))
        second = compiled.library(self.lib / "libsecond.so.1", needs=(end,), rpath="/nowhere")
        start = compiled.library(self.lib / "libstart.so.1", needs=(first, second))
        self.agree(start, "")
        self.agree(second, f"libend.so.1, needed by {second}, is missing")

    def test_a_library_for_another_processor_does_not_count(self) -> None:
        end = compiled.library(self.lib / "libend.so.1")
        start = compiled.library(self.lib / "libstart.so.1", needs=(end,))
        data = bytearray(end.read_bytes())
        data[18] ^= 0xFF  # e_machine
        end.write_bytes(data)
        self.agree(start, f"libend.so.1, needed by {start}, is missing")
        self.assertEqual(self.missing(end), [""])  # files of other processors have no unmet needs

    def test_versions(self) -> None:
        code = "int x(void) { return 1; } int x1(void) { return 1; }"
        provider = compiled.library(self.lib / "libx.so.1", code=code, versions=MAP_2)
        user = compiled.library(self.lib / "libuser.so.1", code=USES_X, needs=(provider,))
        self.agree(user, "")
        compiled.library(provider, code=code, versions=MAP_1)
        self.agree(user, f"{user} needs V_2 of {provider}, which has V_1 at most")
        compiled.library(provider, code=code)
        self.agree(user, "")  # the loader accepts a library without versions

    def test_programs(self) -> None:
        end = compiled.library(self.lib / "libend.so.1")
        started = compiled.program(self.lib / "program", needs=(end,), rpath="$ORIGIN")
        self.assertEqual(self.missing(started), [""])
        self.assertEqual(subprocess.run([started], check=False).returncode, 0)
        end.unlink()
        self.assertEqual(self.missing(started), [f"libend.so.1, needed by {started}, is missing"])
        self.assertEqual(subprocess.run([started], stderr=-3, check=False).returncode, 127)

    def test_damaged_files(self) -> None:
        whole = compiled.library(self.lib / "libwhole.so.1").read_bytes()
        path = self.lib / "libcut.so.1"
        for size in (5, 20, 63, 100, 500):
            path.write_bytes(whole[:size])
            error = self.layout.run("-c", MISSING, str(path)).stderr
            self.assertIn(f"ElfError: {path} is damaged", error)
        for name, data in (("text.so", b"INPUT(libc.so.6)"), ("empty.so", b"")):
            (self.lib / name).write_bytes(data)
            self.assertEqual(self.missing(self.lib / name), [""])


class Reader(unittest.TestCase):
    def test_the_systems_libraries_read_as_objdump_reads_them(self) -> None:
        if shutil.which("objdump") is None:
            raise compiled.skip_loudly("objdump is not installed")
        layout = support.Layout(self)
        directory = Path("/usr/lib", sysconfig.get_config_var("MULTIARCH") or "")
        paths = [str(path) for path in sorted(directory.glob("lib*.so.*")) if path.is_file()][:150]
        paths.append(sys.executable)
        import json

        read = json.loads(layout.code(f"import sys; sys.argv[1:] = {paths!r}\n{READ}"))
        self.assertGreater(len(read), 20)
        for path, facts in read.items():
            dump = subprocess.run(
                ["objdump", "-p", path], capture_output=True, text=True, check=True
            ).stdout
            with self.subTest(path):
                self.assertEqual(facts, self.dumped(dump))

    @staticmethod
    def dumped(dump: str) -> list[object]:
        def values(tag: str) -> list[str]:
            return re.findall(rf"^  {tag} +(.+)$", dump, re.M)

        def paths(tag: str) -> list[str]:
            return [part for value in values(tag) for part in value.split(":")]

        versions: dict[str, list[str]] = {}
        _, _, needs = dump.partition("Version References:\n")
        for line in needs.splitlines():
            if match := re.match(r"  required from (.+):", line):
                current = versions.setdefault(match[1], [])
            elif match := re.match(r"    0x[0-9a-f]+ 0x([0-9a-f]{2}) \d+ (\S+)", line):
                if not int(match[1], 16) & 2:
                    current.append(match[2])
        _, _, rest = dump.partition("Version definitions:\n")
        rest = rest.partition("\n\n")[0]
        defined = re.findall(r"^\d+ 0x[0-9a-f]+ 0x[0-9a-f]+ (\S+)", rest, re.M)
        soname = (values("SONAME") or [None])[0]
        return [
            values("NEEDED"),
            soname,
            paths("RPATH"),
            paths("RUNPATH"),
            versions,
            sorted(defined),
        ]


if __name__ == "__main__":
    unittest.main()
