"""Start of the programs of this package's console scripts."""

from __future__ import annotations

import _signal  # `signal` takes longer to import
import importlib
import os
import sys

from ._dist_info import DIST as _GENERATED
from ._versions import installed_version, is_in_set, own_version, version_in_set

TYPE_CHECKING = False  # importing `typing` takes longer than starting the program
if TYPE_CHECKING:
    from typing import Any, NoReturn

DIST: dict[str, Any] = dict(_GENERATED)
_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_MARKER = ".rocm-sdk.json"  # written by the selector into a complete devel tree
_PACKAGES = ".packages"
# Exit statuses of shells.
_CANNOT_START = 126
_NOT_FOUND = 127
_LONGEST_LINE = 256  # Linux reads as much of a script


def __getattr__(name: str) -> Any:
    """Return PLATFORM_PATH, which other projects import from `_cli`."""
    if name != "PLATFORM_PATH":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pathlib import Path

    return Path(_SITE, DIST["platform_dir"])


def start(name: str) -> NoReturn:
    """Start the program of the console script `name` with this process's arguments.

    The program of the devel tree is preferred to this package's, if the tree is expanded or can
    be. A Python program is started with this interpreter, which has the packages that it imports.
    The program replaces this process; on Windows, this process exits with its status. Exit
    status 127: the program is missing; 126: it does not start.
    """
    script: dict[str, Any] = DIST["scripts"][name]
    program = _find(name, script)
    if program is None:
        path = os.path.join(_SITE, DIST["platform_dir"], script["program"])
        product = f"{DIST['distribution']} {own_version()}"
        _print_error(name, f"{path} is missing: reinstall {product}")
        sys.exit(_NOT_FOUND)
    _set_environment()
    try:
        _run([*_command(program, script.get("starts")), *sys.argv[1:]])
    except OSError as error:
        _print_error(name, f"cannot start {program}: {error.strerror}")
        sys.exit(_CANNOT_START)


def _run(command: list[str]) -> NoReturn:
    if sys.platform != "win32":
        # Python ignores them, and the program would inherit that.
        _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
        _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)
        os.execv(command[0], command)
    import signal
    import subprocess

    # Both processes receive Control-C; only the program handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = subprocess.call(command)
    # Statuses of faults and Control-C are above 2**31; `sys.exit` needs them as negative numbers.
    sys.exit(status - (1 << 32) if status >= 1 << 31 else status)


def _command(program: str, starts: str | None) -> list[str]:
    """Return the command for a program; `starts` is the script that an exec stub starts."""
    file = program
    if starts is not None:
        file = os.path.normpath(os.path.join(os.path.dirname(program), starts))
    words = _interpreter(file)
    if not words or not sys.executable:
        return [program]
    if _is_python(words[0]):
        return [sys.executable, *words[1:], file]
    _put_python_first()  # a shell script can start Python
    return [program]


def _interpreter(file: str) -> list[str]:
    """Return the interpreter in the first line of a script, and its options, without `env`."""
    try:
        with open(file, "rb") as opened:
            line = opened.readline(_LONGEST_LINE)
    except OSError:
        return []
    words = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    return words


def _is_python(interpreter: str) -> bool:
    name = os.path.basename(interpreter)
    return name.startswith("python") and not name[len("python") :].strip("0123456789.")


def _put_python_first() -> None:
    """Make `python3` this interpreter, like an activated environment."""
    directory = os.path.dirname(sys.executable)
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    has_python = (one for one in entries if os.access(os.path.join(one, "python3"), os.X_OK))
    if os.path.realpath(next(has_python, "")) != os.path.realpath(directory):
        os.environ["PATH"] = os.pathsep.join([directory, *entries])


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
    """Return the devel tree of this version, expanded first if the script needs it."""
    if "devel" not in DIST:
        return None
    try:
        devel: dict[str, Any] = importlib.import_module(
            f"{DIST['devel']['module']}._dist_info"
        ).DIST
    except ModuleNotFoundError:
        return None
    version, own = _version(devel), own_version()
    if version != own and not _is_one_set({devel["distribution"]: version, DIST["distribution"]: own}):
        _print_error(
            name,
            f"{devel['distribution']} {version} is ignored:"
            f" {DIST['distribution']} is {own}; install the same version of both",
        )
        return None
    root = os.path.join(_SITE, devel["platform_dir"])
    if _is_complete(root) or (script["expand_devel"] and _expand(name)):
        return root
    return None


def _version(facts: dict[str, Any]) -> str:
    return installed_version(_SITE, facts["distribution"]) or str(facts["version"])


def _is_one_set(versions: dict[str, str]) -> bool:
    """Return whether the selector names these versions of distributions, which differ.

    One can be of an earlier night, or the selector's a post release.
    """
    try:
        selector = importlib.import_module(f"{DIST['selector']['module']}._dist_info").DIST
    except ModuleNotFoundError:
        return False
    of_selector = _version(selector)
    return all(
        is_in_set(version, version_in_set(selector, of_selector, distribution))
        for distribution, version in versions.items()
    )


def _is_complete(root: str) -> bool:
    try:
        if os.path.getsize(os.path.join(root, _MARKER)) == 0:
            return False
        with open(os.path.join(root, _PACKAGES), encoding="utf-8") as names:
            packages = names.read().split()
    except FileNotFoundError:
        return os.path.isfile(os.path.join(root, _MARKER))
    except OSError:
        return False
    # An installer that replaced one of them left its files in the tree.
    return all(os.path.isdir(os.path.join(_SITE, name)) for name in packages)


def _expand(name: str) -> bool:
    """Expand the devel package; after a failure, this package's program is started instead."""
    try:
        expander = importlib.import_module(f"{DIST['selector']['module']}._devel")
    except ModuleNotFoundError:
        return False  # the selector has the code that expands it
    try:
        expander.ensure(quiet=False)
    except Exception as error:  # any failure leaves this package's program usable
        _print_error(name, f"{error}; starting the program of {DIST['distribution']}")
        return False
    return True


def _set_environment() -> None:
    """Prepend the package's directories to their variables."""
    variables: dict[str, list[list[str]]] = DIST.get("environment", {})
    for variable, directories in variables.items():
        paths = [os.path.normpath(os.path.join(_SITE, *parts)) for parts in directories]
        ours = os.pathsep.join(path for path in paths if os.path.isdir(path))
        theirs = os.environ.get(variable, "")
        # A script that starts another one must not prepend them twice.
        if ours and (theirs + os.pathsep).startswith(ours + os.pathsep):
            continue
        os.environ[variable] = os.pathsep.join(part for part in (ours, theirs) if part)


def _print_error(name: str, message: str) -> None:
    if sys.stderr is not None:
        print(f"{name}: {message}", file=sys.stderr, flush=True)
