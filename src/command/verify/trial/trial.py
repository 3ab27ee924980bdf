"""Trial of an unpacked sdist: builds its wheel like installers, and imports the modules.

Arguments: the sdist's directory, its import package, its name and version in the form of file
names. A fault is one line on standard error and exit status 1. Status 77: Python is too old.
"""

import importlib
import os
import pkgutil
import re
import sys
import zipfile
from pathlib import Path

OLD = 77


def build(top, out, stem):
    """Call the backend's hooks in the directory of the sdist, like installers."""
    project = Path("pyproject.toml").read_text("utf-8")
    backend = re.search(r'^build-backend = "(\w+)"$', project, re.M)[1]
    place = re.search(r'^backend-path = \["(\w+)"\]$', project, re.M)[1]
    sys.path.insert(0, str(top / place))
    hooks = importlib.import_module(backend)
    if hooks.get_requires_for_build_wheel():
        raise SystemExit("the backend requires packages")
    (out / "metadata").mkdir(parents=True)
    name = hooks.prepare_metadata_for_build_wheel(str(out / "metadata"))
    if name != f"{stem}.dist-info":
        raise SystemExit(f"its metadata is in {name}, not in {stem}.dist-info")
    wheel = hooks.build_wheel(str(out))
    if wheel != f"{stem}-py3-none-any.whl":
        raise SystemExit(f"the wheel is {wheel}")
    sys.path.remove(str(top / place))
    return out / wheel


def unpack(wheel, site, module, stem):
    """Unpack the wheel, which may have only the module and metadata."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.partition("/")[0] not in (module, f"{stem}.dist-info"):
                raise SystemExit(f"the wheel installs {name} outside of {module}/")
        if archive.read(f"{stem}.dist-info/METADATA") != Path("PKG-INFO").read_bytes():
            raise SystemExit("the wheel's METADATA is not PKG-INFO")
        archive.extractall(site)


def use(site, module, stem):
    """Import every module, read the stable names, and load each entry point."""
    if module in sys.stdlib_module_names:
        raise SystemExit(f"{module} is also a module of Python, which is found first")
    sys.path.insert(0, str(site))
    importlib.import_module(module)
    for found in pkgutil.walk_packages([str(site / module)], f"{module}."):
        importlib.import_module(found.name)
    info = importlib.import_module(f"{module}._dist_info")
    for name in ("ALL_PACKAGES", "ALL_LIBRARIES", "AVAILABLE_TARGET_FAMILIES", "__version__"):
        getattr(info, name)
    entries = site / f"{stem}.dist-info" / "entry_points.txt"
    lines = entries.read_text("utf-8").splitlines() if entries.is_file() else []
    for entry in (line.partition("=")[2].strip() for line in lines if "=" in line):
        where, _, attribute = entry.partition(":")
        if where.partition(".")[0] != module:
            raise SystemExit(f"the entry point {entry} is not in {module}")
        getattr(importlib.import_module(where), attribute)


def main():
    if sys.version_info < (3, 10):
        sys.exit(OLD)
    here = Path.cwd()
    top, module, stem = here / sys.argv[1], sys.argv[2], sys.argv[3]
    os.chdir(top)
    try:
        wheel = build(top, here / "out", stem)
        unpack(wheel, here / "site", module, stem)
        use(here / "site", module, stem)
    except SystemExit:
        raise
    except BaseException as error:
        sys.exit(f"{type(error).__name__}: {error}".replace("\n", " "))


main()
