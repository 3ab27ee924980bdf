# SPDX-License-Identifier: MIT
"""Loads every shared library below some directories, each in a separate process.

Usage: libraries.py SITE DIRECTORY...   Prints {path below SITE: error, or null when it loads}.
"""

import json
import os
import subprocess
import sys

# RTLD_NOW, so that an undefined function is an error now, not at its first call.
LOAD = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], os.RTLD_NOW)"
# Variables that would change the search of the loader.
HIDDEN = ("LD_LIBRARY_PATH", "LD_PRELOAD")


def is_shared_library(path):
    """Return whether a file is an ELF file of type ET_DYN with a library's name."""
    name = os.path.basename(path)
    if not (name.endswith(".so") or ".so." in name) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        start = file.read(18)
    return start[:4] == b"\x7fELF" and int.from_bytes(start[16:18], "little") == 3


def libraries(site, directory):
    """Return every shared library below `directory`, relative to `site`."""
    paths = []
    for here, _, names in os.walk(os.path.join(site, directory)):
        paths += [os.path.join(here, name) for name in names]
    return sorted(os.path.relpath(path, site) for path in paths if is_shared_library(path))


def load(path):
    """Load one library; return the last line of the error, or None."""
    environment = {key: value for key, value in os.environ.items() if key not in HIDDEN}
    result = subprocess.run([sys.executable, "-c", LOAD, path], env=environment, stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, errors="replace", check=False)
    if result.returncode == 0:
        return None
    lines = (result.stderr + result.stdout).strip().splitlines() or ["no output"]
    return f"exit status {result.returncode}: {lines[-1]}"


def main(site, *directories):
    paths = [path for directory in directories for path in libraries(site, directory)]
    json.dump({path: load(os.path.join(site, path)) for path in paths}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
