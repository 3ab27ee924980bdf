# SPDX-License-Identifier: MIT
"""Sources of packages: a directory, or an index on loopback."""

import hashlib
import html
import json
import re
import threading
import zipfile
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

JSON = "application/vnd.pypi.simple.v1+json"


@dataclass(frozen=True)
class FindLinks:
    """A directory with packages."""

    directory: Path
    label: str = "--find-links"

    @property
    def options(self):
        """The options that restrict pip and uv to this source."""
        return ["--no-index", "--find-links", str(self.directory)]


class Index:
    """An index: HTML (PEP 503) or JSON (PEP 691), with or without metadata files (PEP 658, PEP 714).

    Clients that do not ask for JSON, as pip before 22.2, get HTML from every index. Every response has Content-Length
    and Content-Type; caches must revalidate.
    """

    def __init__(self, directory, as_json, with_metadata):
        self.label = f"index ({'JSON' if as_json else 'HTML'}{', PEP 658' if with_metadata else ''})"
        self.as_json, self.with_metadata = as_json, with_metadata
        self.files = {path.name: path for path in sorted(directory.iterdir())}
        self.requests = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self):
        """The address that installers are given."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/simple/"

    @property
    def options(self):
        """The options that restrict pip and uv to this source."""
        return ["--index-url", self.url]

    def close(self):
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path, accepted):
        """Return the content type and the bytes at `path`, or None."""
        self.requests.append(path)
        project = re.fullmatch(r"/simple/([a-z0-9-]+)/", path)
        if project:
            return self._project(project[1], self.as_json and JSON in accepted)
        name = path.removeprefix("/files/")
        if name in self.files:
            return "application/octet-stream", self.files[name].read_bytes()
        wheel = self.files.get(name.removesuffix(".metadata"))
        return ("application/octet-stream", _metadata(wheel)) if wheel and self.with_metadata else None

    def _project(self, name, as_json):
        files = [path for path in self.files.values() if _project_of(path.name) == name]
        if not files:
            return None
        if as_json:
            return JSON, json.dumps(self._json(name, files)).encode()
        lines = (self._html(path) for path in files)
        return "text/html", f"<!DOCTYPE html><html><body>{''.join(lines)}</body></html>".encode()

    def _json(self, name, files):
        listed = []
        for path in files:
            one = {"filename": path.name, "url": f"/files/{path.name}", "hashes": {"sha256": _sha256(path.read_bytes())},
                   "requires-python": ">=3.10", "size": path.stat().st_size, "upload-time": "2025-01-01T00:00:00Z"}
            if self._has_metadata(path):
                one["core-metadata"] = {"sha256": _sha256(_metadata(path))}
            listed.append(one)
        return {"meta": {"api-version": "1.1"}, "name": name, "versions": [], "files": listed}

    def _html(self, path):
        metadata = ""
        if self._has_metadata(path):
            digest = f"sha256={_sha256(_metadata(path))}"
            metadata = f' data-core-metadata="{digest}" data-dist-info-metadata="{digest}"'
        python = html.escape(">=3.10")
        link = f"/files/{path.name}#sha256={_sha256(path.read_bytes())}"
        return f'<a href="{link}" data-requires-python="{python}"{metadata}>{path.name}</a><br>'

    def _has_metadata(self, path):
        return self.with_metadata and path.suffix == ".whl"


def _handler(index):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):  # noqa: N802 (the name is http.server's)
            answer = index.answer(self.path, self.headers.get("Accept", ""))
            kind, body = answer or ("text/plain", b"there is nothing here\n")
            self.send_response(200 if answer else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-cache")
            self.send_header("ETag", f'"{_sha256(body)}"')
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    return Handler


def _project_of(name):
    return re.match(r"[^-]+", name)[0].replace("_", "-").lower()


def _sha256(data):
    return hashlib.sha256(data).hexdigest()


def _metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        return archive.read(name)
