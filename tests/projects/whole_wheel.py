# SPDX-License-Identifier: MIT
"""Writes wheels that `rockpack wheel verify` accepts. Build backends of tests get a copy of this file."""

import base64
import hashlib
import zipfile
from pathlib import Path


def row(path, text):
    """Return the row of a file in RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
    return f"{path},sha256={digest},{len(text.encode())}\n"


def write(directory, name, version="1", files=None, unlisted=None):
    """Write a wheel of these files, {path: text}, and return its name. RECORD lacks those in `unlisted`."""
    info = f"{name}-{version}.dist-info"
    members = {
        **(files or {}),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(map(row, members, members.values())) + f"{info}/RECORD,,\n"
    file = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(Path(directory, file), "w") as archive:
        for path, text in {**members, **(unlisted or {}), f"{info}/RECORD": record}.items():
            archive.writestr(zipfile.ZipInfo(path), text)  # of one time
    return file
