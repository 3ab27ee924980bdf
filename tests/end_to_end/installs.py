# SPDX-License-Identifier: MIT
"""Installing with pip and with uv, comparing the two, and taking everything away again."""

import re
import shutil

import snapshot
from report import a_few


class Environment:
    """A virtual environment in the root, filled by pip or by uv."""

    def __init__(self, root, uv, tool, place):
        self.root, self.uv, self.tool = root, uv, tool
        self.place = place / f"venv-{tool}"
        self.home = place / f"home-{tool}"

    @property
    def site(self):
        """The directory of its packages, on this machine."""
        return next(self.place.glob("lib/python3*/site-packages"))

    def inside(self, *parts):
        """Return a path of the environment as it is in the root."""
        return self.root.inside(self.place.joinpath(*parts))

    def run(self, command, env=None, root=None):
        """Run a program in the root (or in another one)."""
        return (root or self.root).run(command, self.home, env)

    def program(self, name, *arguments, env=None, root=None):
        """Run one of the environment's own programs."""
        return self.run([self.inside("bin", name), *arguments], env, root)

    def make(self):
        """Make the environment."""
        plain = ["python3", "-m", "venv", self.inside()]
        quick = [self.root.inside(self.uv), "venv", "--python", "/usr/bin/python3", self.inside()]
        return self.run(plain if self.tool == "pip" else quick)

    def installer(self, verb, *arguments, env=None):
        """Run `pip VERB` or `uv pip VERB` for the environment."""
        if self.tool == "pip":
            sure = ["--yes"] if verb == "uninstall" else []
            return self.program("pip", verb, *sure, *arguments, env=env)
        python = ["--python", self.inside("bin", "python3")]
        return self.run([self.root.inside(self.uv), "pip", verb, *python, *arguments], env)

    def install(self, dists, requirement, *options, env=None):
        """Install from the packages in `dists` alone."""
        links = [word for dist in dists for word in ("--find-links", self.root.inside(dist))]
        return self.installer("install", "--no-index", *links, *options, requirement, env=env)

    def remove(self):
        """Delete the environment, and the caches made for it."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)


def leftovers(before, environment):
    """Say how the environment differs from the list of names it had before."""
    after = snapshot.names(environment.place)
    # pip's own compiled modules, and the lock file that uv puts into an environment.
    ignored = re.compile(r"lib/python[^/]*/site-packages/pip/(.*/)?__pycache__/.*|\.lock")
    missing = [name for name in before if name not in set(after)]
    new = [name for name in after if name not in set(before) and not ignored.fullmatch(name)]
    differences = [f"left: {a_few(new)}"] * bool(new) + [f"missing: {a_few(missing)}"] * bool(missing)
    return "; ".join(differences)
