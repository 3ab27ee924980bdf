# SPDX-License-Identifier: MIT
"""Scenarios for each interpreter and installer."""

import traceback
from dataclasses import dataclass
from functools import partial
from typing import Callable

import caches
import concurrency
import conditions
import extension
import lifecycle
import offline
import orders
import selector
from pythons import sample

PLACES = (conditions.odd_path, conditions.lib64, conditions.read_only, conditions.elsewhere,
          concurrency.different, concurrency.same, lifecycle.reinstalled, lifecycle.crossed)
CHOICES = (selector.choices, selector.extras, caches.two_machines, offline.alone)
REPORTING_PIP = (22, 3)


@dataclass(frozen=True)
class Scenario:
    """One scenario; the slow part is in `action`."""

    name: str
    action: Callable


def run(bench, scenario):
    """Run one scenario. An exception is a failed check, and the other scenarios continue."""
    try:
        scenario.action()
    except Exception:  # whatever it is, it belongs into the report
        bench.report.check(scenario.name, traceback.format_exc())


def scenarios(bench):
    """Yield all scenarios, the slowest first: two may run at a time."""
    yield Scenario("extension", partial(extension.built_against_devel, bench, *bench.newest[0]))
    for python, tool in bench.newest:
        sample = (6 if bench.quick else None) if not tool.is_uv else None
        yield _scenario(bench, python, tool, "orders.four", orders.four, sample)
        yield _scenario(bench, python, tool, "orders.all", orders.all_packages, 2 if bench.quick else 16)
    for count, (python, tool) in enumerate(bench.cells):
        yield from _courses(bench, python, tool, count)
    for python, tool in bench.newest if bench.quick else _ends(bench):
        for action in (*PLACES, *CHOICES):
            yield _scenario(bench, python, tool, f"{action.__module__}.{action.__name__}", action)
        if tool.is_uv:
            yield _scenario(bench, python, tool, "caches.lock", caches.lock)
            yield _scenario(bench, python, tool, "lifecycle.cache", lifecycle.cache)
        elif tool.release >= REPORTING_PIP:
            yield _scenario(bench, python, tool, "selector.wheelhouse", selector.wheelhouse)
            yield _scenario(bench, python, tool, "selector.report", selector.report)
    for python in {python for python, _ in bench.newest} if bench.quick else bench.pythons:
        yield Scenario(f"lifecycle.sources {python.label}", partial(lifecycle.same_from_all, bench, python))


def _courses(bench, python, tool, count):
    """One source for each cell in turn; with all of them when there is time."""
    sources = bench.sources if not bench.quick and python in _both_ends(bench) else [bench.sources[count % len(bench.sources)]]
    for source in sources:
        name = f"lifecycle.course {bench.label(python, tool)} {source.label}"
        yield Scenario(name, partial(lifecycle.course, bench, python, tool, source))


def _scenario(bench, python, tool, name, action, *more):
    return Scenario(f"{name} {bench.label(python, tool)}", partial(action, bench, python, tool, *more))


def _both_ends(bench):
    """The oldest and the newest interpreter of this machine itself."""
    return [one for one in sample(bench.pythons) if one.root is None] or bench.pythons


def _ends(bench):
    return [(python, tool) for python in _both_ends(bench) for tool in bench.tools[python]]
