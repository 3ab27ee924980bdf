# SPDX-License-Identifier: MIT
"""RECORD against the files in site-packages. Installers do not compare the two: this does."""

import base64
import csv
import os
import re

import snapshot

# Metadata of installers: their name, and their private files.
INSTALLERS_OWN = re.compile(r"[^/]+\.dist-info/(INSTALLER|REQUESTED|RECORD|direct_url\.json|uv_[a-z]+\.json)")
COMPILED = re.compile(r"(.*/)?__pycache__/.*")


def is_installers(name):
    """True if a path below site-packages belongs to an installer, and not to our packages."""
    return bool(name.startswith(("pip/", "pip-", "_virtualenv.")) or INSTALLERS_OWN.fullmatch(name)
                or COMPILED.fullmatch(name))


def rows(record):
    """Return the rows of a RECORD: path, digest and size."""
    with open(record, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def mismatches(site):
    """Compare every row of every RECORD of ours with the file. Returns problems."""
    problems, owners = [], {}
    for record in sorted(site.glob("rocm*.dist-info/RECORD")):
        for path, digest, size in rows(record):
            if digest and not _matches(site / path, digest, size):
                problems.append(f"{record.parent.name}: {path} does not match RECORD")
            # RECORD has links of the devel tree into core twice on purpose: pip does not see a link after its target
            # was removed. They have no digest.
            if digest and path in owners:
                problems.append(f"{path} is in {owners[path]} and in {record.parent.name}")
            owners[path] = record.parent.name
    return problems


def _matches(path, digest, size):
    if not path.is_file() or path.stat().st_size != int(size):
        return False
    actual = bytes.fromhex(snapshot.sha256(path))
    return digest == "sha256=" + base64.urlsafe_b64encode(actual).rstrip(b"=").decode()


def absent(site):
    """Return entries of our RECORDs that are absent from the directory."""
    paths = [row[0] for record in site.glob("rocm*.dist-info/RECORD") for row in rows(record)]
    return [f"{path} is gone" for path in paths
            if not COMPILED.fullmatch(path) and not os.path.lexists(site / path)]


def unowned(site):
    """Return files and links of ours in site-packages that no RECORD has."""
    owned = {row[0] for record in site.glob("*.dist-info/RECORD") for row in rows(record)}
    return [name for name in snapshot.names(site)
            if not name.endswith("/") and name not in owned and not is_installers(name)]


def distributions(site):
    """Return {name: version} of our installed distributions, with normalised names."""
    stems = (info.name.removesuffix(".dist-info").split("-") for info in sorted(site.glob("rocm*.dist-info")))
    return {name.replace("_", "-"): version for name, version in stems}


def installed_files(site):
    """Return {path: kind, mode and content} of site-packages, without files of installers."""
    content = snapshot.contents(site)
    files = {name: entry for name, entry in content.items() if not is_installers(name)}
    for name in [name for name in content if name.endswith(".dist-info/RECORD") and not name.startswith("pip-")]:
        files[name] = _comparable(site / name)
    return files


def _comparable(record):
    # A console script is written by the installer, which makes it in its own way.
    return sorted(row[:1] if row[0].startswith("../") else row for row in rows(record) if not is_installers(row[0]))
