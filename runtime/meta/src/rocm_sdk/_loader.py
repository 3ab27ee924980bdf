"""Resolution of a file's needs like glibc's dynamic loader, without loading a file.

The order follows ld.so(8) for a process without LD_LIBRARY_PATH: loaded libraries, DT_RPATH of the
file and of its loaders (unless the file has DT_RUNPATH), DT_RUNPATH, /etc/ld.so.cache, the system's
directories.
"""

from __future__ import annotations

import os
import struct
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ._elf import Elf, ElfError, read

_CACHE = "/etc/ld.so.cache"
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_MULTIARCH = {62: "x86_64-linux-gnu", 183: "aarch64-linux-gnu"}  # by e_machine
_SYSTEM = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


@dataclass(frozen=True)
class Missing:
    """An unmet need: `file` needs `library`, or its symbol version `version`.

    For a version, `provider` is the library file without it, and `newest` its newest version of the
    same name, such as `GLIBC_2.36` for `GLIBC_2.38`.
    """

    file: str
    library: str
    version: str | None = None
    provider: str | None = None
    newest: str | None = None

    def __str__(self) -> str:
        if self.version is None:
            return f"{self.library}, needed by {self.file}, is missing"
        has = f", which has {self.newest} at most" if self.newest else ""
        return f"{self.file} needs {self.version} of {self.provider}{has}"


@dataclass
class _Object:
    path: str
    elf: Elf
    loader: _Object | None = None


class Loader:
    """Loader that keeps the facts of all read files."""

    def __init__(self) -> None:
        self._files: dict[str, Elf | None] = {}

    def missing(self, path: str) -> list[Missing]:
        """Return the unmet needs of a library or program.

        Empty for files of other processors. Raises ElfError for a damaged file.
        """
        elf = read(path)
        self._files[path] = elf
        if elf is None or elf.identity != self._python.elf.identity:
            return []
        first = _Object(path, elf)
        loaded = {} if elf.is_program else dict(self._with_python)
        found = list(self._closure(first, loaded))
        # Unmet needs of Python are not a package's fault.
        return [one for one in found if one.file != self._python.path]

    @cached_property
    def _python(self) -> _Object:
        path = os.path.realpath(sys.executable)
        elf = read(path)
        assert elf is not None  # Python is running
        return _Object(path, elf)

    @cached_property
    def _with_python(self) -> dict[str, _Object]:
        loaded: dict[str, _Object] = {}
        for _ in self._closure(self._python, loaded):
            pass
        return loaded

    def _closure(self, first: _Object, loaded: dict[str, _Object]) -> Iterator[Missing]:
        """Add the needs of `first` to `loaded`; yield the unmet ones."""
        todo = deque([first])
        objects = [first]
        loaded[first.elf.soname or os.path.basename(first.path)] = first
        while todo:
            one = todo.popleft()
            for name in one.elf.needed:
                if name in loaded:
                    continue
                found = self._search(name, one)
                if found is None:
                    yield Missing(one.path, name)
                    continue
                loaded[name] = loaded[found.elf.soname or name] = found
                objects.append(found)
                todo.append(found)
        for one in objects:
            yield from _missing_versions(one, loaded)

    def _search(self, name: str, needing: _Object) -> _Object | None:
        for path in _candidates(name, needing):
            elf = self._elf(path)
            if elf is not None and elf.identity == needing.elf.identity:
                return _Object(path, elf, needing)
        return None

    def _elf(self, path: str) -> Elf | None:
        path = os.path.normpath(path)
        if path not in self._files:
            try:
                self._files[path] = read(path)
            except (OSError, ValueError):  # ElfError, or an empty file, which cannot be mapped
                self._files[path] = None
        return self._files[path]


def _candidates(name: str, needing: _Object) -> Iterator[str]:
    """Yield the searched paths of a name in their order."""
    if "/" in name:
        yield name
        return
    for directory in _run_paths(needing):
        yield f"{directory}/{name}"
    yield from cached_libraries().get(name, [])
    multiarch = _MULTIARCH.get(needing.elf.identity[2])
    for directory in _SYSTEM:
        if multiarch and not directory.endswith("64"):
            yield f"{directory}/{multiarch}/{name}"
        yield f"{directory}/{name}"


def _run_paths(needing: _Object) -> Iterator[str]:
    one: _Object | None = None if needing.elf.runpath else needing
    while one is not None:
        if not one.elf.runpath:
            yield from _expanded(one.elf.rpath, one.path)
        one = one.loader
    yield from _expanded(needing.elf.runpath, needing.path)


def _missing_versions(one: _Object, loaded: dict[str, _Object]) -> Iterator[Missing]:
    for name, versions in one.elf.versions.items():
        provider = loaded.get(name)
        # The loader accepts a library without any version.
        if provider is None or not provider.elf.defined:
            continue
        for version in versions:
            if version not in provider.elf.defined:
                newest = _newest(version, provider.elf.defined)
                yield Missing(one.path, name, version, provider.path, newest)


def _newest(version: str, defined: list[str]) -> str | None:
    prefix = version.partition("_")[0] + "_"
    same = [one for one in defined if one.startswith(prefix) and one[len(prefix)].isdigit()]
    return max(same, key=_numbers, default=None)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.partition("_")[2].split(".") if part.isdigit()]


def _expanded(paths: list[str], file: str) -> Iterator[str]:
    origin = os.path.dirname(os.path.abspath(file))
    for path in paths:
        path = path.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
        if "$" not in path:
            yield path


@lru_cache(maxsize=1)
def cached_libraries() -> dict[str, list[str]]:
    """Return the system's libraries by name, from ldconfig's cache."""
    try:
        with open(_CACHE, "rb") as file:
            data = file.read()
    except OSError:
        return {}  # absent with musl and in some containers
    start = data.find(_CACHE_MAGIC)  # an older table can precede it
    found: dict[str, list[str]] = {}
    if start >= 0:
        count = struct.unpack_from("=I", data, start + 20)[0]
        for number in range(count):
            key, value = struct.unpack_from("=II", data, start + 48 + 24 * number + 4)
            found.setdefault(_string(data, start + key), []).append(_string(data, start + value))
    return found


def _string(data: bytes, offset: int) -> str:
    return os.fsdecode(data[offset : data.index(b"\0", offset)])


__all__ = ["ElfError", "Loader", "Missing", "cached_libraries"]
