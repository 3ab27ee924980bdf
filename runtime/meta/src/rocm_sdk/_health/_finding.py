"""Findings, and commands for their remedies."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from .._packages import DIST, Installed, Package
from .._versions import metadata_directory

ERROR, WARNING = "error", "warning"
_NAMED_AT_MOST = 5


@dataclass(frozen=True)
class Finding:
    """A fault.

    `code` names the kind of fault and is stable across versions; `severity` is `error` or
    `warning`; `subject` is the distribution, file or GPU; `remedy` is the command that repairs it,
    or a sentence if no command does.
    """

    code: str
    severity: str
    subject: str
    message: str
    remedy: str

    def as_dict(self) -> dict[str, str]:
        """Return the fields for JSON."""
        return asdict(self)


def install(*packages: Package) -> str:
    """Return the command that installs packages in this version."""
    extras = [package.extra for package in packages if package.extra is not None]
    wanted = [package.requirement for package in packages if package.extra is None]
    if extras:
        wanted.append(f"{DIST['distribution']}[{','.join(extras)}]=={DIST['version']}")
    return f"{_installer()} install {_quoted(wanted)}"


def reinstall(installed: Installed) -> str:
    """Return the command that restores a package's files."""
    name = installed.package.distribution
    requirement = f"{name}=={installed.version}"
    if _installer() == "uv pip":
        return f"uv pip install --reinstall --no-deps {_quoted([requirement])}"
    return f"pip install --force-reinstall --no-deps {_quoted([requirement])}"


def uninstall(*distributions: str) -> str:
    """Return the command that removes distributions."""
    return f"{_installer()} uninstall {' '.join(distributions)}"


def remove(paths: Iterable[Path]) -> str:
    """Return the command that removes directories without a distribution."""
    names = [str(path) for path in paths]
    if sys.platform == "win32":
        return "Remove-Item -Recurse " + ", ".join("'" + n.replace("'", "''") + "'" for n in names)
    return f"rm -r {shlex.join(names)}"


def find_system_library(name: str) -> str:
    """Return the command that finds or installs the system's package of a library."""
    if shutil.which("apt-get"):
        return f"apt-file search {shlex.quote(name)}  # then install the package in its answer"
    for manager in ("dnf", "zypper"):
        if shutil.which(manager):
            return f"{manager} install '{name}()(64bit)'"
    return f"install your system's package with {name}"


def named(names: Iterable[str]) -> str:
    """Return the first names of a list, and the number of the others."""
    everything = list(names)
    more = len(everything) - _NAMED_AT_MOST
    return ", ".join(everything[:_NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")


def _quoted(requirements: list[str]) -> str:
    return " ".join(f'"{requirement}"' for requirement in requirements)


def _installer() -> str:
    """Return the installer that installed the selector."""
    site = Path(__file__).resolve().parents[2]
    try:
        name = metadata_directory(str(site), DIST["distribution"]) or ""
        return "uv pip" if (site / name / "INSTALLER").read_text().strip() == "uv" else "pip"
    except OSError:
        return "pip"
