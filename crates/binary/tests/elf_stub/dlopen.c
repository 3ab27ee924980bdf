/* dlopens argv[1], looks up a function, a variable and (with argv[2], glibc only) two versions
   of a symbol, closes it, and all again, once bound lazily and once at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static int fail(const char *what) {
    printf("%s: %s\n", what, dlerror());
    return 1;
}

static int once(const char *path, int mode, int versioned) {
    void *library = dlopen(path, mode);
    if (!library) return fail("dlopen");
    int (*answer)(int) = (int (*)(int))dlsym(library, "answer");
    int *counter = dlsym(library, "counter");
    if (!answer || !counter) return fail("dlsym");
    printf("answer %d, counter %d\n", answer(1), *counter);
    *counter += 1; /* lost when the library is unloaded */
    if (dlsym(library, "no_such_symbol")) return fail("found what isn't there");
#ifdef __GLIBC__
    if (versioned) {
        int (*old)(void) = (int (*)(void))dlvsym(library, "value", "REAL_1");
        int (*new)(void) = (int (*)(void))dlvsym(library, "value", "REAL_2");
        int (*any)(void) = (int (*)(void))dlsym(library, "value");
        if (!old || !new || !any) return fail("dlvsym");
        printf("value %d %d %d\n", old(), new(), any());
        if (dlvsym(library, "value", "REAL_3")) return fail("found a version that isn't there");
    }
#else
    (void)versioned;
#endif
    fflush(stdout);
    return dlclose(library) ? fail("dlclose") : 0;
}

int main(int argc, char **argv) {
    if (argc < 2) { /* preloaded */
        int (*answer)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "answer");
        printf("preloaded %d\n", answer ? answer(0) : -1);
        return 0;
    }
    int failed = once(argv[1], RTLD_LAZY, argc > 2);
    return failed ? failed : once(argv[1], RTLD_NOW, argc > 2);
}
