# SPDX-License-Identifier: MIT
"""Test packages, made from a number or from titles of changes."""

import random
import zlib
from dataclasses import dataclass

import archives  # noqa: F401: registers changes
import changes
import fields  # noqa: F401: registers changes
import places  # noqa: F401: registers changes
import sdist
from wheel import Wheel

FORMS = {
    "wheel": (Wheel, changes.CHANGES, ("uv", "uv-stream", "pip", "installer", "zipfile", "packaging", "twine")),
    "sdist": (sdist.Sdist, sdist.CHANGES, ("uv", "pip", "tarfile", "packaging", "twine")),
}
# Share of the packages with a single change, and the most changes of the others.
SINGLE, MOST = 0.4, 3


@dataclass(frozen=True)
class Case:
    """A package: a form, titles of changes, and the seed of its random parts."""

    form: str
    titles: tuple
    number: int

    @property
    def label(self):
        """Name the package, as in seeds.txt."""
        return f"{self.form} {self.number} {' + '.join(self.titles)}"

    @property
    def tools(self):
        """Return the names of the tools that judge this form."""
        return FORMS[self.form][2]

    def make(self):
        """Make the package."""
        kind, functions, _ = FORMS[self.form]
        package, dice = kind.plain(), random.Random(self.number)
        # In seeds.txt, a package without changes has an empty title.
        for title in filter(None, self.titles):
            try:
                functions[title](package, dice)
            except (AssertionError, StopIteration):
                # An earlier change removed the subject of this one.
                if len(self.titles) == 1:
                    raise
        return package


def single_changes(form):
    """Return the plain package, and one for each change."""
    return [Case(form, (), 0)] + [Case(form, (title,), zlib.crc32(title.encode())) for title in FORMS[form][1]]


def random_case(form, number):
    """Return the package of a number: one change or several."""
    dice = random.Random(number)
    titles = list(FORMS[form][1])
    count = 1 if dice.random() < SINGLE else dice.randint(2, MOST)
    return Case(form, tuple(dice.sample(titles, count)), number)


def seeds(text):
    """Return the packages of seeds.txt."""
    seeds_read = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            form, number, titles = line.split(" ", 2)
            seeds_read.append(Case(form, tuple(titles.split(" + ")), int(number)))
    return seeds_read
