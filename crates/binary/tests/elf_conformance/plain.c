// In C, for systems without a C++ compiler here: constructor and thread-local storage.
#include <stdio.h>

__thread int counted = 7;
static int built;
__attribute__((constructor)) static void build(void) { built = 35; }

int probe(void) { return built + counted; }

int main(void) {
    if (probe() != 42) return 1;
    return puts("fine") < 0;
}
