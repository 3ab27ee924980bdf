# SPDX-License-Identifier: MIT
"""Artifact trees of Debian's ROCm, and Debian roots in which such binaries run."""

import os
import platform
import shutil

from fetch import machine
from process import Root, run
from report import NotRun

# Debian packages that builds of extensions need.
BUILD_PACKAGES = ("cmake", "g++", "hipcc", "ninja-build", "python3-dev")


def _require(tool):
    if not tool.is_file():
        raise NotRun(f"{tool.parent} has no {tool.name}: give its directory with --tools")


def ensure_tree(name, tools, work):
    """Return the artifact tree `name` (MODE-SIZE, such as kpack-small); make-artifacts makes it if it is missing."""
    tree = work / "trees" / name
    if tree.is_dir():
        return tree
    _require(tools / "make-artifacts")
    mode, size = name.split("-")
    tree.parent.mkdir(parents=True, exist_ok=True)
    partial = tree.with_name(f"{name}.partial")
    # Files that a killed run left would mix with those of the new tree.
    shutil.rmtree(partial, ignore_errors=True)
    result = run([tools / "make-artifacts", "--out", partial, "--mode", mode, "--size", size,
                  "--cache", work / "cache"], work, machine())
    if result.status:
        raise NotRun(f"make-artifacts cannot make {name}: {result.problem}")
    versions = partial.with_name(f"{partial.name}.packages.tsv")
    versions.rename(tree.with_name(f"{name}.packages.tsv"))
    return partial.rename(tree)


def ensure_root(tools, work):
    """Return the Debian root, made by make-root if it is missing."""
    if os.geteuid() != 0:
        raise NotRun("make-root needs root rights: run the test as root")
    if platform.machine() != "x86_64":
        raise NotRun("Debian's ROCm is for x86_64")
    _require(tools / "make-root")
    root = Root(work / "root", tools, work)
    result = run([tools / "make-root", root.path], work, machine())
    if result.status:
        raise NotRun(f"make-root cannot make a Debian root: {result.problem}")
    result = root.run(["python3", "-c", "import venv, ensurepip"], work / "home")
    if result.status:
        raise NotRun(f"the Debian root does not run Python: {result.problem}")
    return root


def ensure_copy(root, name, packages):
    """Return a copy of a root with more Debian packages. It is made again if it was made with other packages."""
    copy = Root(root.work / name, root.tools, root.work)
    names = " ".join(sorted(packages))
    stamp = copy.path / "installed"
    if stamp.is_file() and stamp.read_text("utf-8") == names:
        return copy
    if copy.path.exists():
        shutil.rmtree(copy.path)
    result = run(["cp", "-a", f"{root.path}/.", copy.path], root.work)
    if result.status:
        raise NotRun(f"the Debian root cannot be copied: {result.problem}")
    # The package lists of the root can be out of date: a failed installation updates them, and is tried again.
    install = "apt-get -qy --no-install-recommends install"
    command = ["sh", "-c", f'{install} "$@" || {{ apt-get -q update && {install} "$@"; }}', "sh", *packages]
    result = copy.run(command, root.work / "home", {"DEBIAN_FRONTEND": "noninteractive", **machine()})
    if result.status:
        raise NotRun(f"apt-get cannot install {names} in the root: {result.problem}")
    stamp.write_text(names, "utf-8")
    return copy
