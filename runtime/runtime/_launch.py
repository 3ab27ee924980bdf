"""Starts the programs behind the console scripts of this package."""

from __future__ import annotations

import importlib
import os
import sys

from ._dist_info import DIST as _GENERATED

TYPE_CHECKING = False  # importing `typing` would take longer than starting the program
if TYPE_CHECKING:
    from typing import Any, NoReturn

DIST: dict[str, Any] = dict(_GENERATED)
_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_MARKER = ".rocm-sdk.json"  # the selector writes it into a devel tree that is whole
_CANNOT_START = 126
_NOT_FOUND = 127  # both as shells have them


def start(name: str) -> NoReturn:
    """Start the program of the console script `name` with this process's arguments.

    It is the one in the devel tree where that is expanded, or can be, else the one in
    this package. Does not return: the program takes the place of this process (on
    Windows its exit status is passed on). Exit status 127: the program is missing; 126:
    it is there, but does not start.
    """
    script: dict[str, Any] = DIST["scripts"][name]
    program = _find(name, script)
    if program is None:
        path = os.path.join(_SITE, DIST["platform_dir"], script["program"])
        product = f"{DIST['distribution']} {DIST['version']}"
        _say(name, f"{path} is missing: reinstall {product}")
        sys.exit(_NOT_FOUND)
    _set_environment()
    try:
        _run([program, *sys.argv[1:]])
    except OSError as error:
        _say(name, f"cannot start {program}: {error.strerror}")
        sys.exit(_CANNOT_START)


def _run(command: list[str]) -> NoReturn:
    if sys.platform != "win32":
        os.execv(command[0], command)
    import signal
    import subprocess

    # Control-C goes to both processes: the program decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = subprocess.call(command)
    # Faults and Control-C are numbers above 2**31, which `sys.exit` takes with their sign alone.
    sys.exit(status - (1 << 32) if status >= 1 << 31 else status)


def _find(name: str, script: dict[str, Any]) -> str | None:
    for root in (_devel_root(name, script), os.path.join(_SITE, DIST["platform_dir"])):
        if root is not None:
            for path in _file_names(os.path.join(root, script["program"])):
                if os.path.isfile(path):
                    return path
    return None


def _file_names(path: str) -> list[str]:
    path = os.path.normpath(path)
    return [f"{path}.exe", f"{path}.bat", path] if sys.platform == "win32" else [path]


def _devel_root(name: str, script: dict[str, Any]) -> str | None:
    """Return the expanded devel tree of this version, expanding it if the script says so."""
    if "devel" not in DIST:
        return None
    try:
        devel: dict[str, Any] = importlib.import_module(
            f"{DIST['devel']['module']}._dist_info"
        ).DIST
    except ModuleNotFoundError:
        return None
    if devel["version"] != DIST["version"]:
        _say(
            name,
            f"{devel['distribution']} {devel['version']} is not used: this is {DIST['version']}",
        )
        return None
    root = os.path.join(_SITE, devel["platform_dir"])
    if _is_whole(root) or (script["expand_devel"] and _expand(name)):
        return root
    return None


def _is_whole(root: str) -> bool:
    try:
        return os.path.getsize(os.path.join(root, _MARKER)) > 0
    except OSError:
        return False


def _expand(name: str) -> bool:
    """Expand the devel package; where that fails, the program of this package has to do."""
    try:
        expander = importlib.import_module(f"{DIST['selector']['module']}._devel")
    except ModuleNotFoundError:
        return False  # only the selector expands it
    try:
        expander.ensure(quiet=False)
    except Exception as error:  # whatever it is, this program can still be started
        _say(name, f"{error}; starting the program of {DIST['distribution']}")
        return False
    return True


def _set_environment() -> None:
    """Put the package's directories before what the variables have."""
    variables: dict[str, list[list[str]]] = DIST.get("environment", {})
    for variable, directories in variables.items():
        paths = [os.path.normpath(os.path.join(_SITE, *parts)) for parts in directories]
        ours = os.pathsep.join(path for path in paths if os.path.isdir(path))
        theirs = os.environ.get(variable, "")
        # A script that starts another one must not make the list longer and longer.
        if ours and (theirs + os.pathsep).startswith(ours + os.pathsep):
            continue
        os.environ[variable] = os.pathsep.join(part for part in (ours, theirs) if part)


def _say(name: str, message: str) -> None:
    if sys.stderr is not None:
        print(f"{name}: {message}", file=sys.stderr, flush=True)
