"""Check for variables with the directory of another ROCm."""

from __future__ import annotations

import os
import sys

from .. import _env
from .._packages import COMMAND, Installed
from ._finding import WARNING, Finding


def check(installed: list[Installed]) -> list[Finding]:
    """Return a finding for each variable of `rocm-sdk env` with another directory."""
    ours = [one.root for one in installed if one.package.logical in ("core", "devel")]
    if not ours:
        return []
    own = {_normal(str(root)) for root in ours}
    names = _env.of(ours[0], has_devel=False).variables
    other = {name: os.environ[name] for name in names if os.environ.get(name)}
    return [_finding(name, value) for name, value in other.items() if _normal(value) not in own]


def _normal(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))


def _finding(name: str, value: str) -> Finding:
    missing = "" if os.path.isdir(value) else ", which does not exist"
    message = f"it is {value}{missing}: hipcc and CMake use it instead of these packages"
    return Finding("other-sdk", WARNING, name, message, _remedy())


def _remedy() -> str:
    if sys.platform == "win32":
        return f"{COMMAND} env --shell powershell | Out-String | Invoke-Expression"
    return f'eval "$({COMMAND} env)"'
