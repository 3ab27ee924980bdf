// SPDX-License-Identifier: MIT
// One unit of a library, with a kernel. Each is compiled with another NAME, so that no two have the same code.
#include <hip/hip_runtime.h>

#define JOINED(a, b) a##b
#define CALLED(prefix, name) JOINED(prefix, name)

__global__ void CALLED(kernel_, NAME)(float *values, float by) {
    values[blockIdx.x * blockDim.x + threadIdx.x] *= by;
}

extern "C" int CALLED(start_, NAME)(float *values, float by) {
    CALLED(kernel_, NAME)<<<1, 64>>>(values, by);
    return static_cast<int>(hipGetLastError());
}

extern "C" const char *CALLED(name_, NAME)() { return __func__; }
