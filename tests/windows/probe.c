/* SPDX-License-Identifier: MIT
 * probe [--directory DIR]... [--first FILE]... FILE [FUNCTION]: loads DLLs as ctypes does, and calls
 * a function of the last one.
 * Says `loaded`, `error N`, `exception N` (what a delay load raises) or `FUNCTION N`.
 */
#include <stdio.h>
#include <string.h>
#include <windows.h>

static LONG WINAPI told(EXCEPTION_POINTERS *what) {
    printf("exception %lx\n", (unsigned long)what->ExceptionRecord->ExceptionCode);
    fflush(stdout);
    ExitProcess(3);
}

static HMODULE load(const wchar_t *file) {
    return LoadLibraryExW(file, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}

int wmain(int argc, wchar_t **argv) {
    int at = 1;
    SetUnhandledExceptionFilter(told);
    for (; at + 1 < argc && !wcscmp(argv[at], L"--directory"); at += 2)
        if (!AddDllDirectory(argv[at + 1])) return 4;
    for (; at + 1 < argc && !wcscmp(argv[at], L"--first"); at += 2)
        if (!load(argv[at + 1])) return 6;
    HMODULE dll = load(argv[at]);
    if (!dll) {
        printf("error %lu\n", GetLastError());
        return 1;
    }
    if (at + 1 == argc) {
        puts("loaded");
        return 0;
    }
    char name[64];
    snprintf(name, sizeof name, "%ls", argv[at + 1]);
    int (*call)(void) = (int (*)(void))(void *)GetProcAddress(dll, name);
    if (!call) return 5;
    printf("%s %d\n", name, call());
    return 0;
}
