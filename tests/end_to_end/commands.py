# SPDX-License-Identifier: MIT
"""The command rocm-sdk: its answers, the expansion of devel, and the self-test."""

import fnmatch
import json
import re
import time

import loading
import snapshot
from process import kill, wait
from report import a_few


def check_output(report, name, environment, version, isas):
    """Standard output of each command is only its answer; wrong usage is an error; init made the devel tree."""
    site = environment.root.inside(environment.site)
    devel = f"{site}/_rocm_sdk_devel"
    expected = {
        ("version",): version,
        ("targets",): ";".join(isas),
        ("path", "--cmake"): f"{devel}/lib/cmake",
        ("path", "--bin"): f"{devel}/bin",
        ("path", "--root"): devel,
        ("init",): "",
        ("init", "--quiet"): "",
    }
    for arguments, answer in expected.items():
        result = environment.program("rocm-sdk", *arguments)
        problem = result.problem or (result.out.rstrip("\n") != answer and f"stdout is {result.out!r}, not {answer!r}")
        if not problem and "--quiet" in arguments and result.err:
            problem = f"it is not quiet: {result.err}"
        report.check(f"{name}: rocm-sdk {' '.join(arguments)}", problem)
    _misuse(report, name, environment)
    for path in ("", "/bin", "/lib/cmake"):
        is_directory = (environment.site / f"_rocm_sdk_devel{path}").is_dir()
        report.check(f"{name}: _rocm_sdk_devel{path} is a directory", not is_directory and "it is missing")


def _misuse(report, name, environment):
    for arguments in (("path",), ("no-such-command",), ()):
        result = environment.program("rocm-sdk", *arguments)
        problem = (result.status != 2 or result.out or "Traceback" in result.err) and f"{result.ending}: {result.out}{result.err}"
        report.check(f"{name}: wrong usage is an error: {' '.join(('rocm-sdk', *arguments))}", problem)


def check_interrupted_init(report, name, environment):
    """An init that is killed does not break the next one, nor do two at once break each other."""
    command = [environment.inside("bin", "rocm-sdk"), "init"]
    unfinished = environment.site / "_rocm_sdk_devel.partial"
    for delay in (0, 0.05, 0.15):
        process = environment.root.start(command, environment.home)
        _wait_for(unfinished, process)
        time.sleep(delay)
        kill(process)
        if delay == 0:
            report.check(f"{name}: a killed rocm-sdk init leaves an unfinished tree", not unfinished.is_dir() and f"no {unfinished.name}")
    processes = [environment.root.start(command, environment.home) for _ in range(2)]
    results = [wait(process) for process in processes]
    problem = next((result.problem for result in results if result.status), None)
    report.check(f"{name}: two rocm-sdk init at once, after three that were killed", problem)


def _wait_for(path, process):
    """Wait until a path exists, or the program ends."""
    while process.poll() is None and not path.exists():
        time.sleep(0.001)


def check_same_devel(report, name, first, second):
    """The devel trees of two environments are equal; one was expanded after interruptions."""
    trees = [snapshot.contents(one.site / "_rocm_sdk_devel") for one in (first, second)]
    clean = [{path: entry for path, entry in tree.items() if "__pycache__/" not in path} for tree in trees]
    # An empty or broken tree equals another one; real ones have thousands of entries.
    problem = snapshot.difference(*clean) or (len(clean[0]) < 100 and f"only {len(clean[0])} entries")
    report.check(f"{name}: the devel trees of pip and uv are identical ({len(clean[0])} entries)", problem)


def check_device_links(report, name, environment, isas):
    """After init the devel tree has every file of every device package."""
    lists = sorted((environment.site / "_rocm_sdk_libraries/.devel_links").glob("*.json"))
    links_of = {path.stem: json.loads(path.read_text("utf-8"))["links"] for path in lists}
    report.check(f"{name}: a list of links for each device package", set(links_of) != set(isas) and f"lists for {sorted(links_of)}, not for {sorted(isas)}")
    devel = environment.site / "_rocm_sdk_devel"
    for isa, links in links_of.items():
        absent = [link["relpath"] for link in links if not (devel / link["relpath"]).is_file()]
        problem = (absent and f"absent: {a_few(absent)}") or (not links and "it lists nothing")
        report.check(f"{name}: the devel tree has the {len(links)} files of {isa}", problem)


