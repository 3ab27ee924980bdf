/* SPDX-License-Identifier: MIT */
/* In place of HIP's runtime for Windows, as runtime.c for Linux. */
#include "runtime.c"

/* In place of all functions that a DLL imports, and does not call while it is loaded. */
void *stub(void) { return 0; }
