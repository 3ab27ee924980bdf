# SPDX-License-Identifier: MIT
"""Uninstalling in every order: after the last package, the initial state remains."""

import itertools
import random
import shutil

from packages import EVERYTHING, OLD
from process import run

FOUR = ("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx942", "rocm-sdk-devel")
SEED = 7


def four(bench, python, tool, sample=None):
    """All orders of the four packages with files in each other's directories."""
    orders = list(itertools.permutations(FOUR))
    chosen = random.Random(SEED).sample(orders, sample) if sample else orders
    _try(bench, python, tool, "rocm[libraries,devel,device-gfx942]", chosen, before=["rocm"])


def all_packages(bench, python, tool, sample):
    """Some orders of all seven packages."""
    shuffled = [random.Random(SEED + count).sample(EVERYTHING, len(EVERYTHING)) for count in range(sample)]
    _try(bench, python, tool, "rocm[libraries,devel,profiler,device-all]", shuffled)


def _try(bench, python, tool, requirement, orders, before=()):
    environment = bench.environment(python, tool)
    name = f"{bench.label(python, tool)}: uninstall"
    result = environment.install(bench.sources[0], f"{requirement}=={OLD}")
    expanded = environment.program("rocm-sdk", "init", "--quiet")
    if not bench.report.check(f"{name}: packages to uninstall", result.problem or expanded.problem):
        return
    if before:
        bench.step(f"{name} {', '.join(before)}", environment.installer("uninstall", *before))
    template = environment.work / "template"
    run(["cp", "-a", environment.place, template], environment.work)
    for order in orders:
        shutil.rmtree(environment.place)
        run(["cp", "-a", template, environment.place], environment.work)
        problems = [environment.installer("uninstall", one).problem for one in order]
        problem = next(filter(None, problems), None) or environment.leftovers()
        short = ", ".join(one.removeprefix("rocm-").removeprefix("sdk-") for one in order)
        bench.report.check(f"{name} in the order {short}", problem)
    shutil.rmtree(environment.work)