def check_self_test(report, name, environment, tree, root=None):
    """rocm-sdk test fails in the listed cases only, each for its listed reason."""
    cases = _cases(environment, root)
    if not report.check(f"{name}: rocm-sdk test reports", isinstance(cases, str) and cases):
        return
    extended = root is not None
    expected = list(_expected_cases(tree, extended))
    failed = {case["name"]: case["reason"] for case in cases if case["status"] == "FAIL"}
    matched = set()
    for case, message in failed.items():
        fits = (fnmatch.fnmatchcase(case, pattern) and cause.matches(message) for pattern, cause in expected)
        index = next((index for index, fit in enumerate(fits) if fit), None)
        if index is None:
            report.check(f"{name}: self-test {case}", message or "it fails without a reason")
        else:
            matched.add(index)
            report.note(f"expected: {case}: {expected[index][1].reason}")
    stale = [pattern for index, (pattern, _) in enumerate(expected) if index not in matched]
    report.check(f"{name}: each case that is expected to fail does", stale and f"these do not: {a_few(stale, 20)}")
    _skips(report, name, cases, tree)
    passed = [case["name"] for case in cases if case["status"] == "ok"]
    kinds = {case.split(":")[0] for case in passed}
    kinds_expected = {"layout", "library", "preload", "script", "devel"}
    missing, unknown = sorted(kinds_expected - kinds), sorted(kinds - kinds_expected)
    problem = (missing and f"no case of these kinds passes: {a_few(missing)}") or (unknown and f"new kinds: {a_few(unknown)}")
    report.check(f"{name}: self-test: {len(passed)} cases pass, {len(failed)} fail", problem)
    _owners(report, name, cases, environment)


def _cases(environment, root):
    """Run the self-test; return its cases, or, as a text, why its report is unusable."""
    place = environment.home / "self-test.json"
    result = environment.program("rocm-sdk", "test", "--json", environment.root.inside(place), root=root)
    if not place.is_file():
        return f"{result.ending}: {result.err or result.out}"
    cases = json.loads(place.read_text("utf-8"))["cases"]
    place.unlink()
    lines = [line for line in result.out.splitlines() if re.match(r"(ok  |FAIL|skip) ", line)]
    if len(lines) != len(cases):
        return f"it prints {len(lines)} cases and reports {len(cases)}"
    any_failed = any(case["status"] == "FAIL" for case in cases)
    return cases if result.status == int(any_failed) else f"{result.ending}, though {'cases failed' if any_failed else 'all passed'}"


def _expected_cases(tree, extended):
    for cause in tree.causes:
        if not (extended and cause.works_in_extended_root):
            yield from ((f"library:*:{path}", cause) for path in cause.libraries)
            yield from ((f"preload:{shortname}", cause) for shortname in cause.preloads)
            yield from ((f"script:{script}", cause) for script in cause.scripts)


def _skips(report, name, cases, tree):
    skipped = [case["name"] for case in cases if case["status"] == "skip"]
    unknown = [case for case in skipped if not any(fnmatch.fnmatchcase(case, one) for one in tree.skipped)]
    stale = [one for one in tree.skipped if not fnmatch.filter(skipped, one)]
    differences = [f"not expected: {a_few(unknown)}"] * bool(unknown) + [f"not skipped: {a_few(stale)}"] * bool(stale)
    report.check(f"{name}: self-test skips the expected cases ({len(skipped)})", "; ".join(differences))


def _owners(report, name, cases, environment):
    """A library's case names the package that lists it in RECORD."""
    owners = {}
    for record in environment.site.glob("rocm_*.dist-info/RECORD"):
        logical = re.match(r"rocm_(?:sdk_)?([a-z]+)", record.parent.name)[1]
        for line in record.read_text("utf-8").splitlines():
            # In legacy mode, each family has a directory: `_rocm_sdk_libraries_FAMILY`.
            if line.startswith(("_rocm_sdk_core/", "_rocm_sdk_libraries", "_rocm_profiler/")):
                owners[line.split("/", 1)[1].rsplit(",", 2)[0]] = logical
    errors = []
    for case in cases:
        kind, _, rest = case["name"].partition(":")
        logical, _, path = rest.partition(":")
        if kind == "library" and owners.get(path) != logical:
            errors.append(f"{case['name']} belongs to {owners.get(path)}")
    report.check(f"{name}: self-test names the package of each library", errors and a_few(errors, 3))


