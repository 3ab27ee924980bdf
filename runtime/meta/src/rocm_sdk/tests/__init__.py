"""Self-test of the installed packages: `rocm-sdk test`.

It needs no GPU. Its cases:

- `layout:` the platform directory of a package is a regular Python package next to its module, the
  versions are equal, and every file in RECORD exists.
- `library:` a shared library loads alone in a process without LD_LIBRARY_PATH. Skipped are Python
  extension modules (loaded by import), sanitizer runtimes (must be the first library of a
  process), and libraries for other processors.
- `preload:` `rocm_sdk.preload_libraries` loads the library alone in a process. Skipped are optional
  libraries that were not built, and those of the other operating system.
- `script:` a console script is installed and answers `--version`, `--help` or `-h`. Its program
  must start: 126, 127, signals, absent modules of Python and Perl, and absent interpreters are
  failures, as are exceptions of Python if it answers none of the questions. Other exit statuses
  pass, because some tools fail without a GPU.
- `devel:` the tree can be expanded, and has every library of the other packages.
"""

from ._runner import run

__all__ = ["run"]
