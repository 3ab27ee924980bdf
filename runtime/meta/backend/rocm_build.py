"""The build backend of this distribution (PEP 517 and PEP 660). It needs nothing but Python.

It exists because one thing is only known where the distribution is installed: which GPU
the machine has, and so which package the extra `device` stands for. PKG-INFO marks
Requires-Dist and Provides-Extra as Dynamic, so that every installer asks this backend.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib
import io
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_TOP = Path(__file__).resolve().parent.parent
_SOURCE = _TOP / "src"
_PACKAGE = "rocm_sdk"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first time that a zip archive can state
_COMPUTED = ("dynamic:", "requires-dist:", "provides-extra:")
_NOT_SHIPPED = ("__pycache__", ".git")

Settings = Mapping[str, Any] | None


# ------------------------------------------------------------------------------ hooks


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what building needs: nothing."""
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
    """Write a wheel that refers to this directory and return its file name."""
    return _write_wheel(wheel_directory, {f"{_PACKAGE}.pth": f"{_SOURCE}\n".encode()})


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
    for path in _files(_SOURCE):
        yield path.relative_to(_SOURCE).as_posix(), path.read_bytes()


def _write_wheel(directory: str, files: dict[str, bytes]) -> str:
    """Write the same bytes for the same files, whenever and wherever that is."""
    prefix = f"{_stem()}.dist-info"
    files |= {f"{prefix}/{name}": data for name, data in sorted(_dist_info().items())}
    rows = [f"{_quoted(name)},sha256={_digest(data)},{len(data)}" for name, data in files.items()]
    files[f"{prefix}/RECORD"] = "\n".join([*rows, f"{prefix}/RECORD,,", ""]).encode()
    file_name = f"{_stem()}-py3-none-any.whl"
    with zipfile.ZipFile(Path(directory, file_name), "w") as archive:
        for name, data in files.items():
            member = zipfile.ZipInfo(name, _EPOCH)
            member.create_system = 3  # Unix, also when built on Windows
            member.external_attr = 0o100644 << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, data)
    return file_name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"') else name


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _stem() -> str:
    dist = _dist()
    name = str(dist["distribution"]).lower().replace("-", "_").replace(".", "_")
    return f"{name}-{dist['version']}"


# ----------------------------------------------------------------------- its metadata


def _dist_info() -> dict[str, bytes]:
    """Return the files of .dist-info without RECORD."""
    files = {
        "METADATA": _metadata().encode(),
        "WHEEL": (
            b"Wheel-Version: 1.0\nGenerator: rocm_build (1.0)\n"
            b"Root-Is-Purelib: true\nTag: py3-none-any\n"
        ),
        "entry_points.txt": (_TOP / "entry_points.txt").read_bytes(),
    }
    for line in _pkg_info()[0]:
        field, _, value = line.partition(":")
        if field.lower() == "license-file":
            files[f"licenses/{value.strip()}"] = (_TOP / value.strip()).read_bytes()
    return files


def _pkg_info() -> tuple[list[str], str]:
    """Return the header lines of PKG-INFO and the text after them."""
    text = (_TOP / "PKG-INFO").read_bytes().decode().replace("\r\n", "\n")
    head, _, body = text.partition("\n\n")
    return head.rstrip("\n").split("\n"), body


def _metadata() -> str:
    """Return PKG-INFO with the computed fields in place of what stands under Dynamic."""
    head, body = _pkg_info()
    kept: list[str] = []
    dropping = False
    for line in head:
        if not line.startswith((" ", "\t")):  # otherwise the line continues the one before
            dropping = line.lower().startswith(_COMPUTED)
        if not dropping:
            kept.append(line)
    return "\n".join([*kept, *_computed_lines(), "", body])


def _computed_lines() -> Iterator[str]:
    dist = _dist()
    for requirement in dist["requires"]:
        yield f"Requires-Dist: {requirement}"
    for extra, requirements in sorted({**dist["extras"], **_machine_extras()}.items()):
        yield f"Provides-Extra: {extra}"
        for requirement in requirements:
            yield f"Requires-Dist: {for_extra(requirement, extra)}"


def for_extra(requirement: str, extra: str) -> str:
    """Return the requirement so that it holds only with the extra (PEP 508)."""
    # In a URL a semicolon is only a separator after a blank.
    separator = " ;" if "@" in requirement else ";"
    what, _, marker = requirement.partition(separator)
    condition = f'extra == "{extra}"'
    if marker.strip():
        condition = f"({marker.strip()}) and {condition}"
    return f"{what.strip()} ; {condition}"


def _machine_extras() -> dict[str, list[str]]:
    """Return the extras that depend on the machine's GPUs; none when there is no GPU.

    Different GPUs in one machine get a package each. Without a target the extra is left
    out, not filled with some ISA: then pip and uv both warn that there is no such extra,
    and install no package of another GPU. A name in ROCM_SDK_TARGET_FAMILY that the
    distribution lacks ends the build.
    """
    templates: dict[str, str] = _dist()["machine_extras"]
    targets = _machine_targets() if templates else []
    if not targets:
        return {}
    return {extra: [_filled(text, t) for t in targets] for extra, text in templates.items()}


def _filled(text: str, target: str) -> str:
    return text.replace("{isa}", target).replace("{family}", target)


def _machine_targets() -> list[str]:
    targets = _module("_targets")
    try:
        requested: list[str] = targets.requested()
        if requested:
            return requested
    except targets.TargetError as error:
        raise SystemExit(f"ROCM_SDK_TARGET_FAMILY: {error}") from error
    isas = targets.machine().isas
    try:
        if isas:
            found: list[str] = targets.match_machine(isas)
            return found
        problem = "no GPU was found on this machine"
    except targets.TargetError as error:
        problem = str(error)
    _explain(problem, targets.published())
    return []


def _explain(problem: str, published: list[str]) -> None:
    dist = _dist()
    name = dist["distribution"]
    extras = ", ".join(f"{name}[{extra}]" for extra in dist["machine_extras"])
    print(
        f"{name}: {problem}, so there is no {extras}. Name the package of the target, such as "
        f"{_by_name(published[0]) if published else name}; or set ROCM_SDK_TARGET_FAMILY to one "
        f"of: {', '.join(published)}, and let nothing that is kept from before be used "
        f"(pip --no-cache-dir, uv --no-cache).",
        file=sys.stderr,
    )


def _by_name(target: str) -> str:
    """Return a requirement for this target's package that no machine and no cache changes."""
    dist = _dist()
    extra, template = next(iter(dist["machine_extras"].items()))
    if f"{extra}-{target}" in dist["extras"]:
        return f"{dist['distribution']}[{extra}-{target}]"
    return _filled(template, target)


def _dist() -> dict[str, Any]:
    dist: dict[str, Any] = _module("_dist_info").DIST
    return dist


def _module(name: str) -> Any:
    """Import a module of the package that is being built, and none that is installed."""
    if sys.path[0] != str(_SOURCE):
        sys.path.insert(0, str(_SOURCE))
    return importlib.import_module(f"{_PACKAGE}.{name}")
