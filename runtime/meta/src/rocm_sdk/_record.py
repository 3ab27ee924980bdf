"""RECORD: the list from which installers uninstall a distribution."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ._errors import RocmSdkError
from ._log import warn

Row = tuple[str, str]
"""Hash and size of a file, in the spelling of RECORD; both empty for what has none."""

NO_ROW: Row = ("", "")


class RecordError(RocmSdkError):
    """A RECORD that cannot be read as one."""


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

    def rows(self) -> dict[str, Row]:
        """Return the rows by path; paths are relative to site-packages.

        Empty when there is no RECORD: some systems remove it from what they package. Raises
        RecordError when it is damaged.
        """
        if not self.path.is_file():
            return {}
        try:
            return dict(_parsed(self._text()))
        except (UnicodeDecodeError, csv.Error) as error:
            raise RecordError(f"{self.path} is damaged: {error}") from error

    def known_rows(self) -> dict[str, Row]:
        """Return the rows, none where RECORD is damaged, which the doctor tells once."""
        try:
            return self.rows()
        except RecordError:
            return {}

    def announce(self, path: str) -> None:
        """Add the row of something that does not exist yet, with nothing written beside RECORD."""
        if not self.path.is_file():
            warn(f"{self.path} does not exist: uninstalling will leave files behind")
            return
        text = self._text()
        if any(present == path for present, _ in _parsed(text)):
            return
        state = self.path.stat()
        if state.st_nlink > 1:  # shared with an installer's cache, which must stay as it is
            self.rewrite(add={path: NO_ROW}, scratch=self.path.parent)
            return
        newline = _newline(text)
        start = "" if text.endswith("\n") or not text else newline
        try:
            with open(self.path, "ab", buffering=0) as file:
                file.write(f"{start}{_line(path, NO_ROW)}{newline}".encode())
        except OSError:
            # The part of the line that was written, on a full disk, has to go.
            if self.path.stat().st_size > state.st_size:
                os.truncate(self.path, state.st_size)
            raise

    def rewrite(
        self,
        *,
        scratch: Path,
        add: Mapping[str, Row] | None = None,
        drop: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Drop the paths for which `drop` holds, and put in the rows of `add`.

        A row that is there already is changed in its place. The new list is written in the
        directory `scratch`, in the same file system, and takes the place of the old one in
        one step: a process that is killed leaves one of the two.
        """
        if not self.path.is_file():
            return
        text = self._text()
        waiting = dict(add or {})
        lines = [
            _line(path, waiting.pop(path, row))
            for path, row in _parsed(text)
            if path in waiting or not drop(path)
        ]
        lines += [_line(path, row) for path, row in sorted(waiting.items())]
        fresh = _newline(text).join([*lines, ""])
        if fresh != text:
            self._replace(fresh, scratch)

    def _text(self) -> str:
        with open(self.path, encoding="utf-8", newline="") as file:
            return file.read()

    def _replace(self, text: str, scratch: Path) -> None:
        """Write a new file and rename it: the old one may be shared with a cache."""
        fresh = scratch / "RECORD.new"
        try:
            with open(fresh, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(fresh, self.path.stat().st_mode & 0o777)
            os.replace(fresh, self.path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _parsed(text: str) -> Iterator[tuple[str, Row]]:
    for fields in csv.reader(io.StringIO(text, newline="")):
        if fields:
            path, digest, size = (*fields, "", "")[:3]
            yield path, (digest, size)


def _line(path: str, row: Row) -> str:
    if any(character in path for character in '",\r\n'):
        path = '"' + path.replace('"', '""') + '"'
    return f"{path},{row[0]},{row[1]}"


def row_of(digest: bytes, size: int) -> Row:
    """Return the row of a file with this SHA-256 and size."""
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), str(size)


def row_of_bytes(data: bytes) -> Row:
    """Return the row of a file that holds `data`."""
    return row_of(hashlib.sha256(data).digest(), len(data))


def row_of_file(path: Path) -> Row:
    """Return the row of a file that is there."""
    digest = hashlib.sha256()
    size = 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
            size += len(piece)
    return row_of(digest.digest(), size)
