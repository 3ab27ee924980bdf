# SPDX-License-Identifier: MIT
"""Wrong inputs: each gives one clear error, and leaves the output directory unchanged."""

import json
import shutil
import sys
import time

import snapshot
from builds import NOBODY, rockpack
from process import Result, kill, run, start
from report import a_few

OTHERS_WHEEL = "of another user.whl"

# Runs in a separate mount namespace, so that no other process changes the directory between the two snapshots. $1:
# `read-only`, or the size of a tmpfs. $2: the output directory. $3: its initial content in a tmpfs. $4: the directory of
# the results. Then the command.
IN_NAMESPACE = r"""
set -eu
kind=$1 where=$2 previous=$3 results=$4; shift 4
case $kind in
read-only) mount --bind "$where" "$where"; mount -o remount,bind,ro "$where" ;;
*) mount -t tmpfs -o "size=$kind" none "$where"; cp -a "$previous/." "$where" ;;
esac
PYTHON "$SNAPSHOT" "$where" > "$results/before"
status=0
"$@" > "$results/out" 2> "$results/err" || status=$?
PYTHON "$SNAPSHOT" "$where" > "$results/after"
echo "$status" > "$results/status"
"""


def test_all(report, name, binary, tree, good_output, scratch):
    """Check wrong inputs; `good_output` is the directory of an earlier build."""
    scratch.mkdir()
    previous = scratch / "previous"
    shutil.copytree(good_output, previous, copy_function=shutil.copy2)
    (previous / "dist" / OTHERS_WHEEL).write_bytes(b"PK\x05\x06" + bytes(18))
    (previous / "notes.txt").write_text("not rockpack's\n", "utf-8")
    for fault, artifacts, options, words in _cases(tree, scratch):
        before = snapshot.contents(previous, times=True)
        result = _build(binary, artifacts, previous, options, scratch)
        _check_error(report, f"{name}: {fault}", result, words)
        changed = snapshot.difference(before, snapshot.contents(previous, times=True))
        report.check(f"{name}: {fault}: output directory as it was", changed)
    _new_directory(report, name, binary, tree, scratch)
    _not_writable(report, name, binary, tree, previous, scratch)
    _full_disk(report, name, binary, tree, previous, scratch)
    _killed(report, name, binary, tree, previous, scratch)


def _cases(tree, scratch):
    """Return cases: name, artifact directory, further options, and the words that the error must have."""
    families = "--linux-amdgpu-families"
    nowhere, empty = scratch / "nowhere", scratch / "empty"
    empty.mkdir()
    a_file = scratch / "a file"
    a_file.write_text("no directory\n", "utf-8")
    foreign = scratch / "foreign"
    (foreign / "not an artifact").mkdir(parents=True)
    outside, bare = scratch / "outside", scratch / "bare"
    shutil.copytree(tree, outside, symlinks=True)
    with open(outside / "base_lib_generic" / "artifact_manifest.txt", "a", encoding="utf-8") as manifest:
        manifest.write("base/../../../../etc\n")
    shutil.copytree(tree, bare, symlinks=True)
    (bare / "base_lib_generic" / "artifact_manifest.txt").unlink()
    return [
        ("no such directory", nowhere, [], ["nowhere", "does not exist"]),
        ("a file in place of the directory", a_file, [], ["a file", "is not a directory"]),
        ("an empty directory", empty, [], ["empty", "no artifact"]),
        ("a directory without artifacts", foreign, [], ["foreign", "no artifact"]),
        ("an unknown family", tree, [families, "gfx94Y-dcgpu"], ["gfx94Y-dcgpu", families, "is not a family or ISA"]),
        ("an ISA without artifacts", tree, [families, "gfx90a"], ["gfx90a", "no artifact is for it"]),
        ("a manifest line with ..", outside, [], ["base/../../../../etc", "artifact_manifest.txt"]),
        ("an artifact without a manifest", bare, [], ["`base_lib_generic` has no artifact_manifest.txt"]),
        ("a version that is not PEP 440", tree, ["--version", "7.x-final"], ["--version", "7.x-final", "PEP 440"]),
        ("an unknown package", tree, ["--only", "coer"], ["coer", "unknown package"]),
    ]


def _build(binary, artifacts, dest, options, cwd):
    return rockpack(binary, ["build", "--artifact-dir", artifacts, "-o", dest, *options], cwd)


def _check_error(report, name, result, words):
    text = " ".join(result.err.replace("│", " ").split())
    squeezed = text.replace(" ", "")  # long paths are broken over lines
    missing = [word for word in words if word.replace(" ", "") not in squeezed]
    problem = None
    if result.status not in (1, 2):
        problem = f"{result.ending}: {result.err}"
    elif (count := text.count("×") + text.count("error: ")) != 1 or "panicked" in text:
        problem = f"{count} errors are shown: {result.err}"
    elif missing:
        problem = f"the error does not name {missing}: {result.err}"
    elif result.out:
        problem = f"there is something on stdout: {result.out}"
    report.check(name, problem)


