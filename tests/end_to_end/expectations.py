# SPDX-License-Identifier: MIT
"""Expected failures of Debian's binaries, each by name and with its reason.

The trees that make-artifacts creates are Debian's ROCm, not AMD's: their LLVM, MIOpen and rocSOLVER need libraries
which ROCm builds into itself and Debian has elsewhere, and a small tree leaves large files out. Unlisted items have to
work; listed items have to fail, for the listed reason, so that this list cannot grow stale.

Names are globs, for Debian's version numbers change; paths are relative to the platform directory.
"""

from dataclasses import dataclass, field, replace

# ISAs and families that make-artifacts has in its trees.
ISAS = ("gfx942", "gfx1100", "gfx1101")
FAMILIES = {"gfx94X-dcgpu": ("gfx942",), "gfx110X-all": ("gfx1100", "gfx1101")}

# Debian's packages (regular expressions) with the libraries that its ROCm takes from there. The extended root has them:
# items that fail in the plain root for lack of one work there.
DEBIAN_PACKAGES = (
    r"libedit2", r"libfmt1[0-9]", r"libboost-filesystem1\.90\.0", r"libboost-atomic1\.90\.0",
    r"libgoogle-glog0v6t64", r"libpfm4", r"libxml2-16", r"libquadmath0", r"libcurl4t64", r"libz3-4",
    r"libpython3\.14",
    r"perl", r"liburi-perl", r"libfile-which-perl",
)


@dataclass(frozen=True)
class Cause:
    """One reason for expected failures.

    `says` is a text in the failure's message. `libraries`, `preloads`, `scripts` and `stubs` are the failing items:
    paths of libraries, short names, console scripts, and paths of exec stubs.
    """

    why: str
    says: str
    libraries: tuple = ()
    preloads: tuple = ()
    scripts: tuple = ()
    stubs: tuple = ()
    debian: bool = False  # Debian has it: it works in the extended root

    def is_told_in(self, reason):
        """True if the self-test gives this reason: it reports a missing library before the loader does."""
        return self.says in reason or self.says.replace(": cannot open shared object file", " is missing") in reason


@dataclass(frozen=True)
class Tree:
    """The expected results of one artifact tree."""

    mode: str
    build: tuple  # further arguments of `rockpack build`: between them, all forms are built
    full: bool
    causes: tuple
    first: tuple  # further causes in kpack mode, and for the first family in legacy mode
    other: tuple  # further causes for the other families
    alone: tuple  # causes for which the self-test does not try, and says so in `skipped`
    scripts: tuple  # console scripts that must be there, besides rocm-sdk
    stubs: tuple  # exec stubs that must be there
    skipped: dict = field(default_factory=dict)  # self-test cases (globs) that do not apply
    skipped_other: dict = field(default_factory=dict)  # further ones for the other families

    def of_family(self, family=None):
        """Return the tree as one family sees it: with all causes in `causes`."""
        if family in (None, next(iter(FAMILIES))):
            return replace(self, causes=self.causes + self.first)
        return replace(self, causes=self.causes + self.other, skipped={**self.skipped, **self.skipped_other})


LEFT_OUT = "small trees leave it out, as they do all large files"

