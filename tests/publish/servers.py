# SPDX-License-Identifier: MIT
"""Object stores on loopback, and a web front end of a bucket."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from email.utils import formatdate

import fetch
from process import PATH, run
from report import NotRun

# The account that azurite has, as its documentation prints it.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
NAME = "packages"
PATIENCE = 60  # seconds for a server to come up


class Store:
    """A server with a bucket that everybody may read."""

    def __init__(self, name, process, url, place, variables):
        self.name, self.process = name, process
        self.url, self.place, self.variables = url, place, variables

    def end(self):
        """End the server."""
        self.process.kill()
        self.process.wait()


def start(name, command, work):
    """Start a server with its output in a file, because nothing reads a pipe meanwhile."""
    environment = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": str(work)}
    with open(work / f"{name}.log", "wb") as log:
        return subprocess.Popen(
            [str(part) for part in command], cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def moto(tools, work):
    """Start moto, a partial implementation of S3."""
    port = free_port()
    process = start("moto", [tools / "bin" / "moto_server", "-H", "127.0.0.1", "-p", str(port)], work)
    base = f"http://127.0.0.1:{port}"
    store = Store("moto (S3)", process, f"s3://{NAME}", f"{base}/{NAME}", {
        "AWS_ENDPOINT": base, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nobodys-secret-key"})
    send_when_up(store, urllib.request.Request(store.place, method="PUT"))
    everybody = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{NAME}/*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [everybody]}).encode()
    return send_when_up(store, urllib.request.Request(f"{store.place}?policy", data=policy, method="PUT", headers={"Content-Type": "application/json"}))


def azurite(work):
    """Start azurite, a partial implementation of Azure Blob Storage."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if not (npm and node):
        raise NotRun("npm and node are needed for azurite")
    home = work / "azurite"
    program = home / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    if not program.is_file():
        home.mkdir(parents=True, exist_ok=True)
        variables = {**fetch.machine(), "PATH": os.environ["PATH"], "HOME": str(home)}
        result = run([npm, "install", "--no-fund", "--no-audit", "azurite@3"], home, variables)
        if result.status:
            raise NotRun(f"azurite is not available from npm: {result.problem}")
    port, data = free_port(), work / "azurite-data"
    shutil.rmtree(data, ignore_errors=True)
    words = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", data, "--silent", "--skipApiVersionCheck",
             "--disableTelemetry"]
    process = start("azurite", [node, program, *words], work)
    base = f"http://127.0.0.1:{port}"
    store = Store("azurite (Azure)", process, f"az://{NAME}", f"{base}/{ACCOUNT}/{NAME}", {
        "AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": base})
    return send_when_up(store, container(f"{store.place}?restype=container"))


def container(url):
    """Return the signed request that makes a container with public read access."""
    headers = {"x-ms-blob-public-access": "blob", "x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02"}
    canonical = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    text = "PUT\n" + "\n" * 11 + canonical + f"/{ACCOUNT}/{ACCOUNT}/{NAME}\nrestype:container"
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{signature}"
    return urllib.request.Request(url, method="PUT", headers=headers)


def send_when_up(store, request):
    """Send a request until the server is up; end the server if it refuses."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10):
                return store
        except urllib.error.HTTPError as answer:
            store.end()
            text = f"{store.name} refuses {request.full_url}: {answer} {answer.read().decode(errors='replace')}"
            # A wrong signature or policy is a fault of this test; a server that fails cannot be tested with.
            raise (AssertionError if answer.code < 500 else NotRun)(text) from answer
        except OSError as problem:
            if time.monotonic() > deadline or store.process.poll() is not None:
                store.end()
                raise NotRun(f"{store.name} does not come up: {problem}") from problem
            time.sleep(0.2)


def free_port():
    """Return an unused port of loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Front(http.server.ThreadingHTTPServer):
    """Front end of a bucket: it answers `a/` with `a/index.html`, since a bucket has no directories."""

    daemon_threads = True

    def __init__(self, place):
        super().__init__(("127.0.0.1", 0), Handler)
        self.place = place
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """Print errors, except those of clients that leave early."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    """Hands answers of the bucket on."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        """Answer with the object."""
        path = self.path + ("index.html" if self.path.endswith("/") else "")
        try:
            with urllib.request.urlopen(self.server.place + path, timeout=60) as answer:
                body, status, sent = answer.read(), 200, answer.headers
        except urllib.error.HTTPError as answer:
            body, status, sent = b"", answer.code, {"Content-Type": "text/plain"}
        except urllib.error.URLError as problem:
            body, status, sent = str(problem.reason).encode(), 502, {"Content-Type": "text/plain"}
        self.send_response(status)
        for name in ("Content-Type", "Content-Encoding"):
            if name in sent:
                self.send_header(name, sent[name])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_):
        """Say nothing."""


def tools(work):
    """Install moto and uv from PyPI, or raise NotRun."""
    home = work / "store-tools"
    if not (home / "bin" / "moto_server").is_file():
        result = run([sys.executable, "-m", "venv", "--clear", home], work)
        if result.status:
            raise NotRun(f"this Python makes no virtual environment with pip: {result.problem}")
        result = run([home / "bin" / "pip", "install", "--quiet", "moto[server]", "uv"], work, fetch.machine())
        if result.status:
            raise NotRun(f"moto is not available from PyPI: {result.problem}")
    return home