def _new_directory(report, name, binary, tree, scratch):
    dest = scratch / "not made yet"
    result = _build(binary, tree, dest, ["--version", "seven"], scratch)
    _check_error(report, f"{name}: wrong version, and no output directory yet", result, ["--version", "seven", "PEP 440"])
    report.check(f"{name}: no output directory is made", dest.exists() and "it was made")


def _not_writable(report, name, binary, tree, previous, scratch):
    # The mount keeps the directory unchanged: only the error is checked.
    result, _ = _in_namespace("read-only", previous, previous, _command(binary, tree, previous), scratch)
    _check_error(report, f"{name}: a read-only output directory", result, ["previous", "is on a read-only file system"])
    before = snapshot.contents(previous, times=True)
    nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    result = run([*nobody, *_command(binary, tree, previous)], scratch)
    _check_error(report, f"{name}: another user's output directory", result, ["previous", "permission"])
    changed = snapshot.difference(before, snapshot.contents(previous, times=True))
    report.check(f"{name}: another user's output directory: as it was", changed)


def _full_disk(report, name, binary, tree, previous, scratch):
    full = scratch / "full"
    full.mkdir()
    used = sum(path.stat().st_size for path in previous.rglob("*") if path.is_file())
    room = used + (4 << 20)  # too little for a second build
    result, changed = _in_namespace(str(room), full, previous, _command(binary, tree, full), scratch)
    _check_error(report, f"{name}: a full disk", result, ["the disk of", "full is full"])
    report.check(f"{name}: a full disk: as it was", changed)


def _killed(report, name, binary, tree, previous, scratch):
    """Check that a killed build leaves the old packages, and that the next build replaces them."""
    dist = previous / "dist"
    before = snapshot.contents(dist, times=True)
    old = [path for path in snapshot.names(dist) if path.endswith((".whl", ".tar.gz")) and path != OTHERS_WHEEL]
    alive = 0
    command = [str(binary), "build", "--artifact-dir", str(tree), "-o", str(previous)]
    for delay in (0.1, 0.4, 0.8, 1.6):
        process = start([*command, "--version", "99"], scratch)
        time.sleep(delay)
        alive += process.poll() is None
        kill(process)
        if process.returncode == 0:
            break  # it finished before the kill, so dist has its packages
        changed = snapshot.difference(before, snapshot.contents(dist, times=True))
        if changed:
            # It was killed while it installed its packages: the next command, such as verify, undoes or completes that.
            rockpack(binary, ["wheel", "verify", str(dist)], scratch)
            changed = snapshot.difference(before, snapshot.contents(dist, times=True))
            if changed and any("-99" in path for path in snapshot.names(dist)):
                report.check(f"{name}: killed after {delay} s: all packages are new", _mixture(old, snapshot.names(dist)))
                break
        report.check(f"{name}: killed after {delay} s: packages as they were", changed)
    report.check(f"{name}: a build is killed while it runs", not alive and "each was done by then")
    result = rockpack(binary, [*command[1:], "--version", "100"], scratch)
    report.check(f"{name}: the next build after a killed one", result.problem)
    others = [path for path in snapshot.names(previous) if not path.endswith("/") and "-100-" not in path and
              "-100.tar.gz" not in path]
    expected = sorted(["dist/SHA256SUMS", f"dist/{OTHERS_WHEEL}", "dist/provenance.intoto.json", "notes.txt"])
    report.check(f"{name}: the next build leaves its own packages and other people's files", others != expected and
                 f"the other files are {others}, expected {expected}")


def _mixture(old, names):
    """Describe a directory with packages of two builds, or with a part of the packages of version 99; or return None."""
    new = [path for path in names if "-99-" in path or path.endswith("-99.tar.gz")]
    left = [path for path in old if path in names]
    return f"old packages {a_few(left)} and new ones {a_few(new)}" if left or len(new) != len(old) else None


def _command(binary, tree, dest):
    # Without compression, so that the output does not fit on the full disk.
    return [str(binary), "build", "--artifact-dir", str(tree), "-o", str(dest), "--compression", "store"]


def _in_namespace(kind, where, previous, command, scratch):
    results = scratch / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    script = IN_NAMESPACE.replace("PYTHON", sys.executable)
    done = run(["unshare", "--mount", "sh", "-c", script, "sh", kind, where, previous, results, *command],
               scratch, {"SNAPSHOT": snapshot.__file__})
    if done.status:
        raise RuntimeError(f"the script in the mount namespace failed: {done.err}")
    before, after = (json.loads((results / one).read_text("utf-8")) for one in ("before", "after"))
    out, err = ((results / one).read_text("utf-8") for one in ("out", "err"))
    result = Result(tuple(command), int((results / "status").read_text("utf-8")), out, err)
    return result, snapshot.difference(before, after)
