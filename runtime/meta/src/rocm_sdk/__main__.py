"""Command `rocm-sdk`. Standard output has only the answer."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ._errors import RocmSdkError
from ._log import warn

try:
    from ._packages import COMMAND, DIST, find, require
except Exception as error:  # a damaged generated module can raise any error
    from importlib.metadata import packages_distributions

    _MODULE = Path(__file__).parent.name
    _NAMES = packages_distributions().get(_MODULE, [_MODULE])
    sys.exit(
        f"{Path(__file__).with_name('_dist_info.py')} cannot be read"
        f" ({type(error).__name__}: {error})\n"
        f"to repair it: pip install --force-reinstall --no-deps {_NAMES[0]}"
    )

_INTERRUPTED = 130  # exit status of shells
_FORMAT = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 1 for a failure, 2 for wrong usage."""
    arguments = _parser().parse_args(argv)
    _prepare_output(is_report=arguments.run in (_doctor, _test))
    try:
        status: int = arguments.run(arguments)
    except BrokenPipeError:
        # The reader closed the pipe, such as `head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except (RocmSdkError, ModuleNotFoundError, OSError, ValueError) as error:
        warn(str(error))
        return 1
    except KeyboardInterrupt:
        warn("interrupted")
        return _INTERRUPTED
    return status


def _prepare_output(*, is_report: bool) -> None:
    """Make standard output accept every path.

    Pipes of Windows have the code page of old programs, but CMake reads UTF-8. A file name that is
    no text keeps its bytes, except in a report, which nobody opens files by.
    """
    output = sys.stdout
    if not isinstance(output, io.TextIOWrapper):  # None under pythonw
        return
    if sys.platform == "win32" and not output.isatty() and "PYTHONIOENCODING" not in os.environ:
        output.reconfigure(encoding="utf-8")
    output.reconfigure(errors="backslashreplace" if is_report else "surrogateescape")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=COMMAND,
        description="Finds files of the installed ROCm packages, and checks the packages.",
        epilog="ROCM_SDK_VERBOSE=1 prints each action on standard error.",
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    _add_path(commands.add_parser("path", help="print a directory of the installation"))
    _add_find(commands.add_parser("find", help="print the path of a library, header, program"))
    _add_env(commands.add_parser("env", help="print environment variables for a shell or CMake"))
    _add_init(commands.add_parser("init", help="expand the devel package, link device packages"))
    _add_doctor(
        commands.add_parser("doctor", help="list faults with the commands that repair them")
    )
    _add_test(commands.add_parser("test", help="load all libraries, start all commands"))
    _add_libraries(commands.add_parser("libraries", help="print the libraries in load order"))
    _add_rpath(commands.add_parser("rpath", help="print an rpath to the libraries"))
    _add_framework_init(
        commands.add_parser(
            "framework-init", help="write _rocm_init.py for a package built on ROCm"
        )
    )
    driver = commands.add_parser("driver", help="print the version of the kernel driver")
    driver.add_argument("--json", action="store_true", help="print the answer as JSON")
    driver.set_defaults(run=_driver)
    targets = commands.add_parser("targets", help="print the ISAs that have packages")
    targets.set_defaults(run=_targets)
    version = commands.add_parser("version", help="print the version")
    version.set_defaults(run=_version)
    return parser


def _add_path(parser: argparse.ArgumentParser) -> None:
    directory = parser.add_mutually_exclusive_group(required=True)
    for name, (_, explanation) in _DIRECTORIES.items():
        directory.add_argument(
            f"--{name}", dest="directory", action="store_const", const=name, help=explanation
        )
    parser.add_argument(
        "--require-devel",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="fail unless devel is installed; with --no-require-devel, root, bin and lib"
        " can be core's directories",
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=_path)


