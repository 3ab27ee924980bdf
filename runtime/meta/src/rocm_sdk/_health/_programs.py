"""Check of the programs of console scripts."""

from __future__ import annotations

from .._packages import Installed
from .._paths import programs
from ._finding import ERROR, Finding, named, reinstall


def check(installed: list[Installed]) -> list[Finding]:
    """Return a finding for each package with missing programs."""
    return [finding for one in installed if (finding := _missing(one, scripts_of(one)))]


def check_one(name: str, installed: Installed) -> Finding | None:
    """Return a finding if the program of a console script is missing."""
    return _missing(installed, [name])


def scripts_of(installed: Installed) -> list[str]:
    """Return the console scripts of a package."""
    return list(installed.scripts)


def _missing(installed: Installed, names: list[str]) -> Finding | None:
    rows = installed.scripts
    wanted = {name: installed.root / rows[name]["program"] for name in names}
    missing = [
        f"{name} ({program})"
        for name, program in wanted.items()
        if not any(path.is_file() for path in programs(program))
    ]
    if not missing:
        return None
    message = f"programs of console scripts are missing: {named(missing)}"
    distribution = installed.package.distribution
    return Finding("program-missing", ERROR, distribution, message, reinstall(installed))
