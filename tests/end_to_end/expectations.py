# SPDX-License-Identifier: MIT
"""Expected failures of Debian's binaries, each by name and with its reason.

The trees that make-artifacts creates contain Debian's build of ROCm. Its LLVM, MIOpen and rocSOLVER need libraries that
AMD's build links statically. Small trees also leave out large files. Unlisted items have to work; listed items have to
fail, for the listed reason, so that this list cannot grow stale.

Names are globs, because Debian's version numbers change; paths are relative to the platform directory.
"""

from dataclasses import dataclass, field, replace

# ISAs and families that make-artifacts has in its trees.
ISAS = ("gfx942", "gfx1100", "gfx1101")
FAMILIES = {"gfx94X-dcgpu": ("gfx942",), "gfx110X-all": ("gfx1100", "gfx1101")}

# Debian packages (regular expressions) that Debian's ROCm needs. The extended root has them: items that fail in the
# plain root because one is missing work in the extended root.
DEBIAN_PACKAGES = (
    r"libedit2", r"libfmt1[0-9]", r"libboost-filesystem1\.90\.0", r"libboost-atomic1\.90\.0",
    r"libgoogle-glog0v6t64", r"libpfm4", r"libxml2-16", r"libquadmath0", r"libcurl4t64", r"libz3-4",
    r"libpython3\.14",
    r"perl", r"liburi-perl", r"libfile-which-perl",
)


@dataclass(frozen=True)
class Cause:
    """One reason for expected failures.

    `message` is a text in the failure's message. `libraries`, `preloads`, `scripts` and `stubs` are the failing items:
    paths of libraries, short names, console scripts, and paths of stubs.
    """

    reason: str
    message: str
    libraries: tuple = ()
    preloads: tuple = ()
    scripts: tuple = ()
    stubs: tuple = ()
    works_in_extended_root: bool = False

    def matches(self, message):
        """Return whether a message of the self-test has this text. It reports a missing library in its own words, before
        the loader does."""
        own_words = self.message.replace(": cannot open shared object file", " is missing")
        return self.message in message or own_words in message


@dataclass(frozen=True)
class Tree:
    """The expected results of one artifact tree."""

    mode: str
    build: tuple  # further arguments of `rockpack build`; the four trees together use every compression
    full: bool
    causes: tuple
    causes_of_first_family: tuple  # further causes in kpack mode, and for the first family in legacy mode
    causes_of_other_families: tuple  # further causes for the other families
    causes_outside_self_test: tuple  # causes of failures that only loading.py checks; the self-test skips these files
    scripts: tuple  # console scripts that must be there, besides rocm-sdk
    stubs: tuple  # stubs that must be there
    skipped: dict = field(default_factory=dict)  # self-test cases (globs) that do not apply
    skipped_other: dict = field(default_factory=dict)  # further ones for the other families

    def of_family(self, family=None):
        """Return the tree as one family sees it: with all causes in `causes`."""
        if family in (None, next(iter(FAMILIES))):
            return replace(self, causes=self.causes + self.causes_of_first_family)
        return replace(self, causes=self.causes + self.causes_of_other_families, skipped={**self.skipped, **self.skipped_other})


LEFT_OUT = "small trees leave it out, as they do all large files"

