"""Checks that the libraries which ELF files of runtime wheels need are found once installed."""

import posixpath
import re
from fnmatch import fnmatchcase
from pathlib import Path

import elf
import rpath

MANIFEST = Path(__file__).parent.parent.parent / "manifest" / "system-libraries.kdl"
LINE = re.compile(r'^(?:system-library|ignore "unresolved-library")((?: "[^"]*")+)', re.MULTILINE)


def excused(manifest):
    """The names (some with wildcards) of libraries that the manifest says no package ships."""
    return [name for names in LINE.findall(manifest) for name in re.findall('"([^"]*)"', names)]


class Closure:
    """Collects the ELF files of wheels, then searches the dependencies of each of them.

    A library counts as found if it is in a directory of the file's own DT_RPATH, in the file's
    wheel or in one that is always installed with it; no loader's rpath counts.
    """

    def __init__(self, manifest=None):
        text = MANIFEST.read_text(encoding="utf-8") if manifest is None else manifest
        self.excused = excused(text)
        self.files = {}  # by distribution: path below site-packages -> Elf

    def add(self, package, path, data):
        """Takes in a member by its path below site-packages and its bytes."""
        try:
            image = elf.parse(data)
        except elf.Malformed:
            return
        if elf.kind_of(image) in (elf.LIBRARY, elf.PROGRAM):
            self.files.setdefault(package.distribution, {})[path] = image

    def differences(self, plan, package):
        """Returns the missing dependencies of the files of `package`, as (path, difference) pairs.
        """
        files = self.installed_with(plan, package)
        for path, image in self.files.get(package.distribution, {}).items():
            folder = posixpath.dirname(path)
            searched = [rpath.meaning(entry, folder) for entry in rpath.entries_of(image.rpath)]
            for name in image.needed:
                resolved = any(posixpath.join(place, name) in files for place in searched)
                if not resolved and not any(fnmatchcase(name, pattern) for pattern in self.excused):
                    yield path, f"does not find {name}"

    def installed_with(self, plan, package):
        """Libraries of the wheel itself and of those for all ISAs, in legacy mode of its family."""
        def comes_along(other):
            return other is package or (
                other.logical != "device" and other.subfolder in ("", package.subfolder))
        return {path for other in plan.runtime if comes_along(other)
                for path, image in self.files.get(other.distribution, {}).items()
                if elf.kind_of(image) == elf.LIBRARY}
