# SPDX-License-Identifier: MIT
"""Parts of hip-python 10, and hip-python-interop before it, built by the shipped nodes against an installed tree.

The checkout of version 10 is the sources in PyPI's wheels over the test's skeleton; the built wheels are compared with
PyPI's, file by file. The checkout of version 7 is a stand-in.
"""

import zipfile

from fetch import fetcher, machine
from process import run
from report import NotRun
from sources import write

VERSION = "10.0.0.0.1.2"
PARTS = {"rocm-bindings-core": VERSION, "rocm-bindings-systems": VERSION, "hip-python": VERSION, "numba-hip": "0.2.1"}
CORE_MODULES = ("util/types", "util/posixloader", "util/loader")
# The others of systems need types of ROCm 10, which the headers of Debian and PyPI lack.
SYSTEMS_MODULES = ("cyroctx", "roctx")
LEFT_OUT = {f"rocm/bindings/{name}.so" for name in ("amdsmi", "cyamdsmi", "cyhipfile", "cyrccl", "hipfile", "rccl")}
ROCTX = """const int ROCTX_VERSION_MAJOR = 4, ROCTX_VERSION_MINOR = 1;
typedef unsigned long roctx_range_id_t;
"""

# Renders the files that the node lists: the version of each part.
TOP_CMAKE = """cmake_minimum_required(VERSION 3.18)
project(all LANGUAGES NONE)
foreach(part rocm-bindings-core rocm-bindings-systems hip-python)
  file(WRITE ${CMAKE_CURRENT_SOURCE_DIR}/${part}/VERSION "%s\\n")
endforeach()
""" % VERSION
PART_CMAKE = """cmake_minimum_required(VERSION 3.18)
project(part LANGUAGES C)
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
get_filename_component(core "${CMAKE_CURRENT_SOURCE_DIR}/../rocm-bindings-core/src" ABSOLUTE)
foreach(path %s)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/src/rocm/bindings/${path}.pyx)
  get_filename_component(module ${path} NAME)
  get_filename_component(directory rocm/bindings/${path} DIRECTORY)
  add_custom_command(OUTPUT ${module}.c DEPENDS ${source}
    COMMAND Python::Interpreter -m cython -3 -I ${core} -I ${CMAKE_CURRENT_SOURCE_DIR}/src ${source} -o ${CMAKE_CURRENT_BINARY_DIR}/${module}.c)
  Python_add_library(${module} MODULE WITH_SOABI ${module}.c)
  target_include_directories(${module} PRIVATE $ENV{ROCM_PATH}/include)
  install(TARGETS ${module} LIBRARY DESTINATION ${directory})
endforeach()
"""
SKBUILD = """[build-system]
requires = ["scikit-build-core>=0.11.2", "cython>=3.1.0"]
build-backend = "scikit_build_core.build"
[project]
name = "%s"
dynamic = ["version"]
license = "MIT"
license-files = ["LICENSE"]
dependencies = %s
[tool.scikit-build]
wheel.packages = ["src/rocm"]
metadata.version.provider = "scikit_build_core.metadata.regex"
metadata.version.input = "VERSION"
metadata.version.regex = "(?P<value>.*)"
"""
SYSTEMS = ["rocm-bindings-core~=10.0.0.0", "rocm-bindings-hip~=10.0.0.0"]
NUMBA = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "numba-hip"
version = "0.2.1"
license = "MIT"
license-files = ["LICENSE"]
dependencies = ["numba>=0.58,<0.64", "hip-python-interop>=7.2.3", "rocm-bindings-hip>=7.2.3", "rocm-bindings-compiler>=7.2.3"]
[tool.setuptools.packages.find]
where = ["src"]
"""
META = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "hip-python"
dynamic = ["version"]
license = "MIT"
license-files = ["LICENSE"]
dependencies = ["rocm-bindings-hip~=10.0.0.0", "rocm-bindings-core~=10.0.0.0"]
[tool.setuptools.packages.find]
where = ["src"]
[tool.setuptools.package-data]
"*" = ["*.pxd", "*.pyi", "py.typed"]
[tool.setuptools.dynamic]
version = {file = "VERSION"}
"""
CUDA = {
    "hip-python-as-cuda/pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n',
    "hip-python-as-cuda/setup.cfg": "[metadata]\nname = hip-python-as-cuda\nversion = 7.2.2\n[options]\npackages = cuda\n",
    "hip-python-as-cuda/setup.py": "from setuptools import setup\nsetup()\n",
    "hip-python-as-cuda/cuda/__init__.py": "", "hip-python-as-cuda/cuda/cuda.pyx": "", "hip-python-as-cuda/cuda/_version.py": "",
}


def published(work):
    """Return PyPI's wheels, {name: path}."""
    place = work / "published"
    command = [fetcher(work), "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--python-version", "3.12"]
    result = run([*command, "--platform", "manylinux_2_28_x86_64", "--dest", place, *[f"{name}=={version}" for name, version in PARTS.items()]], work, machine())
    if result.status:
        raise NotRun(f"the wheels of hip-python {VERSION} are not available from PyPI: {result.problem}")
    return {name: next(place.glob(f"{name.replace('-', '_')}-*.whl")) for name in PARTS}


