"""Measures a command: `measure.py RESULT COMMAND...`.

Writes a JSON object to RESULT. It covers the command and all child processes that were waited for:

* `wall`, `cpu`: seconds;
* `peak`: peak memory of one process in bytes;
* `written`, `read`: bytes of write(2), read(2) and similar calls, for any file, including removed
  ones.

It is a separate small process, since the memory of a new process includes its parent's.
The exit status is the command's.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path


def io_counts(pid: int) -> dict[str, int]:
    """Returns the kernel's counts of a process that has ended and was not waited for."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return {name: int(value) for name, value in (line.split(": ") for line in lines)}


def run(command: list[str]) -> tuple[int, dict[str, float]]:
    """Runs a command. Returns its exit status and its measurement."""
    start = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    wall = time.monotonic() - start
    counts = io_counts(pid)
    _, status, usage = os.wait4(pid, 0)
    found = {
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024,
        "written": counts["wchar"],
        "read": counts["rchar"],
    }
    return os.waitstatus_to_exitcode(status), found


def main() -> int:
    """Parses the command line and runs the command."""
    if len(sys.argv) < 3:
        print("usage: measure.py RESULT COMMAND...", file=sys.stderr)
        return 2
    status, found = run(sys.argv[2:])
    Path(sys.argv[1]).write_text(json.dumps(found))
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
