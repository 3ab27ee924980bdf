"""A case of the self-test, and what came of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from .._health import ERROR, Finding

SECONDS = 300.0  # for one process; the largest libraries take a while on a slow disk


@dataclass(frozen=True)
class Outcome:
    """`status` is `ok`, `FAIL` or `skip`; `reason` explains the latter two."""

    status: str
    reason: str = ""


@dataclass(frozen=True)
class Case:
    """One check, by a name such as `library:core:lib/libamdhip64.so.7`."""

    name: str
    check: Callable[[], Outcome]


OK = Outcome("ok")


def fail(reason: str) -> Outcome:
    """Return the outcome of a check that failed."""
    return Outcome("FAIL", reason)


def skip(reason: str) -> Outcome:
    """Return the outcome of a check that does not apply here."""
    return Outcome("skip", reason)


def judged(findings: list[Finding]) -> Outcome:
    """Return the outcome of a check that `rocm-sdk doctor` makes as well."""
    if not findings:
        return OK
    reason = "; ".join(f"{finding.message}; to mend: {finding.remedy}" for finding in findings)
    return fail(reason) if any(one.severity == ERROR for one in findings) else Outcome("ok", reason)


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit status (negative: the signal), and what it said."""

    status: int
    text: str

    @property
    def reason(self) -> str:
        """Return the exit status and the last line of the output, for people."""
        lines = [line for line in self.text.splitlines() if line.strip()]
        last = lines[-1].strip() if lines else "no output"
        return f"{self._status_name()}: {last}"

    def _status_name(self) -> str:
        if self.status >= 0:
            return f"exit status {self.status}"
        try:
            return signal.Signals(-self.status).name
        except ValueError:
            return f"signal {-self.status}"


def process(command: list[str]) -> Ended:
    """Run a command with no input, and without variables that could hide a fault."""
    hidden = ("LD_LIBRARY_PATH", "LD_PRELOAD")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ended(127, f"no answer in {SECONDS:.0f} s")
    except OSError as error:
        return Ended(127, str(error))
    return Ended(done.returncode, done.stdout.decode("utf-8", "replace"))


def python(code: str, *arguments: str) -> Outcome:
    """Run Python code in a process of its own; it has to end well."""
    ended = process([sys.executable, "-c", code, *arguments])
    return OK if ended.status == 0 else fail(ended.reason)
