# SPDX-License-Identifier: MIT
"""Places that are not as usual: read-only, with odd names, behind lib64, copied, moved."""

import os
import shutil

import records
import snapshot
from packages import OLD
from process import run

WANTED = f"rocm[libraries,devel,device-gfx942]=={OLD}"
PACKAGES = ("rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx942", "rocm-sdk-devel")
READ_ONLY = 'mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"; shift; exec "$@"'


def _filled(bench, python, tool, name="venv"):
    environment = bench.environment(python, tool, name)
    result = environment.install(bench.sources[0], WANTED)
    return environment if bench.step(f"{bench.label(python, tool)}: install into {name}", result) else None


def odd_path(bench, python, tool):
    """Spaces, quotes that shells mind, and letters that are not ASCII."""
    environment = _filled(bench, python, tool, "mein Gerät (GPU) & 显卡")
    if environment is None:
        return
    name = f"{bench.label(python, tool)}: a path with spaces and non-ASCII"
    bench.step(f"{name}: rocm-sdk init", environment.program("rocm-sdk", "init", "--quiet"))
    result = environment.program("rocm-sdk", "path", "--root")
    root = environment.site / "_rocm_sdk_devel"
    bench.report.check(f"{name}: rocm-sdk path", result.problem or (result.out != f"{root}\n" and f"it says {result.out!r}"))
    bench.step(f"{name}: a console script", environment.program("amdclang", "--version"))
    bench.step(f"{name}: an exec stub", environment.run([root / "bin/amdclang"]))
    completed = environment.run([environment.place / "bin/python", "-c", FIND])
    bench.report.check(f"{name}: libraries are found and load", completed.problem)
    _gone(bench, name, environment)


FIND = "import rocm_sdk; rocm_sdk.preload_libraries('hiprtc', 'hipblas'); print(*rocm_sdk.find_libraries('hiprtc'))"


def _gone(bench, name, environment):
    bench.step(f"{name}: uninstall", environment.installer("uninstall", *records.distributions(environment.site)))
    bench.report.check(f"{name}: nothing is left", environment.leftovers())
    environment.remove()


def lib64(bench, python, tool):
    """The same site-packages by two names, `lib` and `lib64`, as venv makes them and some systems use them."""
    environment = bench.environment(python, tool)
    link = environment.place / "lib64"
    if not link.is_symlink():
        link.symlink_to("lib")
        environment.before = snapshot.contents(environment.place)
    name = f"{bench.label(python, tool)}: behind a lib64 symlink"
    bench.step(f"{name}: install", environment.install(bench.sources[0], WANTED))
    behind = link / environment.site.relative_to(environment.place / "lib")
    settings = {"PYTHONPATH": str(behind)}
    result = environment.module("path", "--root", env=settings)
    expected = f"{behind / '_rocm_sdk_devel'}\n"
    bench.report.check(f"{name}: rocm-sdk path", result.problem or (result.out != expected and f"it says {result.out!r}"))
    bench.step(f"{name}: rocm-sdk init by the other name", environment.module("init", "--quiet"))
    foreign = records.unowned(environment.site)
    bench.report.check(f"{name}: every file is in a RECORD", foreign)
    _gone(bench, name, environment)


