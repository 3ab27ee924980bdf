# SPDX-License-Identifier: MIT
"""Loads the ELF files below a directory, in a sandbox; prints a JSON list of name, role, needed libraries and fault."""

import ctypes
import json
import os
import signal
import subprocess
import sys

X86_64 = 62
FIXED, SHARED = 2, 3  # types of files: ET_EXEC and ET_DYN
LOAD, DYNAMIC, INTERPRETER = 1, 2, 3  # program headers
NEEDED, STRINGS, SONAME, FLAGS_1 = 1, 5, 14, 0x6FFFFFFB  # entries of the dynamic section
PIE = 0x08000000  # flag of FLAGS_1
LOADER = "/lib64/ld-linux-x86-64.so.2"
SECONDS = 60


def read(path):
    """Return an ELF file's role for this machine's loader, and its needed libraries; None is no such file."""
    with open(path, "rb") as file:
        whole = file.read(64)
        if len(whole) < 64 or whole[:4] != b"\x7fELF":
            return None
        whole += file.read()
    kind, machine = number(whole, 16, 2), number(whole, 18, 2)
    if machine != X86_64 or whole[4] != 2 or whole[5] != 1:
        return "for another machine", []
    if kind not in (FIXED, SHARED):
        return "relocatable", []
    start, size, count = number(whole, 32, 8), number(whole, 54, 2), number(whole, 56, 2)
    headers = [start + size * at for at in range(count)]
    dynamic = [at for at in headers if number(whole, at, 4) == DYNAMIC]
    if not dynamic:
        return "static", []
    starts = any(number(whole, at, 4) == INTERPRETER for at in headers)
    begin, length = number(whole, dynamic[0] + 8, 8), number(whole, dynamic[0] + 32, 8)
    entries = [(number(whole, at, 8), number(whole, at + 8, 8)) for at in range(begin, begin + length, 16)]
    is_program = kind == FIXED or any(tag == FLAGS_1 and value & PIE for tag, value in entries)
    is_program |= starts and all(tag != SONAME for tag, _ in entries)
    if is_program and not starts:
        return "static", []
    needed = [text(whole, headers, entries, at) for tag, at in entries if tag == NEEDED]
    if any(name == "libc.so" or name.startswith("libc.musl") for name in needed):
        return "musl", needed
    if is_program:
        return "program", needed
    return "module" if b"\0PyInit_" in whole else "library", needed


def text(whole, headers, entries, at):
    """Return a text of the string table."""
    address = next(value for tag, value in entries if tag == STRINGS)
    for header in headers:
        offset, start, size = (number(whole, header + place, 8) for place in (8, 16, 32))
        if number(whole, header, 4) == LOAD and start <= address < start + size:
            begin = address - start + offset + at
            return whole[begin : whole.index(b"\0", begin)].decode("utf-8", "replace")
    return ""


def number(whole, at, size):
    """Return a number of the file."""
    return int.from_bytes(whole[at : at + size], "little")


def loaded(path):
    """Return the fault of `dlopen`, in a child process."""
    source, write = os.pipe()
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
    with open(source, "rb") as file:
        text = file.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    if text:
        return None if text == "loaded" else text
    return f"ended by {os.waitstatus_to_exitcode(status)}"


def listed(path):
    """Return the fault of the loader's `--list`, which relocates a program and does not start it."""
    command = [LOADER, "--list", path]
    result = subprocess.run(command, capture_output=True, timeout=SECONDS, env={"LD_BIND_NOW": "1"})
    text = (result.stdout + result.stderr).decode("utf-8", "replace")
    faults = [line.strip() for line in text.splitlines() if "not found" in line or "error" in line]
    if result.returncode or faults:
        return "; ".join(faults) or f"status {result.returncode}"
    return None


def main():
    top, rows = sys.argv[1], []
    for directory, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            path = os.path.join(directory, name)
            answer = read(path)
            if answer is None:
                continue
            kind, needed = answer
            fault = None
            if kind in ("library", "module"):
                fault = loaded(path)
            elif kind == "program":
                fault = listed(path)
            rows.append({"name": os.path.relpath(path, top), "role": kind, "needed": needed, "fault": fault})
    print(json.dumps(rows))


main()
