# SPDX-License-Identifier: MIT
"""The steps of the test for one artifact tree."""

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
from report import Report, a_few


@dataclass
class Context:
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


def test_tree(context, name):
    """Build, install and use the packages of one tree."""
    report, tree = context.report, expectations.TREES[name]
    place = context.runs / name
    place.mkdir()
    built = place / "built"
    plan = builds.build(report, name, context.rockpack, context.trees[name], built, tree.build)
    if plan is None:
        return
    if not tree.full or context.repeat_full:
        again = place / "again"
        again.mkdir()
        builds.same_again(report, name, context.rockpack, context.trees[name], built, again, tree.build)
        shutil.rmtree(again)
        other = place / "other version"
        other.mkdir()
        builds.promoted(report, name, context.rockpack, context.trees[name], built, other, tree.build)
        shutil.rmtree(other)
    if not tree.full:
        scratch = place / "wrong inputs"
        wrong_inputs.test_all(report, f"{name}: wrong input", context.rockpack, context.trees[name], built, scratch)
        shutil.rmtree(scratch)
    for installation in _installations(name, tree, built):
        _test_installation(context, plan, place, installation)


@dataclass(frozen=True)
class Installation:
    """Packages of a build to install, and their expected results."""

    label: str
    tree: expectations.Tree
    dists: tuple
    isas: tuple
    requirement: str
    second_requirement: str = ""  # installed after the devel tree was expanded


def _installations(name, tree, built):
    dist = built / "dist"
    if tree.mode == "kpack":
        requirement = "rocm[libraries,devel,profiler,device-gfx942]"
        yield Installation(name, tree.of_family(), (dist,), expectations.ISAS, requirement, "rocm[device-all]")
        return
    for family, isas in expectations.FAMILIES.items():
        yield Installation(f"{name}: {family}", tree.of_family(family), (dist / family, dist), isas,
                           "rocm[libraries,devel,profiler]")


def _test_installation(context, plan, place, installation):
    name, tree, dists = installation.label, installation.tree, installation.dists
    report = context.report
    pip, uv = (installs.Environment(context.root, context.uv, tool, place) for tool in ("pip", "uv"))
    before = {}
    for environment in (pip, uv):
        result = environment.make()
        if not report.check(f"{name}: {environment.tool}: virtual environment", result.problem):
            return
        before[environment.tool] = snapshot.names(environment.place)
        result = environment.install(dists, installation.requirement)
        if not report.check(f"{name}: {environment.tool}: install {installation.requirement}", result.problem):
            return
    _compare(report, name, pip, uv)
    _expand_and_add(report, installation, pip, uv)
    _test_use(context, name, tree, plan, pip, uv, installation.isas)
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
        report.check(f"{name}: {environment.tool}: files match RECORD", errors and a_few(errors))


def _expand_and_add(report, installation, pip, uv):
    """Expand the devel tree, with uv after interrupted runs, with pip in one run; then install more packages."""
    commands.check_interrupted_init(report, f"{installation.label}: uv", uv)
    result = pip.program("rocm-sdk", "init")
    report.check(f"{installation.label}: pip: the first rocm-sdk init", result.problem)
    for environment in (pip, uv):
        label = f"{installation.label}: {environment.tool}"
        if installation.second_requirement:
            result = environment.install(installation.dists, installation.second_requirement)
            report.check(f"{label}: install {installation.second_requirement} when devel is expanded", result.problem)
        result = environment.installer("check")
        report.check(f"{label}: {environment.tool} check", result.problem)


def _test_use(context, name, tree, plan, pip, uv, isas):
    report = context.report
    for environment in (pip, uv):
        label = f"{name}: {environment.tool}"
        loading.check_scripts(report, label, environment, tree)
        commands.check_output(report, label, environment, plan["version"], isas)
        if tree.mode == "kpack":
            commands.check_device_links(report, label, environment, isas)
        foreign = records.unowned(environment.site)
        report.check(f"{label}: after init every file is in a RECORD", foreign and a_few(foreign))
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
    commands.check_self_test(report, label, pip, tree, context.extended)
    loading.check_libraries(report, label, pip, tree, context.extended)
    loading.check_forwards(report, label, pip, plan, tree, context.extended)
    loading.check_stubs(report, label, pip, plan, tree, context.extended)
    loading.check_compilers(report, label, pip, context.extended)


def _uninstall(report, name, environment, before):
    _test_device_removal(report, name, environment)
    for distribution, check in (("rocm-sdk-devel", commands.check_paths_without_devel),
                                ("rocm-sdk-libraries", commands.check_error_without_libraries)):
        names = [dist for dist in records.distributions(environment.site) if dist.startswith(distribution)]
        result = environment.installer("uninstall", *names)
        if report.check(f"{name}: uninstall {distribution}", result.problem):
            check(report, name, environment)
    result = environment.installer("uninstall", *records.distributions(environment.site))
    report.check(f"{name}: uninstall all the rest", result.problem)
    report.check(f"{name}: nothing is left", installs.leftovers(before, environment))


def _test_device_removal(report, name, environment):
    """Check that the other packages are undamaged after the removal of a device package."""
    devices = [dist for dist in records.distributions(environment.site) if "-device-" in dist]
    if not devices:
        return
    result = environment.installer("uninstall", devices[0])
    report.check(f"{name}: uninstall {devices[0]}", result.problem)
    errors = records.mismatches(environment.site) + records.absent(environment.site)
    report.check(f"{name}: the other packages are whole", errors and a_few(errors))
    foreign = records.unowned(environment.site)
    report.check(f"{name}: nothing of {devices[0]} is left", foreign and a_few(foreign))
