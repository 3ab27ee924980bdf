# SPDX-License-Identifier: MIT
"""Installed packages work: libraries load, programs start, forwarding libraries forward."""

import fnmatch
import json
import os
import shutil
from pathlib import Path

import expectations
from report import a_few

PROBES = Path(__file__).parent / "probes"
C_FILE = """#include <stddef.h>
#include <stdint.h>
#include <limits.h>
uint32_t sum(const uint8_t *bytes, size_t count) {
    uint32_t sum = CHAR_BIT;
    while (count--) sum += *bytes++;
    return sum;
}
"""


def _probe(environment, script, *arguments, root=None):
    """Run one of the probes in the root; return its answers and None, or an empty dict and a problem."""
    place = environment.home / "probes"
    shutil.copytree(PROBES, place, dirs_exist_ok=True)
    site = environment.root.inside(environment.site)
    inside = environment.root.inside(place / script)
    result = environment.program("python3", inside, site, *arguments, root=root)
    return ({}, result.problem) if result.problem else (json.loads(result.out), None)


def check_names(report, label, environment, devel=True):
    """Each name that other projects import exists, and has the expected value."""
    answers, problem = _probe(environment, "names.py", "devel" if devel else "plain")
    if report.check(f"{label}: names that other projects import: the probe runs", problem):
        for project, error in answers.items():
            report.check(f"{label}: {project}", error)


def check_libraries(report, label, environment, tree, root=None):
    """Every shared library of every platform directory loads in its own process."""
    causes = [cause for cause in (*tree.causes, *tree.causes_outside_self_test)
              if not (root and cause.works_in_extended_root)]
    directories = sorted(path.name for path in environment.site.glob("_rocm_*") if path.is_dir())
    report.check(f"{label}: platform directories", not directories and "none is installed")
    paths = set()
    for directory in directories:
        answers, problem = _probe(environment, "libraries.py", directory, root=root)
        if report.check(f"{label}: libraries of {directory}: the probe runs", problem):
            _judge(report, f"{label}: libraries of {directory}", answers, causes)
            _stale(report, f"{label}: libraries of {directory}", answers, causes)
            paths |= set(answers)
    unmatched = [pattern for cause in tree.causes_outside_self_test for pattern in cause.libraries
                 if not any(fnmatch.fnmatchcase(path.partition("/")[2], pattern) for path in paths)]
    report.check(f"{label}: each library in expectations.py exists", unmatched and f"these do not: {a_few(unmatched)}")


def _judge(report, name, answers, causes):
    unexpected = 0
    for path, error in answers.items():
        if error is None:
            continue
        cause = next((one for one in causes if _is_listed(path, one) and one.message in error), None)
        if cause is None:
            unexpected += 1
            report.check(f"{name}: {path.partition('/')[2]}", error)
        else:
            report.note(f"expected: {path}: {cause.reason}")
    loaded = sum(error is None for error in answers.values())
    report.check(f"{name}: {loaded} of {len(answers)} load", (not loaded or unexpected) and f"{unexpected} fail")


def _is_listed(path, cause):
    return any(fnmatch.fnmatchcase(path.partition("/")[2], pattern) for pattern in cause.libraries)


def _stale(report, name, answers, causes):
    loads = [path for path, error in answers.items() if error is None and any(_is_listed(path, one) for one in causes)]
    report.check(f"{name}: libraries that expectations.py lists fail to load", loads and f"these load: {a_few(loads)}")


def check_forwards(report, label, environment, plan, tree, root=None):
    """dlsym finds a function of the target in each forwarding library."""
    directories = [one.name for one in environment.site.glob(f"{expectations.LIBRARIES}*") if one.is_dir()]

    def expected_forwards(not_in_small):
        return {path.replace(expectations.LIBRARIES, directory): function
                for path, function in expectations.FORWARDS.items() for directory in directories or [expectations.LIBRARIES]
                if tree.full or path not in not_in_small}

    expected_names = set(expected_forwards(expectations.FORWARDS_ONLY_IN_FULL))
    planned = {path for path, _ in _steps(plan, "alias", environment)}
    report.check(f"{label}: forwarding libraries by name", planned != expected_names and
                 f"planned {sorted(planned)}, expected {sorted(expected_names)}")
    loadable = expected_forwards(expectations.FORWARDS_ONLY_IN_FULL + expectations.FORWARDS_LOADABLE_ONLY_IN_FULL)
    answers, problem = _probe(environment, "forwards.py", *(f"{path}={function}" for path, function in loadable.items()),
                              root=root)
    if report.check(f"{label}: forwarding libraries: the probe runs", problem):
        for path, error in answers.items():
            report.check(f"{label}: dlopen {path} and dlsym {loadable[path]}", error)


