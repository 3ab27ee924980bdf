"""RECORD: the list from which installers uninstall a distribution."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ._log import warn


class Record:
    """The RECORD of one installed distribution; it changes as a whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, site: Path, distribution: str, version: str) -> Record:
        """Return the RECORD of a distribution that is installed in `site`."""
        name = re.sub(r"[-_.]+", "_", distribution).lower()
        directory = site / f"{name}-{version}.dist-info"
        if not directory.is_dir():
            # Installers take the spelling of the wheel's file name, whatever its case.
            wanted = directory.name.lower()
            same = (entry for entry in site.glob("*.dist-info") if entry.name.lower() == wanted)
            directory = next(same, directory)
        return cls(directory / "RECORD")

    def paths(self) -> list[str]:
        """Return the recorded paths, relative to site-packages."""
        return [row[0] for row in self._rows(self._text()) if row]

    def rewrite(
        self,
        *,
        add: Iterable[str] = (),
        drop: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Drop the paths for which `drop` holds, then add those of `add` that are not there.

        The hash and size of an added path stay empty, as for all that is made after the
        installation. The new list takes the place of the old one in one step.
        """
        if not self.path.is_file():
            # Some operating systems remove it from what they package themselves.
            warn(f"{self.path} does not exist: uninstalling will leave files behind")
            return
        text = self._text()
        rows = self._rows(text)
        kept = [row for row in rows if row and not drop(row[0])]
        present = {row[0] for row in kept}
        added = sorted({path for path in add if path not in present})
        if not added and len(kept) == len(rows):
            return
        newline = "\r\n" if "\r\n" in text else "\n"
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator=newline)
        writer.writerows(kept)
        writer.writerows([path, "", ""] for path in added)
        self._replace(out.getvalue())

    def _text(self) -> str:
        with open(self.path, encoding="utf-8", newline="") as file:
            return file.read()

    @staticmethod
    def _rows(text: str) -> list[list[str]]:
        return list(csv.reader(io.StringIO(text, newline="")))

    def _replace(self, text: str) -> None:
        """Write beside it and rename: the old file may be shared with an installer's cache."""
        fresh = self.path.with_name("RECORD.new")
        try:
            with open(fresh, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(fresh, self.path.stat().st_mode & 0o777)
            os.replace(fresh, self.path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
