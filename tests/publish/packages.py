# SPDX-License-Identifier: MIT
"""Small packages that are published."""

import base64
import hashlib
import shutil
import zipfile


def wheel(directory, name, version, requires=(), more=b""):
    """Write a wheel with one module."""
    stem = name.replace("-", "_")
    info = f"{stem}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {one}\n" for one in requires)
    files = {
        f"{stem}.py": f"VERSION = {version!r}\n".encode() + more,
        f"{info}/METADATA": metadata.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digest = {path: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() for path, data in files.items()}
    lines = [f"{path},sha256={digest[path]},{len(data)}\n" for path, data in files.items()]
    files[f"{info}/RECORD"] = ("".join(lines) + f"{info}/RECORD,,\n").encode()
    directory.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(directory / f"{stem}-{version}-py3-none-any.whl", "w") as archive:
        for path, data in files.items():
            archive.writestr(zipfile.ZipInfo(path), data)


def small_set(work, version, more=b""):
    """Write a package and the part that it requires; return their directory."""
    directory = work / "sets" / (version + ("-other" if more else ""))
    shutil.rmtree(directory, ignore_errors=True)
    wheel(directory, "whole-a", version, [f"part-b=={version}"])
    wheel(directory, "part-b", version, more=more)
    return directory