NO_ROCSOLVER = Cause(
    reason=f"rocSOLVER: {LEFT_OUT}",
    message="librocsolver.so.0: cannot open shared object file",
    libraries=("lib/libhipblas.so*",),
    preloads=("hipblas",),
)
SMALL_EVERY_FAMILY = (
    NO_ROCSOLVER,
    Cause(
        reason=f"libamdhip64: {LEFT_OUT}",
        message="libamdhip64.so.7: cannot open shared object file",
        libraries=("lib/libhipfile.so*", "lib/libMIOpenCKGroupedConv_gfx*.so"),
        preloads=("hipfile",),
    ),
    Cause(
        reason=f"rocRAND: {LEFT_OUT}",
        message="librocrand.so.1: cannot open shared object file",
        libraries=("lib/libhiprand.so*",),
        preloads=("hiprand",),
    ),
    Cause(
        reason=f"LLVM's OpenMP library: {LEFT_OUT}",
        message="libomp.so.5: cannot open shared object file",
        libraries=("lib/librpp.so*",),
        preloads=("rpp",),
    ),
    Cause(
        reason=f"OpenBLAS itself, which Debian's BLAS interface needs: {LEFT_OUT}",
        message="libopenblas.so.0: cannot open shared object file",
        libraries=("lib/host-math/lib/libblas.so.3",),
    ),
    Cause(
        reason=f"the library itself: {LEFT_OUT}",
        message="was built without the library",
        preloads=("amd_comgr", "amdhip64", "hipblaslt", "hipsolver", "hipsparse", "miopen", "rocm_smi64"),
    ),
    Cause(
        reason=f"libLLVM: {LEFT_OUT}",
        message="libLLVM.so.22.1: cannot open shared object file",
        scripts=("amdlld",),
        stubs=("bin/amdlld", "bin/amdllvm", "lib/llvm/bin/amdlld", "lib/llvm/bin/amdllvm", "lib/llvm/bin/ld.lld",
               "lib/llvm/bin/ld64.lld", "lib/llvm/bin/lld-link", "lib/llvm/bin/wasm-ld"),
    ),
)
SMALL_FIRST = (
    Cause(
        reason=f"libamdhip64: {LEFT_OUT}",
        message="libamdhip64.so.7: cannot open shared object file",
        libraries=("lib/libhipfft.so*", "lib/librocfft.so*"),
        preloads=("hipfft",),
    ),
)
# make-artifacts includes the largest libraries for the first family only.
ONLY_IN_FIRST_FAMILY = "make-artifacts has it for the first family only"
NO_ROCFFT = Cause(
    reason=f"rocFFT: {ONLY_IN_FIRST_FAMILY}",
    message="librocfft.so.0: cannot open shared object file",
    libraries=("lib/libhipfft.so*",),
    preloads=("hipfft",),
)

