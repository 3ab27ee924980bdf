// Loads a library as Python would, and asks it whether it works.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : 0;
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
    int (*probe)(void) = (int (*)(void))dlsym(library, "probe");
    return probe && probe() == 42 ? 0 : 3;
}
