# SPDX-License-Identifier: MIT
"""Common tools for published packages, and the expected results of each for a set."""

import ast
import os
import re
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import fetch
from process import run
from report import NotRun, a_few

TOOLS = ("twine", "check-wheel-contents", "auditwheel", "uv")

# Intended findings of check-wheel-contents, by code.
FITTING = {
    "W002": "wheels hold no links, so that a library and a program can be there under two names",
    "W004": "files in a platform directory are no modules of a package, under any name",
}


@dataclass(frozen=True)
class Tools:
    """Programs in a separate virtual environment."""

    bin: Path

    @classmethod
    def fetch(cls, work):
        """Install the tools from PyPI, or raise NotRun."""
        home = work / "tools"
        if not all((home / "bin" / tool).is_file() for tool in TOOLS):
            result = run([sys.executable, "-m", "venv", "--clear", home], work)
            if result.status:
                raise NotRun(f"this Python makes no virtual environment with pip: {result.problem}")
            result = run([home / "bin" / "pip", "install", "--quiet", *TOOLS], work, fetch.machine())
            if result.status:
                raise NotRun(f"the tools are not available from PyPI: {result.problem}")
        return cls(home / "bin")

    def run(self, tool, *words):
        """Run one of them to its end."""
        return run([self.bin / tool, *words], self.bin.parent)


def manifest(arguments):
    """Return the options that name the manifest."""
    return ["--manifest", arguments.manifest.resolve()] if arguments.manifest else []


def check(report, tools, arguments, dist):
    """Give the packages to every tool."""
    wheels = sorted(dist.rglob("*.whl"))
    sdists = sorted(dist.rglob("*.tar.gz"))
    report.check("there are wheels and a selector", None if wheels and sdists else f"{dist} has not both")
    result = run([arguments.rockpack.resolve(), "wheel", "verify", dist, *manifest(arguments)], dist)
    report.check("rockpack wheel verify", result.problem)
    result = tools.run("twine", "check", "--strict", *wheels, *sdists)
    report.check("twine check --strict", result.problem)
    for wheel in wheels:
        result = tools.run("check-wheel-contents", "--ignore", ",".join(FITTING), wheel)
        report.check(f"check-wheel-contents {wheel.name}", result.problem)
        audited(report, tools, wheel)
    for sdist in sdists:
        report.check(f"uv pip compile {sdist.parent.name}/{sdist.name}", compiled(tools, dist, sdist, arguments.work.resolve()))


def audited(report, tools, wheel):
    """Compare a wheel's tag with auditwheel's result for its symbols."""
    result = tools.run("auditwheel", "show", wheel)
    text = " ".join((result.out + result.err).split())
    name = f"auditwheel show {wheel.name}"
    if "ELFParseError" in text and "past EOF" in text:
        # Trees made for tests hold code objects that are cut; auditwheel's reader stops at one.
        report.note(f"{name}: a code object is cut, so that auditwheel cannot read the wheel")
    elif "does not look like a platform wheel" in text:
        # A devel wheel's libraries are in an archive, and a wheel that only requires others has none.
        with zipfile.ZipFile(wheel) as archive:
            libraries = [file for file in archive.namelist() if ".so" in file]
        report.check(name, text if libraries else None)
    else:
        report.check(name, result.problem or claimed(wheel.stem.rsplit("-", 1)[1], text))


def claimed(tag, text):
    """Return the error if a tag claims more than the symbols allow. `linux` claims nothing."""
    allowed = re.search(r'constrains the platform tag to "([^"]+)"', text) or re.search(r'platform tag: "([^"]+)"', text)
    if not allowed:
        return f"auditwheel names no tag: {text}"
    if tag.startswith("linux_") or glibc(tag) >= glibc(allowed[1]):
        return None
    return f"the tag {tag} claims more than {allowed[1]}, which auditwheel finds"


def glibc(tag):
    """Return a tag's glibc; an unknown one is newer than all."""
    version = re.match(r"manylinux_(\d+)_(\d+)_", tag)
    return (int(version[1]), int(version[2])) if version else (99, 0)


def compiled(tools, dist, sdist, work):
    """Return the error if uv does not resolve the selector with all its extras from these packages alone."""
    name, version = sdist.name.removesuffix(".tar.gz").rsplit("-", 1)
    facts = facts_of(sdist)
    listed = [*facts["requires"], *(text for extra in facts["extras"].values() for text in extra)]
    expected = {normalized(text.split("==")[0]) for text in listed} | {normalized(name)}
    question = work / "requirements.in"
    question.write_text(f"{name}[{','.join(sorted(facts['extras']))}]=={version}\n", encoding="utf-8")
    places = sorted({dist, sdist.parent})
    links = [word for place in places for word in ("--find-links", place)]
    # Independent of this machine's glibc: the packages are for a machine with the glibc that they need.
    versions = [glibc(wheel.stem.rsplit("-", 1)[1]) for place in places for wheel in place.glob("*.whl")]
    newest = max((version for version in versions if version < (99, 0)), default=None)
    platform = ["--python-platform", f"{os.uname().machine}-manylinux_{newest[0]}_{newest[1]}"] if newest else []
    quiet = ["--no-cache", "--no-header", "--no-annotate", "--no-index"]
    result = tools.run("uv", "pip", "compile", *quiet, *links, *platform, "--python", sys.executable, question)
    if result.status:
        return result.problem
    names = {normalized(line.split("==")[0].split("[")[0].strip()) for line in result.out.splitlines() if "==" in line}
    missing = expected - names
    return f"uv takes no {a_few(sorted(missing))}" if missing else None


def normalized(name):
    """Return a name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def facts_of(sdist):
    """Return a selector's data of its release."""
    with tarfile.open(sdist) as archive:
        member = next(member for member in archive if member.name.endswith("/_dist_info.py"))
        text = archive.extractfile(member).read().decode("utf-8")
    return ast.literal_eval(text.split("DIST = ", 1)[1])
