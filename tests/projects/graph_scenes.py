# SPDX-License-Identifier: MIT
"""Native libraries and the projects on top of them, in order; again, and after changes."""

import os
import shutil

import graph
from process import run
from scenes import digests, lines_with

NAMES = ["rocgraph", "hipgraph", "amd-pylibhipgraph", "amd-hipgraph", "amd-nx-hipgraph"]
# The demo has ISAs of two wavefront sizes: the native projects get the ISAs of 64.
OPTIONS = ["--variable", "c-compiler=cc", "--variable", "cxx-compiler=c++"]


def happened(result):
    """Return the started projects, and the unchanged ones."""
    lines = result.err.splitlines()
    started = [name for name in NAMES if f"{name}: started" in lines]
    return started, [name for name in NAMES if f"{name}: unchanged" in lines]


def expect(scene, name, result, started):
    """Check that these and no others were built."""
    actual, unchanged = happened(result)
    expected = [name for name in NAMES if name not in started]
    fine = result.status == 0 and actual == started and unchanged == expected
    scene.check(name, None if fine else f"begun {actual}, as they were {unchanged}: {result.ending}: {result.err}")


def test_all(scene):
    """Build them, install the results, and use them."""
    sources, dest = scene.work / "graph sources", scene.work / "graph"
    graph.checkouts(sources)
    result = scene.build(dest, "", *OPTIONS, sources=sources)
    scene.check("native libraries and their dependents are built", result.problem)
    numbers = lines_with(result.err, *[f"{name}: started" for name in NAMES[:4]])
    scene.check("native libraries are built before their dependents", None if None not in numbers and numbers == sorted(numbers) else f"{numbers} of {result.err}")
    rows = [line.split()[:2] for line in result.out.splitlines()]
    scene.check("the closing table has the native ones", None if ["rocgraph", "-"] in rows else result.out)
    log = (dest / "logs/amd-hipgraph.log").read_text(encoding="utf-8")
    scene.check("hipgraph is built with wheels of others, one of them required from an address", None if "numba-hip-13.1" in log and "amd-hipmm-13.1" in log else log[-500:])
    use(scene, dest, "gfx942 Release")
    again(scene, sources, dest)
    changes(scene, sources, dest)
    by_hand(scene, sources, dest)


def use(scene, dest, expected):
    """Install their wheels into a fresh environment and call them."""
    venv = scene.work / "graph venv"
    run([scene.python, "-m", "venv", venv], scene.work)
    files = sorted((dest / "dist").glob("amd_*.whl"))
    command = [venv / "bin/pip", "install", "--no-index", "--no-cache-dir", "--force-reinstall", *files]
    scene.check("wheels with native libraries install", run(command, scene.work).problem)
    code = "import hipgraph, nx_hipgraph, pylibhipgraph as p; print(p.build(), hipgraph.edges(4), nx_hipgraph.edges(3), nx_hipgraph.VERSION)"
    result = run([venv / "bin/python", "-c", code], scene.work)
    scene.check("wheels with native libraries run without LD_LIBRARY_PATH", None if result.out.strip() == f"{expected} 12 6 1.0.0b1" else f"{result.ending}: {result.out} {result.err}")
    tags = [path.name for path in files if not path.name.endswith(("manylinux_2_17_x86_64.whl", "any.whl")) and "-linux_" in path.name]
    scene.check("wheels with native libraries are tagged for more than this machine", f"{tags}" if tags else None)


def again(scene, sources, dest):
    """Build the same: nothing is done."""
    before = digests(dest / "dist", "*.whl")
    result = scene.build(dest, "", *OPTIONS, sources=sources)
    expect(scene, "built again, nothing is done", result, [])
    scene.check("an unchanged build does not expand the devel tree", "it was expanded" if "devel-tree" in result.err else None)
    scene.check("an unchanged build keeps the wheels", None if digests(dest / "dist", "*.whl") == before else "some changed")


def changes(scene, sources, dest):
    """Change one thing after another."""
    with (sources / "hipGRAPH/hipgraph.c").open("a", encoding="utf-8") as file:
        file.write("/* changed */\n")
    result = scene.build(dest, "", *OPTIONS, sources=sources)
    expect(scene, "after a change, independent projects are unchanged", result, NAMES[1:])
    result = scene.build(dest, "", *OPTIONS, "--projects", "rebuild", "--only", "rocgraph", sources=sources)
    scene.check("--projects rebuild builds unchanged projects", None if happened(result) == (["rocgraph"], []) else f"{result.ending}: {result.err}")
    result = scene.build(dest, "", *OPTIONS, "--only", "rocgraph", sources=sources)
    scene.check("the build after --projects rebuild builds nothing", None if happened(result) == ([], ["rocgraph"]) else f"{result.ending}: {result.err}")
    (dest / "kept/rocgraph/include/rocgraph.h").write_text("damaged", encoding="utf-8")
    result = scene.build(dest, "", *OPTIONS, "--only", "rocgraph", sources=sources)
    scene.check("a changed library is built again", None if happened(result) == (["rocgraph"], []) else f"{result.ending}: {result.err}")
    result = scene.build(dest, "", *OPTIONS, "--variable", "build-type=Debug", sources=sources)
    expect(scene, "another value of a variable reaches all that use it, and no others", result, NAMES[:4])
    use(scene, dest, "gfx942 Debug")


def by_hand(scene, sources, dest):
    """Leave a native checkout out; the caller says where that library is."""
    installed, less = scene.work / "installed", scene.work / "fewer sources"
    shutil.copytree(dest / "kept/rocgraph", installed)
    shutil.copytree(sources / "hipGRAPH", less / "hipGRAPH", symlinks=True)
    shutil.copytree(sources / "wheels", less / "wheels")
    result = scene.build(scene.work / "by hand", "", *OPTIONS, sources=less, env={"rocgraph_ROOT": str(installed), "LD_LIBRARY_PATH": os.fspath(installed / "lib")})
    started, _ = happened(result)
    fine = result.status == 0 and sorted(started) == sorted(NAMES[1:]) and "left out, missing in the sources" in result.err and "`rocgraph`" in result.err
    scene.check("without a library's checkout, the caller's variable says where it is", None if fine else f"{started} {result.ending}: {result.err}")
    result = scene.build(scene.work / "nowhere", "", *OPTIONS, sources=less)
    reported = "building `hipgraph` failed" in result.err and "configuring it ended with exit status: 1" in result.err
    scene.check("without the caller's variable, CMake's error is printed", None if result.status == 1 and reported else f"{result.ending}: {result.err}")
