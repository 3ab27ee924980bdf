"""Report of all checks, as text or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from .._packages import DIST, Installed, every_installed
from . import _devel, _environment, _gpu, _libraries, _packages, _programs, _rivals, _second
from ._finding import ERROR, WARNING, Finding, reinstall

_FORMAT = 1


@dataclass(frozen=True)
class Report:
    """Installed packages, GPUs, devel tree, and findings."""

    installed: list[Installed]
    gpus: _gpu.Gpus
    devel: _devel.Tree
    binaries: int
    scripts: int
    findings: list[Finding]
    rivals: list[_rivals.Rival] = field(default_factory=list)

    def count(self, severity: str) -> int:
        """Return the number of findings of a severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def as_json(self) -> str:
        """Return the report as JSON; runtime/README.md of rockpack describes the fields."""
        packages = [
            {
                "name": one.package.logical,
                "distribution": one.package.distribution,
                "version": one.version,
                "module": str(one.module_dir),
                "root": str(one.root),
            }
            for one in self.installed
        ]
        content: dict[str, Any] = {
            "format": _FORMAT,
            "distribution": DIST["distribution"],
            "version": DIST["version"],
            "python": sys.executable,
            "packages": packages,
            "gpus": asdict(self.gpus),
            "devel": asdict(self.devel),
            "checked": {"binaries": self.binaries, "scripts": self.scripts},
            "rivals": [asdict(rival) for rival in self.rivals],
            "findings": [finding.as_dict() for finding in self.findings],
            "summary": {"errors": self.count(ERROR), "warnings": self.count(WARNING)},
        }
        return json.dumps(content, indent=1)

    def as_text(self) -> str:
        """Return the report as text."""
        lines = [*self._head(), "", *self._packages(), "", *self._state(), *self._found()]
        return "\n".join(map(_plain, lines))

    def _head(self) -> Iterator[str]:
        python = ".".join(map(str, sys.version_info[:3]))
        yield f"{DIST['distribution']} {DIST['version']}, Python {python} ({sys.executable})"

    def _packages(self) -> Iterator[str]:
        width = max((len(one.package.distribution) for one in self.installed), default=0)
        for one in self.installed:
            name = f"{one.package.distribution:{width}}"
            yield f"  {name}  {one.version:8}  {one.root}"
        if not self.installed:
            yield "  no package is installed"

    def _state(self) -> Iterator[str]:
        yield f"GPU       {_gpu_line(self.gpus)}"
        files = f", {self.devel.files:,} files" if self.devel.files else ""
        yield f"devel     {self.devel.state}{files}"
        yield f"checked   {self.binaries} libraries and programs, {self.scripts} console scripts"
        for rival in self.rivals:
            yield f"loaded    {rival.description()}"

    def _found(self) -> Iterator[str]:
        for finding in self.findings:
            yield ""
            yield f"{finding.severity}: {finding.subject}: {finding.message}"
            yield f"    {finding.remedy}"
        yield ""
        yield self.summary()

    def summary(self) -> str:
        """Return the last line of the text."""
        errors, warnings = self.count(ERROR), self.count(WARNING)
        if not self.findings:
            return "everything is in order"
        return f"{_counted(errors, 'error')}, {_counted(warnings, 'warning')}"


def _plain(line: str) -> str:
    """Return a line with control characters escaped, since file names can contain them."""
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode()
        for character in line
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _gpu_line(gpus: _gpu.Gpus) -> str:
    if gpus.source is None:
        return f"none found by the kernel ({gpus.detail}) or offload-arch"
    source = {"environment": "asked for by", "kernel": "kernel,"}.get(gpus.source, gpus.source)
    return f"{', '.join(gpus.names) or 'unknown'} ({source} {gpus.detail})"


def examine() -> Report:
    """Run all checks, without a change of the installation."""
    installed, broken = _readable(every_installed())
    gpus, wrong_target = _gpu.look()
    devel = _devel.look(installed)
    binaries, libraries = _libraries.check(installed)
    rivals = _rivals.look()
    findings = [
        *broken,
        *_packages.check(installed),
        *wrong_target,
        *_gpu.check(gpus, installed),
        *_devel.check(devel, installed),
        *_programs.check(installed),
        *libraries,
        *_rivals.check(rivals),
        *_environment.check(installed),
        *_second.check(installed),
    ]
    scripts = sum(len(_programs.scripts_of(one)) for one in installed)
    ordered = sorted(findings, key=lambda finding: finding.severity != ERROR)
    return Report(installed, gpus, devel, binaries, scripts, ordered, rivals)


def _readable(everything: list[Installed]) -> tuple[list[Installed], list[Finding]]:
    """Return the packages with a readable module, and a finding for each other package."""
    readable: list[Installed] = []
    findings: list[Finding] = []
    for one in everything:
        try:
            if one.info:
                readable.append(one)
        except Exception as error:  # a damaged module can raise any error
            name = one.package.distribution
            message = f"{one.module_dir} cannot be read ({type(error).__name__}: {error})"
            findings.append(Finding("package-broken", ERROR, name, message, reinstall(one)))
    return readable, findings