NO_ROCSOLVER = Cause(
    why=f"rocSOLVER: {LEFT_OUT}",
    says="librocsolver.so.0: cannot open shared object file",
    libraries=("lib/libhipblas.so*",),
    preloads=("hipblas",),
)
SMALL_ALL = (
    NO_ROCSOLVER,
    Cause(
        why=f"libamdhip64: {LEFT_OUT}",
        says="libamdhip64.so.7: cannot open shared object file",
        libraries=("lib/libhipfile.so*", "lib/libMIOpenCKGroupedConv_gfx*.so"),
        preloads=("hipfile",),
    ),
    Cause(
        why=f"rocRAND: {LEFT_OUT}",
        says="librocrand.so.1: cannot open shared object file",
        libraries=("lib/libhiprand.so*",),
        preloads=("hiprand",),
    ),
    Cause(
        why=f"LLVM's OpenMP library: {LEFT_OUT}",
        says="libomp.so.5: cannot open shared object file",
        libraries=("lib/librpp.so*",),
        preloads=("rpp",),
    ),
    Cause(
        why=f"OpenBLAS itself, which Debian's BLAS interface needs: {LEFT_OUT}",
        says="libopenblas.so.0: cannot open shared object file",
        libraries=("lib/host-math/lib/libblas.so.3",),
    ),
    Cause(
        why=f"the library: {LEFT_OUT}",
        says="was built without the library",
        preloads=("amd_comgr", "amdhip64", "hipblaslt", "hipsolver", "hipsparse", "miopen", "rocm_smi64"),
    ),
    Cause(
        why=f"libLLVM: {LEFT_OUT}",
        says="libLLVM.so.22.1: cannot open shared object file",
        scripts=("amdlld",),
        stubs=("bin/amdlld", "bin/amdllvm", "lib/llvm/bin/amdlld", "lib/llvm/bin/amdllvm", "lib/llvm/bin/ld.lld",
               "lib/llvm/bin/ld64.lld", "lib/llvm/bin/lld-link", "lib/llvm/bin/wasm-ld"),
    ),
)
SMALL_FIRST = (
    Cause(
        why=f"libamdhip64: {LEFT_OUT}",
        says="libamdhip64.so.7: cannot open shared object file",
        libraries=("lib/libhipfft.so*", "lib/librocfft.so*"),
        preloads=("hipfft",),
    ),
)
# make-artifacts lays the largest libraries out for the first family alone.
FIRST_ALONE = "make-artifacts has it for the first family alone"
NO_ROCFFT = Cause(
    why=f"rocFFT: {FIRST_ALONE}",
    says="librocfft.so.0: cannot open shared object file",
    libraries=("lib/libhipfft.so*",),
    preloads=("hipfft",),
)

