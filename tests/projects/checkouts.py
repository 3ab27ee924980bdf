# SPDX-License-Identifier: MIT
"""Checkouts of the bindings: sources from their published wheels, in a skeleton written by the test."""

import shutil
import zipfile

import fewer
import graph
import skeletons
from fetch import fetcher, machine
from process import run
from report import NotRun

ROCM = "7.2.2"
WHEELS = {"hip_python": "hip-python==7.2.2.562.43", "rocm_llvm_python": "rocm-llvm-python==7.2.2.562.46"}
SOURCES = (".py", ".pyx", ".pxd", ".h", "LICENSE")

# Functions that the test calls. Reduced sources keep these and their dependencies.
CALLED = {
    "hip_python": ("hipInit", "hipGetDeviceCount", "hipRuntimeGetVersion", "hipDriverGetVersion", "hipGetErrorString"),
    "rocm_llvm_python": (
        "LLVMContextCreate", "LLVMContextDispose", "LLVMCreateMemoryBufferWithMemoryRangeCopy", "LLVMPrintModuleToString",
        "LLVMGetFirstFunction", "LLVMGetNextFunction", "LLVMGetValueName2", "LLVMDisposeModule"),
}
# Sources that are reduced.
CUT = {
    "hip_python": ("hip/hip.pyx", "hip/hip.pxd", "hip/chip.pyx", "hip/chip.pxd"),
    "rocm_llvm_python": tuple(f"rocm/llvm/c/{part}core.{end}" for part in ("", "c") for end in ("pyx", "pxd")),
}
# Sources whose words are kept, too, because they use functions of the reduced ones.
USERS = {"hip_python": tuple(f"hip/{name}" for name in ("_hip_helpers.pyx", "_hip_helpers.pxd", "hiprtc.pyx", "hiprtc_pyext.py")), "rocm_llvm_python": ()}
# Modules of rocm.llvm that remain in reduced sources.
LLVM_MODULES = ("c.core", "c.types", "c.irreader", "c.datatypes", "c.deprecated", "c.visibility", "c.errorhandling", "config.llvm_config")


def wheels(work):
    """Return the published wheels, {name: path}, downloaded if absent."""
    place = work / "published"
    # The name of the file has the pinned version: another wheel is not taken after a new pin.
    published = {name: f"{name}-{requirement.partition('==')[2]}-*.whl" for name, requirement in WHEELS.items()}
    for name, requirement in WHEELS.items():
        if not list(place.glob(published[name])):
            command = [fetcher(work), "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--python-version", "3.12"]
            result = run([*command, "--platform", "manylinux_2_28_x86_64", "--dest", place, requirement], work, machine())
            if result.status:
                raise NotRun(f"{requirement} is not available from PyPI: {result.problem}")
    return {name: next(place.glob(pattern)) for name, pattern in published.items()}


def read_sources(wheel):
    """Return the sources in a wheel, {path: text}."""
    contents = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(SOURCES):
                path = "LICENSE" if ".dist-info/" in name else name
                contents[path] = archive.read(name).decode()
    return contents


def reduce_sources(name, sources):
    """Reduce sources to the functions that the test calls."""
    called = set(CALLED[name]).union(*(fewer.words(sources[path]) for path in USERS[name]))
    sources.update(fewer.cut({path: sources[path] for path in CUT[name]}, called))
    version = "rocm/llvm/_version.py"
    if version in sources:
        lines = sources[version].splitlines(keepends=True)
        lines_used = [line for line in lines if not line.startswith('  "') or line.strip(' ",\n').removeprefix("rocm.llvm.") in LLVM_MODULES]
        sources[version] = "".join(lines_used)


def make(work, sources, arguments):
    """Write the checkouts below `sources`, each committed on its release branch."""
    shutil.rmtree(sources, ignore_errors=True)
    published = {name: read_sources(wheel) for name, wheel in wheels(work).items()}
    if not arguments.whole:
        for name, originals in published.items():
            reduce_sources(name, originals)
    hip, llvm = sources / "hip-python", sources / "rocm-llvm-python"
    if arguments.checkouts:
        copy_without(arguments.checkouts / "hip-python", hip, "hip-python/hip", "hip-python-as-cuda")
        copy_without(arguments.checkouts / "rocm-llvm-python", llvm, "rocm-llvm-python/rocm")
        graph.write(hip / "hip-python", published["hip_python"])
        graph.write(llvm / "rocm-llvm-python", published["rocm_llvm_python"])
    else:
        write_stand_ins(hip, llvm, published)
    cuda = skeletons.setup("hip-python-as-cuda", "cuda", "HIP_PYTHON_CUDA_LIBS", ["hip-python=={}"])
    version = published["hip_python"]["hip/_version.py"]
    graph.write(hip / "hip-python-as-cuda", {**skeletons.CUDA, **cuda, "cuda/_version.py": version})
    graph.checkouts(sources)
    for name in ("hip-python", "rocm-llvm-python"):
        commit(sources / name, f"release/rocm-rel-{ROCM}")
    for name in ("rocGRAPH", "hipGRAPH"):
        commit(sources / name, "release/1.0.x")


def write_stand_ins(hip, llvm, published):
    """Write hip-python and rocm-llvm-python in skeletons written by the test."""
    project = skeletons.setup("hip-python", "hip", "HIP_PYTHON_LIBS")
    graph.write(hip / "hip-python", {**published["hip_python"], **project, "setup.cfg": skeletons.CONFIG})
    project = skeletons.setup("rocm-llvm-python", "rocm", "ROCM_LLVM_PYTHON_LIBS")
    graph.write(llvm / "rocm-llvm-python", {**published["rocm_llvm_python"], **project, "setup.cfg": skeletons.CONFIG})
    graph.write(llvm / "src", {"Makefile": skeletons.MAKEFILE, "Target.cpp": skeletons.TARGET})


def copy_without(real, place, *without):
    """Copy a real checkout without the sources that replace its own."""
    if not (real / without[0]).is_dir():
        raise NotRun(f"{real} is no checkout of a release branch: it has no {without[0]}")
    shutil.copytree(real, place, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for name in without:
        shutil.rmtree(place / name)


def commit(checkout, branch):
    """Make a checkout of git out of a directory."""
    for words in (["init", "--quiet", f"--initial-branch={branch}"], ["add", "."],
                  ["-c", "user.name=test", "-c", "user.email=test@example.invalid", "commit", "--quiet", "--message=published"]):
        result = run(["git", *words], checkout)
        if result.status:
            raise NotRun(f"git makes no checkout: {result.problem}")
