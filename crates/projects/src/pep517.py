# SPDX-License-Identifier: MIT
"""Requirements or wheel of a Python project, through the package `build` with a given Python.

usage: pep517.py static|dynamic|wheel SOURCE PYTHON SETTINGS OUT

OUT is a file for requirements (one a line), or the directory for the wheel. SETTINGS is a JSON object.
"""

import json
import sys
from pathlib import Path

from build import BuildBackendException, BuildException, FailedProcessError, ProjectBuilder


def main(action, source, python, settings, out):
    builder = ProjectBuilder(source, python_executable=python)
    settings = json.loads(settings)
    if action == "wheel":
        builder.build("wheel", out, settings)
        return
    static = builder.build_system_requires
    required = static if action == "static" else builder.get_requires_for_build("wheel", settings)
    Path(out).write_text("".join(f"{requirement}\n" for requirement in sorted(required)), encoding="utf-8")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (BuildException, BuildBackendException, FailedProcessError) as error:
        sys.exit(f"error: {error}")
