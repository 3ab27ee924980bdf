"""Environment of the installed ROCm in the syntax of shells and CMake.

LD_LIBRARY_PATH is unnecessary: programs and libraries find each other by their rpaths.
"""

from __future__ import annotations

import json
import ntpath
import os
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

_FORMAT = 1


@dataclass(frozen=True)
class Environment:
    """Variables to set, and directories to prepend to variables that lack them."""

    variables: dict[str, str]
    prepended: dict[str, list[str]] = field(default_factory=dict)


def of(root: Path, *, has_devel: bool) -> Environment:
    """Return the environment of a tree. Only devel has CMake packages."""
    name = os.fspath(root)
    prepended = {"PATH": [os.path.join(name, "bin")]}
    if has_devel:
        prepended["CMAKE_PREFIX_PATH"] = [name]
    return Environment({"ROCM_PATH": name, "HIP_PATH": name}, prepended)


def render(environment: Environment, shell: str) -> str:
    """Return the text for a shell of `SHELLS`."""
    return _RENDERERS[shell](environment)


# ------------------------------------------------------------------------------ shells


def _sh(environment: Environment) -> str:
    lines = [f"export {name}={_in_quotes(value)}" for name, value in environment.variables.items()]
    for name, directories in environment.prepended.items():
        # Shells on Windows translate PATH for its programs, and no other list.
        is_native = sys.platform == "win32" and name != "PATH"
        mark, quoted = (";", "';'") if is_native else (":", ":")
        for directory in reversed(directories):
            text = _in_quotes(directory if is_native else _posix(directory))
            lines.append(
                f'case "{mark}${{{name}-}}{mark}" in *{quoted}{text}{quoted}*) ;; '
                f'*) export {name}={text}"${{{name}:+{mark}${name}}}" ;; esac'
            )
    return _lines(lines)


def _posix(path: str) -> str:
    """Return a path as shells on Windows write it: `/c/dir` for `C:\\dir`."""
    if sys.platform != "win32":
        return path
    drive, rest = ntpath.splitdrive(path)
    root = f"/{drive[0].lower()}" if drive.endswith(":") else drive
    return (root + rest).replace("\\", "/")


def _in_quotes(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"


def _fish(environment: Environment) -> str:
    lines = [f"set -gx {n} {_fish_quoted(v)}" for n, v in environment.variables.items()]
    for name, directories in environment.prepended.items():
        # In fish, variables with a name that ends in PATH are lists.
        for directory in reversed(directories):
            text = _fish_quoted(directory)
            lines.append(f"contains -- {text} ${name}; or set -gx {name} {text} ${name}")
    return _lines([f"{line};" for line in lines])


def _fish_quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _csh(environment: Environment) -> str:
    """Return `setenv` lines with values of this process: csh cannot evaluate `if`."""
    values = dict(environment.variables)
    for name, directories in environment.prepended.items():
        old = os.environ.get(name, "").split(os.pathsep)
        values[name] = os.pathsep.join(
            [*directories, *(d for d in old if d and d not in directories)]
        )
    return _lines([f"setenv {name} {_csh_quoted(value)};" for name, value in values.items()])


def _csh_quoted(value: str) -> str:
    return _in_quotes(value).replace("!", "\\!")


def _powershell(environment: Environment) -> str:
    lines = [f"$env:{name} = {_ps_quoted(value)}" for name, value in environment.variables.items()]
    for name, directories in environment.prepended.items():
        for directory in reversed(directories):
            text, separator = _ps_quoted(directory), "[IO.Path]::PathSeparator"
            lines.append(
                f'if ("$env:{name}" -split {separator} -cnotcontains {text}) '
                f"{{ $env:{name} = (@({text}) + @($env:{name} | Where-Object {{ $_ }})) -join {separator} }}"
            )
    return _lines(lines)


def _ps_quoted(value: str) -> str:
    if value.isascii():
        return "'" + value.replace("'", "''") + "'"
    # PowerShell reads pipes in the console's code page, so other characters become numbers.
    text = value.encode("utf-16-le", "surrogatepass")
    units = struct.unpack(f"<{len(text) // 2}H", text)
    return '"' + "".join(map(_ps_character, units)) + '"'


def _ps_character(unit: int) -> str:
    if unit > 0x7F:
        return f"$([char]{unit})"
    return f"`{chr(unit)}" if chr(unit) in '"$`' else chr(unit)


# ------------------------------------------------------------------------------ others


def _cmake(environment: Environment) -> str:
    """Return a file for `include()`: variables of child processes, and CMAKE_PREFIX_PATH."""
    lines = [f'set(ENV{{{n}}} "{_cmake_text(v)}")' for n, v in environment.variables.items()]
    for name, directories in environment.prepended.items():
        for directory in reversed(directories):
            text = _cmake_text(directory)
            if name.startswith("CMAKE_"):
                # Elements of lists need a backslash before semicolons.
                element = text.replace(";", "\\;")
                lines += [f'list({do} {name} "{element}")' for do in ("REMOVE_ITEM", "PREPEND")]
            else:
                lines.append(f'set(ENV{{{name}}} "{text}{os.pathsep}$ENV{{{name}}}")')
    return _lines(lines)


def _cmake_text(value: str) -> str:
    if sys.platform == "win32":
        value = value.replace("\\", "/")
    for character in '\\"$':
        value = value.replace(character, f"\\{character}")
    return value


def _json(environment: Environment) -> str:
    content = {"format": _FORMAT, "set": environment.variables, "prepend": environment.prepended}
    return json.dumps(content, indent=1) + "\n"


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


_RENDERERS: dict[str, Callable[[Environment], str]] = {
    "sh": _sh,
    "fish": _fish,
    "csh": _csh,
    "powershell": _powershell,
    "cmake": _cmake,
    "json": _json,
}
SHELLS = tuple(_RENDERERS)
