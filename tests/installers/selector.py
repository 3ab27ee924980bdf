# SPDX-License-Identifier: MIT
"""Resolution of `rocm[device]`: the same for every installer, on every machine."""

import json

import records
from machines import CPU, GFX906, GFX942, GFX1100, WISH, machine
from packages import NEW, OLD

WANTED = f"rocm[device]=={OLD}"
CHOSEN = {"rocm", "rocm-sdk-core", "rocm-sdk-device"}
SHARED = "devices"  # directory of machines, below the work directory


def devices(site):
    """Return the ISAs of the installed device packages."""
    prefix = "rocm-sdk-device-"
    return [name.removeprefix(prefix) for name in records.distributions(site) if name.startswith(prefix)]


def choices(bench, python, tool):
    """`rocm[device]` is one requirement on every machine, and `rocm[device-ISA]` the package of that ISA."""
    here = bench.work / SHARED
    cases = [
        ("a gfx942", machine(here, GFX942)),
        ("a gfx1100 and a gfx942", machine(here, GFX1100, GFX942)),
        ("ROCM_SDK_TARGET_FAMILY=gfx1100 on a gfx942", {**machine(here, GFX942), WISH: "gfx1100"}),
        ("an unknown name in ROCM_SDK_TARGET_FAMILY", {WISH: "gfx9000"}),
        ("no GPU", machine(here)),
        ("a GPU without packages", machine(here, GFX906)),
        ("a processor alone", machine(here, CPU)),
    ]
    for case, settings in cases:
        environment = bench.environment(python, tool)
        result = environment.install(bench.sources[0], WANTED, env=settings)
        actual = {*records.distributions(environment.site)}
        problem = result.problem or (actual != CHOSEN and f"installed is {sorted(actual)}: {result.err}")
        name = f"{bench.label(python, tool)}: rocm[device], {case}"
        bench.report.check(f"{name}: the small package, and none of a GPU", problem)
        output = result.out + result.err
        bench.report.check(f"{name}: no warning of an extra", "warning" in output.lower() and "extra" in output and output)
        environment.remove()
    for isa in ("gfx942", "gfx1100"):
        environment = bench.environment(python, tool)
        result = environment.install(bench.sources[0], f"rocm[device,device-{isa}]=={OLD}", env=machine(here, GFX906))
        actual = devices(environment.site)
        bench.report.check(f"{bench.label(python, tool)}: rocm[device-{isa}] installs its package",
                           result.problem or (actual != [isa] and f"installed is {actual}"))
        environment.remove()


def extras(bench, python, tool):
    """All extras at once, extras that refer to their own distribution, and none of `rocm` that does."""
    environment = bench.environment(python, tool)
    name = f"{bench.label(python, tool)}: extras"
    user = environment.work / "user"
    user.mkdir()
    (user / "pyproject.toml").write_text(USER, "utf-8")
    (user / "backend.py").write_text(BACKEND, "utf-8")
    settings = machine(bench.work / SHARED, GFX942)
    result = environment.install(bench.sources[0], f"{user}[all]", env=settings)
    bench.step(f"{name} of a package that refer to its own extras and to rocm[device]", result)
    bench.report.check(f"{name}: those that were asked for are installed", _all_of_user(environment))
    metadata = next(environment.site.glob("rocm-*.dist-info/METADATA")).read_text("utf-8")
    circular = [line for line in metadata.splitlines() if line.startswith("Requires-Dist: rocm[")]
    bench.report.check(f"{name}: none of rocm's requires rocm", circular)
    result = environment.install(bench.sources[0], f"rocm[libraries,device,device-all,devel,profiler]=={NEW}", env=settings)
    bench.step(f"{name}: all of rocm's in one, on top", result)
    bench.report.check(f"{name}: one version of everything", {*records.distributions(environment.site).values()} != {NEW}
                       and records.distributions(environment.site))
    environment.remove()


def _all_of_user(environment):
    actual = records.distributions(environment.site)
    expected = {"rocm", "rocm-sdk-core", "rocm-sdk-device", "rocm-sdk-devel"}
    return set(actual) != expected and f"installed is {actual}"


# A package of somebody who uses ROCm. Its backend needs nothing, as nothing can be fetched here.
USER = f"""[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "user"
version = "1"
[project.optional-dependencies]
gpu = ["rocm[device]=={OLD}"]
build = ["rocm[devel]", "user[gpu]"]
all = ["user[gpu,build]", "user[build]"]
"""
BACKEND = f'''
import zipfile

METADATA = """Metadata-Version: 2.4
Name: user
Version: 1
Provides-Extra: gpu
Requires-Dist: rocm[device]=={OLD} ; extra == "gpu"
Provides-Extra: build
Requires-Dist: rocm[devel] ; extra == "build"
Requires-Dist: user[gpu] ; extra == "build"
Provides-Extra: all
Requires-Dist: user[gpu,build] ; extra == "all"
Requires-Dist: user[build] ; extra == "all"
"""
WHEEL = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
RECORD = "user-1.dist-info/METADATA,,\\nuser-1.dist-info/WHEEL,,\\nuser-1.dist-info/RECORD,,\\n"


def build_wheel(directory, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(directory + "/user-1-py3-none-any.whl", "w") as wheel:
        for name, text in (("METADATA", METADATA), ("WHEEL", WHEEL), ("RECORD", RECORD)):
            wheel.writestr("user-1.dist-info/" + name, text)
    return "user-1-py3-none-any.whl"


build_editable = build_wheel
'''


def wheelhouse(bench, python, pip):
    """The files of `pip download` serve machines with any GPU."""
    environment = bench.environment(python, pip)
    house = environment.work / "house"
    name = f"{bench.label(python, pip)}: a wheelhouse made by pip download"
    result = environment.installer("download", *bench.sources[0].options, "-d", house, f"rocm[device,device-all]=={OLD}")
    bench.step(name, result)
    settings = machine(bench.work / SHARED, GFX1100)
    requirement = f"rocm[device,device-gfx1100]=={OLD}"
    result = environment.installer("install", "--no-index", "--find-links", house, requirement, env=settings)
    actual = devices(environment.site)
    bench.report.check(f"{name} serves a machine with another GPU", result.problem or (actual != ["gfx1100"] and actual))
    environment.remove()


def report(bench, python, pip):
    """`pip install --dry-run --report` names all packages before anything is installed."""
    environment = bench.environment(python, pip)
    report = environment.work / "report.json"
    result = environment.install(bench.sources[0], "--dry-run", "--report", report, WANTED)
    names = {one["metadata"]["name"] for one in json.loads(report.read_text("utf-8"))["install"]} if report.exists() else set()
    problem = result.problem or (names != CHOSEN and f"it names {sorted(names)}")
    bench.report.check(f"{bench.label(python, pip)}: --dry-run --report names the packages", problem)
    environment.remove()
