"""The command `rocm-sdk`. Standard output has the answer and nothing else."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ._errors import RocmSdkError
from ._log import warn
from ._packages import DIST, find, require


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 1 for a failure, 2 for wrong usage."""
    arguments = _parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
    except (RocmSdkError, ModuleNotFoundError, OSError) as error:
        warn(str(error))
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rocm-sdk",
        description="Says where the installed ROCm packages are, and checks them.",
        epilog="ROCM_SDK_VERBOSE=1 tells on standard error what is done.",
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    _add_path(commands.add_parser("path", help="print a directory of the installation"))
    init = commands.add_parser("init", help="expand the devel package and link device packages")
    init.add_argument("--quiet", action="store_true", help="do not report progress")
    init.set_defaults(run=_init)
    _add_test(commands.add_parser("test", help="check the installed packages"))
    targets = commands.add_parser("targets", help="print the ISAs that there are packages for")
    targets.set_defaults(run=_targets)
    version = commands.add_parser("version", help="print the version")
    version.set_defaults(run=_version)
    return parser


def _add_path(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--cmake", action="store_true", help="for CMAKE_PREFIX_PATH; needs devel")
    which.add_argument("--bin", action="store_true", help="where the programs are")
    which.add_argument("--root", action="store_true", help="what is /opt/rocm elsewhere")
    parser.set_defaults(run=_path)


def _add_test(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the report here")
    parser.add_argument(
        "--only", action="append", metavar="GLOB", help="run only cases with such names"
    )
    parser.set_defaults(run=_test)


def _path(arguments: argparse.Namespace) -> int:
    if arguments.cmake:
        print(_devel_root() / "lib" / "cmake")
    elif find("devel") is not None:
        print(_devel_root() / ("bin" if arguments.bin else ""))
    else:
        print(_core_root() / ("bin" if arguments.bin else ""))
    return 0


def _devel_root() -> Path:
    from . import _devel

    return _devel.ensure(quiet=False)


def _core_root() -> Path:
    core = require("core")
    devel = f'pip install "{DIST["distribution"]}[devel]"'
    warn(f"devel is not installed ({devel}): this is the runtime of core, without headers")
    return core.root


def _init(arguments: argparse.Namespace) -> int:
    from . import _devel

    root = _devel.ensure(quiet=arguments.quiet)
    if not arguments.quiet:
        warn(f"the devel tree is {root}")
    return 0


def _test(arguments: argparse.Namespace) -> int:
    from . import tests

    return tests.run(only=arguments.only, list_only=arguments.list, json_file=arguments.json)


def _targets(_: argparse.Namespace) -> int:
    from . import _targets

    print(" ".join(_targets.published_isas()))
    return 0


def _version(_: argparse.Namespace) -> int:
    print(DIST["version"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
