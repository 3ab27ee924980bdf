"""Today's flow: makes the packages of a plan with public tools alone.

    today.py --plan PLAN.json --artifact-dir DIR --work DIR [--patchelf PROGRAM]
             [--compression deflated|stored] [--archive tar|xz]

It needs setuptools 70.1 or newer (for bdist_wheel) and a C compiler. PLAN.json is the output of
`rockpack plan --json`, so that the packages have the same files.
For each package:

* every file is copied below `WORK/PACKAGE/platform`; the plan has resolved links;
* patchelf first prints the SONAME of each shared library; then it runs on every ELF file, once with
  `--add-rpath` for each directory of another package, once with `--print-rpath`, and once with
  `--set-rpath --force-rpath`, each time reading and writing the file: up to seven calls a library;
* links to programs become small C programs, each compiled;
* `setup.py bdist_wheel` copies the tree to `build/lib`, copies that to `build/bdist.*/wheel`, and
  zips it at zlib's level 6; the selector is made by `setup.py sdist`;
* the files of the devel package are placed in a tree with links, the tree is packed as a tarball,
  and the tarball as a wheel as above.

This program reads the file type from the ELF header, which is faster than libmagic in the real
flow. The packages are below `WORK/dist`. The seconds of each step are printed as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import stat
import struct
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Member = dict[str, Any]
Distribution = dict[str, Any]

STUB = r"""
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char path[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length < 0) return 127;
    path[length] = 0;
    strcpy(strrchr(path, '/') + 1, TARGET);
    execv(path, argv);
    perror(path);
    return 127;
}
"""

SETUP = """
import json
from setuptools import setup

