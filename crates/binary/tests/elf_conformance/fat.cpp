// The library or program of the other cases, with device code of several units as compilers register it.
#ifdef PROGRAM
#include "program.cpp"
#else
#include "library.cpp"
#endif

// Bundles in files of the working directory, as assembled by clang.
__asm__(".section .hip_fatbin,\"a\",@progbits\n.balign 4096\n"
        ".globl one\n.globl again\n.globl two\n" VISIBILITY
        "one:\nagain:\n.incbin \"one.bin\"\n.balign 4096\n"
        "two: .incbin \"two.bin\"\n.text\n");
extern const char one[], two[], again[];

struct record { unsigned magic, version; const char *code; unsigned long number; };
__attribute__((section(".hipFatBinSegment"), used)) static record records[] = {
    {0x48495046, 1, one, 0}, {0x48495046, 1, two, 0}, {0x48495046, 1, again, 0}};

// Says what the records lead to: 1 for bundles, 2 for the marker.
extern "C" int code() {
    if (records[0].magic == 0x48495046) return records[1].code[0] == 'C' ? 1 : 10;
    for (const record &it : records)
        if (it.magic != 0x4b504948 || it.version != 1 || it.code[0] != 'm' || it.code[5] != 'r') return 20;
    return records[0].number == 0 && records[1].number == 1 && records[2].number == 0 ? 2 : 30;
}

#ifdef PROGRAM
__attribute__((destructor)) static void tell() { std::printf("%d\n", code()); }
#endif
