# SPDX-License-Identifier: MIT
"""The files of a release: their names, their metadata and their agreement with each other."""

import hashlib
import json
import re
import shutil
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import fetch
from process import run
from report import NotRun, a_few

TOOLS = ("twine", "auditwheel==6.8.2", "uv")
BESIDE = ("SHA256SUMS", "provenance.intoto.json")
IN_TARBALL = (
    "CHANGELOG.md", "LICENSE", "README.md", "completions/_rockpack", "completions/_rockpack.ps1",
    "completions/rockpack.bash", "completions/rockpack.fish", "man/man1/rockpack.1", "rockpack",
)
MACHINE = re.compile(r"_(x86_64|aarch64)\.whl$")
# A place that only the machine has which built it.
PLACES = re.compile(rb"/(?:root|home|Users|runner)/[\x21-\x7e]{0,80}")


@dataclass(frozen=True)
class Tools:
    """Programs in a separate virtual environment."""

    bin: Path

    @classmethod
    def fetch(cls, work):
        """Install the tools from PyPI, or raise NotRun."""
        home = work / "tools"
        if not all((home / "bin" / tool.split("=")[0]).is_file() for tool in TOOLS):
            for command in ([sys.executable, "-m", "venv", "--clear", home], [home / "bin" / "pip", "install", "--quiet", *TOOLS]):
                result = run(command, work, fetch.machine())
                if result.status:
                    raise NotRun(f"the tools are not available from PyPI: {result.problem}")
        return cls(home / "bin")

    def run(self, tool, *words):
        """Run one of them to its end."""
        return run([self.bin / tool, *words], self.bin.parent)


@dataclass(frozen=True)
class Release:
    """The files made for each target."""

    dist: Path
    commit: str
    version: str
    wheels: dict  # by machine: x86_64, aarch64
    tarballs: dict  # the same
    sdist: Path

    @classmethod
    def read(cls, report, dist, commit):
        """Find the files by their names, or return None if they differ from a release's."""
        names = sorted(path.name for path in dist.iterdir())
        sdists = [name for name in names if re.fullmatch(r"rockpack-[^-]+\.tar\.gz", name)]
        version = sdists[0].removeprefix("rockpack-").removesuffix(".tar.gz") if len(sdists) == 1 else "?"
        wheels = {MACHINE.search(name)[1]: dist / name for name in names
                  if name.startswith(f"rockpack-{version}-py3-none-") and MACHINE.search(name)}
        tarballs = {name.removeprefix(f"rockpack-{version}-").split("-")[0]: dist / name
                    for name in names if name.endswith(".tar.xz") and name.startswith(f"rockpack-{version}-")}
        expected = {path.name for path in (*wheels.values(), *tarballs.values())} | {*sdists, *BESIDE}
        problem = None
        if len(sdists) != 1 or not wheels or set(names) != expected or set(wheels) != set(tarballs):
            problem = f"it has {a_few(names, 20)}"
        if not report.check("there are a wheel and a tarball for each machine, an sdist, and nothing else", problem):
            return None
        return cls(dist, commit, version, wheels, tarballs, dist / sdists[0])

    @property
    def says(self):
        """The expected output of `--version` of its programs."""
        return f"rockpack {self.version} ({self.commit[:12]})"


def check(report, tools, release, program):
    """Compare the files with each other, and with the results of other tools."""
    result = run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], release.dist)
    report.check("sha256sum --check SHA256SUMS", result.problem)
    report.check("the provenance names every file and the commit", provenance(release))
    result = run([program, "wheel", "verify", release.dist], release.dist)
    report.check("rockpack wheel verify", result.problem)
    packages = [release.sdist, *release.wheels.values()]
    report.check("twine check --strict", tools.run("twine", "check", "--strict", *packages).problem)
    report.check("the sdist is of the commit, with all that a build needs", sdist(release))
    for machine, wheel in release.wheels.items():
        audited(report, tools, program, wheel)
        report.check(f"the program in {wheel.name} is the tarball's", tarball(release, machine))


def provenance(release):
    """Return the statement's omissions, or its fields of another commit."""
    statement = json.loads((release.dist / "provenance.intoto.json").read_text(encoding="utf-8"))
    subjects = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
               for path in release.dist.iterdir() if path.name not in BESIDE}
    sources = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    if subjects != digests:
        return f"it lists {a_few(sorted(subjects), 20)}, or of other bytes"
    expected = [{"name": "source", "digest": {"gitCommit": release.commit}}]
    return None if sources == expected else f"it is made of {sources}"