LIBEDIT = Cause(
    reason="ROCm's LLVM is built without libedit, Debian's with it (Debian: libedit2)",
    message="libedit.so.2: cannot open shared object file",
    libraries=("lib/libamd_comgr.so*", "lib/librocm-dbgapi.so*", "lib/llvm/lib/libLLVM*.so*",
               "lib/llvm/lib/libMLIR.so*", "lib/llvm/lib/libMLIRExecutionEngineShared.so*",
               "lib/llvm/lib/libRemarks.so*", "lib/llvm/lib/libclang-[0-9]*.so*",
               "lib/llvm/lib/libclang-cpp.so*", "lib/llvm/lib/libmlir_*.so*"),
    preloads=("amd_comgr",),
    scripts=("amdclang", "amdclang++", "amdclang-cl", "amdclang-cpp", "amdlld", "offload-arch"),
    works_in_extended_root=True,
)
FULL_FIRST = (
    Cause(
        reason="Debian builds rocSOLVER with fmt as a library, ROCm has it inside (Debian: libfmt11)",
        message="libfmt.so.11: cannot open shared object file",
        libraries=("lib/libhipblas.so*", "lib/libhipsolver.so*", "lib/librocsolver.so*"),
        preloads=("hipblas", "hipsolver"),
        works_in_extended_root=True,
    ),
)
FULL_OTHER = (
    NO_ROCFFT,
    Cause(
        reason=f"rocSOLVER: {ONLY_IN_FIRST_FAMILY}",
        message="librocsolver.so.0: cannot open shared object file",
        libraries=("lib/libhipblas.so*", "lib/libhipsolver.so*"),
        preloads=("hipblas", "hipsolver"),
    ),
    Cause(
        reason=f"rocSPARSE: {ONLY_IN_FIRST_FAMILY}",
        message="librocsparse.so.1: cannot open shared object file",
        libraries=("lib/libhipsparse.so*",),
        preloads=("hipsparse",),
    ),
)
FULL_EVERY_FAMILY = (
    LIBEDIT,
    Cause(
        reason="Debian's MIOpen uses Boost, ROCm's does not (Debian: libboost-filesystem)",
        message="libboost_filesystem.so.1.90.0: cannot open shared object file",
        libraries=("lib/libMIOpen.so*",),
        preloads=("miopen",),
        works_in_extended_root=True,
    ),
    Cause(
        reason="Debian's Fortran compiler uses GCC's libquadmath (Debian: libquadmath0)",
        message="libquadmath.so.0: cannot open shared object file",
        scripts=("amdflang",),
        works_in_extended_root=True,
    ),
    Cause(
        reason="it takes more static TLS than the loader keeps for libraries opened later",
        message="cannot allocate memory in static TLS block",
        libraries=("lib/llvm/lib/clang/*/lib/linux/libclang_rt.scudo_standalone-x86_64.so",),
    ),
)
EVERY_TREE = (
    Cause(
        reason="Debian builds it with fmt as a library, ROCm has it inside (Debian: libfmt11)",
        message="libfmt.so.11: cannot open shared object file",
        libraries=("lib/librocprofiler-register.so*",),
        works_in_extended_root=True,
    ),
    Cause(
        reason="Debian's hipcc looks for the compiler in lib/llvm-22, where no artifact has one",
        message="failed to execute:",
        scripts=("hipcc",),
    ),
    Cause(
        reason="its Perl uses modules that the root lacks (Debian: perl-modules, libfile-which-perl)",
        message="Can't locate File/",
        scripts=("roc-obj-extract", "roc-obj-ls"),
        works_in_extended_root=True,
    ),
    Cause(
        reason="it starts a Python module that no artifact has",
        message="No module named rocprofsys",
        scripts=("rocprof-sys-python",),
    ),
)
# Files of the full trees that no process can load by themselves.
NOT_LOADABLE = (
    Cause(
        reason="it is for 32-bit programs",
        message="wrong ELF class",
        libraries=("lib/llvm/lib/clang/*/lib/linux/libclang_rt.*-i386.so",),
    ),
    Cause(
        reason="a sanitizer runtime must be the first library of a process",
        message="",  # each runtime has its own
        libraries=tuple(f"lib/llvm/lib/clang/*/lib/linux/libclang_rt.{kind}-x86_64.so"
                        for kind in ("asan", "hwasan", "nsan", "tsan")),
    ),
    Cause(
        reason="Debian links the extension module to libpython, which the root's Python links statically (Debian: libpython3)",
        message="libpython3.",
        libraries=("lib/llvm/share/gdb/python/ompd/ompdModule.cpython-*.so",),
        works_in_extended_root=True,
    ),
)

SKIPPED = {"preload:rocdxg": "only builds for WSL have it"}
# Optional libraries that some packages do not have.
NOT_FOR_EVERY_ISA = {"preload:hipsparselt": "not for every ISA", "preload:rccl": "not for every ISA"}
SKIPPED_SMALL = {**SKIPPED, **NOT_FOR_EVERY_ISA, "preload:clang": "reduced builds leave the compiler out"}
SKIPPED_FULL = {
    **SKIPPED,
    "library:*:lib/llvm/lib/clang/*/lib/linux/libclang_rt.*san*.so": "a sanitizer runtime is loaded first",
    "library:*:lib/llvm/lib/clang/*/lib/linux/libclang_rt.*-i386.so": "it is for 32-bit programs",
    "library:*:lib/llvm/share/gdb/python/ompd/ompdModule.cpython-*.so": "a Python extension module loads by import",
}

SCRIPTS = ("amd-smi", "amdlld", "hipcc", "hipconfig", "hipify-clang", "hipify-perl", "offload-arch", "roc-obj",
           "roc-obj-extract", "roc-obj-ls", "rocm-smi", "rocm_agent_enumerator", "rocminfo", "rocprof-compute",
           "rocprof-sys-instrument", "rocprof-sys-python", "rocprof-sys-run", "rocprof-sys-sample")
COMPILERS = ("amdclang", "amdclang++", "amdclang-cl", "amdclang-cpp", "amdflang")
STUBS = ("bin/amd-smi", "bin/amdlld", "bin/rocm-smi", "lib/llvm/bin/amdlld", "lib/llvm/bin/ld.lld",
         "bin/rocprof-compute")
