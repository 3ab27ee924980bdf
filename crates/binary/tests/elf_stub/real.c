/* The library behind a forwarding library: a function, a variable, two versions of a symbol
   (see real.map), and a line when it comes and goes. */
#include <stdio.h>

#ifndef ANSWER
#define ANSWER 42
#endif

int answer(int add) { return ANSWER + add; }
int counter = 7;

#ifdef VERSIONED
int value_old(void) { return 1; }
int value_new(void) { return 2; }
__asm__(".symver value_old, value@REAL_1");
__asm__(".symver value_new, value@@REAL_2");
#endif

__attribute__((constructor)) static void loaded(void) {
    puts("loaded");
    fflush(stdout);
}

__attribute__((destructor)) static void unloaded(void) {
    puts("unloaded");
    fflush(stdout);
}