def read_only(bench, python, tool):
    """A read-only environment: commands that need to write say so, and the others work."""
    if os.geteuid() != 0:
        bench.not_run("read-only site-packages", "making a mount read-only needs root rights")
        return
    environment = _filled(bench, python, tool)
    if environment is None:
        return
    name = f"{bench.label(python, tool)}: read-only site-packages"
    before = snapshot.contents(environment.place, times=True)
    _refused(bench, f"{name}: rocm-sdk init", _locked(environment, ["bin/rocm-sdk", "init"]),
             ["rocm-sdk-devel", "_rocm_sdk_devel", "ead-only"])
    _refused(bench, f"{name}: rocm-sdk path --cmake", _locked(environment, ["bin/rocm-sdk", "path", "--cmake"]),
             ["rocm-sdk-devel", "ead-only"])
    for arguments in (["bin/rocm-sdk", "version"], ["bin/python", "-c", FIND], ["bin/amdclang", "--version"]):
        bench.step(f"{name}: {' '.join(arguments[:2])} works", _locked(environment, arguments))
    for verb, words in (("install", [*bench.sources[0].options, f"rocm[device-gfx1100]=={OLD}"]),
                        ("uninstall", ["rocm-sdk-devel"])):
        command, needed = environment.command(verb, *words)
        result = _locked(environment, command, needed)
        output = result.err + result.out
        problem = (not result.status and "it claims to have done it") or ("ead-only" not in output and result.problem)
        bench.report.check(f"{name}: {tool.name} {verb} names the problem", problem)
    changed = snapshot.difference(before, snapshot.contents(environment.place, times=True))
    bench.report.check(f"{name}: nothing has changed", changed)
    _gone(bench, name, environment)


def _locked(environment, command, env=None):
    """Run a command while the environment is read-only."""
    program = command[0] if os.path.isabs(command[0]) else environment.place / command[0]
    prefix = ["unshare", "--mount", "sh", "-euc", READ_ONLY, "sh", environment.place]
    return environment.run([*prefix, program, *command[1:]], {"PYTHONDONTWRITEBYTECODE": "1", **(env or {})})


def _refused(bench, name, result, words):
    absent = [word for word in words if word not in result.err]
    problem = None
    if result.status != 1:
        problem = f"{result.ending}, not 1: {result.err or result.out}"
    elif "Traceback" in result.err or result.out:
        problem = f"not only an error: {result.out}{result.err}"
    elif absent:
        problem = f"it does not say {absent}: {result.err}"
    bench.report.check(f"{name} names the problem", problem)


def elsewhere(bench, python, tool):
    """A copied and a moved environment serve through `python -m rocm_sdk`."""
    environment = _filled(bench, python, tool)
    if environment is None:
        return
    name = bench.label(python, tool)
    bench.step(f"{name}: rocm-sdk init before the copy", environment.program("rocm-sdk", "init", "--quiet"))
    copy = environment.sibling(environment.work / "copy of it")
    run(["cp", "-a", environment.place, copy.place], environment.work)
    _serves(bench, f"{name}: a copied environment", copy)
    bench.step(f"{name}: uninstall from the copy", copy.installer("uninstall", *PACKAGES))
    copy.before = environment.before
    bench.report.check(f"{name}: nothing is left in the copy", copy.leftovers())
    bench.state(f"{name}: the original is whole", environment, {one: OLD for one in sorted(PACKAGES)})
    moved = environment.sibling(environment.work / "moved")
    environment.place.rename(moved.place)
    _serves(bench, f"{name}: a moved environment", moved)
    bench.step(f"{name}: uninstall from the moved one", moved.installer("uninstall", *PACKAGES))
    shutil.rmtree(environment.work)


def _serves(bench, name, environment):
    site, devel = environment.site, environment.site / "_rocm_sdk_devel"
    result = environment.module("path", "--root")
    bench.report.check(f"{name}: rocm-sdk path", result.problem or (result.out != f"{devel}\n" and f"it says {result.out!r}"))
    bench.step(f"{name}: rocm-sdk init", environment.module("init", "--quiet"))
    links = [path for path in devel.rglob("*") if path.is_symlink()]
    astray = [path.name for path in links if not path.exists() or not path.resolve().is_relative_to(site.resolve())]
    bench.report.check(f"{name}: the {len(links)} links of its devel tree lead into it",
                       (not links and "there is none") or astray)
    bench.step(f"{name}: libraries are found and load", environment.run([environment.place / "bin/python", "-c", FIND]))
    bench.step(f"{name}: a program of the devel tree starts", environment.run([devel / "bin/amdclang"]))
