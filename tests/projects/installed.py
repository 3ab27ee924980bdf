# SPDX-License-Identifier: MIT
"""Projects against an installed tree, without artifacts: errors, limits, notes, and incremental builds."""

import json
import os
import shutil
import time
import zipfile

from process import run
from scenes import digests, unwrapped
from sources import write

NAME = "example-pair"
NODE = '''
python-project "example-pair" {
    source "pair" subdirectory="python"
    build-requires "setuptools" "cython<3.1"
    run "{python}" "render.py" if="render.py"
    env "TREE" "{devel}"
    test-requires "rocm-sdk-core"
    test "{python}" "-c" "import example_pair.two as two; print(two.answer())"
    %s
}
'''
MODULE = '''cdef extern from "tree.h":
    int TREE_ANSWER


def answer():
    return TREE_ANSWER + %d
'''
FILES = {
    "render.py": "import pathlib\npathlib.Path('python/example_pair/version.py').write_text('VERSION = 1\\n')\n",
    "python/pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
                             f'[project]\nname = "{NAME}"\nversion = "1.0"\n[tool.setuptools]\npackages = ["example_pair"]\n',
    "python/setup.py": "import os\nfrom Cython.Build import cythonize\nfrom setuptools import Extension, setup\n"
                       "tree = os.environ['TREE']\n"
                       "setup(ext_modules=cythonize([Extension(f'example_pair.{name}', [f'example_pair/{name}.pyx'],\n"
                       "    include_dirs=[f'{tree}/include']) for name in ('one', 'two')]))\n",
    "python/example_pair/__init__.py": "",
    "python/example_pair/one.pyx": MODULE % 1,
    "python/example_pair/two.pyx": MODULE % 2,
}


def tree(directory, answer):
    """Write a stand-in for an installed ROCm."""
    write(directory, {"include/tree.h": f"#define TREE_ANSWER {answer}\n", ".info/version": "7.2.1-43\n", "bin/hipcc": "", "lib/libtree.so.7": ""})


def build(scene, dest, *options, node="", **more):
    """Build without artifacts."""
    return scene.build(dest, NODE % node, *options, artifacts=("--rocm-path", scene.work / "installed rocm"), sources=scene.work / "pair sources", **more)


def imported(scene, dest):
    """Install the wheel without an index, and return the answers of its modules."""
    venv = scene.work / "pair venv"
    run([scene.python, "-m", "venv", venv], scene.work)
    wheel = next((dest / "dist").glob("example_pair-*.whl"))
    result = run([venv / "bin/pip", "install", "--no-index", "--no-cache-dir", "--force-reinstall", wheel], scene.work)
    code = "from example_pair import one, two, version; print(one.answer(), two.answer(), version.VERSION)"
    return result.problem or run([venv / "bin/python", "-c", code], scene.work).out.strip()


def test_all(scene):
    """Build a project against a tree; then repeat a maintainer's usual steps."""
    sources, dest = scene.work / "pair sources", scene.work / "pair"
    write(sources / "pair", FILES)
    tree(scene.work / "installed rocm", 40)
    result = build(scene, dest, "--projects", "tests", env={"TREE": "/nowhere", "CFLAGS": "-O0"})
    scene.check("a project is built against an installed tree, without artifacts, and tested", result.problem)
    answer = imported(scene, dest)
    scene.check("the wheel uses the headers of that tree", None if answer == "41 42 1" else answer)
    other_wheels = [path.name for path in (dest / "dist").iterdir() if path.suffix == ".whl" and "example_pair" not in path.name]
    scene.check("no package of artifacts is built", f"{other_wheels}" if other_wheels else None)
    reported = "the environment variable TREE has no effect on example-pair" in result.err
    scene.check("a variable of the caller without effect is noted", None if reported else result.err)
    text = next((dest / "dist").glob("provenance*.json")).read_text(encoding="utf-8")
    dependencies = json.loads(text)["predicate"]["buildDefinition"]["resolvedDependencies"]
    tools = next(one["annotations"]["tools"] for one in dependencies if one["name"] == f"project/{NAME}")
    scene.check("provenance has the identity of the tree, and no artifacts", None if "devel" in tools and not any(one["name"] == "artifacts" for one in dependencies) else text)
    result = build(scene, dest, env={"CFLAGS": "-O0"})
    scene.check("built again, nothing is done", None if f"{NAME}: unchanged" in result.err else result.err)
    tree(scene.work / "installed rocm", 50)
    result = build(scene, dest, env={"CFLAGS": "-O0"})
    answer = imported(scene, dest)
    scene.check("another header of the tree builds it again", None if f"{NAME}: started" in result.err and answer == "51 52 1" else f"{answer} {result.err}")
    refused(scene)
    complaining(scene, sources, dest)
    limited(scene)
    edited(scene, sources)


