# SPDX-License-Identifier: MIT
"""Asks a project what its build requires, or builds its wheel: `build`, told which Python to do it with.

usage: pep517.py static|dynamic|wheel SOURCE PYTHON SETTINGS OUT

OUT is a file for requirements (one a line), or the directory for the wheel. SETTINGS is a JSON object.
"""

import json
import sys
from pathlib import Path

from build import BuildBackendException, BuildException, FailedProcessError, ProjectBuilder


def main(what, source, python, settings, out):
    builder = ProjectBuilder(source, python_executable=python)
    settings = json.loads(settings)
    if what == "wheel":
        builder.build("wheel", out, settings)
        return
    static = builder.build_system_requires
    required = static if what == "static" else builder.get_requires_for_build("wheel", settings)
    Path(out).write_text("".join(f"{requirement}\n" for requirement in sorted(required)), encoding="utf-8")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (BuildException, BuildBackendException, FailedProcessError) as error:
        sys.exit(f"error: {error}")