def checkout(sources, wheels):
    """Write the checkout of version 10."""
    hip = sources / "hip-python"
    write(hip, {"packages/CMakeLists.txt": TOP_CMAKE, "packages/hip-python/pyproject.toml": META, "packages/numba-hip/pyproject.toml": NUMBA})
    for name, modules, requires in (("core", CORE_MODULES, []), ("systems", SYSTEMS_MODULES, SYSTEMS)):
        write(hip / f"packages/rocm-bindings-{name}", {
            "CMakeLists.txt": PART_CMAKE % " ".join(modules), "pyproject.toml": SKBUILD % (f"rocm-bindings-{name}", requires)})
    for name, wheel in wheels.items():
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if ".dist-info/" not in member and not member.endswith((".so", "/")):
                    write(hip, {f"packages/{name}/src/{member}": archive.read(member).decode()})
                elif member.endswith("LICENSE"):
                    # numba-hip has a separate version; the other parts get the version of the whole.
                    write(hip, {"packages/numba-hip/LICENSE" if name == "numba-hip" else "LICENSE": archive.read(member).decode()})


def content(wheel):
    """Return the members of a wheel without ABI tags, the contents of those that are not libraries, and the requirements
    without extras.
    """
    names, texts = set(), {}
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if ".dist-info/" in member or member.endswith("/"):
                continue
            plain = member.split(".")[0] + ".so" if member.endswith(".so") else member
            names.add(plain)
            if not member.endswith(".so"):
                texts[plain] = archive.read(member)
        required = {line for line in archive.read(next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))).decode().splitlines()
                    if line.startswith("Requires-Dist") and "extra ==" not in line}
    return names, texts, required


def test_all(scene):
    """Build the parts of version 10, compare them with PyPI's, then build version 7."""
    wheels, sources = published(scene.work), scene.work / "ten sources"
    checkout(sources, wheels)
    tree = scene.work / "ten rocm"
    write(tree, {"include/roctracer/roctx.h": ROCTX, ".info/version": "10.0.0\n"})
    dest = scene.work / "ten"
    only = [word for name in PARTS for word in ("--only", name)]
    result = scene.build(dest, "", *only, artifacts=("--rocm-path", tree), sources=sources)
    scene.check("core, systems, the meta package and numba-hip of hip-python 10 are built by their nodes", result.problem)
    for name, wheel in wheels.items():
        built = next((dest / "dist").glob(f"{name.replace('-', '_')}-{PARTS[name]}-*.whl"), None)
        members, expected = content(built) if built else (set(), {}, set()), content(wheel)
        left_out = LEFT_OUT if name == "rocm-bindings-systems" else set()
        differ = sorted(members[0] ^ (expected[0] - left_out)) + [path for path, text in members[1].items() if expected[1].get(path) != text] + sorted(members[2] ^ expected[2])
        scene.check(f"{name} has the files, sources and requirements of the published wheel", f"{differ}" if differ else None)
    interop(scene)


def interop(scene):
    """Build hip-python-as-cuda of version 7, also under its name on PyPI, hip-python-interop."""
    sources, tree, dest = scene.work / "seven sources", scene.work / "ten rocm", scene.work / "seven"
    write(sources / "hip-python", CUDA)
    write(sources / "hip-python", {"hip-python/pyproject.toml": CUDA["hip-python-as-cuda/pyproject.toml"],
                                   "hip-python/setup.cfg": "[metadata]\nname = hip-python\nversion = 7.2.2\n[options]\npackages = hip\n",
                                   "hip-python/hip/__init__.py": "", "hip-python/hip/hip.pyx": "", "hip-python/hip/_version.py": "",
                                   "hip-python/hip/hip.py": "def hipGetDeviceCount():\n    return 'no device'\n",
                                   "hip-python/hip/hiprtc.pyx": "", "hip-python/hip/hiprtc.py": "def hiprtcVersion():\n    return 9, 0\n",
                                   "examples/test_examples.py": "def test_gpu():\n    raise SystemError('there is no GPU')\n",
                                   "hip-python/hip/chip.pyx": ""})
    only = ("--only", "hip-python", "--only", "hip-python-as-cuda", "--only", "hip-python-interop")
    result = scene.build(dest, "", *only, "--projects", "tests", artifacts=("--rocm-path", tree), sources=sources)
    log = (dest / "logs/hip-python.tests.log").read_text(encoding="utf-8")
    lines = [line for line in log.splitlines() if line in ("(9, 0)", "no device")]
    skipped = "tests of hip-python: 2 passed, 1 skipped" in result.out and "this machine has no /dev/kfd" in result.out
    scene.check("the shipped tests run without the packages of ROCm, up to the missing device", None if lines == ["(9, 0)", "no device"] and skipped else f"{result.out} {log}")
    names = sorted(path.name for path in (dest / "dist").glob("*.whl"))
    expected = [f"{name}-7.2.2-py3-none-any.whl" for name in ("hip_python", "hip_python_as_cuda", "hip_python_interop")]
    scene.check("before version 10, the layer of CUDA's names is built under both names", result.problem or (None if names == expected else f"{names}"))
