# SPDX-License-Identifier: MIT
"""Compares a plan's findings about DLLs with the loader of Windows."""

import functools
import shutil
import struct
import zipfile
from pathlib import Path

from machine import compiled
from process import run

FAMILIES = Path(__file__).resolve().parents[2] / "families.kdl"
NOT_FOUND, NOT_FOR_THIS_MACHINE = "error 126", "error 193"
# Exceptions of the helper of delay loads: the facility of Visual C++, and ERROR_MOD_NOT_FOUND.
DELAY_LOAD_FAILED = "exception c06d007e"

MANIFEST = """
common {
    author "Example"
    requires-python ">=3.10"
}
package "core" kind="runtime" {
    distribution "ex-core" module="ex_core" per="none"
    summary "Runtime libraries"
    license "MIT"
    template "runtime"
    artifact "base" "lib"
    find-library "hip" dll="bin/hip*.dll"
}
package "libs" kind="runtime" {
    distribution "ex-libs" module="ex_libs" per="none"
    summary "Libraries"
    license "MIT"
    template "runtime"
    artifact "blas" "lib"
    requires "core"
}
system-library "kernel32.dll" "msvcrt.dll"
"""
# Artifact, name, source, linked library, and library that is loaded at its first call.
LIBRARIES = [
    ("base_lib", "comgr", "int answer(void) { return 42; }", "", ""),
    ("base_lib", "hip_7", "int answer(void); int hip(void) { return answer() + 1; }", "comgr", ""),
    ("blas_lib", "solver", "int solve(void) { return 7; }", "", ""),
    ("blas_lib", "blas", "int hip(void); int solve(void); int blas(void) { return hip() + solve(); }", "hip_7", "solver"),
]


