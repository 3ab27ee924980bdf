# SPDX-License-Identifier: MIT
"""The programs of a release: installed by pip and uv, and used."""

import filecmp
import os
import shutil
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from process import run
from report import NotRun

HERE = os.uname().machine


@dataclass(frozen=True)
class Installed:
    """The program of this machine's wheel, in an environment that pip made."""

    program: Path
    work: Path

    @classmethod
    def of(cls, report, tools, release, work):
        """Install the wheel every way that users do."""
        wheel = release.wheels.get(HERE)
        if wheel is None:
            raise NotRun(f"there is no wheel for {HERE}")
        place = work / "installed"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        env = {"HOME": str(place), "UV_CACHE_DIR": str(place / "uv-cache"), "UV_PYTHON_DOWNLOADS": "never", "PIP_CONFIG_FILE": os.devnull}
        links = ["--no-index", "--find-links", release.dist]
        run([sys.executable, "-m", "venv", place / "pip"], place)
        result = run([place / "pip/bin/pip", "install", "--no-cache-dir", "--only-binary=:all:", *links, "rockpack"], place, env)
        report.check("pip install --no-index rockpack", result.problem)
        run([sys.executable, "-m", "venv", "--without-pip", place / "uv"], place)
        result = run([tools.bin / "uv", "pip", "install", "--offline", *links, "--python", place / "uv/bin/python", "rockpack"], place, env)
        report.check("uv pip install --no-index rockpack", result.problem)
        uvx = [tools.bin / "uvx", "--offline", "--no-config", "--python", sys.executable, "--from", wheel, "rockpack"]
        for name, command in (("pip", [place / "pip/bin/rockpack"]), ("uv", [place / "uv/bin/rockpack"]), ("uvx", uvx)):
            result = run([*command, "--version"], place, env)
            output = result.out.strip()
            problem = result.problem or (output != release.says and f"it says `{output}`")
            report.check(f"by {name}: {release.says}", problem)
        return cls(place / "pip/bin/rockpack", place)


def check(report, installed, release, real_tree):
    """Build packages with the installed program, where no source of rockpack is."""
    work, program = installed.work, installed.program
    result = run([program, "init", "--demo", "demo"], work)
    if report.check("rockpack init --demo", result.problem):
        built(report, program, work / "demo", work / "demo-out")
    if real_tree:
        built(report, program, real_tree, work / "real-out")
        shutil.rmtree(work / "real-out", ignore_errors=True)
    shells(report, release, work)


def built(report, program, artifacts, out, before=()):
    """Build packages with the built-in manifest, and verify them."""
    command = [*before, program]
    result = run([*command, "build", "--manifest", "built-in", "--artifact-dir", artifacts, "-o", out], out.parent)
    if report.check(f"rockpack build of {artifacts.name}, {out.name}", result.problem):
        result = run([*command, "wheel", "verify", out / "dist"], out.parent)
        report.check(f"rockpack wheel verify of {out.name}", result.problem)


def shells(report, release, work):
    """Let the shells that are here read their completion scripts."""
    with tarfile.open(release.tarballs[HERE]) as archive:
        archive.extractall(work / "tarball")
    scripts = next((work / "tarball").iterdir()) / "completions"
    for shell, script in (("bash", "rockpack.bash"), ("zsh", "_rockpack"), ("fish", "rockpack.fish")):
        if shutil.which(shell):
            report.check(f"{shell} reads {script}", run([shell, "-n", scripts / script], work).problem)


def elsewhere(report, installed, release, require):
    """Run the programs of other machines in qemu; equal inputs make equal packages there too."""
    for machine, wheel in release.wheels.items():
        if machine == HERE:
            continue
        qemu = shutil.which(f"qemu-{machine}") or shutil.which(f"qemu-{machine}-static")
        if not qemu:
            text = f"the program for {machine} NOT RUN: there is no qemu-{machine}"
            report.check(text, "it is required") if require else report.note(text)
            continue
        work = installed.work / machine
        work.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            archive.extract(f"rockpack-{release.version}.data/scripts/rockpack", work)
        program = work / f"rockpack-{release.version}.data/scripts/rockpack"
        program.chmod(0o755)
        result = run([qemu, program, "--version"], work)
        output = result.out.strip()
        report.check(f"on {machine}: {release.says}", result.problem or (output != release.says and f"it says `{output}`"))
        built(report, program, installed.work / "demo", work / "demo-out", [qemu])
        report.check(f"packages that are built on {machine} are the same", difference(installed.work / "demo-out/dist", work / "demo-out/dist"))


def difference(first, second):
    """Return which files two directories do not share."""
    names = sorted({path.name for place in (first, second) if place.is_dir() for path in place.iterdir()})
    _, other, missing = filecmp.cmpfiles(first, second, names, shallow=False)
    if not names:
        return "there are none"
    return f"{', '.join(other + missing)}" if other or missing else None
