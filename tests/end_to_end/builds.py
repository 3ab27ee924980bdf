# SPDX-License-Identifier: MIT
"""Builds of packages, and comparison of each result with the plan."""

import json
import os
import shutil

import expectations
from process import run
from report import a_few
from snapshot import difference, sha256

NOBODY = 65534


def rockpack(binary, arguments, cwd, env=None, umask="022", prefix=()):
    """Run rockpack with this umask; `prefix` are words before the command."""
    command = [*prefix, "sh", "-c", f'umask {umask}; exec "$@"', "sh", binary, *arguments]
    return run(command, cwd, env)


def build(report, name, binary, tree, dest, options):
    """Check 1: a build in a fresh directory, and its outputs by name. Returns its plan, or None."""
    arguments = ["--artifact-dir", tree, *options]
    result = rockpack(binary, ["build", *arguments, "-o", dest], dest.parent)
    if not report.check(f"{name}: build", result.problem):
        return None
    plan = rockpack(binary, ["plan", "--json", *arguments], dest.parent)
    if not report.check(f"{name}: plan --json", plan.problem):
        return None
    plan = json.loads(plan.out)
    actual = sorted(path.relative_to(dest).as_posix() for path in dest.rglob("*") if not path.is_dir())
    expected = outputs(expectations.TREES[name].mode, plan["version"], _tags(plan))
    report.check(f"{name}: outputs by name", _differing(expected, actual))
    modes = {oct((dest / path).stat().st_mode & 0o777) for path in actual}
    report.check(f"{name}: outputs can be read by all", modes != {"0o644"} and f"modes are {modes}")
    return plan


def _tags(plan):
    """Return the platform tag of each wheel, by directory and name."""
    def key(one):
        return one["directory"], one["name"].lower().replace("-", "_")

    return {key(one): one.get("platform_tag") or plan["platform_tag"] for one in plan["distributions"]}


def outputs(mode, version, tags):
    """Return the paths of everything that a build of a tree writes."""
    def wheel(distribution, directory="dist"):
        return f"{directory}/{distribution}-{version}-py3-none-{tags.get((directory, distribution))}.whl"

    dist = {wheel(name) for name in ("rocm_sdk_core", "rocm_profiler")}
    dist |= {"dist/SHA256SUMS", "dist/provenance.intoto.json"}
    if mode == "kpack":
        names = ["rocm_sdk_libraries", "rocm_sdk_device", "rocm_sdk_devel"]
        names += [f"rocm_sdk_device_{isa}" for isa in expectations.ISAS]
        return sorted({*dist, f"dist/rocm-{version}.tar.gz", *map(wheel, names)})
    for family in expectations.FAMILIES:
        normalised = family.lower().replace("-", "_")
        dist |= {f"dist/{family}/rocm-{version}.tar.gz", wheel("rocm_sdk_devel", f"dist/{family}"),
                 wheel(f"rocm_sdk_libraries_{normalised}")}
    return sorted(dist)


def _differing(expected, actual):
    absent = [path for path in expected if path not in actual]
    foreign = [path for path in actual if path not in expected]
    differences = [f"not built: {a_few(absent)}"] * bool(absent) + [f"not expected: {a_few(foreign)}"] * bool(foreign)
    return "; ".join(differences)


def same_again(report, name, binary, tree, first, scratch, options):
    """Check 2: other places, user, umask, clock zone, locale and threads, the same bytes."""
    copy, dest = scratch / "other place" / "artefacts-ø", scratch / "elsewhere"
    copy.parent.mkdir(parents=True)
    _copy_in_other_order(tree, copy)
    dest.mkdir()
    os.chown(dest, NOBODY, NOBODY)
    settings = {"TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "HOME": "/nonexistent", "USER": "nobody"}
    nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    arguments = ["build", "--artifact-dir", copy, "-o", ".", "--jobs", "1", *options]
    result = rockpack(binary, arguments, dest, settings, "077", nobody)
    if report.check(f"{name}: build by the user nobody, elsewhere, other umask, zone, locale and --jobs", result.problem):
        report.check(f"{name}: the same sha256 for every output", difference(sums(first), sums(dest)))
    arguments = ["build", "--artifact-dir", tree, "-o", scratch / "again", "--jobs", "5", *options]
    result = rockpack(binary, arguments, "/")
    if report.check(f"{name}: build with --jobs 5", result.problem):
        report.check(f"{name}: the same sha256 with --jobs 5", difference(sums(first), sums(scratch / "again")))


OTHER_VERSION = "99.1.0rc2"


def promoted(report, name, binary, tree, first, scratch, options):
    """Check 3: promoted packages equal the packages that a build of that version makes."""
    words = [word for at, word in enumerate(options) if "--version" not in (word, options[at - 1] if at else "")]
    result = rockpack(binary, ["wheel", "promote", first, "--to", OTHER_VERSION, "-o", scratch / "promoted"], scratch)
    if not report.check(f"{name}: promote", result.problem):
        return
    arguments = ["build", "--artifact-dir", tree, "-o", scratch / "other", *words, "--version", OTHER_VERSION]
    result = rockpack(binary, arguments, scratch)
    if report.check(f"{name}: build of the other version", result.problem):
        pairs = [_packages(sums(scratch / part)) for part in ("other", "promoted")]
        report.check(f"{name}: promoted packages equal built ones", difference(*pairs))


def _packages(digests):
    """Remove the fields that describe how packages were built."""
    return {path: digest for path, digest in digests.items() if path.endswith((".whl", ".tar.gz"))}


def _copy_in_other_order(tree, copy):
    """Copy a tree so that directories list their files in another order, with other times."""
    copy.mkdir()
    for child in sorted(tree.iterdir(), reverse=True):
        shutil.copytree(child, copy / child.name, symlinks=True)
    for count, path in enumerate(copy.rglob("*")):
        os.utime(path, (1_000_000_000 + count, 1_000_000_000 + count), follow_symlinks=False)


def sums(dest):
    """Return {path: SHA-256} of a build's outputs."""
    files = (path for path in sorted(dest.rglob("*")) if path.is_file())
    return {path.relative_to(dest).as_posix(): sha256(path) for path in files}
