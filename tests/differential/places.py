# SPDX-License-Identifier: MIT
"""Changes of a wheel by installed paths: reserved names, other spellings of one path, and files next to directories."""

import sys

from changes import each
from wheel import INFO, METADATA

SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
TEXT = b"#!python\nprint(1)\n"

RESERVED = (
    "scripts/python", "scripts/python3", "scripts/python3.11", "scripts/PYTHON", "scripts/Python3.11", "scripts/python.exe", "scripts/pythonw", "scripts/python3.12", "scripts/pip", "scripts/pip3", "scripts/uv", "scripts/activate", "scripts/activate.fish", "scripts/Activate.ps1", "scripts/python-config", "scripts/ipython",
    "data/bin/python", "data/bin/PYTHON", "data/Scripts/python.exe", "data/bin/activate", "data/bin/tool", "data/bin/sub/tool", "data/pyvenv.cfg", "data/PYVENV.CFG", "data/sub/pyvenv.cfg", "data/bin", "data/lib", "data/include", "data/Lib", "data/share", "data/lib64", "data/Scripts", "data/lib/python3.11", f"data/{SITE}", "data/lib64/x", f"data/lib64/{SITE[4:]}/demo/data.txt",
    f"data/{SITE}/{INFO}/METADATA", f"data/{SITE}/{INFO}/RECORD", f"data/{SITE}/demo/data.txt", f"data/{SITE}/demo/new.txt", f"data/{SITE}/other-1.0.dist-info/METADATA", f"data/{SITE}/other.egg-info/PKG-INFO", f"data/{SITE}/demo", f"data/{SITE}/demo/data.txt/x", f"data/Lib/site-packages/{INFO}/METADATA", "data/lib/site-packages/demo/data.txt", f"data/lib/../{SITE}/x",
    "purelib/bar-2.0.dist-info/METADATA", "platlib/bar-2.0.dist-info/METADATA", "purelib/bar.egg-info/PKG-INFO", f"purelib/{INFO}/METADATA", f"platlib/{INFO}/RECORD", f"purelib/{INFO}/INSTALLER", f"purelib/{INFO}/extra.txt", "purelib/bar-2.0.egg-info", "purelib/bar-2.0.dist-info", "purelib/demo.pth", "purelib/demo", "purelib/demo/data.txt/x", "purelib/demo/DATA.txt", "platlib/Demo/x", "purelib/bar.egg-link", "purelib/bar-2.0-py3.11.egg/EGG-INFO/PKG-INFO",
    "headers/../x", "headers/x", "data/include/site/python3.11/demo/x.h", "data/include/python3.11/x.h", "data/etc/x", "data/x", "data/.lock", "data/man/man1/x.1", "data/share/man/man1/x.1", "scripts/demo-run", "scripts/DEMO-RUN", "data/bin/demo-run", "data/bin/Demo-Run", "scripts/demo-run/x", "data/bin/demo-run/x", "scripts/demo-run.exe", "scripts/demo-run-script.py", "scripts/x.py", "scripts/x.bat", "scripts/con", "scripts/a:b",
    "data/lib/python3.11/os.py", "data/lib/python3.12/site-packages/x.py", "data/lib/pypy3.11/site-packages/x.py", "data/lib/python3/dist-packages/x.py", "data/bin/python3.11/x", "data/pyvenv.cfg/x", "data/lib64/x/y",
)


@each("place", {path: path for path in RESERVED})
def place(wheel, dice, path):
    data = METADATA.replace("demo", "bar").encode() if path.endswith(("METADATA", "PKG-INFO")) else TEXT
    wheel.add(f"demo-1.0.data/{path}", data, mode=0o100755 if "/bin/" in path or "scripts/" in path else 0o100644)


@each("top", {name: name for name in (
    "bar-2.0.dist-info", "bar-2.0.egg-info", "bar.egg-link", "demo-1.0.data", "bar-2.0.data", "bar-2.0.dist-info.txt", "bar.DIST-INFO", ".dist-info", "demo-1.0.dist-info.x/METADATA", "bar-2.0.egg-info/PKG-INFO", "x/bar-2.0.dist-info/METADATA", "x/bar-2.0.dist-info", "bin", "bin/x", "lib/x", "include/x", "share/x", "__pycache__/x.pyc", "pip/__init__.py", "_virtualenv.py", "usercustomize.py", "easy-install.pth", "__editable__.demo.pth", "pyvenv.cfg", "python", "py.typed", "purelib", "scripts/x")})
def top(wheel, dice, name):
    wheel.add(name)


@each("system name", {name: f"demo/{name}" for name in (
    "CON", "con.txt", "Aux.py", "nul", "COM1", "lpt9.h", "COM\u00b9", "com0", "conin$", "a?", "a*", "a<", "a|", 'a"', "a:b", "a ", "a.", "a /x", "a./x", "\u03c3", "\u03c2", "\x7f", "a\u0080", "CLOCK$", "a\u202e", "\ufeff", "\u00ad", "\ud7ff", "\U000e0001", "x" * 255, "x" * 256, "\u00e4" * 127 + "x", "\u00e4" * 128, "\u00e4" * 130)})
def system_name(wheel, dice, name):
    wheel.add(name)


@each("two members", {
    "sigma": ("demo/\u03c3", "demo/\u03c2"), "capital sigma": ("demo/\u03a3", "demo/\u03c2"), "sharp s capital": ("demo/\u00df", "demo/\u1e9e"), "long s": ("demo/\u017f", "demo/s"), "micro": ("demo/\u00b5", "demo/\u03bc"), "angstrom": ("demo/\u212b", "demo/\u00e5"), "cherokee": ("demo/\u13a0", "demo/\uab70"), "trailing blank": ("demo/x", "demo/x "), "iota": ("demo/\u1f80", "demo/\u1f88"), "cedilla": ("demo/\u00e7", "demo/c\u0327"), "hangul": ("demo/\uac00", "demo/\u1100\u1161"),
    "file and directory": ("demo/x", "demo/x/y"), "file and directory of another case": ("demo/x", "demo/X/y"), "purelib and data": ("demo-1.0.data/purelib/x", f"demo-1.0.data/data/{SITE}/x"), "root and platlib": ("x", "demo-1.0.data/platlib/x"), "file and purelib directory": ("x", "demo-1.0.data/purelib/x/y"), "scripts and data": ("demo-1.0.data/scripts/x", "demo-1.0.data/data/bin/x"), "scripts and Scripts": ("demo-1.0.data/scripts/x", "demo-1.0.data/data/Scripts/x"), "script and directory": ("demo-1.0.data/scripts/x", "demo-1.0.data/data/bin/x/y"), "case of scripts": ("demo-1.0.data/scripts/x", "demo-1.0.data/scripts/X"), "data and root": (f"demo-1.0.data/data/{SITE}/x/y", "x/y"), "two pythons": ("demo-1.0.data/data/lib/python3.11/site-packages/x", "demo-1.0.data/data/lib/python3.12/site-packages/x"), "headers and data": ("demo-1.0.data/headers/x.h", "demo-1.0.data/data/include/site/python3.11/demo/x.h"), "case of metadata": (f"{INFO}/x", "Demo-1.0.dist-info/y"), "same data": ("demo-1.0.data/purelib/x", "demo-1.0.data/platlib/x"),
})
def two_members(wheel, dice, names):
    for index, name in enumerate(names):
        wheel.add(name, b"#!python\n%d\n" % index)