def _add_find(parser: argparse.ArgumentParser) -> None:
    from ._find import SEARCHES

    parser.description = f"For example: {COMMAND} find program amdclang"
    kinds = parser.add_subparsers(required=True, metavar="kind")
    for kind, (explanation, search) in SEARCHES.items():
        one = kinds.add_parser(kind, help=explanation)
        one.add_argument("names", nargs="+", metavar="NAME")
        one.add_argument("--json", action="store_true", help="print the answers as JSON")
        one.set_defaults(run=_find, search=search)


def _add_env(parser: argparse.ArgumentParser) -> None:
    from ._env import SHELLS

    parser.description = (
        f'For example: eval "$({COMMAND} env)", or {COMMAND} env --shell fish | source'
    )
    parser.add_argument("--shell", choices=SHELLS, default="sh", help="syntax [default: sh]")
    parser.set_defaults(run=_env)


def _add_init(parser: argparse.ArgumentParser) -> None:
    output = parser.add_mutually_exclusive_group()
    output.add_argument("-q", "--quiet", action="store_true", help="print only errors")
    output.add_argument("-v", "--verbose", action="store_true", help="print each action")
    parser.add_argument(
        "--symlinks",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="make symbolic links of libraries, for container images: their layers copy hard links"
        " [default: the choice of the existing tree, hard links in a new one]",
    )
    parser.set_defaults(run=_init)


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.description = "Exit status: 0 without errors (warnings are possible), 1 with errors."
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=_doctor)