def sdist(release):
    """Return the files that the sdist lacks."""
    top = f"rockpack-{release.version}/"
    with tarfile.open(release.sdist) as archive:
        names = {name.removeprefix(top) for name in archive.getnames()}
        commit = archive.extractfile(top + "COMMIT").read().decode().strip()
    expected = {"PKG-INFO", "Cargo.lock", "Cargo.toml", "build.rs", "pyproject.toml", "packages.kdl", "families.kdl",
                "manifest/projects.kdl", "src/main.rs"}
    if commit != release.commit:
        return f"COMMIT says {commit}"
    return f"there is no {a_few(sorted(expected - names))}" if expected - names else None


def audited(report, tools, program, wheel):
    """Compare the tags in a wheel's name with the results of rockpack and auditwheel, which have to be equal."""
    result = run([program, "wheel", "audit", "--json", wheel], wheel.parent)
    if not report.check(f"rockpack wheel audit {wheel.name}", result.problem):
        return
    audit = json.loads(result.out)["wheels"][0]
    alone = audit["binaries"] == 1 and not audit["external_libraries"]
    report.check("it judges the program, which needs no library", None if alone else result.out)
    tags_found = {audit["tag"], *audit["also"]}
    distribution, tags = wheel.stem.rsplit("-", 1)
    for libc in sorted({tag.split("_")[0].rstrip("0123456789") for tag in tags.split(".")}):
        # For a program without a C library, auditwheel uses the name alone, and reports one library.
        tags_of_libc = [tag for tag in tags.split(".") if tag.startswith(libc)]
        renamed = tools.bin.parent / f"{distribution}-{'.'.join(tags_of_libc)}.whl"
        shutil.copyfile(wheel, renamed)
        result = tools.run("auditwheel", "show", renamed)
        text = " ".join((result.out + result.err).split())
        report.check(f"auditwheel and rockpack find the same of {libc}", result.problem or disagreement(tags_of_libc, "musllinux" in tags, tags_found, text))
        renamed.unlink()


def disagreement(tags_named, is_static, tags_found, text):
    """Return the error of the tags in a wheel's name, or of rockpack's result, by auditwheel's output."""
    match = re.search(r'following platform tag: "([^"]+)"', text)
    static = "requires no external shared libraries" in text
    if not match or (is_static and not static):
        return f"auditwheel says: {text}"
    if match[1] not in tags_found:
        return f"auditwheel finds {match[1]}, rockpack {a_few(sorted(tags_found))}"
    # The musl that a program needs is not recorded in it: the two name the newest, and a static program needs none.
    unfit = [tag for tag in tags_named if tag.startswith("manylinux_") and glibc(tag) < glibc(match[1])]
    return f"{a_few(unfit)} promises more than {match[1]}" if unfit else None


def glibc(tag):
    """Return the version that a tag asks for."""
    return tuple(int(part) for part in re.match(r"manylinux_(\d+)_(\d+)_", tag).groups())


def tarball(release, machine):
    """Return the error of a tarball, compared with the wheel of the same machine."""
    wheel, tarred = release.wheels[machine], release.tarballs[machine]
    top = tarred.name.removesuffix(".tar.xz") + "/"
    with tarfile.open(tarred) as archive:
        members = {member.name.removeprefix(top): member for member in archive if member.isfile()}
        texts = {name: archive.extractfile(member).read() for name, member in members.items()}
    with zipfile.ZipFile(wheel) as archive:
        program = archive.read(f"rockpack-{release.version}.data/scripts/rockpack")
    if sorted(texts) != sorted(IN_TARBALL):
        return f"it has {a_few(sorted(texts), 20)}"
    if empty := [name for name, text in texts.items() if not text]:
        return f"empty: {a_few(empty)}"
    if texts["rockpack"] != program or members["rockpack"].mode != 0o755:
        return "it has another one, or one that is not executable"
    if place := PLACES.search(program):
        return f"it names a place of the machine that built it: {place[0].decode()}"
    return None if release.says.removeprefix("rockpack ").encode() in texts["man/man1/rockpack.1"] else "its manual page has another version"
