# SPDX-License-Identifier: MIT
"""The interpreters that there are: on this machine, and in a Debian root."""

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from process import run

FIRST = (3, 10)
# The pip bundled with the first release of each Python: the oldest in use.
OLDEST_PIP = {(3, 10): "21.2.4", (3, 11): "22.3", (3, 12): "23.2.1", (3, 13): "24.2", (3, 14): "25.2"}

PROBE = """
import json, sys, venv
print(json.dumps({"version": sys.version_info[:3], "executable": sys.executable,
                  "base": sys.prefix == sys.base_prefix}))
"""

# $1 the root, $2 a directory that is to be in the root under its own name, then the command.
IN_ROOT = """
root=$1 work=$2; shift 2
mkdir -p "$root$work"
mount --bind "$work" "$root$work"; mount --rbind /proc "$root/proc"; mount --rbind /dev "$root/dev"
here=$PWD; exec chroot "$root" /usr/bin/env -C "$here" "$@"
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python; with `root`, a Python in that root, where `work` has the same path as here."""

    path: str
    version: tuple
    root: Path | None = None
    work: Path | None = None

    @property
    def label(self):
        """The minor version, such as 3.12."""
        return f"{self.version[0]}.{self.version[1]}"

    @property
    def full(self):
        """The whole version, and where it is."""
        where = f"{self.path} in {self.root}" if self.root else self.path
        return f"{'.'.join(map(str, self.version))} ({where})"

    @property
    def oldest_pip(self):
        """The pip that the first release of this Python came with; None where that is not known."""
        return OLDEST_PIP.get(self.version[:2])

    def command(self, words):
        """Return the command by which a program of this interpreter's machine is started."""
        if self.root is None:
            return list(words)
        return ["unshare", "--mount", "sh", "-euc", IN_ROOT, "sh", self.root, self.work, *words]


def newest_of_each_minor(interpreters, root, work):
    """Return the newest interpreter of each minor version, in order; the given ones first."""
    machine = [_probe(path) for path in (*interpreters, *_candidates())]
    inside = [_probe("/usr/bin/python3", root, work)] if root else []
    best = {}
    for one in [one for one in (*machine, *inside) if one and one.version[:2] >= FIRST]:
        if one.version[:2] not in best:
            best[one.version[:2]] = one
    return [best[key] for key in sorted(best)]


def sample(interpreters):
    """Return the oldest and the newest one of this machine itself, and the one in the root."""
    host = [one for one in interpreters if one.root is None]
    return list(dict.fromkeys([*host[:1], *host[-1:], *(one for one in interpreters if one.root)]))


def absent(interpreters):
    """Return the minor versions that are tested elsewhere, and which this machine does not have."""
    versions = {one.version[:2] for one in interpreters}
    return [f"{major}.{minor}" for major, minor in OLDEST_PIP if (major, minor) not in versions]


def _candidates():
    names = [f"python3.{minor}" for minor in range(FIRST[1], FIRST[1] + 20)]
    yield from filter(None, map(shutil.which, names))
    yield sys.executable
    managed = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for directory in (managed, Path("/opt/python"), Path.home() / ".local/share/uv/python"):
        yield from sorted(directory.glob("*3.*/bin/python3"), reverse=True)


def _probe(path, root=None, work=None):
    """Return the interpreter at `path` if it can make virtual environments, otherwise None."""
    one = Interpreter(str(path), (), root, work)
    try:
        result = run(one.command([path, "-c", PROBE]), work or "/")
    except OSError:
        return None
    if result.status:
        return None
    answer = json.loads(result.out)
    # The real file, because a shim chooses its interpreter by the directory.
    return Interpreter(answer["executable"], tuple(answer["version"]), root, work) if answer["base"] else None
