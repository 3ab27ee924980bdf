// Passes nested functions on: GCC writes a trampoline to the stack.
static int call(int (*function)(int)) { return function(40); }

int probe(void) {
    volatile int more = 2;
    int add(int value) { return value + more; }
    int (*volatile function)(int) = add;
    return call(function);
}
