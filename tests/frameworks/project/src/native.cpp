// SPDX-License-Identifier: MIT
// Calls a library of each ROCm package. The stable ABI lets any Python 3.10 or newer load it.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <hipfft/hipfft.h>

#include <string>

static PyObject *versions(PyObject *, PyObject *) {
    int hip = 0, fft = 0, major = 0, minor = 0;
    if (hipRuntimeGetVersion(&hip) != hipSuccess || hipfftGetVersion(&fft) != HIPFFT_SUCCESS ||
        hiprtcVersion(&major, &minor) != HIPRTC_SUCCESS)
        return PyErr_Format(PyExc_RuntimeError, "a library does not answer");
    const std::string rtc = std::to_string(major) + "." + std::to_string(minor);
    return Py_BuildValue("{s:i,s:i,s:s}", "hip", hip, "hipfft", fft, "hiprtc", rtc.c_str());
}

static PyMethodDef methods[] = {{"versions", versions, METH_NOARGS, "Say which versions answer."}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_native", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__native() { return PyModule_Create(&module); }
