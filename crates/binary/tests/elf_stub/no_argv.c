/* Starts argv[1] without any argument, not even argv[0]. */
#include <unistd.h>

int main(int argc, char **argv) {
    char *none[] = {0};
    if (argc == 2) execve(argv[1], none, none);
    return 98;
}
