"""RECORD: the installers' list of a distribution's files."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ._errors import RocmSdkError
from ._log import warn
from ._sharing import repeated
from ._versions import metadata_directory, normalised

Row = tuple[str, str]
"""Hash and size of a file in the format of RECORD, both empty for links and directories."""

NO_ROW: Row = ("", "")


class RecordError(RocmSdkError):
    """A damaged RECORD."""


class Record:
    """RECORD of an installed distribution, changed atomically."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, site: Path, distribution: str) -> Record:
        """Return the RECORD of a distribution in `site`."""
        name = metadata_directory(str(site), distribution)
        return cls(site / (name or f"{normalised(distribution)}.dist-info") / "RECORD")

    def rows(self) -> dict[str, Row]:
        """Return the rows by path relative to site-packages.

        Empty without a RECORD, which some Linux distributions remove. Raises RecordError if it is
        damaged.
        """
        if not self.path.is_file():
            return {}
        try:
            return dict(_parsed(self._text()))
        except (UnicodeDecodeError, csv.Error) as error:
            raise RecordError(f"{self.path} is damaged: {error}") from error

    def known_rows(self) -> dict[str, Row]:
        """Return the rows, none of a damaged RECORD, which the doctor reports separately."""
        try:
            return self.rows()
        except RecordError:
            return {}

    def announce(self, path: str) -> None:
        """Add the row of a future path.

        Appends instead of a rewrite, because no directory for the new file exists yet that
        uninstallers would remove after a crash.
        """
        if not self.path.is_file():
            warn(f"{self.path} does not exist: uninstalling will leave files behind")
            return
        text = self._text()
        if any(present == path for present, _ in _parsed(text)):
            return
        state = self.path.stat()
        if state.st_nlink > 1:  # shared with an installer's cache, which must not change
            self.rewrite(add={path: NO_ROW}, scratch=self.path.parent)
            return
        newline = _newline(text)
        start = "" if text.endswith("\n") or not text else newline
        try:
            with open(self.path, "ab", buffering=0) as file:
                file.write(f"{start}{_line(path, NO_ROW)}{newline}".encode())
        except OSError:
            # On a full disk, remove the written part of the line.
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
        """Remove the rows for which `drop` returns true, and add or replace the rows of `add`.

        The new list is written in the directory `scratch` of the same file system, and replaces the
        old one atomically.
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
        with repeated(lambda: open(self.path, encoding="utf-8", newline="")) as file:
            return file.read()

    def _replace(self, text: str, scratch: Path) -> None:
        """Write a new file and rename it, because a cache can share the old one."""
        fresh = scratch / "RECORD.new"
        try:
            with open(fresh, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.chmod(fresh, self.path.stat().st_mode & 0o777)
            repeated(lambda: os.replace(fresh, self.path))
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
    """Return the row of a file with this content."""
    return row_of(hashlib.sha256(data).digest(), len(data))


def row_of_file(path: Path) -> Row:
    """Return the row of an existing file."""
    digest = hashlib.sha256()
    size = 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
            size += len(piece)
    return row_of(digest.digest(), size)
