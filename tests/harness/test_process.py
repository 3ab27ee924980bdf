# SPDX-License-Identifier: MIT
"""Tests of the time limit of programs."""

import signal
import subprocess
import time
import unittest
from pathlib import Path
from unittest import mock

import process

# Prints the process ID of a child that keeps the output open, then waits for it.
PARENT = "sleep 60 & echo $!; wait"


def is_running(number):
    """Return whether a process exists and has not ended."""
    try:
        return Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(number):
    """Return whether a killed process ends soon."""
    deadline = time.monotonic() + 10
    while is_running(number) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(number)


class Limit(unittest.TestCase):
    def test_ends_a_program_and_its_children(self):
        result = process.run(["sh", "-c", PARENT], "/", limit=0.3)
        self.assertEqual(result.status, -signal.SIGKILL)
        self.assertTrue(ends(int(result.out)))

    def test_ends_children_of_a_program_that_has_ended(self):
        result = process.run(["sh", "-c", "sleep 60 & echo $!"], "/", limit=0.3)
        self.assertEqual(result.status, -signal.SIGKILL)
        self.assertTrue(ends(int(result.out)))

    def test_does_not_wait_for_programs_of_another_group(self):
        with mock.patch.object(process, "PATIENCE", 0.3):
            result = process.run(["sh", "-c", "echo begun; exec setsid -w sleep 3"], "/", limit=0.3)
        self.assertEqual((result.status, result.out), (-signal.SIGKILL, "begun\n"))

    def test_a_result_in_time_has_the_status_of_the_program(self):
        result = process.run(["sh", "-c", "echo out; echo err >&2; exit 3"], "/")
        self.assertEqual((result.status, result.out, result.err), (3, "out\n", "err\n"))


class Kill(unittest.TestCase):
    def test_ends_a_program_and_its_children(self):
        program = process.start(["sh", "-c", PARENT], "/")
        number = int(program.stdout.readline())
        process.kill(program)
        self.assertEqual(program.returncode, -signal.SIGKILL)
        self.assertTrue(ends(number))

    def test_accepts_a_program_that_has_ended(self):
        program = process.start(["true"], "/")
        program.wait()
        process.kill(program)
        self.assertEqual(program.returncode, 0)

    def test_an_interruption_ends_the_program(self):
        program = process.start(["sleep", "60"], "/")
        with mock.patch.object(subprocess.Popen, "communicate", side_effect=[KeyboardInterrupt, (b"", b"")]):
            self.assertRaises(KeyboardInterrupt, process.wait, program)
        self.assertEqual(program.wait(), -signal.SIGKILL)
        program.stdout.close()
        program.stderr.close()


if __name__ == "__main__":
    unittest.main()
