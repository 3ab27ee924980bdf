# SPDX-License-Identifier: MIT
"""Tests of the packages."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "harness")]

from cases import Case


def made(form, *titles):
    return Case(form, titles, 1).make().to_bytes()


class Packages(unittest.TestCase):
    def test_a_change_without_its_subject_has_no_effect(self):
        for form, first, second in (
            ("wheel", "RECORD: absent", "RECORD: directory"),
            ("wheel", "RECORD: latin 1", "hash: md5"),
            ("sdist", "around tar: empty", "random: bit of the tar"),
            ("sdist", "PKG-INFO: empty", "PKG-INFO: other name"),
            ("sdist", "around gzip: cut", "around gzip: plain"),
        ):
            self.assertEqual(made(form, first, second), made(form, first), f"{first}, {second}")

    def test_changes_combine(self):
        for form, first, second in (
            ("wheel", "RECORD: empty row", "RECORD: quoted"),
            ("sdist", "PKG-INFO: latin", "PKG-INFO: newer"),
        ):
            package = made(form, first, second)
            self.assertNotIn(package, (made(form, first), made(form, second)), f"{first}, {second}")

    def test_a_bit_of_a_header_with_its_checksum_changes_the_package(self):
        title = "random: bit of a header with its checksum"
        plain, packages = made("sdist"), [Case("sdist", (title,), number).make() for number in range(300)]
        self.assertNotIn(plain, [package.to_bytes() for package in packages])


if __name__ == "__main__":
    unittest.main()
