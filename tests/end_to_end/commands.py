# SPDX-License-Identifier: MIT
"""The command rocm-sdk: its answers, the expansion of devel, and the self-test."""

import fnmatch
import json
import re
import time

import loading
import snapshot
from process import kill, wait
from report import some


def answers(report, name, environment, version, isas):
    """Check 4: each command's standard output is its answer and nothing else."""
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


def interrupted(report, name, environment):
    """Check defects 25 and 35: an init that is killed, then two at once."""
    command = [environment.inside("bin", "rocm-sdk"), "init"]
    for delay in (0.05, 0.15, 0.3):
        process = environment.root.start(command, environment.home)
        time.sleep(delay)
        kill(process)
    processes = [environment.root.start(command, environment.home) for _ in range(2)]
    results = [wait(process) for process in processes]
    problem = next((result.problem for result in results if result.status), None)
    report.check(f"{name}: two rocm-sdk init at once, after three that were killed", problem)


def same_devel(report, name, first, second):
    """Compare the devel trees of two environments, whichever way they were expanded."""
    trees = [snapshot.contents(one.site / "_rocm_sdk_devel") for one in (first, second)]
    clean = [{path: entry for path, entry in tree.items() if "__pycache__/" not in path} for tree in trees]
    problem = snapshot.difference(*clean) or (len(clean[0]) < 100 and f"only {len(clean[0])} files")
    report.check(f"{name}: the devel trees of pip and uv are identical ({len(clean[0])} entries)", problem)


def device_links(report, name, environment, isas):
    """After init the devel tree has every file of every device package."""
    lists = sorted((environment.site / "_rocm_sdk_libraries/.devel_links").glob("*.json"))
    links_of = {path.stem: json.loads(path.read_text("utf-8"))["links"] for path in lists}
    report.check(f"{name}: a list of links for each device package", set(links_of) != set(isas) and f"of {sorted(links_of)}")
    devel = environment.site / "_rocm_sdk_devel"
    for isa, links in links_of.items():
        absent = [link["relpath"] for link in links if not (devel / link["relpath"]).is_file()]
        problem = (absent and f"absent: {some(absent)}") or (not links and "it lists nothing")
        report.check(f"{name}: the devel tree has the {len(links)} files of {isa}", problem)


def self_test(report, name, environment, tree, root=None):
    """Check 5: rocm-sdk test fails exactly where it is expected to, and for that reason."""
    cases = _cases(environment, root)
    if not report.check(f"{name}: rocm-sdk test reports", isinstance(cases, str) and cases):
        return
    extended = root is not None
    expected = list(_expected_cases(tree, extended))
    failed = {case["name"]: case["reason"] for case in cases if case["status"] == "FAIL"}
    met = set()
    for case, reason in failed.items():
        listed = next((one for one in expected if fnmatch.fnmatchcase(case, one[0]) and one[1].is_told_in(reason)), None)
        if listed is None:
            report.check(f"{name}: self-test {case}", reason)
        else:
            met.add(listed[0])
            report.note(f"expected: {case}: {listed[1].why}")
    stale = [pattern for pattern, _ in expected if pattern not in met]
    report.check(f"{name}: each case that is expected to fail does", stale and f"these do not: {some(stale, 20)}")
    _skips(report, name, cases, tree)
    passed = [case["name"] for case in cases if case["status"] == "ok"]
    kinds = {case.split(":")[0] for case in passed}
    kinds_expected = {"layout", "library", "preload", "script", "devel"}
    report.check(f"{name}: self-test: {len(passed)} cases pass, {len(failed)} fail", kinds != kinds_expected and
                 f"none passes of {some(kinds_expected - kinds)}")
    _owners(report, name, cases, environment)


def _cases(environment, root):
    """Run the self-test; return its cases, or the error of its report."""
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
    return cases if result.status == any_failed else f"{result.ending}, though cases {'failed' * any_failed or 'passed'}"


def _expected_cases(tree, extended):
    for cause in tree.causes:
        if not (extended and cause.debian):
            yield from ((f"library:*:{path}", cause) for path in cause.libraries)
            yield from ((f"preload:{shortname}", cause) for shortname in cause.preloads)
            yield from ((f"script:{script}", cause) for script in cause.scripts)