COMPILER_STUBS = tuple(f"{where}/{name}" for where in ("bin", "lib/llvm/bin") for name in COMPILERS)

PACKED = "--xz-preset=6"
TREES = {
    "kpack-small": Tree("kpack", (PACKED,), False, SMALL_EVERY_FAMILY + EVERY_TREE, SMALL_FIRST, (), (), SCRIPTS, STUBS, SKIPPED_SMALL),
    "legacy-small": Tree("legacy", (), False, SMALL_EVERY_FAMILY + EVERY_TREE, SMALL_FIRST, (NO_ROCFFT,), (), SCRIPTS, STUBS,
                         SKIPPED_SMALL),
    "kpack-full": Tree("kpack", ("--compression", "store",), True, FULL_EVERY_FAMILY + EVERY_TREE, FULL_FIRST, (),
                       NOT_LOADABLE, SCRIPTS + COMPILERS, STUBS + COMPILER_STUBS, SKIPPED_FULL),
    "legacy-full": Tree("legacy", ("--compression", "store",), True, FULL_EVERY_FAMILY + EVERY_TREE, FULL_FIRST, FULL_OTHER,
                        NOT_LOADABLE, SCRIPTS + COMPILERS, STUBS + COMPILER_STUBS, SKIPPED_FULL, NOT_FOR_EVERY_ISA),
}

# Forwarding libraries, each with a function of the library behind it. Libraries that Debian lacks are made by
# make-artifacts, with a `*_probe` function. Small trees lack the libraries behind FORWARDS_ONLY_IN_FULL. In legacy mode,
# LIBRARIES is the prefix of one directory for each family.
LIBRARIES = "_rocm_sdk_libraries"
FORWARDS = {
    "_rocm_sdk_core/lib/libhiprtc.so": "hiprtcVersion",
    "_rocm_sdk_core/lib/libhsa-runtime64.so": "hsa_init",
    "_rocm_sdk_core/lib/libroctx64.so": "roctxMarkA",
    "_rocm_sdk_core/lib/libamd_smi.so": "libamd_smi_so_26_0_probe",
    "_rocm_sdk_core/lib/libroctracer64.so": "libroctracer64_so_4_1_0_probe",
    "_rocm_profiler/lib/libprofiler-hub.so": "libprofiler_hub_so_0_1_0_probe",
    "_rocm_profiler/lib/librocprof-sys.so": "librocprof_sys_so_1_0_0_probe",
    "_rocm_sdk_core/lib/libamdhip64.so": "hipGetDeviceCount",
    "_rocm_sdk_core/lib/librocm_smi64.so": "rsmi_version_get",
    "_rocm_sdk_core/lib/libamd_comgr.so": "amd_comgr_get_version",
    f"{LIBRARIES}/lib/libhipblas.so": "hipblasCreate",
    f"{LIBRARIES}/lib/libhipfft.so": "hipfftCreate",
    f"{LIBRARIES}/lib/libhiprand.so": "hiprandCreateGenerator",
    f"{LIBRARIES}/lib/libhipsolver.so": "hipsolverCreate",
    f"{LIBRARIES}/lib/libhipsparse.so": "hipsparseCreate",
    f"{LIBRARIES}/lib/libhipblaslt.so": "hipblasLtCreate",
    f"{LIBRARIES}/lib/librccl.so": "ncclGetVersion",
}
FORWARDS_ONLY_IN_FULL = tuple(f"_rocm_sdk_core/lib/lib{name}.so" for name in ("amdhip64", "rocm_smi64", "amd_comgr")) + tuple(
    f"{LIBRARIES}/lib/lib{name}.so" for name in ("hipsolver", "hipsparse", "hipblaslt", "rccl"))
# Small trees have these forwarding libraries, but not all dependencies of the libraries behind them.
FORWARDS_LOADABLE_ONLY_IN_FULL = tuple(f"{LIBRARIES}/lib/lib{name}.so" for name in ("hipblas", "hipfft", "hiprand"))