EDIT = Cause(
    why="ROCm's LLVM is built without libedit, Debian's with it (Debian: libedit2)",
    says="libedit.so.2: cannot open shared object file",
    libraries=("lib/libamd_comgr.so*", "lib/librocm-dbgapi.so*", "lib/llvm/lib/libLLVM*.so*",
               "lib/llvm/lib/libMLIR.so*", "lib/llvm/lib/libMLIRExecutionEngineShared.so*",
               "lib/llvm/lib/libRemarks.so*", "lib/llvm/lib/libclang-[0-9]*.so*",
               "lib/llvm/lib/libclang-cpp.so*", "lib/llvm/lib/libmlir_*.so*"),
    preloads=("amd_comgr",),
    scripts=("amdclang", "amdclang++", "amdclang-cl", "amdclang-cpp", "amdlld", "offload-arch"),
    debian=True,
)
FULL_FIRST = (
    Cause(
        why="Debian builds rocSOLVER with fmt as a library, ROCm has it inside (Debian: libfmt11)",
        says="libfmt.so.11: cannot open shared object file",
        libraries=("lib/libhipblas.so*", "lib/libhipsolver.so*", "lib/librocsolver.so*"),
        preloads=("hipblas", "hipsolver"),
        debian=True,
    ),
)
FULL_OTHER = (
    NO_ROCFFT,
    Cause(
        why=f"rocSOLVER: {FIRST_ALONE}",
        says="librocsolver.so.0: cannot open shared object file",
        libraries=("lib/libhipblas.so*", "lib/libhipsolver.so*"),
        preloads=("hipblas", "hipsolver"),
    ),
    Cause(
        why=f"rocSPARSE: {FIRST_ALONE}",
        says="librocsparse.so.1: cannot open shared object file",
        libraries=("lib/libhipsparse.so*",),
        preloads=("hipsparse",),
    ),
)
FULL_ALL = (
    EDIT,
    Cause(
        why="Debian's MIOpen uses Boost, ROCm's does not (Debian: libboost-filesystem)",
        says="libboost_filesystem.so.1.90.0: cannot open shared object file",
        libraries=("lib/libMIOpen.so*",),
        preloads=("miopen",),
        debian=True,
    ),
    Cause(
        why="Debian's Fortran compiler uses GCC's libquadmath (Debian: libquadmath0)",
        says="libquadmath.so.0: cannot open shared object file",
        scripts=("amdflang",),
        debian=True,
    ),
    Cause(
        why="it takes more static TLS than the loader keeps for libraries opened later",
        says="cannot allocate memory in static TLS block",
        libraries=("lib/llvm/lib/clang/*/lib/linux/libclang_rt.scudo_standalone-x86_64.so",),
    ),
)
BOTH = (
    Cause(
        why="Debian builds it with fmt as a library, ROCm has it inside (Debian: libfmt11)",
        says="libfmt.so.11: cannot open shared object file",
        libraries=("lib/librocprofiler-register.so*",),
        debian=True,
    ),
    Cause(
        why="Debian's hipcc looks for the compiler in lib/llvm-22, where no artifact has one",
        says="failed to execute:",
        scripts=("hipcc",),
    ),
    Cause(
        why="its Perl uses modules that the root lacks (Debian: perl-modules, libfile-which-perl)",
        says="Can't locate File/",
        scripts=("roc-obj-extract", "roc-obj-ls"),
        debian=True,
    ),
    Cause(
        why="it stands in for a program of a module that no artifact has",
        says="No module named rocprofsys",
        scripts=("rocprof-sys-python",),
    ),
)
# Files that cannot be loaded alone, in any place: only in the full trees.
NEVER_ALONE = (
    Cause(
        why="it is for 32-bit programs",
        says="wrong ELF class",
        libraries=("lib/llvm/lib/clang/*/lib/linux/libclang_rt.*-i386.so",),
    ),
    Cause(
        why="a sanitizer runtime must be the first library of a process",
        says="",
        libraries=tuple(f"lib/llvm/lib/clang/*/lib/linux/libclang_rt.{kind}-x86_64.so"
                        for kind in ("asan", "hwasan", "nsan", "tsan")),
    ),
    Cause(
        why="Debian links the extension module to libpython, which the root's Python has inside (Debian: libpython3)",
        says="libpython3.",
        libraries=("lib/llvm/share/gdb/python/ompd/ompdModule.cpython-*.so",),
        debian=True,
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
    "kpack-small": Tree("kpack", (PACKED,), False, SMALL_ALL + BOTH, SMALL_FIRST, (), (), SCRIPTS, STUBS, SKIPPED_SMALL),
    "legacy-small": Tree("legacy", (), False, SMALL_ALL + BOTH, SMALL_FIRST, (NO_ROCFFT,), (), SCRIPTS, STUBS,
                         SKIPPED_SMALL),
    "kpack-full": Tree("kpack", ("--compression", "store",), True, FULL_ALL + BOTH, FULL_FIRST, (),
                       NEVER_ALONE, SCRIPTS + COMPILERS, STUBS + COMPILER_STUBS, SKIPPED_FULL),
    "legacy-full": Tree("legacy", ("--compression", "store",), True, FULL_ALL + BOTH, FULL_FIRST, FULL_OTHER,
                        NEVER_ALONE, SCRIPTS + COMPILERS, STUBS + COMPILER_STUBS, SKIPPED_FULL, NOT_FOR_EVERY_ISA),
}

# Forwarding libraries, and a function of the library behind each. make-artifacts compiles the functions of stand-ins
# into them. Small trees lack the libraries behind FORWARDS_OF_FULL. Values of LIBRARIES are one directory, or one for
# each family.
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
FORWARDS_OF_FULL = tuple(f"_rocm_sdk_core/lib/lib{name}.so" for name in ("amdhip64", "rocm_smi64", "amd_comgr")) + tuple(
    f"{LIBRARIES}/lib/lib{name}.so" for name in ("hipsolver", "hipsparse", "hipblaslt", "rccl"))
# Small trees have these, and lack the dependencies of the libraries behind them.
FORWARDS_OPENED_IN_FULL = tuple(f"{LIBRARIES}/lib/lib{name}.so" for name in ("hipblas", "hipfft", "hiprand"))
