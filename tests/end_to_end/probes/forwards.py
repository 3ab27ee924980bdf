# SPDX-License-Identifier: MIT
"""Opens forwarding libraries and looks a function up in each.

Usage: forwards.py SITE PATH=FUNCTION...   Prints {path: error, or null}.
"""

import ctypes
import json
import os
import sys

LARGEST = 16 * 1024  # a forwarding library has a few KB; the library itself has more, or is a copy


def look_up(path, function):
    """Return why `function` is not to be had through the library at `path`, or None."""
    if os.path.islink(path) or os.path.getsize(path) > LARGEST:
        return f"{path} is no separate small file"
    try:
        handle = ctypes.CDLL(path, os.RTLD_NOW)
        address = ctypes.cast(getattr(handle, function), ctypes.c_void_p).value
    except (OSError, AttributeError) as error:
        return str(error)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        owner = next((line.split(None, 5)[5].strip() for line in maps if _has(line, address)), "nothing")
    if owner == os.path.realpath(path):
        return f"{function} is in the forwarding library itself"
    beside = os.path.dirname(os.path.realpath(path))
    return None if os.path.dirname(owner) == beside else f"{function} comes from {owner}"


def _has(line, address):
    first, last = (int(end, 16) for end in line.split()[0].split("-"))
    return first <= address < last


def main(site, *pairs_given):
    pairs = (one.split("=") for one in pairs_given)
    json.dump({path: look_up(os.path.join(site, path), function) for path, function in pairs}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
