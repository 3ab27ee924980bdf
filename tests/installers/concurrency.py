# SPDX-License-Identifier: MIT
"""Several installers, and several `rocm-sdk init`, in one environment at once."""

import records
import snapshot
from packages import DEVICES, EVERYTHING, OLD

TOGETHER = ("rocm-sdk-core", "rocm-sdk-libraries", *DEVICES, "rocm-profiler", "rocm-sdk-devel")


def _at_once(environment, commands):
    started = [(command, environment.start(command, env)) for command, env in commands]
    return [environment.outcome(process, command) for command, process in started]


def _install(environment, source, *words):
    return environment.command("install", *source.options, *words)


def different(bench, python, tool):
    """One installer for each package: their files share directories, and none is lost."""
    environment, source = bench.environment(python, tool), bench.sources[0]
    name = f"{bench.label(python, tool)}: {len(TOGETHER)} installs at once"
    results = _at_once(environment, [_install(environment, source, "--no-deps", f"{one}=={OLD}") for one in TOGETHER])
    bench.report.check(name, next(filter(None, (result.problem for result in results)), None))
    bench.state(f"{name}: everything is whole", environment, {one: OLD for one in sorted(TOGETHER)})
    bench.step(f"{name}: then rocm", environment.install(source, f"rocm=={OLD}"))
    _init(bench, name, environment)
    _uninstall(bench, f"{bench.label(python, tool)}: {len(EVERYTHING)} uninstalls at once", environment)
    environment.remove()


def _uninstall(bench, name, environment):
    """Links into core are in two RECORDs: an uninstaller that misses one may fail, and is repeated."""
    results = _at_once(environment, [environment.command("uninstall", one) for one in EVERYTHING])
    failed = [result for result in results if result.status]
    if failed:
        bench.report.note(f"{name}: {len(failed)} fail, and restore the files that they had removed")
    remaining = records.distributions(environment.site)
    if remaining:
        bench.step(f"{name}: uninstalling the remaining packages again", environment.installer("uninstall", *remaining))
    bench.report.check(f"{name}: nothing is left but empty directories", _files_left(environment))


def _files_left(environment):
    """Return the files that were not in the new environment, console scripts too, and the packages.

    Two uninstallers may each leave a directory to the other: leftover directories are allowed.
    """
    expected = {*environment.before, ".lock"}  # uv's
    files = [name for name in snapshot.names(environment.place) if not name.endswith("/") and name not in expected]
    return files or records.distributions(environment.site)


def _init(bench, name, environment):
    """Several processes expand devel while an installer replaces a device package."""
    again = ["--reinstall"] if environment.tool.is_uv else ["--force-reinstall"]
    commands = [([environment.place / "bin/rocm-sdk", "init", "--quiet"], {}) for _ in range(4)]
    results = _at_once(environment, commands)
    bench.report.check(f"{name}: four rocm-sdk init at once", next(filter(None, (one.problem for one in results)), None))
    commands.append(_install(environment, bench.sources[0], *again, "--no-deps", f"{DEVICES[0]}=={OLD}"))
    results = _at_once(environment, commands)
    # An init may fail while the files of the device package are away; the installer must not.
    bench.report.check(f"{name}: rocm-sdk init while a device package is replaced", results[-1].problem)
    bench.step(f"{name}: the next rocm-sdk init", environment.program("rocm-sdk", "init", "--quiet"))
    bench.state(f"{name}: everything is whole after that", environment, {one: OLD for one in sorted(EVERYTHING)})


def same(bench, python, tool):
    """The same packages by several installers at once. pip promises nothing; uv takes turns."""
    environment, source = bench.environment(python, tool), bench.sources[0]
    name = f"{bench.label(python, tool)}: three times the same install at once"
    requirement = f"rocm[libraries,devel,device-all,profiler]=={OLD}"
    results = _at_once(environment, [_install(environment, source, requirement) for _ in range(3)])
    failed = [result for result in results if result.status]
    if tool.is_uv:
        bench.report.check(f"{name}: none fails", failed and failed[0].problem)
    elif failed:
        last = failed[0].err.splitlines()[-1:]
        bench.report.note(f"{name}: {len(failed)} of 3 fail, which pip does not rule out: {last}")
    again = ["--reinstall"] if tool.is_uv else ["--force-reinstall"]
    bench.step(f"{name}: one more install repairs the result", environment.install(source, *again, requirement))
    bench.state(f"{name}: everything is whole", environment, {one: OLD for one in sorted(EVERYTHING)})
    bench.step(f"{name}: rocm-sdk init", environment.program("rocm-sdk", "init", "--quiet"))
    bench.step(f"{name}: uninstall", environment.installer("uninstall", *EVERYTHING))
    bench.report.check(f"{name}: nothing is left", environment.leftovers())
    environment.remove()
