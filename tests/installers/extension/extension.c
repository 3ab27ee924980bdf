/* SPDX-License-Identifier: MIT */
/* Calls HIP, and hiprtc where it is linked. The stable ABI lets any Python 3.10 or newer load it. */
#define Py_LIMITED_API 0x030a0000
#include <Python.h>
#include <hip/hip_runtime_api.h>
#ifdef WITH_HIPRTC
#include <hip/hiprtc.h>
#endif

static PyObject *versions(PyObject *self, PyObject *unused) {
    int hip = 0, major = 0, minor = 0;
    (void)self, (void)unused;
    if (hipRuntimeGetVersion(&hip) != hipSuccess) return PyErr_Format(PyExc_RuntimeError, "hip does not answer");
#ifdef WITH_HIPRTC
    if (hiprtcVersion(&major, &minor) != HIPRTC_SUCCESS)
        return PyErr_Format(PyExc_RuntimeError, "hiprtc does not answer");
    return PyUnicode_FromFormat("hip %d hiprtc %d.%d", hip, major, minor);
#else
    (void)major, (void)minor;
    return PyUnicode_FromFormat("hip %d", hip);
#endif
}

static PyMethodDef methods[] = {{"versions", versions, METH_NOARGS, "Say which versions answer."}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "extension", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_extension(void) { return PyModule_Create(&module); }
