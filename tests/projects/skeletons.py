# SPDX-License-Identifier: MIT
"""Build files that turn wheels of bindings into checkouts. And CUDA's names, which have no published wheel."""

# The list of libraries: a variable, as `rockpack build --libs` sets it, or the list in `_version.py`.
SETUP = '''import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

rocm = Path(os.environ["ROCM_PATH"])
facts = {{}}
for version in sorted(Path("{package}").rglob("_version.py"), reverse=True):
    exec(version.read_text(), facts)
chosen = os.environ.get("{variable}", "*")
modules = [name for key, names in facts.items() if key.endswith("MODULE_LIST") for name in names]


def is_wanted(source):
    """True if a source is compiled: sources that others depend on always are."""
    module = ".".join(source.with_suffix("").parts)
    plain = module.rpartition(".")[2]
    if plain.startswith("_") or "_util" in source.parts:
        return True
    if modules:
        return any(module in (name, ".c".join(name.rsplit(".", 1))) for name in modules)
    return chosen == "*" or any(plain in (name, f"c{{name}}") for name in chosen.split(","))


def extension(source):
    """Return the extension module of a source."""
    return Extension(".".join(source.with_suffix("").parts), [str(source)],
                     include_dirs=[str(rocm / "include"), str(rocm / "llvm/include")],
                     define_macros=[("__HIP_PLATFORM_AMD__", None), ("__half", "uint16_t")])


sources = [source for source in sorted(Path("{package}").rglob("*.pyx")) if is_wanted(source)]
packages = sorted({{".".join(path.parent.parts) for path in Path("{package}").rglob("*.py")}})
setup(name="{name}", version=facts["__version__"], packages=packages, package_data={{"": ["*.pxd", "*.pyx", "*.h", "*.so"]}},
      install_requires=[text.format(facts["__version__"]) for text in {requires}],
      ext_modules=cythonize([extension(source) for source in sources], compiler_directives={{"language_level": 3, "embedsignature": True}}))
'''

PYPROJECT = '''[build-system]
requires = ["setuptools", "wheel", "cython"]
build-backend = "setuptools.build_meta"
'''

# The nodes add the requirement of core.
CONFIG = "[options]\nzip_safe = False\n"

# The library with all functions that the modules of rocm.llvm call, and one function in addition.
MAKEFILE = '''CONFIG = $(ROCM_PATH)/llvm/bin/llvm-config
STATIC_LIBS ?= $(shell $(CONFIG) --libfiles)
LDFLAGS = $(shell $(CONFIG) --cxxflags --ldflags --system-libs --libs core)
librocmllvm.so: Target.cpp $(STATIC_LIBS)
	$(ROCM_PATH)/llvm/bin/clang++ -shared -fPIC -o $@ Target.cpp -Wl,--whole-archive $(STATIC_LIBS) -Wl,--no-whole-archive $(LDFLAGS)
clean:
	rm -f librocmllvm.so
'''
TARGET = '''#include "llvm/Config/llvm-config.h"
extern "C" const char *version_of_llvm(void) { return LLVM_VERSION_STRING; }
'''

# Compiled against the wheel of hip-python: its declarations for C, and a class of it.
CUDA = {
    "cuda/__init__.py": "from . import cuda, cudart, nvrtc\n",
    "cuda/cuda.pyx": "import hip.hip\n\nCUresult = hip.hip.hipError_t\ncuInit = hip.hip.hipInit\n",
    "cuda/cudart.pyx": '''cimport hip.chip
import hip.hip

cudaError_t = hip.hip.hipError_t
cudaGetDeviceCount = hip.hip.hipGetDeviceCount


def cudaRuntimeGetVersion():
    """Call C directly, as programs in Cython do."""
    cdef int version = 0
    error = cudaError_t(<int>hip.chip.hipRuntimeGetVersion(&version))
    return error, version
''',
    "cuda/nvrtc.pyx": '''cimport hip.hiprtc
import hip.hiprtc

nvrtcVersion = hip.hiprtc.hiprtcVersion
nvrtcCreateProgram = hip.hiprtc.hiprtcCreateProgram
nvrtcCompileProgram = hip.hiprtc.hiprtcCompileProgram
nvrtcGetCodeSize = hip.hiprtc.hiprtcGetCodeSize


cdef class CUlinkState_st(hip.hiprtc.ihiprtcLinkState):
    pass
''',
}


def setup(name, package, variable, requires=()):
    """Return the texts of a project that setuptools builds."""
    text = SETUP.format(name=name, package=package, variable=variable, requires=list(requires))
    return {"setup.py": text, "pyproject.toml": PYPROJECT}
