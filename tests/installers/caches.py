# SPDX-License-Identifier: MIT
"""Metadata that installers cache for the selector, and uv's lock: nothing specific to one machine."""

import hashlib
import shutil

import records
from environment import Environment
from machines import GFX942, GFX1100, machine
from packages import OLD
from selector import CHOSEN, SHARED, WANTED, devices


def two_machines(bench, python, tool):
    """One home directory, and so one cache, on two machines with different GPUs."""
    machines = {isa: machine(bench.work / SHARED, number) for isa, number in (("gfx942", GFX942), ("gfx1100", GFX1100))}
    name = f"{bench.label(python, tool)}: a cache shared with a machine of another GPU"
    environment = bench.environment(python, tool)
    metadata = set()
    for isa, settings in machines.items():
        _empty(environment)
        result = environment.install(bench.sources[0], WANTED, env=settings)
        actual = {*records.distributions(environment.site)}
        bench.report.check(f"{name}: rocm[device] with a {isa}", result.problem or (actual != CHOSEN and sorted(actual)))
        metadata.add(next(environment.site.glob("rocm-*.dist-info/METADATA")).read_bytes())
        result = environment.install(bench.sources[0], f"rocm[device-{isa}]=={OLD}", env=settings)
        actual = devices(environment.site)
        bench.report.check(f"{name}: rocm[device-{isa}] is the machine's own",
                           result.problem or (actual != [isa] and f"installed is {actual}"))
    bench.report.check(f"{name}: both get the same selector", len(metadata) != 1 and "they differ")
    environment.remove()


def _empty(environment: Environment):
    shutil.rmtree(environment.place)
    environment.make()


PROJECT = """[project]
name = "app"
version = "1"
requires-python = ">=3.10"
dependencies = [{dependencies}]
{more}
[tool.uv]
no-index = true
find-links = ["{links}"]
"""
EXTRAS = f"""
[project.optional-dependencies]
gfx942 = ["rocm[device-gfx942]=={OLD}"]
gfx1100 = ["rocm[device-gfx1100]=={OLD}"]
"""

class Project:
    """A uv project on one machine, with a separate cache and environment."""

    def __init__(self, bench, python, uv, settings, dependencies=f'"{WANTED}"', more=""):
        settings = {**bench.settings, **settings, "UV_NO_CONFIG": "0"}  # its settings are in pyproject.toml
        self.environment = Environment(python, uv, bench.place(), settings, ".venv")
        self.directory, self.uv = self.environment.work, uv
        (self.environment.home / "tmp").mkdir(parents=True)
        text = PROJECT.format(dependencies=dependencies, more=more, links=bench.packages.all)
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
        """Return the ISAs of the installed packages."""
        return devices(self.environment.site)

    def take_lock(self, other):
        """Use the lock that another machine made."""
        shutil.copy2(other.directory / "uv.lock", self.directory / "uv.lock")


def lock(bench, python, uv):
    """`uv lock` and `uv sync`: one lock for all machines."""
    machines = {isa: machine(bench.work / SHARED, number) for isa, number in (("gfx942", GFX942), ("gfx1100", GFX1100))}
    name = f"{bench.label(python, uv)}: uv lock"
    digests, projects = set(), {}
    for isa, settings in {**machines, "none": {}}.items():
        projects[isa] = Project(bench, python, uv, settings, more=EXTRAS)
        bench.step(f"{name} with rocm[device] and an extra for each GPU ({isa})", projects[isa].run("lock"))
        digests.add(hashlib.sha256(projects[isa].lock).hexdigest())
    bench.report.check(f"{name} is the same on all machines", len(digests) != 1 and "they differ")
    projects["gfx1100"].take_lock(projects["gfx942"])
    for isa, project in projects.items():
        options = ["--extra", isa] if isa in machines else []
        result = project.run("sync", *options)
        actual = project.devices() if not result.status else []
        expected = [isa] if isa in machines else []
        bench.report.check(f"{name}: uv sync {' '.join(options)} installs the requested packages",
                           result.problem or (actual != expected and f"installed is {actual}, not {expected}"))