def _steps(plan, step, environment):
    """Return path and step of the members of that kind in the distributions that are installed."""
    for distribution in plan["distributions"]:
        prefix = distribution["name"].replace("-", "_").lower()
        if any(environment.site.glob(f"{prefix}-*.dist-info")):
            yield from ((one["path"], one) for one in distribution["members"] if one["step"] == step)


def check_stubs(report, label, environment, plan, tree, root=None):
    """Stubs start their program, and it answers as it does without the stub."""
    planned = {path: step["target"] for path, step in _steps(plan, "stub", environment)}
    required = {*tree.stubs, *(stub for cause in tree.causes for stub in cause.stubs)}
    absent = sorted(required - {path.partition("/")[2] for path in planned})
    report.check(f"{label}: stubs by name", absent and f"not there: {a_few(absent)}")
    answers, problem = _probe(environment, "stubs.py", *(f"{path}={target}" for path, target in planned.items()), root=root)
    if not report.check(f"{label}: stubs: the probe runs", problem):
        return
    causes = [one for one in tree.causes if not (root and one.works_in_extended_root)]
    for path, error in answers.items():
        cause = next((one for one in causes if path.partition("/")[2] in one.stubs), None)
        if cause is None:
            report.check(f"{label}: stub {path}", error)
        elif report.check(f"{label}: stub {path} starts its program, which fails as expected",
                          (error is None or cause.message not in error) and f"it says {error}"):
            report.note(f"expected: {path}: {cause.reason}")


def check_scripts(report, label, environment, tree):
    """The console scripts are the expected ones, and no others."""
    bin_directory = environment.place / "bin"
    foreign = {"pip", "pip3", "rocm-sdk"}
    names = {path.name for path in bin_directory.iterdir() if _is_console_script(path)} - foreign
    names = {one for one in names if not one.startswith("pip3.")}
    problem = names != set(tree.scripts) and (f"absent: {sorted(set(tree.scripts) - names)}, "
                                              f"not expected: {sorted(names - set(tree.scripts))}")
    report.check(f"{label}: console scripts by name ({len(names)})", problem)


def _is_console_script(path):
    if path.is_symlink() or not os.access(path, os.X_OK):
        return False
    with open(path, "rb") as file:
        return file.read(2) == b"#!" and b"import" in file.read(4096)


def check_compilers(report, label, environment, root):
    """clang starts through the console script and through stubs, and finds its headers."""
    result = environment.program("amdclang", "--version", root=root)
    report.check(f"{label}: amdclang --version", result.problem or ("clang version" not in result.out and result.out))
    work = environment.home / "compile"
    work.mkdir()
    source = work / "sum.c"
    source.write_text(C_FILE, "utf-8")
    core = f"{environment.root.inside(environment.site)}/_rocm_sdk_core"
    programs = (environment.inside("bin", "amdclang"), f"{core}/bin/amdclang", f"{core}/lib/llvm/bin/amdclang",
                f"{core}/lib/llvm/bin/clang-22", f"{core}/lib/llvm/bin/amdclang++")
    objects = {}
    for count, program in enumerate(programs):
        object_file = work / f"{count}.o"
        language = ["-x", "c", "-ffreestanding", "-O1"]
        result = environment.run([program, *language, "-c", environment.root.inside(source), "-o",
                                  environment.root.inside(object_file)], root=root)
        problem = result.problem or (not object_file.is_file() and "no object file")
        program_name = program.partition("site-packages/")[2] or "console script amdclang"
        if report.check(f"{label}: {program_name} compiles a C file that includes clang's own headers", problem):
            objects[program_name] = object_file.read_bytes()
    contents = set(objects.values())
    report.check(f"{label}: all of them make the same object",
                 len(contents) != 1 and ("they differ" if contents else "there is none"))
    foreign = [program for program, content in objects.items() if not _is_x86_64_object(content)]
    report.check(f"{label}: the object is x86-64 ELF", (foreign and f"not of {foreign}") or (not objects and "there is none"))


def _is_x86_64_object(content):
    """Return whether the bytes are a 64-bit ELF file for x86-64."""
    return content[:5] == b"\x7fELF\2" and content[18:20] == (62).to_bytes(2, "little")
