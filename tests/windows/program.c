/* SPDX-License-Identifier: MIT
 * Stands in for a compiler: prints its arguments, a line each; ends with the status that STATUS says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

int main(int argc, char **argv) {
    for (int at = 1; at < argc; at++) puts(argv[at]);
    fflush(stdout);
    const char *status = getenv("STATUS");
    ExitProcess(status ? strtoul(status, NULL, 0) : 0);
}
