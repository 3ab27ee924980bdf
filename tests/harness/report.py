# SPDX-License-Identifier: MIT
"""Results of checks, one line each."""

import threading


class NotRun(Exception):
    """The test cannot be run here: a tool or the network is absent. Not a fault of rockpack."""


class Report:
    """Prints checks as they end, and counts them."""

    def __init__(self):
        self.passed = 0
        self.failed = 0
        self._lock = threading.Lock()

    def check(self, name, problem=None):
        """Report one check; `problem` describes its failure, and is empty if it passed."""
        with self._lock:
            self.failed += bool(problem)
            self.passed += not problem
            print(f"FAIL {name}: {_one_line(problem)}" if problem else f"ok   {name}", flush=True)
        return not problem

    def note(self, text):
        """Say something that is neither right nor wrong, such as an expected failure."""
        with self._lock:
            print(f"     {_one_line(text)}", flush=True)

    def finish(self):
        """Print the summary line and return the exit status."""
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


def a_few(names, at_most=6):
    """Name a few of many."""
    names = list(names)
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(map(str, names[:at_most])) + more


def _one_line(text):
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return " | ".join(lines)[:1500]
