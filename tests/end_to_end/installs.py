# SPDX-License-Identifier: MIT
"""Installing with pip and with uv, comparing the two, and taking everything away again."""

import base64
import csv
import os
import re
import shutil

import snapshot
from report import some

# Which installer it was, and what it keeps for itself.
INSTALLERS_OWN = re.compile(r"[^/]+\.dist-info/(INSTALLER|REQUESTED|RECORD|direct_url\.json|uv_[a-z]+\.json)")
COMPILED = re.compile(r"(.*/)?__pycache__/.*")


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


def distributions(environment):
    """Return the names of what is installed from us, as the installer takes them."""
    infos = environment.site.glob("rocm*.dist-info")
    return sorted(info.name.split("-")[0].replace("_", "-") for info in infos)


def installed_files(environment):
    """Return {path: kind, mode and content} of site-packages, without what installers add."""
    found = snapshot.contents(environment.site)
    ours = {name: told for name, told in found.items() if not _is_installers(name)}
    for name in [name for name in found if name.endswith(".dist-info/RECORD") and not name.startswith("pip-")]:
        ours[name] = _rows(environment.site / name)
    return ours


def _is_installers(name):
    return (name.startswith(("pip/", "pip-", "_virtualenv.")) or INSTALLERS_OWN.fullmatch(name)
            or COMPILED.fullmatch(name))


def _rows(record):
    with open(record, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file)]
    # A console script is written by the installer, which makes it in its own way.
    return sorted(row[:1] if row[0].startswith("../") else row for row in rows
                  if not INSTALLERS_OWN.fullmatch(row[0]) and not COMPILED.fullmatch(row[0]))


def wrong_records(environment):
    """Compare every row of every RECORD with the file: installers do not. Returns problems."""
    site, problems, owners = environment.site, [], {}
    for record in sorted(site.glob("rocm*.dist-info/RECORD")):
        with open(record, encoding="utf-8", newline="") as file:
            for path, digest, size in csv.reader(file):
                if digest and not _matches(site / path, digest, size):
                    problems.append(f"{record.parent.name}: {path} is not what RECORD says")
                # Links of the devel tree into core are listed twice on purpose: pip does not
                # see a link whose target went first. They have no digest.
                if digest and path in owners:
                    problems.append(f"{path} is in {owners[path]} and in {record.parent.name}")
                owners[path] = record.parent.name
    return problems


def absent(environment):
    """Return what a RECORD has and the directory has not."""
    rows = []
    for record in environment.site.glob("rocm*.dist-info/RECORD"):
        with open(record, encoding="utf-8", newline="") as file:
            rows += [row[0] for row in csv.reader(file) if not COMPILED.fullmatch(row[0])]
    return [f"{path} is gone" for path in rows if not os.path.lexists(environment.site / path)]


def _matches(path, digest, size):
    if not path.is_file() or path.stat().st_size != int(size):
        return False
    found = bytes.fromhex(snapshot.sha256(path))
    return digest == "sha256=" + base64.urlsafe_b64encode(found).rstrip(b"=").decode()


def unowned(environment):
    """Return files and links of ours in site-packages that no RECORD has."""
    site, owned = environment.site, set()
    for record in site.glob("*.dist-info/RECORD"):
        with open(record, encoding="utf-8", newline="") as file:
            owned |= {row[0] for row in csv.reader(file)}
    return [name for name in snapshot.names(site)
            if not name.endswith("/") and name not in owned and not _is_installers(name)]


def leftovers(before, environment):
    """Say how the environment differs from the list of names it had before."""
    after = snapshot.names(environment.place)
    # pip's own compiled modules, and the lock file that uv puts into an environment.
    ignored = re.compile(r"lib/python[^/]*/site-packages/pip/(.*/)?__pycache__/.*|\.lock")
    gone = [name for name in before if name not in set(after)]
    new = [name for name in after if name not in set(before) and not ignored.fullmatch(name)]
    told = [f"left: {some(new)}"] * bool(new) + [f"missing: {some(gone)}"] * bool(gone)
    return "; ".join(told)
