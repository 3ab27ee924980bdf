# SPDX-License-Identifier: MIT
"""Starts exec stubs, and the programs behind them under the stub's name, and compares their output.

Usage: stubs.py SITE PATH=TARGET...   TARGET is relative to the stub's directory. Prints {path: error, or null}. A
script cannot be started under another argv[0], so its output under its own name is compared.
"""

import json
import os
import subprocess
import sys


def start(program, name):
    """Return exit status, output and errors of `program --version`, called `name`."""
    try:
        result = subprocess.run([name, "--version"], executable=program, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, errors="replace", timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, "", str(error)
    return result.returncode, result.stdout, result.stderr


def answer(stub, target):
    """Return the problem of a stub, or None."""
    if os.path.islink(stub):
        return "it is a symlink"
    status, output, error = start(stub, stub)
    if status < 0 or status in (126, 127):
        return f"exit status {status}: {error.strip() or output.strip()}"
    program = os.path.normpath(os.path.join(os.path.dirname(stub), target))
    behind = start(program, stub)
    if (status, output) != behind[:2]:
        return f"it says {output!r} and ends with {status}, the program says {behind[1]!r} and ends with {behind[0]}"
    return None


def main(site, *words):
    pairs = (one.split("=") for one in words)
    json.dump({path: answer(os.path.join(site, path), target) for path, target in pairs}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
