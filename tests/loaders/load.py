# SPDX-License-Identifier: MIT
"""Loads the ELF files below a directory, in a sandbox; prints a JSON list of name, role and fault."""

import ctypes
import json
import os
import signal
import subprocess
import sys

X86_64 = 62
FIXED, SHARED = 2, 3  # types of files: ET_EXEC and ET_DYN
DYNAMIC, INTERPRETER = 2, 3  # program headers
SONAME, FLAGS_1, PIE = 14, 0x6FFFFFFB, 0x08000000  # entries of the dynamic section, and a flag
LOADER = "/lib64/ld-linux-x86-64.so.2"
SECONDS = 60


def role(path):
    """Return what an ELF file is for this machine's loader; None is no such file."""
    with open(path, "rb") as file:
        whole = file.read(64)
        if len(whole) < 64 or whole[:4] != b"\x7fELF":
            return None
        whole += file.read()
    kind, machine = number(whole, 16, 2), number(whole, 18, 2)
    if machine != X86_64 or whole[4] != 2 or whole[5] != 1:
        return "for another machine"
    if kind not in (FIXED, SHARED):
        return "relocatable"
    start, size, count = number(whole, 32, 8), number(whole, 54, 2), number(whole, 56, 2)
    headers = [start + size * at for at in range(count)]
    dynamic = [at for at in headers if number(whole, at, 4) == DYNAMIC]
    starts = any(number(whole, at, 4) == INTERPRETER for at in headers)
    if not dynamic:
        return "static"
    begin, length = number(whole, dynamic[0] + 8, 8), number(whole, dynamic[0] + 32, 8)
    entries = [(number(whole, at, 8), number(whole, at + 8, 8)) for at in range(begin, begin + length, 16)]
    is_program = kind == FIXED or any(tag == FLAGS_1 and value & PIE for tag, value in entries)
    is_program |= starts and all(tag != SONAME for tag, _ in entries)
    if is_program and not starts:
        return "static"
    if b"ld-musl" in whole or b"libc.musl" in whole or b"\0libc.so\0" in whole:
        return "musl"
    if is_program:
        return "program"
    return "module" if b"\0PyInit_" in whole else "library"


def number(whole, at, size):
    """Return a number of the file."""
    return int.from_bytes(whole[at : at + size], "little")


def loaded(path):
    """Return the fault of `dlopen`, in a child process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        quiet = os.open("/dev/null", os.O_RDWR)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            ctypes.CDLL(path, mode=os.RTLD_NOW)
            fault = b""
        except OSError as error:
            fault = str(error).encode()[:2000]
        os.write(write, fault or b"loaded")
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        said = file.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    if said:
        return None if said == "loaded" else said
    return f"ended by {os.waitstatus_to_exitcode(status)}"


def listed(path):
    """Return the fault of the loader's `--list`, which relocates a program and does not start it."""
    command = [LOADER, "--list", path]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS, env={"LD_BIND_NOW": "1"})
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    faults = [line.strip() for line in text.splitlines() if "not found" in line or "error" in line]
    if done.returncode or faults:
        return "; ".join(faults) or f"status {done.returncode}"
    return None


def main():
    top, rows = sys.argv[1], []
    for directory, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            path = os.path.join(directory, name)
            kind = role(path)
            if kind is None:
                continue
            fault = None
            if kind in ("library", "module"):
                fault = loaded(path)
            elif kind == "program":
                fault = listed(path)
            rows.append({"name": os.path.relpath(path, top), "role": kind, "fault": fault})
    print(json.dumps(rows))


main()
