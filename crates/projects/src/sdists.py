# SPDX-License-Identifier: MIT
"""Fetches the sdist of a requirement by index page and hash, or reads its build requirements. Runs no code of it.

usage: sdists.py fetch REQUIREMENT DIRECTORY
       sdists.py requires SDIST|DIRECTORY FILE
"""

import base64
import contextlib
import hashlib
import html.parser
import io
import json
import os
import re
import runpy
import shutil
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

try:
    from packaging.requirements import Requirement
    from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename
except ImportError:
    from pip._vendor.packaging.requirements import Requirement
    from pip._vendor.packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename

try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib

# Build requirements without a pyproject.toml (PEP 518).
DEFAULT = ["setuptools>=40.8.0", "wheel"]
FORMS = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
LARGEST = 4 << 30


class Links(html.parser.HTMLParser):
    """Addresses of a page."""

    def __init__(self, page):
        super().__init__()
        self.page, self.found = page, []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "a" and given.get("href") and "data-yanked" not in given:
            address, _, fragment = urllib.parse.urljoin(self.page, given["href"]).partition("#")
            digest = re.search("sha256=([0-9a-f]{64})", fragment)
            self.found.append((address, digest and digest[1]))


def settings():
    """Return the settings of pip: its files, then its variables. No program can be started here."""
    listed, sys.argv = io.StringIO(), ["pip", "config", "list"]
    with contextlib.redirect_stdout(listed), contextlib.suppress(SystemExit):
        runpy.run_module("pip", run_name="__main__")
    pairs = re.findall(r"^(?:global|download|:env:)\.([a-z-]+)='(.*)'$", listed.getvalue(), re.MULTILINE)
    return {**dict(pairs), **{name[4:].lower().replace("_", "-"): value for name, value in os.environ.items() if name.startswith("PIP_") and value}}


def opened(address, accept="*/*"):
    parts = urllib.parse.urlsplit(address)
    if parts.scheme not in ("https", "http", "file"):
        raise SystemExit(f"error: {parts.scheme} is no scheme of an index")
    request = urllib.request.Request(parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl(), headers={"Accept": accept})
    if parts.username:
        user = ":".join(urllib.parse.unquote(part or "") for part in (parts.username, parts.password))
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(user.encode()).decode())
    return urllib.request.urlopen(request, timeout=60)


def of_index(index, name):
    """Return the files of a project in an index, as pairs of address and hash."""
    page = f"{index.rstrip('/')}/{name}/"
    try:
        with opened(page, FORMS) as answer:
            text, place, kind = answer.read().decode(), answer.url, answer.headers.get("Content-Type", "")
    except OSError as error:
        print(f"{index.rpartition('@')[2]}: {error}")
        return []
    if "json" not in kind:
        links = Links(place)
        links.feed(text)
        return [link for link in links.found if link[1]]
    files = [file for file in json.loads(text)["files"] if not file.get("yanked") and "sha256" in file["hashes"]]
    return [(urllib.parse.urljoin(place, file["url"]), file["hashes"]["sha256"]) for file in files]


def of_directory(link):
    place = Path(urllib.parse.unquote(urllib.parse.urlsplit(link).path) if link.startswith("file:") else link)
    return [(path.resolve().as_uri(), None) for path in sorted(place.iterdir())] if place.is_dir() else []


def candidates(required):
    """Return triples of version, address and hash, the newest last."""
    known, name = settings(), canonicalize_name(required.name)
    files = [file for link in known.get("find-links", "").split() for file in of_directory(link)]
    if not known.get("no-index"):
        indexes = [known.get("index-url", "https://pypi.org/simple"), *known.get("extra-index-url", "").split()]
        files += [file for index in indexes for file in of_index(index, name)]
    found = []
    for address, digest in files:
        try:
            of, version = parse_sdist_filename(urllib.parse.unquote(address.rpartition("/")[2]))
        except InvalidSdistFilename:
            continue
        if of == name and required.specifier.contains(version):
            found.append((version, address, digest))
    return sorted(found, key=lambda triple: triple[0])


def fetch(text, directory):
    found = candidates(Requirement(text))
    if not found:
        raise SystemExit(f"error: no index has a wheel or an sdist of {text} with a SHA-256")
    _, address, digest = found[-1]
    with opened(address) as answer:
        content = answer.read(LARGEST)
    if digest and hashlib.sha256(content).hexdigest() != digest:
        raise SystemExit(f"error: {address.rpartition('@')[2]} has another SHA-256 than its index says")
    Path(directory, urllib.parse.unquote(address.rpartition("/")[2])).write_bytes(content)


def project_file(source):
    """Return the text of pyproject.toml, or None."""
    if source.is_dir():
        file = source / "pyproject.toml"
        return file.read_text(encoding="utf-8") if file.is_file() else None
    if source.suffix == ".zip":
        with zipfile.ZipFile(source) as archive:
            names = [name for name in archive.namelist() if name.count("/") == 1 and name.endswith("/pyproject.toml")]
            return archive.read(names[0]).decode() if names else None
    with tarfile.open(source) as archive:
        for member in archive:
            if member.isfile() and member.name.count("/") == 1 and member.name.endswith("/pyproject.toml"):
                copied = io.BytesIO()
                shutil.copyfileobj(archive.extractfile(member), copied)
                return copied.getvalue().decode()
    return None


def requires(source, out):
    text = project_file(Path(source))
    required = tomllib.loads(text).get("build-system", {}).get("requires", DEFAULT) if text else DEFAULT
    Path(out).write_text("".join(f"{one}\n" for one in required), encoding="utf-8")


if __name__ == "__main__":
    {"fetch": fetch, "requires": requires}[sys.argv[1]](*sys.argv[2:])