def refused(scene):
    """Refuse a package of artifacts, a directory without headers, and a missing checkout, before the build."""
    dest = scene.work / "refused"
    result = scene.build(dest, NODE % "", "--only", "core", artifacts=("--rocm-path", scene.work / "installed rocm"), sources=scene.work / "pair sources")
    scene.check("--only rejects a package of artifacts if there are no artifacts", None if result.status == 2 and "`core` is not a project" in unwrapped(result.err) else result.err)
    result = scene.build(dest, NODE % "", artifacts=("--rocm-path", scene.work / "no such tree"), sources=scene.work / "pair sources")
    scene.check("--rocm-path rejects a directory without headers", None if result.status == 2 and "no headers in" in unwrapped(result.err) else result.err)
    result = scene.build(dest, NODE % "", "--only", "hip-python", artifacts=("--rocm-path", scene.work / "installed rocm"), sources=scene.work / "pair sources")
    reported = "the source of project `hip-python` is missing" in unwrapped(result.err)
    scene.check("a project that --only names must have its checkout", None if result.status == 1 and reported else f"{result.ending}: {result.err}")


def complaining(scene, sources, dest):
    """Break a module: the compiler's line is first, and the command under the log repeats the build elsewhere."""
    broken = sources / "pair/python/example_pair/two.pyx"
    broken.write_text("def answer(:\n    return 1\n", encoding="utf-8")
    result = build(scene, dest, env={"CFLAGS": "-O0 -g"})
    place = f"{broken}:1:"
    log = (dest / f"logs/{NAME}.log").read_text(encoding="utf-8")
    first = log.splitlines()[1]
    scene.check("a log begins with the compiler's line, at its place in the checkout", None if result.status == 1 and first.startswith(place) else log[:1000])
    position = unwrapped(result.err).find(place)
    scene.check("the error begins with the compiler's line", None if position != -1 and "its end is " + place in unwrapped(result.err) else result.err)
    line = log.splitlines()[-1].removeprefix("to build it alone again: ")
    broken.write_text(MODULE % 3, encoding="utf-8")
    # Nothing of the caller but the search path of programs: no CFLAGS, another directory.
    again = run(["sh", "-c", line], "/", {"PATH": os.environ["PATH"], "HOME": str(scene.work / "home"), **_index()})
    wheel = digests(dest / "dist", "example_pair-*.whl")
    scene.check("the command under the log works where it is pasted", again.problem or (None if wheel and "-g" in line and line.startswith("cd ") else line))
    answer = imported(scene, dest)
    scene.check("the pasted command builds the mended project", None if answer == "51 53 1" else answer)


def _index():
    return {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "http", "no_proxy", "NO_PROXY", "REQUESTS"))}


def limited(scene):
    """Check `at-most` with a wheel within the limit and one beyond it."""
    result = build(scene, scene.work / "limited", node='at-most "manylinux_2_17"')
    scene.check("a wheel within its limit passes", result.problem)
    two = scene.work / "pair sources/pair/python/example_pair/two.pyx"
    text = two.read_text(encoding="utf-8")
    # A symbol of glibc 2.25 and newer.
    two.write_text(text + '\ncdef extern from "sys/random.h":\n    int getentropy(void *, size_t)\n\n\ndef a_few():\n'
                   '    cdef char one[1]\n    return getentropy(one, 1)\n', encoding="utf-8")
    result = build(scene, scene.work / "limited", node='at-most "manylinux_2_17"')
    message = unwrapped(result.err)
    words = ('beyond `at-most "manylinux_2_17"`', "getentropy", "GLIBC_2.25")
    fine = result.status == 1 and all(word in message for word in words)
    scene.check("one beyond it fails, with its symbol", None if fine else f"{result.ending}: {result.err}")
    two.write_text(text, encoding="utf-8")


