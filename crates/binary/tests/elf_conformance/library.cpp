// A library whose probe() needs its constructor, its thread-local storage and its unwind tables.
#include <stdexcept>
#include <string>

thread_local int counted = 7;
thread_local char zeroed[64];
static std::string constructed = "constructed";
static int built = 0;
__attribute__((constructor)) static void build() { built = 20; }

#ifdef FATBIN
// Stands for device code: pages that a kpack split takes out of the file.
__attribute__((section(".hip_fatbin"), used, aligned(4096))) const char fatbin[65536] = {1, 2, 3};
#endif

#ifdef ZEROS
// Memory without bytes in the file, which keeps addresses and offsets apart.
__attribute__((used)) char zeros[ZEROS];
#endif

#ifdef NAMED_LIB
extern "C" int lib() { return 1; }
#endif

__attribute__((noinline)) static void fail(int code) { throw std::runtime_error(std::to_string(code)); }

extern "C" int probe() {
    int caught = 0;
    try {
        fail(15);
    } catch (const std::exception &error) {
        caught = std::stoi(error.what());
    }
    return built + counted + caught + zeroed[9] + (constructed == "constructed" ? 0 : 100);
}
