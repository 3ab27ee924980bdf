"""Cases of the self-test, and their outcomes."""

from __future__ import annotations

import locale
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .._health import ERROR, Finding
from .._health._finding import find_system_library

_LOADER = re.compile(
    r"error while loading shared libraries|version `[^']+' not found|symbol lookup error"
    r"|cannot open shared object file|Error (loading shared library|relocating)"
)
# No script can answer without its imports or its interpreter, with or without a GPU.
_STARTER = re.compile(
    r"\bModuleNotFoundError\b|\bImportError\b|No module named |cannot import name "
    r"|^(SyntaxError|IndentationError|TabError): "
    r"|^Can't locate \S+ in @INC|^Can't load '.*' for module |had compilation errors\.$"
    r"|^BEGIN failed--compilation aborted|aborted due to compilation errors"
    r"|bad interpreter: |can't execute '"
    r"|(env: .*|: )(python[\d.]*|perl|bash|sh)'?: (command )?(not found|No such file or directory)"
)
_TRACEBACK = "Traceback (most recent call last):"
_WINDOWS_FAULTS = 0xC0000000  # first exit status of faults, such as an absent DLL
_DID_NOT_START = (126, 127)
_VERSION = re.compile(r"([^\s/:]+): version `([^']+)' not found")
_LIBRARY = re.compile(
    r"(?:libraries: |library )([^\s:]+): (?:cannot open shared object file|No such file)"
)
SECONDS = 300.0  # limit of a process; large libraries on slow disks take long


@dataclass(frozen=True)
class Outcome:
    """Outcome of a case. `status` is `ok`, `FAIL` or `skip`; `reason` explains it."""

    status: str
    reason: str = ""


@dataclass(frozen=True)
class Case:
    """A check with a name such as `library:core:lib/libamdhip64.so.7`."""

    name: str
    check: Callable[[], Outcome]


OK = Outcome("ok")


def fail(reason: str) -> Outcome:
    """Return the outcome of a check that failed."""
    return Outcome("FAIL", reason)


def skip(reason: str) -> Outcome:
    """Return the outcome of a check that does not apply."""
    return Outcome("skip", reason)


def judged(findings: list[Finding]) -> Outcome:
    """Return the outcome of a check of `rocm-sdk doctor`."""
    if not findings:
        return OK
    reason = "; ".join(f"{finding.message}; remedy: {finding.remedy}" for finding in findings)
    return fail(reason) if any(one.severity == ERROR for one in findings) else Outcome("ok", reason)


@dataclass(frozen=True)
class Ended:
    """Result of a process: exit status (negative: the signal) and output."""

    status: int
    text: str

    @property
    def reason(self) -> str:
        """Exit status and last line of the output, for a message."""
        lines = [line for line in self.text.splitlines() if line.strip()]
        last = lines[-1].strip() if lines else "no output"
        return f"{self._status_name()}: {last}"

    @property
    def loader_fault(self) -> str | None:
        """Message of the dynamic loader with a remedy, or None."""
        message = next((line for line in self.text.splitlines() if _LOADER.search(line)), None)
        if message is None:
            return None
        version = _VERSION.search(message)
        library = _LIBRARY.search(message)
        if version is not None:
            remedy = f"use a system or Python environment with {version[2]} in {version[1]}"
        elif library is not None:
            remedy = find_system_library(library[1])
        else:
            remedy = "install the packages and the system's libraries in versions that fit"
        return f"{message.strip()}; remedy: {remedy}"

    @property
    def is_fault(self) -> bool:
        """Whether the program did not start, or was ended by a signal or a fault."""
        status = self.status
        return status in _DID_NOT_START or status < 0 or status >= _WINDOWS_FAULTS

    @property
    def start_fault(self) -> str | None:
        """Line about an absent module or interpreter, or None."""
        line = next((line for line in self.text.splitlines() if _STARTER.search(line)), None)
        # Perl lists all its directories.
        return line and line.partition(" (@INC ")[0].strip()

    @property
    def has_traceback(self) -> bool:
        """Whether Python reported an exception."""
        return _TRACEBACK in self.text

    def _status_name(self) -> str:
        if self.status >= 0:
            return f"exit status {self.status}"
        try:
            return signal.Signals(-self.status).name
        except ValueError:
            return f"signal {-self.status}"


def process(command: list[str]) -> Ended:
    """Run a command in an empty directory, without input and variables that could hide a fault.

    Python imports from its working directory, which is the user's otherwise.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        try:
            done = subprocess.run(
                command,
                cwd=directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=_environment(),
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Ended(127, f"no end within {SECONDS:.0f} s")
        except OSError as error:
            return Ended(127, str(error))
    return Ended(done.returncode, _decoded(done.stdout))


def _decoded(output: bytes) -> str:
    """Return the text of an output; many programs of Windows write its code page."""
    try:
        return output.decode("utf-8")
    except UnicodeDecodeError:
        return output.decode(locale.getpreferredencoding(False), "replace")


def _environment() -> dict[str, str]:
    hidden = ("LD_LIBRARY_PATH", "LD_PRELOAD")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    entries = environment.get("PYTHONPATH", "").split(os.pathsep)
    # An empty entry means the current directory, and relative ones are of this process's.
    if absolute := [os.path.abspath(entry) for entry in entries if entry]:
        environment["PYTHONPATH"] = os.pathsep.join(absolute)
    else:
        environment.pop("PYTHONPATH", None)
    environment["LC_ALL"] = "C"  # messages of loaders and shells are translated
    return environment


def python(code: str, *arguments: str) -> Outcome:
    """Run Python code in a new process; a non-zero exit status is a failure."""
    # `python -m` finds this package in the current directory, the new process does not.
    site = str(Path(__file__).resolve().parents[2])
    start = f"import sys; sys.path.append({site!r})\n"
    ended = process([sys.executable, "-c", start + code, *arguments])
    return OK if ended.status == 0 else fail(ended.reason)
