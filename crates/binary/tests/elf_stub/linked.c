/* Uses the library as one that it is linked with. */
#include <stdio.h>

#ifdef USE
extern int answer(int);
#else
static int answer(int add) { return 42 + add; }
#endif

int main(void) {
    printf("%d\n", answer(0));
    return 0;
}