def _add_test(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write a report to FILE")
    parser.add_argument(
        "--only", action="append", metavar="GLOB", help="run only the cases with matching names"
    )
    parser.set_defaults(run=_test)


def _add_libraries(parser: argparse.ArgumentParser) -> None:
    parser.description = "Libraries follow their dependencies."
    parser.add_argument("--json", action="store_true", help="print the libraries as JSON")
    _add_names(parser, "all")
    parser.set_defaults(run=_list_libraries)


def _add_rpath(parser: argparse.ArgumentParser) -> None:
    parser.description = f'For example: patchelf --set-rpath "$({COMMAND} rpath --from torch/lib)"'
    parser.add_argument(
        "--from",
        dest="start",
        required=True,
        metavar="DIR",
        help="directory of the file that gets the rpath, below site-packages",
    )
    parser.add_argument(
        "--cmake", action="store_true", help="separate entries by `;`, as in CMAKE_INSTALL_RPATH"
    )
    _add_names(parser, "all installed ones")
    parser.set_defaults(run=_rpath)


def _add_framework_init(parser: argparse.ArgumentParser) -> None:
    parser.description = "Install it as _rocm_init.py; __init__.py calls `_rocm_init.initialize()`."
    _add_names(parser, None)
    parser.add_argument(
        "--check-version",
        default="exact",
        metavar="exact|minor|VERSION",
        help="accepted versions of ROCm: this one, any with its minor number, or a version with `*`"
        " as wildcard [default: exact]",
    )
    parser.add_argument(
        "--strict", action="store_true", help="make another version an error, not a warning"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="file to write [default: standard output]"
    )
    parser.set_defaults(run=_framework_init)


def _add_names(parser: argparse.ArgumentParser, default: str | None) -> None:
    parser.add_argument(
        "--libraries",
        required=default is None,
        metavar="NAME,…",
        help="short names of libraries" + (f" [default: {default}]" if default else ""),
    )


# Path below the root, and help; core has only the first three.
_DIRECTORIES = {
    "root": ("", "the root, with the layout of /opt/rocm"),
    "bin": ("bin", "directory of programs"),
    "lib": ("lib", "directory of libraries"),
    "include": ("include", "directory of headers; needs devel"),
    "cmake": ("lib/cmake", "directory for CMAKE_PREFIX_PATH; needs devel"),
}
_NEED_DEVEL = ("include", "cmake")


def _path(arguments: argparse.Namespace) -> int:
    below, _ = _DIRECTORIES[arguments.directory]
    of_core = arguments.directory not in _NEED_DEVEL
    needs_devel = not of_core or (arguments.require_devel and "devel" in DIST["packages"])
    if of_core and needs_devel and find("devel") is None:
        warn(f"{COMMAND} path --{arguments.directory} --no-require-devel prints core's directory")
    root, is_devel = (_devel_root(), True) if needs_devel else _root()
    if arguments.json:
        _print_json({"name": arguments.directory, "path": str(root / below), "devel": is_devel})
    else:
        print(root / below)
    return 0


def _find(arguments: argparse.Namespace) -> int:
    found = [arguments.search(name) for name in arguments.names]
    if arguments.json:
        rows = [
            {
                "name": one.name,
                "path": str(one.path),
                "found_via": one.found_via,
                "distribution": one.distribution,
            }
            for one in found
        ]
        _print_json({"found": rows})
    else:
        for one in found:
            print(one)
    return 0


def _driver(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from . import _driver

    found = _driver.look()
    if arguments.json:
        _print_json(asdict(found))
    elif found.version is not None:
        print(found.version)
    if found.problem is not None:
        warn(found.problem)
    if found.supported is False:
        warn(f"{DIST['distribution']} {DIST['version']} needs a newer driver than {found.version}")
    return 0 if found.usable else 1


def _print_json(content: dict[str, object]) -> None:
    """Print a JSON object with its format number."""
    print(json.dumps({"format": _FORMAT, **content}, indent=1))


def _root() -> tuple[Path, bool]:
    """Return the root and whether it is the devel tree; without devel, it is core's directory."""
    if find("devel") is not None:
        return _devel_root(), True
    return _core_root(), False


def _devel_root() -> Path:
    from . import _devel

    return _devel.ensure(quiet=False)


def _core_root() -> Path:
    core = require("core")
    if "devel" in DIST["packages"]:
        devel = f'pip install "{DIST["distribution"]}[devel]"'
        warn(f"devel is not installed ({devel}): using core's directory, without headers")
    return core.root


def _env(arguments: argparse.Namespace) -> int:
    from . import _env

    root, has_devel = _root()
    print(_env.render(_env.of(root, has_devel=has_devel), arguments.shell), end="")
    return 0


def _init(arguments: argparse.Namespace) -> int:
    from . import _devel

    if arguments.verbose:
        os.environ["ROCM_SDK_VERBOSE"] = "1"
    root = _devel.ensure(quiet=arguments.quiet, thorough=True, symlinks=arguments.symlinks)
    if not arguments.quiet:
        warn(f"the devel tree is {root}")
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    from . import _health

    report = _health.examine()
    print(report.as_json() if arguments.json else report.as_text())
    return 1 if report.count(_health.ERROR) else 0


def _test(arguments: argparse.Namespace) -> int:
    from . import tests

    return tests.run(only=arguments.only, list_only=arguments.list, json_file=arguments.json)


def _targets(_: argparse.Namespace) -> int:
    from . import _targets

    print(";".join(_targets.published_isas()))
    return 0


def _list_libraries(arguments: argparse.Namespace) -> int:
    from . import _framework

    found = _framework.libraries(_names(arguments))
    print(_framework.as_json(found) if arguments.json else _framework.as_text(found), end="")
    if arguments.json:
        print()
    return 0


def _rpath(arguments: argparse.Namespace) -> int:
    from . import _framework

    entries = _framework.rpath(arguments.start, _names(arguments))
    print((";" if arguments.cmake else ":").join(entries))
    return 0


def _framework_init(arguments: argparse.Namespace) -> int:
    from . import _framework

    text = _framework.init_module(
        _names(arguments) or [],
        arguments.check_version,
        strict=arguments.strict,
    )
    if arguments.output is None:
        print(text, end="")
    else:
        arguments.output.write_text(text, encoding="utf-8")
    return 0


def _names(arguments: argparse.Namespace) -> list[str] | None:
    from . import _framework

    return None if arguments.libraries is None else list(_framework.split(arguments.libraries))


def _version(_: argparse.Namespace) -> int:
    print(DIST["version"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
