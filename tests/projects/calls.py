# SPDX-License-Identifier: MIT
"""Calls of installed bindings, each in a separate process, with their expected answers."""

KERNEL = r'''extern "C" __global__ void twice(float *of) { of[threadIdx.x] *= 2; }'''
GFX942 = 0x4C  # EF_AMDGPU_MACH_AMDGCN_GFX942, in the flags of the ELF header

# By name: the code, and its expected last line; a word matches itself, `*` any.
CALLS = {
    "hip: versions": ('''import hip
from hip import hip as runtime, hiprtc
error, major, minor = hiprtc.hiprtcVersion()
versions = [get()[1] // 10_000_000 for get in (runtime.hipRuntimeGetVersion, runtime.hipDriverGetVersion)]
print(hip.ROCM_VERSION_NAME, int(error), major, versions)
''', "7.2.2 0 9 [7, 7]"),
    "hip: libraries that rocm_sdk loaded are the same": ('''import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["amdhip64", "hiprtc"])
from hip import hip, hiprtc
hip.hipGetDeviceCount(), hiprtc.hiprtcVersion()
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libamdhip64.so.7" in line or "libhiprtc.so.7" in line}
print(len(loaded), all("/_rocm_sdk_core/lib/" in path for path in loaded))
''', "2 True"),
    "hip: without a device, counting them is an error": ('''from hip import hip
error, count = hip.hipGetDeviceCount()
print(error.name, count, hip.hipGetErrorString(error)[1])
''', "hipErrorNoDevice 0 no ROCm-capable device is detected"),
    "hiprtc: a kernel is compiled for gfx942": (f'''from hip import hiprtc
source = {KERNEL!r}.encode()
error, program = hiprtc.hiprtcCreateProgram(source, b"twice.hip", 0, None, None)
error, = hiprtc.hiprtcCompileProgram(program, 1, [b"--offload-arch=gfx942"])
error, size = hiprtc.hiprtcGetCodeSize(program)
code = bytearray(size)
hiprtc.hiprtcGetCode(program, code)
print(code[:4], code[0x30] == {GFX942}, b"twice.kd" in code)
''', "bytearray(b'\\x7fELF') True True"),
    "hiprtc: what is wrong in a kernel is told": ('''from hip import hiprtc
error, program = hiprtc.hiprtcCreateProgram(b"__global__ void wrong() { nothing; }", b"wrong.hip", 0, None, None)
error, = hiprtc.hiprtcCompileProgram(program, 1, [b"--offload-arch=gfx942"])
_, size = hiprtc.hiprtcGetProgramLogSize(program)
log = bytearray(size)
hiprtc.hiprtcGetProgramLog(program, log)
print(error.name, b"use of undeclared identifier 'nothing'" in log)
''', "HIPRTC_ERROR_COMPILATION True"),
    "cuda: CUDA's names are those of HIP": ('''import hip.hip
from cuda import cuda, cudart, nvrtc
print(cuda.CUresult is hip.hip.hipError_t, cudart.cudaGetDeviceCount()[0].name, cudart.cudaRuntimeGetVersion() == hip.hip.hipRuntimeGetVersion(),
      nvrtc.nvrtcVersion() == hip.hiprtc.hiprtcVersion(), nvrtc.CUlinkState_st.__base__.__name__)
''', "True hipErrorNoDevice True True ihiprtcLinkState"),
    "rocm.llvm: a module is parsed and printed": (r'''
from rocm.llvm.c import core, irreader
text = b"define i32 @twice(i32 %x) {\n  %y = shl i32 %x, 1\n  ret i32 %y\n}\n"
context = core.LLVMContextCreate()
buffer = core.LLVMCreateMemoryBufferWithMemoryRangeCopy(text, len(text), b"twice")
failed, module, message = irreader.LLVMParseIRInContext(context, buffer)
printed = bytes(core.LLVMPrintModuleToString(module)).decode()
print(failed, "define i32 @twice(i32 %x)" in printed, "shl i32 %x, 1" in printed)
''', "0 True True"),
    "rocm.llvm: what is wrong in a module is told": (r'''
from rocm.llvm.c import core, irreader
text = b"define i32 @wrong() {\n  ret i32 %nothing\n}\n"
context = core.LLVMContextCreate()
buffer = core.LLVMCreateMemoryBufferWithMemoryRangeCopy(text, len(text), b"wrong")
failed, module, message = irreader.LLVMParseIRInContext(context, buffer)
print(failed, "use of undefined value '%nothing'" in bytes(message).decode())
''', "1 True"),
    "rocm.clang: a header is parsed by cindex": (r'''
import rocm_sdk
from rocm.clang import cindex
cindex.Config.set_library_file(str(rocm_sdk.find_libraries("clang")[0]))
unit = cindex.Index.create().parse("twice.h", args=["-xc"], unsaved_files=[("twice.h", "struct pair { int a; float b; };\nint twice(struct pair *of);\n")])
found = [(each.kind.name, each.spelling, each.type.get_size() if each.kind.name == "STRUCT_DECL" else each.result_type.spelling) for each in unit.cursor.get_children()]
print(found)
''', "[('STRUCT_DECL', 'pair', 8), ('FUNCTION_DECL', 'twice', 'int')]"),
    "rocm.amd_comgr: a kernel is compiled": (f'''from rocm.amd_comgr import amd_comgr
source = {KERNEL!r}
assert "amdgcn-amd-amdhsa--gfx942" in amd_comgr.ext.get_isa_names(), amd_comgr.ext.get_isa_names()
code, log, _ = amd_comgr.ext.compile_hip_to_bc(source, "amdgcn-amd-amdhsa--gfx942", (7, 2, 0), prepend_hiprtc_runtime_header=True, logging=True)
print(code[:4], b"twice" in code)
''', "b'BC\\xc0\\xde' True"),
    "nx_hipgraph is imported": ('''
import nx_hipgraph, hipgraph, pylibhipgraph
print(nx_hipgraph.VERSION, nx_hipgraph.edges(3), hipgraph.edges(4))
''', "1.0.0b1 6 12"),
}
