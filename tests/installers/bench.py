# SPDX-License-Identifier: MIT
"""Shared inputs of every scenario: packages, sources, interpreters, installers, a directory."""

import itertools
import threading
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path

import records
from environment import Environment, Tool
from index import FindLinks, Index
from packages import Packages
from process import run
from report import NotRun, Report, a_few


@dataclass
class Bench:
    """Scenarios get this, and one cell of the matrix: an interpreter and a tool."""

    report: Report
    work: Path
    packages: Packages
    pythons: list
    tools: dict  # interpreter -> tools
    settings: dict
    arguments: Namespace
    missing: list = field(default_factory=list)
    _numbers: itertools.count = field(default_factory=itertools.count)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self):
        dist = self.packages.all
        self.sources = [FindLinks(dist), *(Index(dist, as_json, metadata) for as_json in (False, True)
                                           for metadata in (False, True))]

    @property
    def quick(self):
        """True for the short sample."""
        return self.arguments.quick

    def not_run(self, part, why):
        """Report loudly that a part cannot be run here; the exit status becomes 77."""
        reason = f"{part}: {' '.join(str(why).split())}"
        with self._lock:
            self.missing.append(reason)
            print(f"NOT RUN {reason}", flush=True)

    def place(self):
        """Return a new directory."""
        with self._lock:
            place = self.work / "runs" / str(next(self._numbers))
        place.mkdir(parents=True)
        return place

    def environment(self, python, tool, name="venv"):
        """Return a new environment, already made."""
        environment = Environment(python, tool, self.place(), self.settings, name)
        result = environment.make()
        if result.status:
            raise RuntimeError(f"no virtual environment: {result.problem}")
        return environment

    @property
    def cells(self):
        """Every interpreter with each of its tools."""
        return [(python, tool) for python in self.pythons for tool in self.tools[python]]

    @property
    def newest(self):
        """The newest interpreter of this machine itself, with its tools: newest pip and uv."""
        host = [one for one in self.pythons if one.root is None] or self.pythons
        python = host[-1]
        return [(python, tool) for tool in self.tools[python][-2:]]

    @staticmethod
    def label(python, tool):
        """Say which cell it is."""
        return f"Python {python.label}, {tool.label}"

    def step(self, name, result):
        """Check that a command ended well."""
        return self.report.check(name, result.problem)

    def state(self, name, environment, expected):
        """Check the installed packages: these versions, undamaged, and no file outside RECORDs."""
        actual, site = records.distributions(environment.site), environment.site
        problems = [f"installed is {actual}, not {expected}"] * (actual != expected)
        problems += records.mismatches(site) + records.absent(site)
        problems += [f"{path} is in no RECORD" for path in records.unowned(site)]
        return self.report.check(name, problems and a_few(problems))


def _version(command, cwd):
    """Return the version that a tool prints as its second word, or raise NotRun."""
    result = run(command, cwd)
    if result.status:
        raise NotRun(f"an installer does not start: {result.problem}")
    return result.out.split()[1]


def tools_for(python, work, uv, fetch_pip):
    """Return the installers for an interpreter: its oldest pip, the newest pip, uv."""
    tools = {}
    for version_wanted in dict.fromkeys((python.oldest_pip, None)):
        path = fetch_pip(version_wanted)
        command = python.command(["env", f"PYTHONPATH={path}", python.path, "-m", "pip", "--version"])
        version = _version(command, work)
        tools[version] = Tool("pip", path, version)
    return [*tools.values(), Tool("uv", uv, _version([uv, "--version"], work))]
