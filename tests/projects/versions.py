# SPDX-License-Identifier: MIT
"""Wheels of one project for several versions of Python."""

import os
import shutil
import subprocess

from process import PATH
from scenes import digests, unwrapped, wheels

MODULE = '''#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "example_versions", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_example_versions(void) { return PyModule_Create(&module); }
'''
SETUP = '''from setuptools import Extension, setup
setup(name="example-versions", version="1", ext_modules=[Extension("example_versions", ["example_versions.c"])])
'''
LINES = '''
python-project "example-versions" {
    source "versions"
    build-requires "setuptools"
    python %s
    test "{python}" "-c" "import example_versions, sys; print('tested with', sys.version_info[1])"
}
python-project "example-pure" {
    source "pure"
    python %s
}
'''
PROBE = "import sys, sysconfig, os, venv; print(sys.executable, os.path.exists(sysconfig.get_path('include') + '/Python.h'))"


def interpreters(scene):
    """Return the first two versions of Python with `venv` and headers, and a directory with the programs."""
    directory = scene.work / "interpreters"
    directory.mkdir(exist_ok=True)
    versions = []
    for minor in range(9, 16):
        program = shutil.which(f"python3.{minor}", path=f"{PATH}:{os.environ.get('PATH', '')}")
        result = subprocess.run([program, "-c", PROBE], capture_output=True, text=True, check=False) if program else None
        if result and result.returncode == 0 and result.stdout.endswith(" True\n"):
            (directory / f"python3.{minor}").symlink_to(result.stdout.rsplit(" ", 1)[0])
            versions.append(f"3.{minor}")
    return versions[:2], directory


def test_all(scene):
    """Build for available versions, and for an absent one."""
    sources, dest = scene.work / "versions sources", scene.work / "versions"
    files = {"versions/setup.py": SETUP, "versions/example_versions.c": MODULE,
             "pure/setup.py": "from setuptools import setup\nsetup(name='example-pure', version='1', py_modules=[])\n"}
    for name, text in files.items():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        (sources / name).write_text(text, encoding="utf-8")
    versions, directory = interpreters(scene)

    def build(versions, *options):
        quoted = " ".join(f'"{version}"' for version in versions)
        only = ("--only", "example-versions", "--only", "example-pure")
        return scene.build(dest, LINES % (quoted, quoted), *only, *options, sources=sources, env={"PATH": f"{directory}:{PATH}"})

    result = build([*versions, "3.399"])
    messages = ("`python3.399`, required by `example-versions`, does not exist", "from the project's `python` line")
    absent = [words for words in messages if words not in unwrapped(result.err)]
    scene.check("a missing interpreter is an error", f"{absent} not in {result.err}" if absent or result.status != 2 else None)
    scene.check("a missing interpreter is an error before anything is built", f"{dest} is there" if dest.exists() else None)
    if not versions:
        return
    result = build(versions, "--projects", "tests")
    scene.check(f"wheels for Python {' and '.join(versions)} are built and tested", result.problem)
    tags = [f"example_versions-1-cp{version.replace('.', '')}-" for version in versions]
    fine = all(any(name.startswith(tag) for name in wheels(dest)) for tag in tags) and len(wheels(dest)) == len(tags) + 1
    scene.check("each version has a wheel, and a pure project has one for all", None if fine else f"{wheels(dest)}")
    listed = [tag for tag in tags if f"dist/{tag}" not in result.out]
    scene.check("the closing table has the wheels of all versions", f"{listed} not in {result.out}" if listed else None)
    log = dest / "logs/example-versions.tests.log"
    text = log.read_text(encoding="utf-8") if log.is_file() else ""
    tested = all(f"tested with {version.split('.')[1]}" in text for version in versions)
    scene.check("each wheel is tested with the interpreter of its version", None if tested else text)
    before = digests(dest / "dist")
    result = build(versions)
    unchanged = "example-versions: unchanged" in result.err and digests(dest / "dist") == before
    scene.check("an unchanged build builds no wheel again", None if unchanged else result.err)
