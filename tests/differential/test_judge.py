# SPDX-License-Identifier: MIT
"""Tests of the judge: python3 -m unittest discover tests/differential"""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "harness")]

import judge
from tools import Answer, NoAnswer, refusal


class Refusals(unittest.TestCase):
    def test_a_malformed_requires_python_is_a_refusal(self):
        for tool, message in (
            ("pip", "Invalid specifier in Requires-Python: 'three'"),
            ("uv", "Failed to parse Requires-Python: `three`"),
        ):
            self.assertEqual(judge.refusals({tool: Answer(message)}), {tool: message})

    def test_reasons_outside_the_package_are_no_refusals(self):
        for tool, message in (
            ("pip", "demo-1.0-cp99-none-any.whl is not a supported wheel on this platform."),
            ("uv", "demo==1.0 has no wheels with a matching Python ABI tag"),
            ("uv-stream", "the wheel is not compatible with the current Python"),
            ("pip", "Package 'demo' requires a different Python: 3.12.1 not in '<3'"),
            ("uv", "the current Python version does not satisfy Requires-Python"),
        ):
            self.assertEqual(judge.refusals({tool: Answer(message)}), {}, message)

    def test_reasons_of_one_tool_are_not_those_of_another(self):
        for tool in ("uv", "installer"):
            message = "is not a supported wheel on this platform"
            self.assertEqual(judge.refusals({tool: Answer(message)}), {tool: message})

    def test_a_signal_is_no_refusal(self):
        with self.assertRaisesRegex(NoAnswer, "pip ended with SIGKILL: Collecting demo"):
            refusal("pip", -9, "Collecting demo\n")
        self.assertEqual([refusal("pip", status, "") for status in (0, 1)], [None, "exit status 1"])


class Strictness(unittest.TestCase):
    def test_a_refusal_because_of_the_environment_does_not_hide_an_unjustified_error(self):
        error = ("error", "no-such-code", "", "", "")
        for message in ("demo-1.0-cp99-none-any.whl is not a supported wheel on this platform.", None):
            verdict = judge.verdict([error], None, {"pip": Answer(message)})
            self.assertEqual(verdict.kind, "too strict", message)
        self.assertIsNone(judge.verdict([error], None, {"pip": Answer("Cannot unpack file")}))


if __name__ == "__main__":
    unittest.main()
