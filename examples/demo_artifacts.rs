//! Makes a small artifact directory to try rockpack on.
//!
//! ```text
//! cargo run --example demo_artifacts -- DIR [kpack|legacy]
//! ```
//!
//! It has what the packages of `packages.kdl` cannot do without, in the shape a build leaves
//! it: libraries behind chains of links, programs behind links into other artifacts, links to
//! directories, device code. Libraries are real ELF files, made here; programs are this
//! machine's own `true`.

use std::error::Error;
use std::path::{Path, PathBuf};

use fs_err as fs;
use rockpack::elf::forward::forwarding_library;
use rockpack::elf::stub::StubMachine;

/// One line for each entry: artifact and component, path, and what it is:
/// `so NAME` (a library of this SONAME), `link TARGET`, `program`, `script`, `text`, `data`.
const ENTRIES: &str = "
base_lib             .info/version                                         text 7.2.0
base_lib             lib/librocm-core.so.1.0                               so librocm-core.so.1
base_lib             lib/librocm-core.so.1                                 link librocm-core.so.1.0
base_lib             lib/librocm-core.so                                   link librocm-core.so.1
base_lib             lib/cmake/llvm/LLVMConfig.cmake                       text # found by find_package(LLVM)
base_lib             bin/amdclang                                          link ../lib/llvm/bin/amdclang
base_lib             llvm                                                  link lib/llvm
base_lib             bin/amdclang++                                        link ../lib/llvm/bin/amdclang
base_lib             bin/amdclang-cl                                       link ../lib/llvm/bin/amdclang
base_lib             bin/amdclang-cpp                                      link ../lib/llvm/bin/amdclang
base_lib             bin/amdflang                                          link ../lib/llvm/bin/amdclang
base_lib             bin/amdlld                                            link ../lib/llvm/bin/amdclang
base_lib             bin/amdllvm                                           link ../lib/llvm/bin/amdclang
base_lib             lib/librocm_smi64.so.1                                so librocm_smi64.so.1
base_lib             lib/librocm_smi64.so                                  link librocm_smi64.so.1
base_run             lib/librocprofiler-register.so.0                      so librocprofiler-register.so.0
amd-llvm_lib         lib/llvm/lib/libomp.so.5                              so libomp.so.5
amd-llvm_lib         lib/llvm/lib/clang/22/include/stddef.h                text typedef unsigned long size_t;
amd-llvm_lib         lib/libamd_comgr.so.3                                 so libamd_comgr.so.3
amd-llvm_run         lib/llvm/bin/clang                                    program
amd-llvm_run         lib/llvm/bin/amdclang                                 link clang
amd-llvm_run         lib/llvm/bin/offload-arch                             script
amd-llvm_dev         lib/llvm/include/llvm/Config/llvm-config.h            text #define LLVM_VERSION_MAJOR 22
hipify_run           bin/hipify-clang                                      program
core-hip_lib         lib/libhiprtc.so.7.2                                  so libhiprtc.so.7
core-hip_lib         lib/libhiprtc.so.7                                    link libhiprtc.so.7.2
core-hip_lib         lib/libhiprtc.so                                      link libhiprtc.so.7
core-hip_lib         lib/libamdhip64.so.7.2                                so libamdhip64.so.7
core-hip_lib         lib/libamdhip64.so.7                                  link libamdhip64.so.7.2
core-hip_lib         lib/libamdhip64.so                                    link libamdhip64.so.7
core-hip_dev         include/hip/hip_runtime.h                             text #pragma once
core-hip_dev         lib/cmake/hip/hip-config.cmake                        text # found by find_package(hip)
core-hip_run         bin/hipconfig                                         script
core-ocl_lib         lib/libamdocl64.so                                    so libamdocl64.so
core-runtime_lib     lib/libhsa-runtime64.so.1.18                          so libhsa-runtime64.so.1
core-runtime_lib     lib/libhsa-runtime64.so.1                             link libhsa-runtime64.so.1.18
core-runtime_lib     lib/libhsa-runtime64.so                               link libhsa-runtime64.so.1
core-runtime_run     bin/rocminfo                                          program
core-amdsmi_lib      lib/libamd_smi.so.26                                  so libamd_smi.so.26
core-amdsmi_lib      lib/libamd_smi.so                                     link libamd_smi.so.26
core-amdsmi_run      bin/amd-smi                                           link ../libexec/amdsmi_cli/amdsmi_cli.py
core-amdsmi_run      libexec/amdsmi_cli/amdsmi_cli.py                      script
core-kpack_lib       lib/librocm_kpack.so.0                                so librocm_kpack.so.0
sysdeps_lib          lib/rocm_sysdeps/lib/librocm_sysdeps_liblzma.so.5     so librocm_sysdeps_liblzma.so.5
host-blas_lib        lib/host-math/lib/librocm-openblas.so.0               so librocm-openblas.so.0
rocdecode_lib        lib/librocdecode.so.1                                 so librocdecode.so.1
rocjpeg_lib          lib/librocjpeg.so.1                                   so librocjpeg.so.1
hipfile_lib          lib/libhipfile.so.0                                   so libhipfile.so.0
aqlprofile_lib       lib/libhsa-amd-aqlprofile64.so.1                      so libhsa-amd-aqlprofile64.so.1
rocprofiler-sdk_lib  lib/libroctx64.so.4                                   so libroctx64.so.4
rocprofiler-sdk_lib  lib/libroctx64.so                                     link libroctx64.so.4
rocprofiler-sdk_lib  lib/libroctracer64.so.4                               so libroctracer64.so.4
rocprofiler-sdk_lib  lib/libroctracer64.so                                 link libroctracer64.so.4
rocprofiler-sdk_lib  lib/librocprofiler-sdk.so.1                           so librocprofiler-sdk.so.1
rocprofiler-sdk_lib  lib/librocprofiler-sdk-roctx.so.1                     so librocprofiler-sdk-roctx.so.1
amd-dbgapi_lib       lib/librocm-dbgapi.so.0                               so librocm-dbgapi.so.0
blas_lib             lib/libhipblas.so.3.2                                 so libhipblas.so.3
blas_lib             lib/libhipblas.so.3                                   link libhipblas.so.3.2
blas_lib             lib/libhipblas.so                                     link libhipblas.so.3
blas_lib             lib/libhipblaslt.so.1                                 so libhipblaslt.so.1
blas_lib             lib/libhipsolver.so.1                                 so libhipsolver.so.1
blas_lib             lib/libhipsparse.so.4                                 so libhipsparse.so.4
blas_lib             lib/libhipsparselt.so.0                               so libhipsparselt.so.0
blas_lib             lib/liborigami.so.1                                   so liborigami.so.1
blas_lib             .kpack/blas_lib.kpm                                   text {}
blas_dev             include/hipblas/hipblas.h                             text #pragma once
rand_lib             lib/libhiprand.so.1                                   so libhiprand.so.1
fft_lib              lib/libhipfft.so.0                                    so libhipfft.so.0
hipdnn_lib           lib/libhipdnn_backend.so.1                            so libhipdnn_backend.so.1
miopen_lib           lib/libMIOpen.so.1                                    so libMIOpen.so.1
rccl_lib             lib/librccl.so.1                                      so librccl.so.1
rpp_lib              lib/librpp.so.2                                       so librpp.so.2
prim_dev             include/rocprim/rocprim.hpp                           text #pragma once
rocprofiler-compute_lib  libexec/rocprofiler-compute/rocprof-compute       script
rocprofiler-compute_run  bin/rocprof-compute                               link ../libexec/rocprofiler-compute/rocprof-compute
rocprofiler-systems_lib  lib/librocprof-sys.so.1                           so librocprof-sys.so.1
rocprofiler-systems_lib  lib/librocprof-sys.so                             link librocprof-sys.so.1
rocprofiler-systems_lib  lib/librocprof-sys-dl.so.1                        so librocprof-sys-dl.so.1
rocprofiler-systems_lib  lib/librocprof-sys-dl.so                          link librocprof-sys-dl.so.1
rocprofiler-systems_lib  lib/libprofiler-hub.so.0                          so libprofiler-hub.so.0
rocprofiler-systems_lib  lib/libprofiler-hub.so                            link libprofiler-hub.so.0
rocprofiler-systems_lib  lib/rocprofiler-systems/libplugin.so              so libplugin.so
rocprofiler-systems_run  bin/rocprof-sys-run                               program
rocprofiler-systems_run  share/rocprofiler-systems/setup-env.sh            text # stand-in
";