setup(**json.load(open("setup.json")))
"""


class Steps:
    """Seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Adds the seconds of the `with` block to a step."""
        start = time.monotonic()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - start


def elf_kind(path: Path) -> str | None:
    """Returns `so` or `exe` by the header; None for AMDGPU code and files that are not ELF."""
    if path.suffix in {".txt", ".h", ".hpp", ".hsaco", ".co", ".lib"}:
        return None
    with path.open("rb") as file:
        header = file.read(20)
    if len(header) < 20 or header[:4] != b"\x7fELF":
        return None
    kind, machine = struct.unpack("<HH", header[16:20])
    amdgpu = 224
    if machine == amdgpu:
        return None
    return {2: "exe", 3: "so"}.get(kind)


class Flow:
    """One run over a plan."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.artifacts: Path = options.artifact_dir
        self.work: Path = options.work
        self.patchelf: str = options.patchelf
        self.compression: str = options.compression
        self.archive: str = options.archive
        self.plan: dict[str, Any] = json.loads(options.plan.read_text())
        self.steps = Steps()

    def run(self) -> None:
        """Populates all packages, then builds them, like the real flow."""
        packages = [(found, self.work / found["name"]) for found in self.plan["distributions"]]
        for found, directory in packages:
            self.populate(found, directory)
        for found, directory in packages:
            with self.steps.step("setuptools"):
                self.build(found, directory)

    def populate(self, found: Distribution, directory: Path) -> None:
        """Lays out one package's source tree."""
        module = found["module"]
        for member in found["members"]:
            if found["form"] == "sdist":
                self.place(member, directory / member["path"])
            elif "/" in member["path"]:
                # The real flow has no `.pth` files.
                top = "src" if member["path"].startswith(f"{module}/") else "platform"
                self.place(member, directory / top / member["path"])
        if "archive" in found:
            self.devel(found["archive"], directory)
        (directory / "setup.py").write_text(SETUP)
        (directory / "setup.json").write_text(json.dumps(self.arguments(found, directory)))
        manifest = "graft src\ngraft platform\n" if found["form"] == "wheel" else "graft .\n"
        (directory / "MANIFEST.in").write_text(manifest)

    def arguments(self, found: Distribution, directory: Path) -> dict[str, Any]:
        """Returns the arguments of setup()."""
        packages = {"": "src"}
        platform = directory / "platform"
        names = [found["module"]]
        for child in sorted(platform.iterdir()) if platform.is_dir() else []:
            packages[child.name] = f"platform/{child.name}"
            names.append(child.name)
        return {
            "name": found["name"],
            "version": self.plan["version"],
            "packages": names,
            "package_dir": packages,
            "include_package_data": True,
            "zip_safe": False,
            "entry_points": {
                "console_scripts": [f"{a}={b}" for a, b in sorted(found["entry_points"].items())]
            },
            "options": {"bdist_wheel": {"plat_name": self.plan["platform_tag"]}},
        }

    def source(self, member: Member) -> Path:
        """Returns the path of the artifact's file."""
        source = member["source"]
        artifact = source["artifact"]
        directory = f"{artifact['name']}_{artifact['component']}_{artifact['family']}"
        return self.artifacts.joinpath(directory, source["base"], source["path"])

    def text(self, pieces: str | list[str | int]) -> str:
        """Returns a text of the plan; numbers in it are places in the list of texts that files share."""
        if isinstance(pieces, str):
            return pieces
        return "".join(piece if isinstance(piece, str) else self.plan["texts"][piece] for piece in pieces)

    def place(self, member: Member, path: Path) -> None:
        """Places one file of a runtime package."""
        step = member["step"]
        if step == "alias":
            # The real flow has no such files.
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if step == "render":
            path.write_text(self.text(member["text"]))
        elif step == "stub":
            with self.steps.step("compile"):
                self.stub(member["target"], path)
        elif step in {"copy", "relink"}:
            self.copy(self.source(member), path, member)
        else:
            raise ValueError(f"{path}: no runtime package has the step {step}")

    def stub(self, target: str, path: Path) -> None:
        """Compiles a program that starts another."""
        source = path.with_name(path.name + ".stub.c")
        source.write_text(f"#define TARGET {json.dumps(target)}\n{STUB}")
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-fPIE", "-o", str(path), str(source)], check=True)
        source.unlink()

    def copy(self, source: Path, path: Path, member: Member) -> None:
        """Copies a file, and edits it if it is ELF."""
        with self.steps.step("copy"):
            kind = elf_kind(source)
        if kind == "so":
            self.ask("--print-soname", source)
        with self.steps.step("copy"):
            shutil.copy2(source, path)
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
        if kind is not None and member["step"] == "relink":
            for entry in added_rpath(member):
                self.edit("--add-rpath", entry, path)
            self.normalise(path)

    def normalise(self, path: Path) -> None:
        """Replaces DT_RUNPATH by DT_RPATH."""
        existing = self.ask("--print-rpath", path)
        if existing:
            self.edit("--set-rpath", existing, path, "--force-rpath")

    def ask(self, what: str, path: Path) -> str:
        """Runs patchelf and returns its output."""
        with self.steps.step("patchelf"):
            command = [self.patchelf, what, str(path)]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def edit(self, what: str, value: str, path: Path, *more: str) -> None:
        """Runs patchelf to edit a file."""
        with self.steps.step("patchelf"):
            subprocess.run([self.patchelf, what, value, *more, str(path)], check=True)

    def devel(self, archive: dict[str, Any], directory: Path) -> None:
        """Makes the devel tree, and its tarball."""
        staged = directory / "devel"
        for member in archive["members"]:
            self.place_devel(member, staged / member["path"])
        suffix, mode = (".tar.xz", "xz") if self.archive == "xz" else (".tar", "")
        name = archive["path"].removesuffix(".xz").removesuffix(".tar") + suffix
        path = directory / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with self.steps.step("tarfile"), tarfile.open(path, f"w:{mode}") as tar:  # type: ignore[call-overload]
            for root, directories, files in os.walk(staged):
                for child in (*files, *directories):
                    full = os.path.join(root, child)
                    tar.add(full, arcname=os.path.relpath(full, staged), recursive=False)
        shutil.rmtree(staged)

    def place_devel(self, member: Member, path: Path) -> None:
        """Places one file of the devel tree."""
        if member["step"] == "directory":
            path.mkdir(parents=True, exist_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if member["step"] == "link":
            path.symlink_to(member["target"])
            return
        if member["step"] == "render":
            path.write_text(self.text(member["text"]))
            return
        source = self.source(member)
        with self.steps.step("copy"):
            kind = elf_kind(source)
            shutil.copy2(source, path)
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
        if kind is not None and member["step"] == "relink":
            self.normalise(path)

    def build(self, found: Distribution, directory: Path) -> None:
        """Runs setuptools."""
        dist = self.work / "dist"
        command = [sys.executable, "setup.py", "-q"]
        if found["form"] == "sdist":
            command += ["sdist"]
        else:
            command += ["bdist_wheel"]
            if self.compression == "stored":
                command += ["--compression", "stored"]
        command += ["--dist-dir", str(dist)]
        log = (self.work / f"{found['name']}.log").open("w")
        with log:
            done = subprocess.run(command, cwd=directory, stdout=log, stderr=log, check=False)
        if done.returncode:
            sys.exit((self.work / f"{found['name']}.log").read_text()[-4000:])


def added_rpath(member: Member) -> list[str]:
    """Returns the rpath entries that today's flow adds: directories of packages, except the package's `lib`."""
    own = f"/{member['path'].split('/')[0]}/lib"
    entries: list[str] = member["rpath"].split(":")
    up = "../" * (member["path"].count("/"))
    return [entry for entry in entries if entry.startswith(f"$ORIGIN/{up}_") and not entry.endswith(own)]


def options() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description="packages a plan in the way in use today")
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--artifact-dir", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="an empty directory")
    parser.add_argument("--patchelf", default="patchelf")
    parser.add_argument("--compression", choices=["deflated", "stored"], default="deflated")
    parser.add_argument("--archive", choices=["tar", "xz"], default="tar")
    found = parser.parse_args()
    found.work = found.work.resolve()
    found.artifact_dir = found.artifact_dir.resolve()
    return found


def main() -> int:
    """Runs the flow and prints the seconds of each step."""
    flow = Flow(options())
    flow.run()
    print(json.dumps({name: round(seconds, 3) for name, seconds in flow.steps.seconds.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
