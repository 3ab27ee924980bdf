// Loads a library, asks it whether it works, and prints what its records lead to.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : 0;
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
    int (*probe)(void) = (int (*)(void))dlsym(library, "probe");
    int (*code)(void) = (int (*)(void))dlsym(library, "code");
    if (!probe || !code || probe() != 42) return 3;
    return printf("%d\n", code()) < 0;
}
