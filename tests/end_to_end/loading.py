# SPDX-License-Identifier: MIT
"""Installed packages work: libraries load, programs start, forwarding libraries forward."""

import fnmatch
import json
import os
import shutil
from pathlib import Path

import expectations
from report import some

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
    """Run one of the probes in the root; return its result, or a problem."""
    place = environment.home / "probes"
    shutil.copytree(PROBES, place, dirs_exist_ok=True)
    site = environment.root.inside(environment.site)
    inside = environment.root.inside(place / script)
    result = environment.program("python3", inside, site, *arguments, root=root)
    return result.problem or json.loads(result.out)


def names(report, name, environment, devel=True):
    """Each name that other projects import exists, and has the expected value."""
    answers = _probe(environment, "names.py", "devel" if devel else "plain")
    if report.check(f"{name}: names of others: the probe runs", isinstance(answers, str) and answers):
        for project, error in answers.items():
            report.check(f"{name}: {project}", error)


def libraries(report, name, environment, tree, root=None):
    """Check 6: every shared library of every platform directory loads in its own process."""
    causes = [one for one in (*tree.causes, *tree.alone) if not (root and one.debian)]
    directories = sorted(path.name for path in environment.site.glob("_rocm_*") if path.is_dir())
    for directory in directories:
        answers = _probe(environment, "libraries.py", directory, root=root)
        if report.check(f"{name}: libraries of {directory}: the probe runs", isinstance(answers, str) and answers):
            _judge(report, f"{name}: libraries of {directory}", answers, causes)
            _stale(report, f"{name}: libraries of {directory}", answers, causes)


def _judge(report, name, answers, causes):
    unexpected = 0
    for path, error in answers.items():
        if error is None:
            continue
        cause = next((one for one in causes if _is_listed(path, one) and one.says in error), None)
        if cause is None:
            unexpected += 1
            report.check(f"{name}: {path.partition('/')[2]}", error)
        else:
            report.note(f"expected: {path}: {cause.why}")
    loaded = sum(error is None for error in answers.values())
    report.check(f"{name}: {loaded} of {len(answers)} load", (not loaded or unexpected) and f"{unexpected} fail")


def _is_listed(path, cause):
    return any(fnmatch.fnmatchcase(path.partition("/")[2], pattern) for pattern in cause.libraries)


def _stale(report, name, answers, causes):
    loads = [path for path, error in answers.items() if error is None and any(_is_listed(path, one) for one in causes)]
    report.check(f"{name}: those listed in expectations.py fail", loads and f"these load: {some(loads)}")


def forwards(report, name, environment, plan, tree, root=None):
    """Check 7: forwarding libraries hand out the functions of the library behind them."""
    directories = [one.name for one in environment.site.glob(f"{expectations.LIBRARIES}*") if one.is_dir()]

    def installed(without):
        return {path.replace(expectations.LIBRARIES, directory): function
                for path, function in expectations.FORWARDS.items() for directory in directories or [expectations.LIBRARIES]
                if tree.full or path not in without}

    expected = installed(expectations.FORWARDS_OF_FULL)
    planned = {path for path, _ in _steps(plan, "alias", environment)}
    report.check(f"{name}: forwarding libraries by name", planned != set(expected) and
                 f"planned {sorted(planned)}, expected {sorted(expected)}")
    expected = installed(expectations.FORWARDS_OF_FULL + expectations.FORWARDS_OPENED_IN_FULL)
    answers = _probe(environment, "forwards.py", *(f"{path}={function}" for path, function in expected.items()),
                     root=root)
    if report.check(f"{name}: forwarding libraries: the probe runs", isinstance(answers, str) and answers):
        for path, error in answers.items():
            report.check(f"{name}: dlopen {path} and dlsym {expected[path]}", error)


def _steps(plan, step, environment):
    """Return path and step of the members of that kind in the distributions that are installed."""
    for distribution in plan["distributions"]:
        prefix = distribution["name"].replace("-", "_").lower()
        if any(environment.site.glob(f"{prefix}-*.dist-info")):
            yield from ((one["path"], one) for one in distribution["members"] if one["step"] == step)


def stubs(report, name, environment, plan, tree, root=None):
    """Check 7: exec stubs start their program, and it answers as it does without the stub."""
    planned = {path: step["target"] for path, step in _steps(plan, "stub", environment)}
    absent = [one for one in tree.stubs if not any(path.partition("/")[2] == one for path in planned)]
    report.check(f"{name}: exec stubs by name", absent and f"not there: {some(absent)}")
    answers = _probe(environment, "stubs.py", *(f"{path}={target}" for path, target in planned.items()), root=root)
    if not report.check(f"{name}: exec stubs: the probe runs", isinstance(answers, str) and answers):
        return
    causes = [one for one in tree.causes if not (root and one.debian)]
    for path, error in answers.items():
        cause = next((one for one in causes if path.partition("/")[2] in one.stubs), None)
        if cause is None:
            report.check(f"{name}: exec stub {path}", error)
        elif report.check(f"{name}: exec stub {path} starts its program, which fails as expected",
                          (error is None or cause.says not in error) and f"it says {error}"):
            report.note(f"expected: {path}: {cause.why}")


def scripts(report, name, environment, tree):
    """Check 7: the console scripts correspond to the packaged programs, and to no others."""
    bin_directory = environment.place / "bin"
    foreign = {"pip", "pip3", "rocm-sdk"}
    names = {path.name for path in bin_directory.iterdir() if _is_console_script(path)} - foreign
    names = {one for one in names if not one.startswith("pip3.")}
    problem = names != set(tree.scripts) and (f"absent: {sorted(set(tree.scripts) - names)}, "
                                              f"not expected: {sorted(names - set(tree.scripts))}")
    report.check(f"{name}: console scripts by name ({len(names)})", problem)


def _is_console_script(path):
    if path.is_symlink() or not os.access(path, os.X_OK):
        return False
    with open(path, "rb") as file:
        return file.read(2) == b"#!" and b"import" in file.read(4096)


def compilers(report, name, environment, root):
    """Check 7: clang starts through the console script and through stubs, and finds its headers."""
    result = environment.program("amdclang", "--version", root=root)
    report.check(f"{name}: amdclang --version", result.problem or ("clang version" not in result.out and result.out))
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
        if report.check(f"{name}: {program_name} compiles a C file that includes clang's own headers", problem):
            objects[program_name] = object_file.read_bytes()
    report.check(f"{name}: all of them make the same object", len(set(objects.values())) != 1 and "they differ")
    report.check(f"{name}: the object is x86-64 ELF", any(one[:4] != b"\x7fELF" for one in objects.values()) and "no")
