# SPDX-License-Identifier: MIT
"""What `rocm[device]` stands for: the same for every installer, and nothing where that is not known."""

import json

import records
from machines import CPU, GFX906, GFX942, GFX1100, WISH, machine
from packages import NEW, OLD

WANTED = f"rocm[device]=={OLD}"
SHARED = "devices"  # directory of machines, below the work directory


def devices(site):
    """Return the ISAs whose device packages are installed."""
    prefix = "rocm-sdk-device-"
    return [name.removeprefix(prefix) for name in records.distributions(site) if name.startswith(prefix)]


def choices(bench, python, tool):
    """Each machine and each wish, on a fresh cache."""
    here = bench.work / SHARED
    cases = [
        ("a gfx942", machine(here, GFX942), ["gfx942"]),
        ("a gfx1100", machine(here, GFX1100), ["gfx1100"]),
        ("a gfx1100 and a gfx942", machine(here, GFX1100, GFX942), ["gfx1100", "gfx942"]),
        ("ROCM_SDK_TARGET_FAMILY=gfx1100 on a gfx942", {**machine(here, GFX942), WISH: "gfx1100"}, ["gfx1100"]),
        ("a family in ROCM_SDK_TARGET_FAMILY, and no GPU", {WISH: "gfx94X-dcgpu"}, ["gfx942"]),
        ("an ISA with features in ROCM_SDK_TARGET_FAMILY", {WISH: "gfx942:sramecc+:xnack-"}, ["gfx942"]),
    ]
    for what, settings, expected in cases:
        environment = bench.environment(python, tool)
        done = environment.install(bench.sources[0], WANTED, env=settings)
        found = devices(environment.site)
        problem = done.problem or (found != expected and f"installed is {found}, not {expected}: {done.err}")
        bench.report.check(f"{bench.label(python, tool)}: rocm[device], {what}: {', '.join(expected)}", problem)
        environment.remove()
    for what, settings, word in (("no GPU", machine(here), "no GPU"), ("a GPU without packages", machine(here, GFX906), "gfx906"),
                                 ("a processor alone", machine(here, CPU), "no GPU")):
        _nothing(bench, python, tool, what, settings, word)
    _unknown(bench, python, tool)


def _nothing(bench, python, tool, what, settings, word):
    """No device package, a warning that names the extra, and with -v what to do."""
    environment = bench.environment(python, tool)
    name = f"{bench.label(python, tool)}: rocm[device], {what}"
    done = environment.install(bench.sources[0], WANTED, env=settings)
    found = devices(environment.site)
    bench.report.check(f"{name}: no device package", done.problem or (found and f"installed is {found}"))
    said = done.out + done.err
    warned = "warning" in said.lower() and "extra" in said and "device" in said
    bench.report.check(f"{name}: a warning names the extra", not warned and said)
    environment.remove()
    environment = bench.environment(python, tool)
    done = environment.install(bench.sources[0], "-v", WANTED, env=settings)
    absent = [one for one in (word, WISH, "gfx942, gfx1100", "rocm[device-gfx942]") if one not in done.out + done.err]
    bench.report.check(f"{name}: -v says what to do", absent and f"it does not say {absent}")
    environment.remove()


def _unknown(bench, python, tool):
    environment = bench.environment(python, tool)
    done = environment.install(bench.sources[0], WANTED, env={WISH: "gfx9000"})
    said = " ".join((done.out + done.err).split())
    absent = [one for one in (WISH, "gfx9000", "gfx942, gfx1100") if one not in said]
    problem = (not done.status and "it is installed") or (absent and f"it does not say {absent}: {said}")
    name = f"{bench.label(python, tool)}: an unknown name in ROCM_SDK_TARGET_FAMILY ends the installation, and says why"
    bench.report.check(name, problem)
    environment.remove()


def offload_arch(bench, python, tool):
    """Where the kernel lists nothing, core's own offload-arch is asked, and devel stays as it is."""
    environment, source = bench.environment(python, tool), bench.sources[0]
    name = f"{bench.label(python, tool)}: rocm[device], the GPU known to offload-arch alone"
    done = environment.install(source, "--no-deps", f"rocm-sdk-core=={OLD}", f"rocm-sdk-devel=={OLD}")
    bench.step(f"{name}: core", done)
    program = environment.site / "_rocm_sdk_core/lib/llvm/bin/offload-arch"
    program.unlink()  # it may be a hard link of what is in a cache
    program.write_text("#!/bin/sh\necho gfx1100\n", "utf-8")
    program.chmod(0o755)
    done = environment.install(source, "--no-build-isolation", WANTED)
    found = devices(environment.site)
    bench.report.check(name, done.problem or (found != ["gfx1100"] and f"installed is {found}"))
    expanded = (environment.site / "_rocm_sdk_devel").exists()
    bench.report.check(f"{name}: devel is not expanded for it", expanded and "it is")
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
    done = environment.install(bench.sources[0], f"{user}[all]", env=settings)
    bench.step(f"{name} of a package that refer to its own extras and to rocm[device]", done)
    bench.report.check(f"{name}: those that were asked for are installed", _all_of_user(environment))
    metadata = next(environment.site.glob("rocm-*.dist-info/METADATA")).read_text("utf-8")
    circular = [line for line in metadata.splitlines() if line.startswith("Requires-Dist: rocm[")]
    bench.report.check(f"{name}: none of rocm's requires rocm", circular)
    done = environment.install(bench.sources[0], f"rocm[libraries,device,device-all,devel,profiler]=={NEW}", env=settings)
    bench.step(f"{name}: all of rocm's in one, on top", done)
    bench.report.check(f"{name}: one version of everything", {*records.distributions(environment.site).values()} != {NEW}
                       and records.distributions(environment.site))
    environment.remove()


def _all_of_user(environment):
    found = records.distributions(environment.site)
    expected = {"rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx942", "rocm-sdk-devel"}
    return set(found) != expected and f"installed is {found}"


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
    """`pip download` keeps the selector for the machine that it is installed on."""
    environment = bench.environment(python, pip)
    house = environment.work / "house"
    name = f"{bench.label(python, pip)}: a wheelhouse made by pip download"
    done = environment.installer("download", *bench.sources[0].options, "-d", house, f"rocm[device-all]=={OLD}")
    bench.step(name, done)
    settings = machine(bench.work / SHARED, GFX1100)
    done = environment.installer("install", "--no-index", "--find-links", house, WANTED, env=settings)
    found = devices(environment.site)
    bench.report.check(f"{name} serves a machine with another GPU", done.problem or (found != ["gfx1100"] and found))
    environment.remove()


def report(bench, python, pip):
    """`pip install --dry-run --report` names the choice before anything is installed."""
    environment = bench.environment(python, pip)
    told = environment.work / "report.json"
    settings = machine(bench.work / SHARED, GFX942)
    done = environment.install(bench.sources[0], "--dry-run", "--report", told, WANTED, env=settings)
    names = {one["metadata"]["name"] for one in json.loads(told.read_text("utf-8"))["install"]} if told.exists() else set()
    problem = done.problem or ("rocm-sdk-device-gfx942" not in names and f"it names {sorted(names)}")
    bench.report.check(f"{bench.label(python, pip)}: --dry-run --report names the device package", problem)
    environment.remove()
