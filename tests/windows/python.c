/* SPDX-License-Identifier: MIT
 * python.exe around the DLL of the Python whose number the compiler is told.
 */
#include <windows.h>

int wmain(int argc, wchar_t **argv) {
    HMODULE dll = LoadLibraryW(PYTHON_DLL);
    if (!dll) return 120;
    int (*start)(int, wchar_t **) = (int (*)(int, wchar_t **))(void *)GetProcAddress(dll, "Py_Main");
    return start ? start(argc, argv) : 121;
}
