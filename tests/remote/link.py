# SPDX-License-Identifier: MIT
"""A network namespace behind a pair of virtual Ethernet devices, which are as fast as one says."""

import os
import shutil
import socket
import subprocess
import sys
import time

from process import run
from report import NotRun

# Addresses for network benchmarks (RFC 2544).
HERE, THERE, PREFIX = "198.18.77.1", "198.18.77.2", 30
SENDER = """
import socket, sys
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as server:
    print("up", flush=True)
    connection, _ = server.accept()
    with connection:
        piece = bytes(1 << 20)
        for _ in range(int(sys.argv[3])):
            connection.sendall(piece)
"""


class Link:
    """The namespace and the link to it, as long as a `with` block. Nothing else is reached over it."""

    def __init__(self, work):
        self.work, self.name = work, f"rockpack-{os.getpid()}"
        self.here, self.there = f"rp{os.getpid()}a", f"rp{os.getpid()}b"
        # Command that starts a program in the namespace.
        self.inside = ["ip", "netns", "exec", self.name]

    def __enter__(self):
        if os.geteuid() != 0:
            raise NotRun("only root can make a network namespace")
        for tool in ("ip", "tc"):
            if not shutil.which(tool):
                raise NotRun(f"{tool} is not installed (Debian: iproute2)")
        taken = run(["ip", "-brief", "address"], self.work).out
        if f" {HERE}/" in taken:
            raise NotRun(f"another device has the address {HERE}")
        try:
            self._do("ip", "netns", "add", self.name)
            self._do("ip", "link", "add", self.here, "type", "veth", "peer", "name", self.there, "netns", self.name)
            self._do("ip", "address", "add", f"{HERE}/{PREFIX}", "dev", self.here)
            self._do("ip", "link", "set", self.here, "up")
            self._do("ip", "-n", self.name, "address", "add", f"{THERE}/{PREFIX}", "dev", self.there)
            self._do("ip", "-n", self.name, "link", "set", self.there, "up")
            self._do("ip", "-n", self.name, "link", "set", "lo", "up")
            self.shape("10gbit")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # The pair is removed with the namespace, unless that was not made.
        run(["ip", "link", "delete", self.here], self.work)
        run(["ip", "netns", "delete", self.name], self.work)

    def _do(self, *command):
        result = run(command, self.work)
        if result.problem:
            raise NotRun(result.problem)

    def shape(self, rate):
        """Let so much through in each direction, as tc says it (`1gbit`)."""
        for where, device in (((), self.here), (("-n", self.name), self.there)):
            self._do("tc", *where, "qdisc", "replace", "dev", device, "root", "tbf", "rate", rate,
                     "burst", "4mb", "latency", "50ms")

    def measured(self, mebibytes, cores):
        """Bits in a second of a plain transfer from there, with a process on each of two cores."""
        port = 5999
        command = [*self.inside, "taskset", "-c", str(cores[1]), sys.executable, "-c", SENDER, THERE, str(port), str(mebibytes)]
        allowed_cores = os.sched_getaffinity(0)
        sender = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        try:
            sender.stdout.readline()
            os.sched_setaffinity(0, {cores[0]})
            buffer, count = bytearray(1 << 20), 0
            with socket.create_connection((THERE, port)) as connection:
                began = time.monotonic()
                while got := connection.recv_into(buffer):
                    count += got
                took = time.monotonic() - began
        finally:
            os.sched_setaffinity(0, allowed_cores)
            sender.terminate()
            sender.communicate()
        return 8 * count / took
