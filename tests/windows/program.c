/* SPDX-License-Identifier: MIT
 * Stands in for a compiler: prints its arguments, a line each; ends with the status that STATUS says.
 * With WAIT it waits for Control-C first; what it does then is its own with WAIT=handled, else Windows'.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static HANDLE told;

static BOOL WINAPI handle(DWORD event) {
    return event == CTRL_C_EVENT && SetEvent(told);
}

static void wait(const char *how) {
    told = CreateEvent(NULL, TRUE, FALSE, NULL);
    if (strcmp(how, "handled") == 0) SetConsoleCtrlHandler(handle, TRUE);
    puts("waiting");
    fflush(stdout);
    if (WaitForSingleObject(told, 60000) != WAIT_OBJECT_0) ExitProcess(99);
}

int main(int argc, char **argv) {
    for (int at = 1; at < argc; at++) puts(argv[at]);
    fflush(stdout);
    const char *how = getenv("WAIT");
    if (how != NULL) wait(how);
    const char *status = getenv("STATUS");
    ExitProcess(status ? strtoul(status, NULL, 0) : 0);
}
