"""Runs a command and tells what it took: `measure.py RESULT COMMAND...`.

RESULT gets a JSON object. The command and everything that it started and waited for count together:

* `wall`, `cpu`: seconds;
* `peak`: the most memory that one process had, in bytes;
* `written`, `read`: bytes that write(2) and read(2) and their kin moved, to and from whatever
  file, also one that exists no more.

It is a small process of its own, since a new process counts the memory of the one that started it.
The exit status is the command's.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path


def io_counts(pid: int) -> dict[str, int]:
    """What the kernel counted for a process that has ended and was not waited for."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return {name: int(value) for name, value in (line.split(": ") for line in lines)}


def run(command: list[str]) -> tuple[int, dict[str, float]]:
    """Runs a command; gives its exit status and what it took."""
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
    """The command line."""
    if len(sys.argv) < 3:
        print("usage: measure.py RESULT COMMAND...", file=sys.stderr)
        return 2
    status, found = run(sys.argv[2:])
    Path(sys.argv[1]).write_text(json.dumps(found))
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