def demo(bench, report):
    """Check that the loader accepts every DLL of the demo's packages.

    These DLLs import no functions of each other, so the loader has nothing to resolve in DLLs that
    Wine lacks.
    """
    site = bench.work / "site"
    shutil.rmtree(site, ignore_errors=True)
    for wheel in sorted(bench.packages.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
    opened = [site / name / "bin" for name in ("_rocm_sdk_core", "_rocm_sdk_libraries")]
    files = sorted(site.glob("_rocm_sdk_*/**/*.dll"))
    report.check("the demo has DLLs", None if len(files) > 15 else f"{len(files)}")
    for file in files:
        output = bench.windows.load(file, directories=opened)
        report.check(f"{file.relative_to(site)} loads", None if output == "loaded" else output)


class Scene:
    """Artifacts of real DLLs, planned by rockpack and loaded at the planned paths."""

    def __init__(self, bench, name, opened=True):
        self.opened = opened
        self.bench, self.place = bench, bench.work / "loader" / name
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(bench.work / "made", self.place)
        (self.place / "packages.kdl").write_text(MANIFEST)
        shutil.copy(FAMILIES, self.place)

    def file(self, artifact, name):
        return self.place / "artifacts" / f"{artifact}_generic" / "stage" / "bin" / name

    def plan(self):
        """Return the errors of `rockpack plan`; empty if none."""
        result = run([self.bench.rockpack, "plan", "--artifact-dir", self.place / "artifacts", "--manifest",
                      self.place, "--version", "1.0"], self.place, {"COLUMNS": "500"})
        return result.err if result.status else ""

    def load(self, name, *call, first=()):
        """Install the packages, and load the libraries `first`, then `name`; optionally call it."""
        site = self.place / "site"
        for artifact, package in [("base_lib", "core"), ("blas_lib", "libs")]:
            stage = self.place / "artifacts" / f"{artifact}_generic" / "stage"
            shutil.copytree(stage, site / f"_ex_{package}", dirs_exist_ok=True)
        file, *first = (next(site.glob(f"*/bin/{one}")) for one in (name, *first))
        opened = [site / "_ex_core" / "bin"] if self.opened else []
        return self.bench.windows.load(file, *call, directories=opened, first=first)


def make(bench):
    """Compile the libraries once, with the imports that a linker writes."""
    place = bench.work / "made"
    shutil.rmtree(place, ignore_errors=True)
    libraries = bench.work / "libraries"
    libraries.mkdir(exist_ok=True)
    for artifact, name, source, needs, late in LIBRARIES:
        directory = place / "artifacts" / f"{artifact}_generic"
        (directory / "stage" / "bin").mkdir(parents=True, exist_ok=True)
        (directory / "artifact_manifest.txt").write_text("stage\n")
        text = libraries / f"{name}.c"
        text.write_text(source + "\n")
        exported = libraries / f"{name}.def"
        function = source.rpartition("int ")[2].partition("(")[0]
        exported.write_text(f"LIBRARY {name}.dll\nEXPORTS\n{function}\n")
        for kind in ("--output-lib", "--output-delaylib"):
            run(["x86_64-w64-mingw32-dlltool", "-d", exported, kind, libraries / f"{name}{kind[9:]}.a"], libraries)
        linked = [libraries / f"{needs}lib.a"] if needs else []
        linked += [libraries / f"{late}delaylib.a"] if late else []
        library = compiled(["-shared", text, exported, *linked], directory / "stage" / "bin" / f"{name}.dll")
        if late:
            _list_delayed(library, f"{late}.dll")


def _list_delayed(file, name):
    """Enter the table of delay imports in the header, because GNU's linker does not."""
    data = bytearray(file.read_bytes())
    word = functools.partial(int.from_bytes, byteorder="little")
    header = word(data[0x3C:0x40])
    first = header + 24 + word(data[header + 20 : header + 22])
    sections = [first + 40 * at for at in range(word(data[header + 6 : header + 8]))]
    for at in sections:
        size, address, raw, offset = struct.unpack_from("<IIII", data, at + 8)
        dll = data.find(name.encode() + b"\0", offset, offset + min(size, raw))
        # An entry begins with its attributes, 1, and the address of the name.
        entry = data.find(struct.pack("<II", 1, address + dll - offset))
        if dll >= 0 and entry >= 0:
            _put_table(data, header, sections, bytes(data[entry : entry + 32]))
            file.write_bytes(data)
            return
    raise RuntimeError(f"{file} has no table of delay imports")


def _put_table(data, header, sections, entry):
    """Put a table of this entry, and an empty entry as its end, after a section's content."""
    for at in sections:
        size, address, raw, offset = struct.unpack_from("<IIII", data, at + 8)
        if raw >= size + 80:  # the table, and up to 15 bytes before it
            place = -(-size // 16) * 16
            data[offset + place : offset + place + 64] = entry + bytes(32)
            struct.pack_into("<I", data, at + 8, place + 64)
            struct.pack_into("<II", data, header + 24 + 112 + 13 * 8, address + place, 64)
            return
    raise RuntimeError("no section has room for a table")


def _check_equal(report, name, actual, expected):
    return report.check(name, None if actual == expected else f"{actual!r}, not {expected!r}")


def real(bench, report):
    """Check that plan and loader agree on DLLs of a real linker."""
    make(bench)
    whole = Scene(bench, "whole")
    report.check("DLLs that find each other are planned", whole.plan())
    output = whole.load("blas.dll", "blas", first=["solver.dll"])
    _check_equal(report, "a DLL is loaded, and calls one that was loaded before", output, "blas 50")
    # Delay loads search the program's directory, and not the DLL's.
    output = whole.load("blas.dll", "blas")
    _check_equal(report, "a call of a DLL in the DLL's directory fails, unless it was loaded before", output, DELAY_LOAD_FAILED)

    closed = Scene(bench, "closed", opened=False)
    kdl = closed.place / "packages.kdl"
    kdl.write_text(kdl.read_text().replace('find-library "hip" dll="bin/hip*.dll"', ""))
    _check_refused(report, "an import in another package's directory that is not opened", closed, "does not find `hip_7.dll`")
    _check_equal(report, "the loader does not search a package's directory that is not opened", closed.load("blas.dll"), NOT_FOUND)

    missing = Scene(bench, "missing")
    missing.file("base_lib", "comgr.dll").unlink()
    _check_refused(report, "an import that no package has", missing, "`comgr.dll`")
    _check_equal(report, "the loader does not find an import that no package has", missing.load("hip_7.dll"), NOT_FOUND)

    late = Scene(bench, "late")
    late.file("blas_lib", "solver.dll").unlink()
    _check_refused(report, "a delay import that no package has", late, "`solver.dll`")
    _check_equal(report, "a DLL with a delay import that no package has is loaded", late.load("blas.dll"), "loaded")
    _check_equal(report, "a call of a delay import that no package has fails", late.load("blas.dll", "blas"), DELAY_LOAD_FAILED)

    case = Scene(bench, "case")
    case.file("base_lib", "comgr.dll").rename(case.file("base_lib", "COMGR.DLL"))
    report.check("an import with another case is planned", case.plan())
    _check_equal(report, "an import with another case is found", case.load("hip_7.dll", "hip"), "hip 43")

    elsewhere = Scene(bench, "elsewhere")
    deep = elsewhere.file("base_lib", "x").parent.parent / "lib" / "comgr.dll"
    deep.parent.mkdir()
    elsewhere.file("base_lib", "comgr.dll").rename(deep)
    _check_refused(report, "an import in a subdirectory that is not opened", elsewhere, "does not find `comgr.dll`")
    _check_equal(report, "the loader does not search a subdirectory that is not opened", elsewhere.load("hip_7.dll"), NOT_FOUND)

    twice = Scene(bench, "twice")
    other = compiled(["-shared", "-x", "c", _source(bench, "int hip(void) { return 1; }")], twice.file("blas_lib", "hip_7.dll"))
    report.check("two DLLs of a name are planned, with a warning", twice.plan())
    _check_equal(report, f"of two DLLs of a name, the one in the file's directory is loaded: {other.name}",
            twice.load("blas.dll", "blas", first=["solver.dll"]), "blas 8")

    machine = Scene(bench, "machine")
    file = machine.file("base_lib", "comgr.dll")
    data = bytearray(file.read_bytes())
    at = int.from_bytes(data[0x3C:0x40], "little") + 4
    data[at : at + 2] = (0xAA64).to_bytes(2, "little")
    file.write_bytes(data)
    _check_refused(report, "a DLL for another processor", machine, "is for another processor")
    _check_equal(report, "the loader refuses a DLL for another processor", machine.load("comgr.dll"), NOT_FOR_THIS_MACHINE)

    cut = Scene(bench, "cut")
    file = cut.file("base_lib", "comgr.dll")
    file.write_bytes(file.read_bytes()[:700])
    _check_refused(report, "a truncated DLL", cut, "is malformed")
    _check_equal(report, "the loader refuses a truncated DLL", cut.load("comgr.dll"), NOT_FOR_THIS_MACHINE)


def _source(bench, text):
    path = bench.work / "libraries" / "other.c"
    path.write_text(text + "\n")
    return path


def _check_refused(report, name, scene, part):
    text = " ".join(scene.plan().replace("│", " ").split())
    report.check(f"{name} is refused", None if part in text else text or "it was planned")
