# SPDX-License-Identifier: MIT
"""Tests of the worker, without its tools."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

# The worker with stand-ins for the modules of its tools, and a tool that reads the standard input.
WORKER = """
import os, signal, sys, unittest.mock
for name in ("installer", "installer.destinations", "installer.sources", "packaging.metadata", "pip._internal.cli.main",
             "pip._internal.commands", "pip._internal.operations.install.wheel",
             "pip._internal.resolution.resolvelib.resolver", "pip._vendor.distlib.scripts", "pip._vendor.pyproject_hooks",
             "twine.commands.check", "twine.package"):
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        sys.modules[".".join(parts[:end])] = unittest.mock.MagicMock()
sys.path.insert(0, sys.argv[1])
import worker
worker.TOOLS["reader"] = lambda file, target: len(os.read(0, 1))
worker.TOOLS["exit"] = lambda file, target: sys.exit(None)
worker.TOOLS["hang"] = lambda file, target: signal.pause()
worker.TIME_LIMIT = 1
worker.main()
"""


class Worker(unittest.TestCase):
    def test_answers_with_the_exit_status_or_the_signal(self):
        command = [sys.executable, "-B", "-c", WORKER, str(Path(__file__).resolve().parent)]
        # An exit without a status is a success.
        for tool, status in (("exit", 0), ("hang", -signal.SIGKILL)):
            request = json.dumps({"tool": tool, "file": "", "target": "", "log": os.devnull}) + "\n"
            result = subprocess.run(command, input=request, stdout=subprocess.PIPE, text=True, check=True)
            self.assertEqual(result.stdout, f"{status:d}\n", tool)

    def test_a_tool_cannot_read_the_requests(self):
        with tempfile.TemporaryDirectory() as scratch:
            logs = [Path(scratch, name) for name in ("first", "second")]
            requests = []
            for log in logs:
                os.mkfifo(log)
                words = {"tool": "reader", "file": "", "target": "", "log": str(log)}
                requests.append(json.dumps(words) + "\n")
            command = [sys.executable, "-B", "-c", WORKER, str(Path(__file__).resolve().parent)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
                worker.stdin.write(requests[0])
                worker.stdin.flush()
                # Opening a log waits for its tool, so that the second request comes while the first tool runs.
                with logs[0].open() as log:
                    worker.stdin.write(requests[1])
                    worker.stdin.flush()
                    self.assertEqual(log.read(), "")
                self.assertEqual(worker.stdout.readline(), "0\n")
                with logs[1].open() as log:
                    self.assertEqual(log.read(), "")
                self.assertEqual(worker.stdout.readline(), "0\n")
                worker.stdin.close()


if __name__ == "__main__":
    unittest.main()