def _skips(report, name, cases, tree):
    skipped = [case["name"] for case in cases if case["status"] == "skip"]
    unknown = [case for case in skipped if not any(fnmatch.fnmatchcase(case, one) for one in tree.skipped)]
    stale = [one for one in tree.skipped if not fnmatch.filter(skipped, one)]
    differences = [f"not expected: {some(unknown)}"] * bool(unknown) + [f"not skipped: {some(stale)}"] * bool(stale)
    report.check(f"{name}: self-test skips the expected cases ({len(skipped)})", "; ".join(differences))


def _owners(report, name, cases, environment):
    """A library's case names the package that lists it in RECORD."""
    owners = {}
    for record in environment.site.glob("rocm_*.dist-info/RECORD"):
        logical = re.match(r"rocm_(?:sdk_)?([a-z]+)", record.parent.name)[1]
        for line in record.read_text("utf-8").splitlines():
            if line.startswith(("_rocm_sdk_core/", "_rocm_sdk_libraries", "_rocm_profiler/")):
                owners[line.split("/", 1)[1].rsplit(",", 2)[0]] = logical
    errors = []
    for case in cases:
        kind, _, rest = case["name"].partition(":")
        logical, _, path = rest.partition(":")
        if kind == "library" and owners.get(path) != logical:
            errors.append(f"{case['name']} belongs to {owners.get(path)}")
    report.check(f"{name}: self-test names the package of each library", errors and some(errors, 3))


def without_devel(report, name, environment):
    """Check defect 32 after devel's removal: --root and --bin print core if devel is not required."""
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
    loading.names(report, f"{name}: without devel", environment, devel=False)


def without_libraries(report, name, environment):
    """Check defect 30 after libraries' removal: the error names the extra to install."""
    code = "import rocm_sdk; rocm_sdk.find_libraries('hipblas')"
    result = environment.program("python3", "-c", code)
    lines = result.err.strip().splitlines()[-1:] or [""]
    right = lines[0].startswith("ModuleNotFoundError") and "[libraries]" in lines[0]
    report.check(f"{name}: find_libraries without its package names the extra",
                 not right and f"{result.ending}: {lines[0]}")


def found_libraries(report, name, environment):
    """The Python interface finds real libraries, one path each, and says its version."""
    code = ("import rocm_sdk; print(rocm_sdk.__version__); "
            "print(*rocm_sdk.find_libraries('hiprtc', 'rocm-openblas', 'hipdnn'), sep='\\n'); "
            "rocm_sdk.initialize_process(preload_shortnames=['hiprtc', 'roctx64'], check_version='*')")
    result = environment.program("python3", "-c", code)
    paths = [line.rsplit("/", 1)[-1] for line in result.out.splitlines()[1:]]
    right = [path.partition(".so")[0] for path in paths] == ["libhiprtc", "librocm-openblas", "libhipdnn_backend"]
    problem = result.problem or (not right and f"it finds {result.out}")
    report.check(f"{name}: find_libraries and initialize_process", problem)


def targets(report, name, environment, dists):
    """Check defects 26 and 27 in kpack mode: each ISA has an extra, and `device` is one requirement for all machines."""
    anew = "--reinstall" if environment.tool == "uv" else "--force-reinstall"

    def devices(requirement, **settings):
        result = environment.install(dists, requirement, "--dry-run", anew, env=settings)
        return result, set(re.findall(r"rocm.sdk.device.(gfx[0-9a-f]+)", result.out + result.err))

    for isa in ("gfx1101", "gfx1100"):
        outcome, choice = devices(f"rocm[device-{isa}]")
        report.check(f"{name}: rocm[device-{isa}]", outcome.problem or (choice != {isa} and f"it would install {choice}"))
        outcome, choice = devices("rocm[device]", ROCM_SDK_TARGET_FAMILY=isa)
        report.check(f"{name}: rocm[device] where {isa} is asked for", outcome.problem or (choice and f"it would install {choice}"))
