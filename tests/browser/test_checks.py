# SPDX-License-Identifier: MIT
"""Tests of the checks, without a browser."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import checks


class Browser:
    """A page with these colours, which records its themes."""

    def __init__(self, contrasts):
        self.contrasts, self.themes = contrasts, []

    def theme(self, name):
        self.themes.append(name)

    def goto(self, uri):
        pass

    def wait(self, script):
        return True

    def run(self, script):
        return self.contrasts


class Theme(unittest.TestCase):
    def test_the_next_check_has_the_light_theme(self):
        for contrasts, failure in (
            ({"bad": [], "seen": 60, "page": 0.1}, None),
            ({"bad": [], "seen": 60, "page": 0.9}, "the page is not dark"),
            ({"bad": [], "seen": 9, "page": 0.1}, "only 9 texts"),
            ({"bad": ["P"], "seen": 60, "page": 0.1}, "contrast below 4.5"),
        ):
            browser = Browser(contrasts)
            problem = checks.theme(browser, "file:///page.html", "dark")
            self.assertEqual(browser.themes, ["dark", "light"], problem)
            self.assertTrue(problem is None if failure is None else problem.startswith(failure), problem)


if __name__ == "__main__":
    unittest.main()
