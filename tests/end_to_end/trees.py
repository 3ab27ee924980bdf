# SPDX-License-Identifier: MIT
"""What the test needs before it can start: artifact trees and Debian roots."""

import os
import re
import shutil

import expectations
from fetch import machine
from process import Root, run
from report import NotRun

def ensure_tree(name, tools, work):
    """Return the artifact tree of that name, made by make-artifacts when it is missing."""
    tree = work / "trees" / name
    if tree.is_dir():
        return tree
    mode, size = name.split("-")
    tree.parent.mkdir(parents=True, exist_ok=True)
    partial = tree.with_name(f"{name}.partial")
    done = run([tools / "make-artifacts", "--out", partial, "--mode", mode, "--size", size,
                "--cache", work / "cache"], work, machine())
    if done.status:
        raise NotRun(f"make-artifacts cannot make {name}: {done.problem}")
    versions = partial.with_name(f"{partial.name}.packages.tsv")
    versions.rename(tree.with_name(f"{name}.packages.tsv"))
    return partial.rename(tree)


def ensure_root(tools, work):
    """Return the Debian root, made by make-root when it is missing."""
    if os.geteuid() != 0:
        raise NotRun("make-root needs root rights")
    root = Root(work / "root", tools, work)
    done = run([tools / "make-root", root.path], work, machine())
    if done.status:
        raise NotRun(f"make-root cannot make a Debian root: {done.problem}")
    done = root.run(["python3", "-c", "import venv, ensurepip"], work / "home")
    if done.status:
        raise NotRun(f"the Debian root does not run Python: {done.problem}")
    return root


def ensure_extended_root(root):
    """Return a copy of the root with the libraries that Debian's ROCm takes from Debian."""
    return ensure_root_with(root, "root-extended", expectations.DEBIAN_PACKAGES)


def ensure_root_with(root, name, patterns):
    """Return a copy of the root that has these packages of Debian (regular expressions) too."""
    extended = Root(root.work / name, root.tools, root.work)
    stamp = extended.path / "extended"
    wanted = " ".join(sorted(patterns))
    if stamp.is_file() and stamp.read_text("utf-8") == wanted:
        return extended
    if extended.path.exists():
        shutil.rmtree(extended.path)
    done = run(["cp", "-a", f"{root.path}/.", extended.path], root.work)
    if done.status:
        raise NotRun(f"the Debian root cannot be copied: {done.problem}")
    _install(extended, wanted.split())
    stamp.write_text(wanted, "utf-8")
    return extended


def _install(root, patterns):
    home = root.work / "home"
    known = root.run(["apt-cache", "pkgnames"], home).out.split()
    packages = [name for name in known if any(re.fullmatch(pattern, name) for pattern in patterns)]
    absent = [one for one in patterns if not any(re.fullmatch(one, name) for name in packages)]
    if absent:
        raise NotRun(f"Debian has no package {', '.join(absent)}")
    command = ["apt-get", "-qy", "--no-install-recommends", "install", *packages]
    done = root.run(command, home, {"DEBIAN_FRONTEND": "noninteractive", **machine()})
    if done.status:
        raise NotRun(f"apt-get cannot install Debian's libraries in the root: {done.problem}")
