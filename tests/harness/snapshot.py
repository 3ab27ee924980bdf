# SPDX-License-Identifier: MIT
"""Snapshot of a directory, to compare two moments or two directories.

As a program: prints the snapshot of its argument, a directory, as JSON.
"""

import hashlib
import json
import os
import stat
import sys


def names(root):
    """Return every path below `root`, relative, sorted; directories end in `/`.

    Fails for an unreadable directory: two snapshots without its files would be equal.
    """
    def fail(error):
        raise error

    entries = []
    for directory, subdirectories, files in os.walk(root, onerror=fail):
        here = os.path.relpath(directory, root)
        links = [name for name in subdirectories if os.path.islink(os.path.join(directory, name))]
        entries += [os.path.normpath(os.path.join(here, name)) for name in files + links]
        entries += [os.path.normpath(os.path.join(here, name)) + "/" for name in subdirectories if name not in links]
    return sorted(entries)


def contents(root, times=False):
    """Return {path: kind, mode and content} of everything below `root`; with `times`, files also have their times."""
    return {name: _describe(os.path.join(root, name), times) for name in names(root)}


def _describe(path, times):
    path = path.rstrip("/")
    status = os.lstat(path)
    mode = oct(stat.S_IMODE(status.st_mode))
    if stat.S_ISLNK(status.st_mode):
        return f"link to {os.readlink(path)}"
    if stat.S_ISDIR(status.st_mode):
        return f"directory {mode}"
    if not stat.S_ISREG(status.st_mode):
        return f"special file {oct(status.st_mode)}"  # reading a pipe would wait for a writer
    return f"file {mode} {sha256(path)}" + (f" {status.st_mtime_ns}" if times else "")


def sha256(path):
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


# Differences in a description; the others are only counted.
SHOWN = 8


def difference(before, after):
    """Describe the first differences of two snapshots; empty if they are equal."""
    differences = [f"gone: {name}" for name in before if name not in after]
    differences += [f"new: {name}" for name in after if name not in before]
    differences += [f"changed: {name} ({before[name]} -> {after[name]})"
                    for name in before if name in after and before[name] != after[name]]
    more = f"; {len(differences) - SHOWN} more" if len(differences) > SHOWN else ""
    return "; ".join(differences[:SHOWN]) + more


if __name__ == "__main__":
    json.dump(contents(sys.argv[1], times=True), sys.stdout)
