# SPDX-License-Identifier: MIT
"""Tests of the packages, without the tools that judge them."""

import io
import sys
import tarfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "harness")]

import cases
import sdist
from registry import changed


def package(form, *titles):
    """Return the bytes of a package with these changes."""
    return cases.Case(form, titles, 1).make().to_bytes()


class Changes(unittest.TestCase):
    def test_changes_without_a_subject_have_no_effect_after_others(self):
        for form, *titles in (
            ("wheel", "RECORD: absent", "RECORD: semicolon"),
            ("wheel", "RECORD: latin 1", "RECORD: semicolon"),
            ("sdist", "around gzip: other checksum", "around gzip: plain"),
            ("sdist", "around tar: empty", "random: bit of the tar"),
            ("sdist", "PKG-INFO: other name", "PKG-INFO: no name"),
        ):
            with self.subTest(titles):
                self.assertEqual(package(form, *titles), package(form, titles[0]))

    def test_a_change_of_members_has_an_effect_without_the_text_of_record(self):
        for record in ("absent", "latin 1"):
            self.assertIn(b"demo-v1.0.dist-info/METADATA", package("wheel", f"RECORD: {record}", "metadata directory: demo-v1.0.dist-info"))

    def test_changes_combine(self):
        for form, first, second in (
            ("wheel", "RECORD: empty row", "RECORD: quoted"),
            ("sdist", "PKG-INFO: latin", "PKG-INFO: newer"),
        ):
            self.assertNotIn(package(form, first, second), (package(form, first), package(form, second)), f"{first}, {second}")

    def test_a_change_alone_fails_without_a_subject(self):
        with self.assertRaises(AttributeError):
            changed(None, [lambda text: text.lower()])

    def test_changes_of_a_text_have_no_effect_without_it(self):
        for first in (lambda text: None, str.encode):
            self.assertEqual(changed("text", [first, str.upper]), first("text"))

    def test_an_error_of_a_later_change_is_not_ignored(self):
        with self.assertRaises(ValueError):
            changed("text", [str.upper, lambda text: text.index("x")])

    def test_fields_are_changed_next_to_bytes_that_are_not_utf_8(self):
        info = cases.Case("sdist", ("PKG-INFO: latin", "PKG-INFO: same version"), 1).make().member("PKG-INFO").data
        self.assertIn(b"Author: \xfc\nName: demo\nVersion: 1\n", info)

    def test_names_too_long_for_ustar_are_members_too(self):
        content = package("sdist", "format: ustar", "name: long part")
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            members = archive.getmembers()
        self.assertEqual(members[-1].name, f"{sdist.TOP}/{'n' * 256}")
        self.assertEqual([bool(member.pax_headers) for member in members], [False] * (len(members) - 1) + [True])

    def test_a_changed_header_differs_when_its_checksum_is_right(self):
        plain = package("sdist")
        for number in range(200):
            case = cases.Case("sdist", ("random: bit of a header with its checksum",), number)
            self.assertNotEqual(case.make().to_bytes(), plain, number)


if __name__ == "__main__":
    unittest.main()
