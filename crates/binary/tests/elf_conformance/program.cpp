// The same as a program: says "fine" and gives 0 when all of it works.
#include <cstdio>
#include "library.cpp"

int main() {
    if (probe() != 42) return 1;
    return std::puts("fine") < 0;
}