/// The same for each ISA; `ISA` stands for its name.
const DEVICE_ENTRIES: &str = "
blas_lib             lib/rocblas/library/TensileLibrary_ISA.co             data
blas_lib             .kpack/blas_lib_ISA.kpack                             data
fft_lib              .kpack/fft_lib_ISA.kpack                              data
miopen_lib           share/miopen/db/ISA.db.txt                            text 1x1=1,4
miopen_lib           lib/libMIOpenPlugin_ISA.so                            so libMIOpenPlugin_ISA.so
";

/// Artifacts that are built for each family when device code is not split off.
const TARGET_SPECIFIC: [&str; 6] = ["blas", "rand", "fft", "miopen", "rpp", "prim"];

type Done<T = ()> = Result<T, Box<dyn Error>>;

#[cfg_attr(test, expect(dead_code, reason = "tests call `make`"))]
fn main() -> Done {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().ok_or("usage: demo_artifacts DIR [kpack|legacy]")?);
    let kpack = args.next().is_none_or(|mode| mode != "legacy");
    make(&dir, kpack, &fs::read(find_true()?)?)
}

/// Makes the artifact directory `dir`, with `program` for every program; what was there before is removed.
///
/// # Errors
/// When it cannot be written.
pub fn make(dir: &Path, kpack: bool, program: &[u8]) -> Done {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    let (isas, families): (&[&str], &[&str]) = (&["gfx942", "gfx1100"], &["gfx94X-dcgpu", "gfx110X-all"]);
    for line in ENTRIES.lines().filter(|l| !l.is_empty()) {
        let entry = Entry::parse(line)?;
        let specific = !kpack && TARGET_SPECIFIC.contains(&entry.artifact.split('_').next().unwrap_or_default());
        for family in if specific { families } else { &["generic"] } {
            entry.write(dir, family, program)?;
        }
    }
    for (isa, family) in isas.iter().zip(families) {
        for line in DEVICE_ENTRIES.lines().filter(|l| !l.is_empty()) {
            let line = line.replace("ISA", isa);
            Entry::parse(&line)?.write(dir, if kpack { isa } else { family }, program)?;
        }
    }
    let base = dir.join("base_lib_generic/stage/share/therock");
    fs::create_dir_all(&base)?;
    fs::write(base.join("therock_manifest.json"), format!("{{\"flags\": {{\"KPACK_SPLIT_ARTIFACTS\": {kpack}}}}}\n"))?;
    fs::write(base.join("dist_info.json"), format!("{{\"dist_amdgpu_targets\": \"{}\"}}\n", isas.join(";")))?;
    Ok(())
}

