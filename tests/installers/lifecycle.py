# SPDX-License-Identifier: MIT
"""Install, add, remove, upgrade, downgrade, uninstall: after each step everything is in order."""

import records
import snapshot
from packages import DEVICES, EVERYTHING, NEW, NEXT, OLD

BASE = ("rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-profiler", "rocm-sdk-devel")


def _requirement(version, *isas):
    extras = ",".join(["libraries", "devel", "profiler", *(f"device-{isa}" for isa in isas)])
    return f"rocm[{extras}]=={version}"


def _versions(version, *isas):
    return {name: version for name in sorted((*BASE, *(f"rocm-sdk-device-{isa}" for isa in isas)))}


def course(bench, python, tool, source):
    """One environment from its first package to its last, devel expanded all along."""
    environment = bench.environment(python, tool)
    name = f"{bench.label(python, tool)}, {source.label}"
    isas = ("gfx942",)
    if not bench.step(f"{name}: install", environment.install(source, _requirement(OLD, *isas))):
        return
    bench.state(f"{name}: installed", environment, _versions(OLD, *isas))
    _expand(bench, name, environment, OLD)
    isas = _devices(bench, name, environment, source)
    for change, version in (("upgrade", NEW), ("upgrade to other directories", NEXT), ("downgrade", OLD)):
        result = environment.install(source, _requirement(version, *isas))
        if bench.step(f"{name}: {change} to {version}", result):
            bench.state(f"{name}: after the {change} nothing of {version} is missing, and nothing else was added",
                        environment, _versions(version, *isas))
            _expand(bench, name, environment, version)
    bench.step(f"{name}: uninstall everything", environment.installer("uninstall", *_versions(OLD, *isas)))
    bench.report.check(f"{name}: the environment is unchanged byte for byte", environment.leftovers())
    environment.remove()


def _expand(bench, name, environment, version):
    bench.step(f"{name}: rocm-sdk init with {version}", environment.program("rocm-sdk", "init", "--quiet"))
    root = environment.program("rocm-sdk", "path", "--root")
    header = "hipblas.h" if version == OLD else "hipblas-renamed.h"
    names = sorted(path.name for path in environment.site.glob("_rocm_sdk_devel*/include/hipblas/*"))
    problem = root.problem or (names != [header] and f"include/hipblas has {names}")
    bench.report.check(f"{name}: the devel tree is that of {version}", problem)
    bench.report.check(f"{name}: rocm-sdk version is {version}", _said(environment, ["version"], version))
    foreign = records.unowned(environment.site)
    bench.report.check(f"{name}: every file of the devel tree of {version} is in a RECORD", foreign)


def _said(environment, arguments, expected):
    result = environment.program("rocm-sdk", *arguments)
    return result.problem or (result.out.strip() != expected and f"it says {result.out!r}")


def _devices(bench, name, environment, source):
    """Add a second device package, then take the first away: the others stay whole."""
    other = environment.install(source, f"rocm[device-gfx1100]=={OLD}")
    bench.step(f"{name}: add a device package", other)
    bench.state(f"{name}: two device packages", environment, _versions(OLD, "gfx942", "gfx1100"))
    bench.step(f"{name}: rocm-sdk init links the new one", environment.program("rocm-sdk", "init", "--quiet"))
    bench.report.check(f"{name}: files of both are in the devel tree", _unlinked(environment, "gfx942", "gfx1100"))
    bench.step(f"{name}: uninstall one device package", environment.installer("uninstall", DEVICES[0]))
    bench.state(f"{name}: the other packages are whole", environment, _versions(OLD, "gfx1100"))
    bench.report.check(f"{name}: files of the other are in the devel tree", _unlinked(environment, "gfx1100"))
    paths = [path for path in snapshot.names(environment.site) if "gfx942" in path]
    bench.report.check(f"{name}: nothing of the device package is left", paths)
    return ("gfx1100",)


def _unlinked(environment, *isas):
    names = [path.name for path in environment.site.glob("_rocm_sdk_devel/**/*")]
    absent = [isa for isa in isas if not any(name.endswith(f"_{isa}.kpack") for name in names)]
    return absent and f"none of {absent}"


