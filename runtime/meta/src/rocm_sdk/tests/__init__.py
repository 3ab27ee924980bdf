"""The self-test of the installed packages: `rocm-sdk test`.

It needs no GPU. What it checks:

- `layout:` the platform directory of a package is a regular Python package beside its
  module, its version is that of `rocm`, and every file in its RECORD is there.
- `library:` a shared library loads in a process of its own, with no LD_LIBRARY_PATH.
  Left out are files that cannot: Python extension modules (they load by import),
  sanitizer runtimes (they have to be loaded before everything else), and libraries for
  another kind of processor.
- `preload:` `rocm_sdk.preload_libraries` loads the library in a process of its own.
- `script:` a console script is installed and answers `--version`, `--help` or `-h`. Its
  exit status may be a failure (without a GPU some tools fail), but the program has to
  start: 126, 127 and a signal are failures.
- `devel:` the tree expands, and has every library of the other packages.
"""

from ._runner import run

__all__ = ["run"]
