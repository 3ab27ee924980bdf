# SPDX-License-Identifier: MIT
"""The course of the test for one artifact tree."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import builds
import commands
import debian
import expectations
import installs
import loading
import records
import snapshot
import trees
import wrong_inputs
from fetch import ensure_uv
from process import Root
from report import Report, some


@dataclass
class Bench:
    """Everything that the steps need."""

    report: Report
    rockpack: Path
    root: Root
    extended: Root
    uv: Path
    trees: dict
    runs: Path
    repeat_full: bool

    @classmethod
    def set_up(cls, report, arguments):
        """Prepare missing inputs; raises NotRun before the first check."""
        work, tools, binary = (path.resolve() for path in (arguments.work, arguments.tools, arguments.rockpack))
        built_trees = {name: debian.ensure_tree(name, tools, work).resolve() for name in arguments.tree}
        root = debian.ensure_root(tools, work)
        full = any(expectations.TREES[name].full for name in arguments.tree)
        extended = trees.ensure_extended_root(root) if full else None
        runs = work / "runs"
        shutil.rmtree(runs, ignore_errors=True)
        runs.mkdir()
        return cls(report, binary, root, extended, ensure_uv(work), built_trees, runs, arguments.repeat_full)


def one_tree(bench, name):
    """Build, install and use the packages of one tree."""
    report, tree = bench.report, expectations.TREES[name]
    place = bench.runs / name
    place.mkdir()
    built = place / "built"
    plan = builds.build(report, name, bench.rockpack, bench.trees[name], built, tree.build)
    if plan is None:
        return
    if not tree.full or bench.repeat_full:
        again = place / "again"
        again.mkdir()
        builds.same_again(report, name, bench.rockpack, bench.trees[name], built, again, tree.build)
        shutil.rmtree(again)
        other = place / "other version"
        other.mkdir()
        builds.promoted(report, name, bench.rockpack, bench.trees[name], built, other, tree.build)
        shutil.rmtree(other)
    if not tree.full:
        scratch = place / "wrong inputs"
        wrong_inputs.test_all(report, f"{name}: wrong input", bench.rockpack, bench.trees[name], built, scratch)
        shutil.rmtree(scratch)
    for one in _installations(name, tree, built):
        _installed(bench, plan, place, one)


@dataclass(frozen=True)
class Installation:
    """Packages of a build to install, and their expected results."""

    label: str
    tree: expectations.Tree
    dists: tuple
    isas: tuple
    requirement: str
    later: str = ""  # what is installed when the devel tree is there already


def _installations(name, tree, built):
    dist = built / "dist"
    if tree.mode == "kpack":
        requirement = "rocm[libraries,devel,profiler,device-gfx942]"
        yield Installation(name, tree.of_family(), (dist,), expectations.ISAS, requirement, "rocm[device-all]")
        return
    for family, isas in expectations.FAMILIES.items():
        yield Installation(f"{name}: {family}", tree.of_family(family), (dist / family, dist), isas,
                           "rocm[libraries,devel,profiler]")


def _installed(bench, plan, place, one):
    name, tree, dists = one.label, one.tree, one.dists
    report = bench.report
    pip, uv = (installs.Environment(bench.root, bench.uv, tool, place) for tool in ("pip", "uv"))
    before = {}
    for environment in (pip, uv):
        result = environment.make()
        if not report.check(f"{name}: {environment.tool}: virtual environment", result.problem):
            return
        before[environment.tool] = snapshot.names(environment.place)
        result = environment.install(dists, one.requirement)
        if not report.check(f"{name}: {environment.tool}: install {one.requirement}", result.problem):
            return
    _compare(report, name, pip, uv)
    _expand_and_add(report, one, pip, uv)
    _use(bench, name, tree, plan, pip, uv, one.isas)
    for environment in (pip, uv):
        if tree.mode == "kpack":
            commands.check_device_extras(report, f"{name}: {environment.tool}", environment, dists)
        _uninstall(report, f"{name}: {environment.tool}", environment, before[environment.tool])
        environment.remove()


def _compare(report, name, pip, uv):
    files = [records.installed_files(environment.site) for environment in (pip, uv)]
    report.check(f"{name}: pip and uv install the same ({len(files[0])} entries)", snapshot.difference(*files))
    for environment in (pip, uv):
        errors = records.mismatches(environment.site)
        report.check(f"{name}: {environment.tool}: files match RECORD", errors and some(errors))


def _expand_and_add(report, one, pip, uv):
    """Expand devel, in one environment the hard way; then install more."""
    commands.check_interrupted_init(report, f"{one.label}: uv", uv)
    result = pip.program("rocm-sdk", "init")
    report.check(f"{one.label}: pip: the first rocm-sdk init", result.problem)
    for environment in (pip, uv):
        label = f"{one.label}: {environment.tool}"
        if one.later:
            result = environment.install(one.dists, one.later)
            report.check(f"{label}: install {one.later} when devel is expanded", result.problem)
        result = environment.installer("check")
        report.check(f"{label}: {environment.tool} check", result.problem)


def _use(bench, name, tree, plan, pip, uv, isas):
    report = bench.report
    for environment in (pip, uv):
        label = f"{name}: {environment.tool}"
        loading.check_scripts(report, label, environment, tree)
        commands.check_output(report, label, environment, plan["version"], isas)
        if tree.mode == "kpack":
            commands.check_device_links(report, label, environment, isas)
        foreign = records.unowned(environment.site)
        report.check(f"{label}: after init every file is in a RECORD", foreign and some(foreign))
        commands.check_find_libraries(report, label, environment, plan["version"])
        loading.check_names(report, label, environment)
        commands.check_self_test(report, label, environment, tree)
    commands.check_same_devel(report, name, pip, uv)
    loading.check_libraries(report, name, pip, tree)
    if not tree.full:
        loading.check_forwards(report, name, pip, plan, tree)
        loading.check_stubs(report, name, pip, plan, tree)
        return
    label = f"{name}: with Debian's libraries"
    commands.check_self_test(report, label, pip, tree, bench.extended)
    loading.check_libraries(report, label, pip, tree, bench.extended)
    loading.check_forwards(report, label, pip, plan, tree, bench.extended)
    loading.check_stubs(report, label, pip, plan, tree, bench.extended)
    loading.check_compilers(report, label, pip, bench.extended)


def _uninstall(report, name, environment, before):
    _one_device(report, name, environment)
    for distribution, check in (("rocm-sdk-devel", commands.check_paths_without_devel),
                                ("rocm-sdk-libraries", commands.check_error_without_libraries)):
        names = [one for one in records.distributions(environment.site) if one.startswith(distribution)]
        result = environment.installer("uninstall", *names)
        if report.check(f"{name}: uninstall {distribution}", result.problem):
            check(report, name, environment)
    result = environment.installer("uninstall", *records.distributions(environment.site))
    report.check(f"{name}: uninstall all the rest", result.problem)
    report.check(f"{name}: nothing is left", installs.leftovers(before, environment))


def _one_device(report, name, environment):
    """Check defect 23: the other packages are undamaged after the removal of a device package."""
    devices = [one for one in records.distributions(environment.site) if "-device-" in one]
    if not devices:
        return
    result = environment.installer("uninstall", devices[0])
    report.check(f"{name}: uninstall {devices[0]}", result.problem)
    errors = records.mismatches(environment.site) + records.absent(environment.site)
    report.check(f"{name}: the other packages are whole", errors and some(errors))
    foreign = records.unowned(environment.site)
    report.check(f"{name}: nothing of {devices[0]} is left", foreign and some(foreign))
