"""Build backend of this distribution (PEP 517 and PEP 660), which needs only Python.

The metadata of the wheel is PKG-INFO, byte for byte: requirements are the same on every machine,
and installers read them without a build (PEP 643).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_TOP = Path(__file__).resolve().parent.parent
_SOURCE = _TOP / "src"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time of a zip archive
_NOT_SHIPPED = ("__pycache__", ".git")
_EGG_INFO = ".egg-info"  # metadata for readers of sdists; unused in a wheel
_ENTRY_POINTS = "entry_points.txt"

Settings = Mapping[str, Any] | None


# ------------------------------------------------------------------------------ hooks


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return no requirements."""
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel
get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Settings = None
) -> str:
    """Write the .dist-info directory and return its name."""
    directory = f"{_stem()}.dist-info"
    for name, data in _dist_info().items():
        path = Path(metadata_directory, directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return directory


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """Write the wheel and return its file name."""
    return _write_wheel(wheel_directory, dict(_source_files()))


def build_editable(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """Write a wheel with a .pth file for this directory and return its file name."""
    return _write_wheel(wheel_directory, {f"{_module()}.pth": f"{_SOURCE}\n".encode()})


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Write this directory as an sdist again and return its file name."""
    name = f"{_stem()}.tar.gz"
    with (
        open(Path(sdist_directory, name), "wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in _files(_TOP):
            data = path.read_bytes()
            member = tarfile.TarInfo(f"{_stem()}/{path.relative_to(_TOP).as_posix()}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return name


# -------------------------------------------------------------------------- the wheel


def _files(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.rglob("*"), key=lambda path: path.as_posix()):
        parts = path.relative_to(directory).parts
        if path.is_file() and not any(part in _NOT_SHIPPED for part in parts):
            yield path


def _source_files() -> Iterator[tuple[str, bytes]]:
    for path in _files(_SOURCE / _module()):
        yield path.relative_to(_SOURCE).as_posix(), path.read_bytes()


def _module() -> str:
    """Return the name of the import package: the one directory of sources."""
    names = [path.name for path in _SOURCE.iterdir() if path.is_dir()]
    (name,) = [one for one in names if one not in _NOT_SHIPPED and not one.endswith(_EGG_INFO)]
    return name


def _write_wheel(directory: str, files: dict[str, bytes]) -> str:
    """Write a reproducible wheel: the same files give the same bytes."""
    prefix = f"{_stem()}.dist-info"
    files |= {f"{prefix}/{name}": data for name, data in sorted(_dist_info().items())}
    rows = [f"{_quoted(name)},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{prefix}/RECORD"] = "\n".join([*rows, f"{prefix}/RECORD,,", ""]).encode()
    file_name = f"{_stem()}-py3-none-any.whl"
    with zipfile.ZipFile(Path(directory, file_name), "w") as archive:
        for name, data in files.items():
            member = zipfile.ZipInfo(name, _EPOCH)
            member.create_system = 3  # Unix, also on Windows
            member.external_attr = 0o100644 << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, data)
    return file_name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"') else name


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _stem() -> str:
    name = _fields("name")[0].lower().replace("-", "_").replace(".", "_")
    return f"{name}-{_fields('version')[0]}"


# ------------------------------------------------------------------------- metadata


def _dist_info() -> dict[str, bytes]:
    """Return the files of .dist-info except RECORD."""
    files = {
        "METADATA": _pkg_info(),
        "WHEEL": (
            b"Wheel-Version: 1.0\nGenerator: rocm_build (1.0)\n"
            b"Root-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    # Absent from a selector without scripts.
    if (_TOP / _ENTRY_POINTS).is_file():
        files[_ENTRY_POINTS] = (_TOP / _ENTRY_POINTS).read_bytes()
    for name in _fields("license-file"):
        files[f"licenses/{name}"] = (_TOP / name).read_bytes()
    return files


def _fields(name: str) -> list[str]:
    """Return the values of a single-line field of PKG-INFO."""
    rows = [line.partition(":") for line in _pkg_info().decode().partition("\n\n")[0].split("\n")]
    return [value.strip() for field, _, value in rows if field.lower() == name]


def _pkg_info() -> bytes:
    return (_TOP / "PKG-INFO").read_bytes().replace(b"\r\n", b"\n")