def sources(bench, python, tool):
    """Every source gives the same files."""
    requirement = _requirement(OLD, "gfx942", "gfx1100")
    first = None
    for source in bench.sources:
        environment = bench.environment(python, tool)
        name = f"{bench.label(python, tool)}, {source.label}"
        if bench.step(f"{name}: install", environment.install(source, requirement)):
            bench.state(f"{name}: all of {OLD} and no other version", environment, {one: OLD for one in sorted(EVERYTHING)})
            files = records.installed_files(environment.site)
            first = first or files
            bench.report.check(f"{name}: the same files as from {bench.sources[0].label}", snapshot.difference(first, files))
        _metadata_first(bench, name, tool, source)
        environment.remove()
    return first


def _metadata_first(bench, name, tool, source):
    """If the index has metadata files, installers that support them request them."""
    if getattr(source, "with_metadata", False) and (tool.is_uv or tool.release >= (22, 3)):
        names = {path.rpartition("/")[2] for path in source.requests if path.endswith(".metadata")}
        bench.report.check(f"{name}: metadata files are asked for", not any(OLD in one for one in names) and f"only {names}")


def same_from_all(bench, python):
    """All tools install the same files."""
    first = None
    for tool in bench.tools[python]:
        files = sources(bench, python, tool)
        first = first or files
        name = f"Python {python.label}: {tool.label} installs the same files as {bench.tools[python][0].label}"
        bench.report.check(name, snapshot.difference(first or {}, files or {}))


def reinstalled(bench, python, tool):
    """Reinstall core below an expanded devel tree, then uninstall it first."""
    environment = bench.environment(python, tool)
    source, name = bench.sources[0], f"{bench.label(python, tool)}: core reinstalled below devel"
    environment.install(source, _requirement(OLD, "gfx942"))
    bench.step(f"{name}: rocm-sdk init", environment.program("rocm-sdk", "init", "--quiet"))
    again = ["--reinstall-package", "rocm-sdk-core"] if tool.is_uv else ["--force-reinstall"]
    bench.step(name, environment.install(source, *again, "--no-deps", f"rocm-sdk-core=={OLD}"))
    # Links of the devel tree into core go with core's old files; the next init makes them anew.
    bench.step(f"{name}: rocm-sdk init again", environment.program("rocm-sdk", "init", "--quiet"))
    bench.state(f"{name}: everything is whole", environment, _versions(OLD, "gfx942"))
    for one in ("rocm-sdk-core", "rocm-sdk-devel"):
        bench.step(f"{name}: uninstall {one}", environment.installer("uninstall", one))
    environment.installer("uninstall", *records.distributions(environment.site))
    bench.report.check(f"{name}: nothing is left", environment.leftovers())
    environment.remove()


def crossed(bench, python, tool):
    """One tool installs, the other uninstalls, with devel expanded between."""
    other = next(one for one in reversed(bench.tools[python]) if one.name != tool.name)
    environment = bench.environment(python, tool)
    name = f"{bench.label(python, tool)} installs, {other.label} uninstalls"
    bench.step(f"{name}: install", environment.install(bench.sources[0], _requirement(OLD, "gfx942", "gfx1100")))
    bench.step(f"{name}: rocm-sdk init", environment.program("rocm-sdk", "init", "--quiet"))
    environment.tool = other
    bench.step(f"{name}: uninstall", environment.installer("uninstall", *EVERYTHING))
    bench.report.check(f"{name}: nothing is left", environment.leftovers())
    environment.remove()


def cache(bench, python, uv):
    """uv's files are hard links of its cache: rocm-sdk's edits must not reach the cache."""
    environment = bench.environment(python, uv)
    name = f"{bench.label(python, uv)}: uv's cache"
    bench.step(f"{name}: install", environment.install(bench.sources[0], _requirement(OLD, "gfx942")))
    core = next(environment.site.glob("_rocm_sdk_core/lib/libhiprtc.so.7"))
    bench.report.check(f"{name}: files are hard links", core.stat().st_nlink < 2 and "they are copies here")
    directory = environment.home / "uv-cache"
    before = snapshot.contents(directory)
    for arguments in (["init", "--quiet"], ["path", "--root"]):
        bench.step(f"{name}: rocm-sdk {arguments[0]}", environment.program("rocm-sdk", *arguments))
    bench.step(f"{name}: a program of the devel tree", environment.program("amdclang", "--version"))
    bench.report.check(f"{name}: it is as it was after rocm-sdk init", snapshot.difference(before, snapshot.contents(directory)))
    bench.step(f"{name}: uninstall", environment.installer("uninstall", *_versions(OLD, "gfx942")))
    bench.report.check(f"{name}: nothing is left", environment.leftovers())
    environment.remove()