def check_paths_without_devel(report, name, environment):
    """After devel's removal, --root and --bin print core if devel is not required; otherwise --cmake and --root fail, and
    name the extra."""
    core = f"{environment.root.inside(environment.site)}/_rocm_sdk_core"
    for option, answer in (("--root", core), ("--bin", f"{core}/bin")):
        result = environment.program("rocm-sdk", "path", option, "--no-require-devel")
        reported = result.out.rstrip("\n") == answer and "devel" in result.err
        problem = result.problem or (not reported and f"stdout {result.out!r}, stderr {result.err!r}")
        report.check(f"{name}: rocm-sdk path {option} without devel", problem)
    for option in ("--cmake", "--root"):
        result = environment.program("rocm-sdk", "path", option)
        reported = result.status == 1 and not result.out and "[devel]" in result.err and "Traceback" not in result.err
        report.check(f"{name}: rocm-sdk path {option} without devel names the extra",
                     not reported and f"{result.ending}: {result.err}")
    loading.check_names(report, f"{name}: without devel", environment, devel=False)


def check_error_without_libraries(report, name, environment):
    """After the removal of libraries, the error of find_libraries names the extra to install."""
    code = "import rocm_sdk; rocm_sdk.find_libraries('hipblas')"
    result = environment.program("python3", "-c", code)
    lines = result.err.strip().splitlines()[-1:] or [""]
    right = lines[0].startswith("ModuleNotFoundError") and "[libraries]" in lines[0]
    report.check(f"{name}: find_libraries without its package names the extra",
                 not right and f"{result.ending}: {lines[0]}")


def check_find_libraries(report, name, environment, version):
    """The Python interface finds existing libraries, one path each, and has the version of the plan."""
    code = ("import os, rocm_sdk; print(rocm_sdk.__version__); "
            "paths = rocm_sdk.find_libraries('hiprtc', 'rocm-openblas', 'hipdnn'); print(*paths, sep='\\n'); "
            "assert all(map(os.path.isfile, paths)), paths; "
            "rocm_sdk.initialize_process(preload_shortnames=['hiprtc', 'roctx64'], check_version='*')")
    result = environment.program("python3", "-c", code)
    printed_version, *paths = result.out.splitlines() or [""]
    files = [path.rsplit("/", 1)[-1].partition(".so")[0] for path in paths]
    right = files == ["libhiprtc", "librocm-openblas", "libhipdnn_backend"] and printed_version == version
    problem = result.problem or (not right and f"it prints {result.out}, for version {version}")
    report.check(f"{name}: find_libraries and initialize_process", problem)


def check_device_extras(report, name, environment, dists):
    """In kpack mode, each ISA has an extra. `rocm[device]` always requires the same package without device code,
    whatever the machine's GPU or ROCM_SDK_TARGET_FAMILY is."""
    reinstall = "--reinstall" if environment.tool == "uv" else "--force-reinstall"

    def devices(requirement, **settings):
        result = environment.install(dists, requirement, "--dry-run", reinstall, env=settings)
        # Without an ISA, the text after the name is a version, or `==`.
        packages = re.findall(r"rocm.sdk.device(?:.(gfx[0-9a-f]+)|\b)", result.out + result.err)
        return result, set(packages)

    for isa in ("gfx1101", "gfx1100"):
        outcome, choice = devices(f"rocm[device-{isa}]")
        isas = choice - {""}
        report.check(f"{name}: rocm[device-{isa}]", outcome.problem or (isas != {isa} and f"it would install {isas}"))
        outcome, choice = devices("rocm[device]", ROCM_SDK_TARGET_FAMILY=isa)
        report.check(f"{name}: rocm[device] with ROCM_SDK_TARGET_FAMILY={isa}",
                     outcome.problem or (choice != {""} and f"it would install {sorted(choice)}, not rocm-sdk-device"))
