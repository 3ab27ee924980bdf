# SPDX-License-Identifier: MIT
"""Compares wheels that were built with the published ones, and explains every difference by published.tsv."""

import email.parser
import fnmatch
import posixpath
import re
import shutil
import zipfile
from pathlib import Path

from report import a_few

TABLE = Path(__file__).with_name("published.tsv")
# Lines of readelf: needed libraries, search paths, SONAME; and a defined symbol.
ENTRY = re.compile(r"\((NEEDED|SONAME|RPATH|RUNPATH)\).*\[(.*)\]")
SYMBOL = re.compile(r"\s*\d+: [0-9a-f]+ +\w+ +\w+ +(?:GLOBAL|WEAK|UNIQUE) +\w+ +(?!UND)\w+ +([^\s@]+)")
WORDS = {"NEEDED": "needs", "SONAME": "soname", "RPATH": "rpath", "RUNPATH": "rpath"}


class Wheel:
    """Contents of a wheel: members by name, fields of its metadata, facts of its ELF files."""

    def __init__(self, path, place, readelf):
        shutil.rmtree(place, ignore_errors=True)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(place)
        self.name, self.version, self.python = path.name.split("-")[:3]
        info = place / f"{self.name}-{self.version}.dist-info"
        self.metadata = _fields((info / "METADATA").read_text())
        self.tags = _fields((info / "WHEEL").read_text())
        self.files = {self._plain(path.relative_to(place)): path for path in place.rglob("*") if path.is_file()}
        self.elf = {name for name, path in self.files.items() if path.read_bytes()[:4] == b"\x7fELF"}
        output = readelf([self.files[name] for name in sorted(self.elf)])
        self.facts = {(name, *fact) for name, text in zip(sorted(self.elf), output, strict=True) for fact in _facts(text)}

    def reach(self, others, place, readelf):
        """Count the symbols that libraries of other wheels export to their users here, which find them by rpath."""
        wheel_of_member = {name: wheel for wheel in others for name in zipfile.ZipFile(wheel).namelist()}
        for name in self.elf:
            entries = {(kind, value) for of, kind, value in self.facts if of == name}
            searched = [posixpath.normpath(posixpath.join(posixpath.dirname(name), value.removeprefix("$ORIGIN/")))
                        for kind, value in entries if kind == "rpath"]
            for path in (f"{directory}/{value}" for directory in searched for kind, value in entries if kind == "needs"):
                if path in wheel_of_member:
                    library = zipfile.ZipFile(wheel_of_member[path]).extract(path, place)
                    self.facts |= {(name, *fact) for fact in _facts(readelf([Path(library)])[0]) if fact[0] == "exports"}

    def _plain(self, path):
        """Return a path without version and Python."""
        name = path.as_posix().replace(f"{self.name}-{self.version}.", f"{self.name}.")
        return name.replace(self.python.replace("cp", "cpython-"), "cpython")


def _fields(text):
    """Return the fields of a metadata file, and its body as `Description`, as a set of pairs."""
    message = email.parser.HeaderParser().parsestr(text)
    fields = {(name, value) for name, value in message.items() if name != "Version"}
    return fields | ({("Description", message.get_payload())} if message.get_payload() else set())


def _facts(text):
    """Yield readelf's facts of an ELF file."""
    for line in text.splitlines():
        if entry := ENTRY.search(line):
            yield WORDS[entry[1]], entry[2]
        elif symbol := SYMBOL.match(line):
            yield "exports", symbol[1]


def _sides(place, built, published):
    """Yield the members of only one of two sets; members are texts or tuples of texts."""
    for side, entries in (("here", built - published), ("there", published - built)):
        for one in sorted(entries):
            words = (one,) if isinstance(one, str) else one
            yield (f"{place} {side}", " ".join(" ".join(words).split())[:200])


def differences(built, published):
    """Yield the differences of two wheels, as pairs of texts: the place, and the value."""
    yield from _sides("python", {built.python}, {published.python})
    yield from _sides("file", set(built.files), set(published.files))
    yield from _sides("metadata", built.metadata, published.metadata)
    yield from _sides("tag", {(name, value.replace(built.python, "cp")) for name, value in built.tags},
                      {(name, value.replace(published.python, "cp")) for name, value in published.tags})
    shared = built.elf & published.elf
    facts, other_facts = ({fact for fact in wheel.facts if fact[0] in shared} for wheel in (built, published))
    yield from _sides("elf", facts, other_facts)
    metadata = re.compile(r".*\.dist-info/(METADATA|WHEEL|RECORD)")
    for name in sorted(set(built.files) & set(published.files) - shared):
        if not metadata.match(name) and built.files[name].read_bytes() != published.files[name].read_bytes():
            yield "content", name


def rows(conditions):
    """Yield the table's lines for these conditions: (wheel, what, value), reason."""
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            condition, wheel, place, value, reason = line.split("\t")
            if condition in ("any", *conditions):
                yield (wheel, place, value), reason


def explain(report, name, differences, conditions):
    """Check that each difference has a line in the table, and each line a difference."""
    table = [(row, reason) for row, reason in rows(conditions) if fnmatch.fnmatchcase(name, row[0])]
    counts, unexplained = dict.fromkeys((row for row, _ in table), 0), []
    for place, value in differences:
        row = next((row for row, _ in table if fnmatch.fnmatchcase(place, row[1]) and fnmatch.fnmatchcase(value, row[2])), None)
        if row:
            counts[row] += 1
        else:
            unexplained.append(f"{place}: {value}")
    for row, reason in table:
        report.note(f"{counts[row]} × {row[1]}: {row[2]}: {reason}")
    idle = [" ".join(row) for row, count in counts.items() if not count]
    report.check(f"{name} differs from the published wheel only where published.tsv says why",
                 f"{len(unexplained)} differences: {a_few(unexplained, 40)}" if unexplained else None)
    report.check(f"{name}: the lines of published.tsv hold", f"no such difference: {a_few(idle, 40)}" if idle else None)


def compare(scene, published, conditions):
    """Compare each published wheel with this build's."""
    def readelf(paths):
        """Return readelf's output for each of these files."""
        result = scene.run(["readelf", "-dW", "--dyn-syms", *paths])
        # With one file, readelf doesn't name it.
        return re.split(r"^File: .*$", result.out, flags=re.MULTILINE)[1:] if len(paths) > 1 else [result.out] * len(paths)

    for name, path in published.items():
        built = next(scene.dest.glob(f"dist/{name}-*.whl"))
        place = scene.place / "compared"
        ours_wheel, published_wheel = (Wheel(wheel, place / f"{name}-{side}", readelf) for side, wheel in (("here", built), ("there", path)))
        ours_wheel.reach(scene.dest.glob("dist/rocm_sdk_*.whl"), place / "others", readelf)
        explain(scene.report, name, list(differences(ours_wheel, published_wheel)), conditions)
