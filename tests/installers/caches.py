# SPDX-License-Identifier: MIT
"""What installers keep of the selector, and what uv writes into a lock.

Both remember what `rocm[device]` was. No metadata can forbid that; checks whose name begins
with `limit` hold what is documented, so that it is noticed when an installer changes.
"""

import hashlib
import shutil

from environment import Environment
from machines import GFX942, GFX1100, WISH, machine
from packages import OLD
from selector import SHARED, WANTED, devices

REMEDIES = {
    "pip": {"pip --no-cache-dir": ["--no-cache-dir"]},
    "uv": {"uv --no-cache": ["--no-cache"], "uv --config-setting": ["--config-setting", "gpu=gfx1100"]},
}


def two_machines(bench, python, tool):
    """One home directory, and so one cache, on two machines with different GPUs."""
    first, second = (machine(bench.work / SHARED, one) for one in (GFX942, GFX1100))
    name = f"{bench.label(python, tool)}: a cache shared with a machine of another GPU"
    environment = bench.environment(python, tool)
    _chosen(bench, f"{name}: the first gets its own", environment, first, [], "gfx942")
    _chosen(bench, f"limit: {name}: the second gets the first one's", environment, second, [], "gfx942")
    wish = {**second, WISH: "gfx1100"}
    _chosen(bench, f"limit: {name}: ROCM_SDK_TARGET_FAMILY does not help", environment, wish, [], "gfx942")
    for what, options in REMEDIES[tool.name].items():
        _chosen(bench, f"{name}: {what} helps", environment, second, options, "gfx1100")
    done = environment.install(bench.sources[0], f"rocm[device-gfx1100]=={OLD}", env=second)
    found = devices(environment.site)
    bench.report.check(f"{name}: rocm[device-gfx1100] is right whatever is kept",
                       done.problem or ("gfx1100" not in found and found))
    _forget(bench, name, environment, tool, second)
    environment.remove()


def _chosen(bench, name, environment, settings, options, expected):
    """Install into an empty environment; the cache is the one that was there before."""
    _empty(environment)
    done = environment.install(bench.sources[0], *options, WANTED, env=settings)
    found = devices(environment.site)
    bench.report.check(name, done.problem or (found != [expected] and f"installed is {found}, not {expected}"))


def _empty(environment: Environment):
    shutil.rmtree(environment.place)
    environment.make()


def _forget(bench, name, environment, tool, settings):
    """The command that makes an installer forget the selector."""
    if tool.is_uv:
        done = environment.run([tool.path, "cache", "clean", "rocm"])
    else:
        done = environment.installer("cache", "remove", "rocm-*")
    bench.step(f"{name}: {tool.name} can be told to forget it", done)
    _chosen(bench, f"{name}: and then does", environment, settings, [], "gfx1100")


PROJECT = """[project]
name = "app"
version = "1"
requires-python = ">=3.10"
dependencies = [{dependencies}]
{more}
[tool.uv]
no-index = true
find-links = ["{links}"]
{settings}
"""
EXTRAS = f"""
[project.optional-dependencies]
gfx942 = ["rocm[device-gfx942]=={OLD}"]
gfx1100 = ["rocm[device-gfx1100]=={OLD}"]
"""
NAMED = """
[tool.uv.extra-build-variables]
rocm = { ROCM_SDK_TARGET_FAMILY = "gfx1100" }
"""


class Project:
    """A uv project on one machine: with a cache and an environment of its own."""

    def __init__(self, bench, python, uv, settings, dependencies=f'"{WANTED}"', more="", uv_settings=""):
        settings = {**bench.settings, **settings, "UV_NO_CONFIG": "0"}  # its settings are in pyproject.toml
        self.environment = Environment(python, uv, bench.place(), settings, ".venv")
        self.directory, self.uv = self.environment.work, uv
        (self.environment.home / "tmp").mkdir(parents=True)
        text = PROJECT.format(dependencies=dependencies, more=more, links=bench.packages.all, settings=uv_settings)
        (self.directory / "pyproject.toml").write_text(text, "utf-8")

    def run(self, *arguments):
        """Run uv in the project."""
        python = ["--python", self.environment.python.path]
        return self.environment.run([self.uv.path, *arguments, *python], cwd=self.directory)

    @property
    def lock(self):
        """The lock file's bytes; the packages are in the same place for all projects."""
        return (self.directory / "uv.lock").read_bytes()

    def devices(self):
        """Return the ISAs whose packages are installed."""
        return devices(self.environment.site)

    def take_lock(self, other):
        """Use the lock that another machine made."""
        shutil.copy2(other.directory / "uv.lock", self.directory / "uv.lock")


def lock(bench, python, uv):
    """`uv lock` and `uv sync`."""
    machines = {isa: machine(bench.work / SHARED, number) for isa, number in (("gfx942", GFX942), ("gfx1100", GFX1100))}
    name = f"{bench.label(python, uv)}: uv lock"
    first, second = (Project(bench, python, uv, settings) for settings in machines.values())
    bench.step(f"{name} with rocm[device]", first.run("lock"))
    _synced(bench, f"{name} and uv sync on one machine choose what pip chooses", first, "gfx942")
    second.take_lock(first)
    _synced(bench, f"limit: {name} with rocm[device] writes down the choice of the machine that locked", second,
            "gfx942")
    bench.step(f"{name} --upgrade-package rocm on the other machine", second.run("lock", "--upgrade-package", "rocm"))
    _synced(bench, f"{name} --upgrade-package rocm chooses for the machine that upgrades", second, "gfx1100")
    _without_gpu(bench, name, python, uv)
    _universal(bench, name, python, uv, machines)
    _named(bench, name, python, uv, machines)


def _synced(bench, name, project, expected, *extras):
    done = project.run("sync", *(word for extra in extras for word in ("--extra", extra)))
    found = project.devices() if not done.status else []
    bench.report.check(name, done.problem or (found != [expected] and f"installed is {found}, not {expected}"))


def _without_gpu(bench, name, python, uv):
    project = Project(bench, python, uv, {})
    done = project.run("lock")
    warned = "warning" in done.err and "`device`" in done.err
    locked = done.status == 0 and b"rocm-sdk-device" in project.lock
    bench.report.check(f"{name} with rocm[device] without a GPU warns and locks no device package",
                       done.problem or (not warned and done.err) or (locked and "it has locked one"))


def _universal(bench, name, python, uv, machines):
    """One extra for each GPU: one lock for all machines, and each installs its own."""
    digests, projects = set(), {}
    for isa, settings in {**machines, "none": {}}.items():
        projects[isa] = Project(bench, python, uv, settings, f'"rocm=={OLD}"', EXTRAS)
        bench.step(f"{name} with an extra for each GPU ({isa})", projects[isa].run("lock"))
        digests.add(hashlib.sha256(projects[isa].lock).hexdigest())
    bench.report.check(f"{name} with an extra for each GPU is the same on all machines",
                       len(digests) != 1 and "they differ")
    for isa in machines:
        _synced(bench, f"{name}: uv sync --extra {isa} installs its package", projects["none"], isa, isa)


def _named(bench, name, python, uv, machines):
    """uv can be told the target in pyproject.toml, and keeps what it builds so apart."""
    projects = [Project(bench, python, uv, settings, uv_settings=NAMED) for settings in machines.values()]
    for project in projects:
        bench.step(f"{name} with extra-build-variables", project.run("lock"))
        _synced(bench, f"{name} with extra-build-variables chooses what these name", project, "gfx1100")
    bench.report.check(f"{name} with extra-build-variables is the same on all machines",
                       projects[0].lock != projects[1].lock and "they differ")
