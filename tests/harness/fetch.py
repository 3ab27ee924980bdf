# SPDX-License-Identifier: MIT
"""The installers that are tested, from PyPI."""

import os
import sys

from process import run
from report import NotRun

# pip on this machine may need settings for certificates and mirrors.
KEPT = ("PIP_", "HTTP", "HTTPS", "http", "https", "no_proxy", "NO_PROXY", "SSL_CERT", "REQUESTS_CA")


def machine():
    """Return the variables by which programs of this machine reach the network."""
    return {name: value for name, value in os.environ.items() if name.startswith(KEPT)}


def fetcher(work):
    """Return the pip for downloads, in a separate virtual environment, or raise NotRun."""
    pip = work / "uv" / "bin" / "pip"
    if not pip.is_file():
        result = run([sys.executable, "-m", "venv", work / "uv"], work)
        if result.status:
            raise NotRun(f"this Python makes no virtual environment with pip: {result.problem}")
    return pip


def ensure_uv(work):
    """Return the uv program; it is one file that runs in a Debian root too."""
    uv = work / "uv" / "bin" / "uv"
    if not uv.is_file():
        result = run([fetcher(work), "install", "--quiet", "uv"], work, machine())
        if result.status:
            raise NotRun(f"uv is not available from PyPI: {result.problem}")
    return uv


def ensure_pip(work, version=None):
    """Return a directory with the package `pip` of this version, by default the newest, for PYTHONPATH."""
    place = work / "pips" / (version or "newest")
    if not (place / "pip").is_dir():
        requirement = f"pip=={version}" if version else "pip"
        command = [fetcher(work), "install", "--quiet", "--no-deps", "--no-compile", "--upgrade"]
        result = run([*command, "--target", place, requirement], work, machine())
        if result.status:
            raise NotRun(f"{requirement} is not available from PyPI: {result.problem}")
    return place
