/* SPDX-License-Identifier: MIT */
/* In place of HIP's runtime: tells what a library registers while it is loaded, as the runtime gets it. */
#include <stdint.h>
#include <stdio.h>

struct record {
    uint32_t magic, version;
    const unsigned char *code;
    uint64_t number;
};

void **__hipRegisterFatBinary(const struct record *record) {
    static void *handle;
    printf("%08x %u %lu ", record->magic, record->version, (unsigned long)record->number);
    for (int at = 0; at < 256; at++) printf("%02x", record->code[at]);
    putchar('\n');
    fflush(stdout);
    return &handle;
}

void __hipRegisterFunction(void) {}
void __hipUnregisterFatBinary(void **handle) { (void)handle; }
/* Functions of units lead here, and nobody calls them. */
void __hipPopCallConfiguration(void) {}
void __hipPushCallConfiguration(void) {}
void hipGetLastError(void) {}
void hipLaunchKernel(void) {}