fn find_true() -> Done<PathBuf> {
    let path = std::env::var_os("PATH").ok_or("PATH is not set")?;
    let found = std::env::split_paths(&path).map(|dir| dir.join("true")).find(|p| p.is_file());
    Ok(found.ok_or("this machine has no program `true`")?)
}

struct Entry<'l> {
    artifact: &'l str,
    path: &'l str,
    kind: &'l str,
    detail: &'l str,
}

impl<'l> Entry<'l> {
    fn parse(line: &'l str) -> Done<Self> {
        let (artifact, rest) = line.split_once(' ').ok_or("an entry has an artifact")?;
        let (path, what) = rest.trim_start().split_once(' ').ok_or("an entry has a path and a kind")?;
        let (kind, detail) = what.trim_start().split_once(' ').unwrap_or((what.trim_start(), ""));
        Ok(Self { artifact, path, kind, detail })
    }

    fn write(&self, dir: &Path, family: &str, program: &[u8]) -> Done {
        let artifact = dir.join(format!("{}_{family}", self.artifact));
        let place = artifact.join("stage").join(self.path);
        fs::create_dir_all(place.parent().unwrap_or(dir))?;
        fs::write(artifact.join("artifact_manifest.txt"), "stage\n")?;
        match self.kind {
            "so" => fs::write(&place, forwarding_library(machine(), self.detail, "libc.so.6", "$ORIGIN")?)?,
            "link" => fs_err::os::unix::fs::symlink(self.detail, &place)?,
            "program" => write_program(&place, program)?,
            "script" => write_program(&place, b"#!/bin/sh\necho stand-in \"$@\"\n")?,
            "text" => fs::write(&place, format!("{}\n", self.detail))?,
            "data" => fs::write(&place, self.path.repeat(200))?,
            other => return Err(format!("no such kind of entry: {other}").into()),
        }
        Ok(())
    }
}

fn machine() -> StubMachine {
    if cfg!(target_arch = "aarch64") { StubMachine::Aarch64 } else { StubMachine::X86_64 }
}

fn write_program(place: &Path, content: &[u8]) -> Done {
    use std::os::unix::fs::PermissionsExt;
    fs::write(place, content)?;
    Ok(fs::set_permissions(place, PermissionsExt::from_mode(0o755))?)
}
