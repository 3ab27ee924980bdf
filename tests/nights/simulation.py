# SPDX-License-Identifier: MIT
"""Bytes of a night, whole and by reference, computed from a plan with estimated sizes."""

import re
from dataclasses import dataclass, replace

# Bytes of a line of a content list without its path: SHA-256 in base64, mode, separators.
ROW = len("sha256=" + 43 * "-" + " - \n")
KINDS = ("built", "uploaded", "fetched")


@dataclass(frozen=True)
class Package:
    """Bytes of a package and of its content list, and the parts that make it new."""

    name: str
    size: int
    listed: int
    own: frozenset  # files of the tree among its members
    files: frozenset  # files of the tree that its content depends on
    exact: frozenset  # required packages that must have the version of the set
    always: bool


def sources(members):
    """Return the files of a tree that members are made from."""
    members_made = [member["source"] for member in members if "source" in member]
    names = ["_".join(it["artifact"][part] for part in ("name", "component", "family")) for it in members_made]
    return frozenset("/".join((name, it["base"], it["path"])) for name, it in zip(names, members_made))


def required(distribution):
    """Yield each required package, with the extra that requires it or None."""
    for text in distribution["metadata"].get("requires_dist", []):
        extra = re.search(r'extra == "([^"]+)"', text)
        yield re.match(r"[\w.-]+", text)[0], extra and extra[1]


def package(one, distributions):
    """Return a package with the rules of `--since` (docs/ci.md, Nights)."""
    if "estimate" not in one:
        raise SystemExit("the plan has no sizes: make it with `rockpack plan --estimate --json`")
    own_sources, licences, is_wheel = sources(one["members"]), one.get("licenses", []), one["form"] == "wheel"
    files, exact = own_sources | sources([*licences, *one.get("archive", {}).get("members", [])]), set()
    artifacts = {path.split("_")[0] for path in own_sources}
    for name, _ in required(one):
        other = distributions.get(name, {})
        if one.get("platform_dir") == other.get("platform_dir", ""):
            files |= {path for path in sources(other["members"]) if path.split("_")[0] in artifacts}
        else:
            exact.add(name)
    paths = [member["path"] for member in one["members"]] + [f".dist-info/licenses/{member['path']}" for member in licences]
    listed = sum(ROW + len(path) for path in paths) if is_wheel else 0
    always = not is_wheel or "platform_dir" not in one
    return Package(one["name"], one["estimate"], listed, own_sources, files, frozenset(exact), always)


class Tree:
    """The packages of a plan, with device packages for so many ISAs."""

    def __init__(self, plan, isas=None):
        self.distributions = {distribution["name"]: distribution for distribution in plan["distributions"]}
        if len(self.distributions) < len(plan["distributions"]):
            raise SystemExit("several packages have one name: each night makes them again")
        packages = [package(distribution, self.distributions) for distribution in self.distributions.values()]
        if isas is not None:
            devices = [distribution for distribution in packages if "variant" in self.distributions[distribution.name]]
            more = [for_one_more_isa(distribution, number) for number in range(isas) for distribution in devices]
            packages = [distribution for distribution in packages if distribution not in devices] + more[:isas]
        self.packages = {distribution.name: distribution for distribution in packages}

    def files(self, archives=True):
        """Return all files that packages are made from, in order."""
        return sorted(set().union(*(package.files if archives else package.own for package in self.packages.values())))

    def installed(self, extras):
        """Return the packages that the selector installs with these extras."""
        todo, names = [distribution["name"] for distribution in self.distributions.values() if distribution["form"] == "sdist"], set()
        offered = {extra for name in todo for _, extra in required(self.distributions[name])}
        if unknown := set(extras) - offered:
            raise SystemExit(f"the plan has no extra {', '.join(sorted(unknown))}")
        while todo:
            names.add(name := todo.pop())
            requirements = required(self.distributions[name])
            todo += {distribution for distribution, extra in requirements if extra is None or extra in extras} - names
        return names & self.packages.keys()

    def new(self, changed):
        """Return the packages that a night makes after a change of these files."""
        new = {name for name, package in self.packages.items() if package.always or not package.files.isdisjoint(changed)}
        while more := {name for name, package in self.packages.items() if package.exact & new} - new:
            new |= more
        return new

    def size(self, names, lists=False):
        return sum(self.packages[name].size + lists * self.packages[name].listed for name in names)

    def night(self, new, extras):
        """Return the bytes of a night with these new packages by kind: whole, and by reference."""
        whole, had = self.size(self.packages), self.installed(extras)
        pairs = (whole, self.size(new)), (whole, self.size(new, True)), (self.size(had), self.size(had & new))
        return dict(zip(KINDS, pairs))


def for_one_more_isa(device, number):
    """Return a device package for one more ISA, with new files."""
    suffix = f" {number}" if number else ""
    renamed = {path: path + suffix for path in device.own}
    files = frozenset(renamed.get(path, path) for path in device.files)
    return replace(device, name=device.name + suffix, own=frozenset(renamed.values()), files=files)
