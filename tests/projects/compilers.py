#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make-artifacts, with the compiler and HIP whole and the rest small: the build requirements of bindings and the
libraries that they call.

    compilers.py TOOLS OPTIONS...     OPTIONS as of make-artifacts

A small tree has no libamdhip64, libamd_comgr, libLLVM, libclang nor clang: each is too large for it. A full one is
2.4 GB to download, this one 160 MB. LLVM's static archives, 350 MB, are left out:
Debian's need libraries of Debian.
"""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

WHOLE = ("amd-llvm", "core-hip")
# Fortran, MLIR, sanitizers and the like.
WITHOUT = ("flang", "libmlir", "clang-tools", "libclang-rt", "libomp5")


def main():
    tools, rest = Path(sys.argv[1]), sys.argv[2:]
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(tools))
    loader = importlib.machinery.SourceFileLoader("make_artifacts", str(tools / "make-artifacts"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    table, component = module.table, module.component

    def rows(text, **words):
        """Lift the limits of the artifacts in `words`."""
        for row in table(text, **words):
            if text is module.PACKAGES and row[0] in WHOLE:
                artifact, kind, prefix, root, _, *packages = row
                packages = [name for name in packages if not name.startswith(WITHOUT)]
                row = [artifact, kind, prefix, root, "9999999", *packages]
            yield row

    def parts(artifact, prefix, path):
        """Drop static archives."""
        return None if path.endswith(".a") else component(artifact, prefix, path)

    module.table, module.component = rows, parts
    sys.argv = ["make-artifacts", "--size", "small", *rest]
    module.main()


if __name__ == "__main__":
    main()