def edited(scene, sources):
    """Change one module after another, with kept work: only that module is compiled."""
    dest, package = scene.work / "edited", sources / "pair/python/example_pair"
    result = build(scene, dest, "--projects", "keep-work")
    scene.check("work is kept", result.problem or (None if (dest / f"work/{NAME}/source").is_dir() else "the work directory is missing"))
    (package / "one.pyx").write_text(MODULE % 7, encoding="utf-8")
    started = time.monotonic()
    result = build(scene, dest, "--projects", "keep-work")
    scene.report.note(f"one module of two again: {time.monotonic() - started:.1f} s")
    log = (dest / f"logs/{NAME}.log").read_text(encoding="utf-8")
    compiled = [name for name in ("one", "two") if f"-c example_pair/{name}.c" in log]
    scene.check("with kept work, one changed module is compiled, and no other", result.problem or (None if compiled == ["one"] and "resuming" in log and "render.py" not in log else log))
    answer = imported(scene, dest)
    scene.check("the wheel has the changed module", None if answer == "57 53 1" else answer)
    (package / "two.pyx").write_text("def answer(:\n", encoding="utf-8")
    result = build(scene, dest, "--projects", "keep-work")
    log = (dest / f"logs/{NAME}.log").read_text(encoding="utf-8")
    scene.check("a failed build resumes kept work, and its log begins with the compiler's line", None if result.status == 1 and "resuming" in log and log.splitlines()[1].startswith(f"{package / 'two.pyx'}:1:") else log)
    (package / "two.pyx").write_text(MODULE % 8, encoding="utf-8")
    result = build(scene, dest, "--projects", "keep-work")
    log = (dest / f"logs/{NAME}.log").read_text(encoding="utf-8")
    answer = imported(scene, dest)
    scene.check("the mended module is built from kept work", None if "resuming" in log and answer == "57 58 1" else f"{answer} {log}")
    write(sources / "pair", {"render.py": FILES["render.py"].replace("= 1", "= 2")})
    result = build(scene, dest, "--projects", "keep-work")
    log = (dest / f"logs/{NAME}.log").read_text(encoding="utf-8")
    answer = imported(scene, dest)
    scene.check("another script of a `run` line discards kept work", None if "resuming" not in log and answer == "57 58 2" else f"{answer} {log}")
    result = build(scene, dest, "--projects", "keep-work,rebuild")
    log = (dest / f"logs/{NAME}.log").read_text(encoding="utf-8")
    scene.check("a rebuild installs its requirements again", result.problem or (log if "resuming" in log or "Installing collected packages" not in log else None))
    result = build(scene, scene.work / "without isolation", "--projects", "keep-work", node="no-isolation")
    remains = (scene.work / f"without isolation/work/{NAME}").exists()
    scene.check("without isolation, no work is kept", result.problem or ("the work directory exists" if remains else None))
    tree(scene.work / "installed rocm", 60)
    result = build(scene, dest, "--projects", "keep-work")
    log = (dest / f"logs/{NAME}.log").read_text(encoding="utf-8")
    answer = imported(scene, dest)
    scene.check("another tree discards kept work", None if "resuming" not in log and answer == "67 68 2" else f"{answer} {log}")
    result = build(scene, dest)
    scene.check("a build without keep-work ignores kept work", None if f"{NAME}: started" in result.err else result.err)
    node = 'env "CC" "{devel}/bin/no-such-compiler"'
    result = build(scene, scene.work / "no compiler", node=node)
    reported = "is built with CC=" in unwrapped(result.err) and "no-such-compiler" in unwrapped(result.err)
    scene.check("a missing compiler is an error before anything is built", None if result.status == 2 and reported and not (scene.work / "no compiler/logs").exists() else f"{result.ending}: {result.err}")
