# Makes librocmllvm.so of LLVM's static archives, if all of them are installed. Otherwise the library finds that of
# LLVM in rocm-sdk-core; beside an installed ROCm, in that ROCm.
# A librocmllvm.so in the checkout is taken as it is.
# $1: the expanded tree of the devel package, or an installed ROCm.

library=rocm-llvm-python/rocm/llvm/librocmllvm.so
[ ! -f $library ] || exit 0

config="$1"/llvm/bin/llvm-config
if [ ! -x "$config" ]; then
    echo "error: there is no $config: LLVM with its headers must be in llvm of the ROCm directory"
    exit 1
fi
$config --version || exit

# llvm-config prints several lines, make takes one: `echo` joins them.
if archives=$($config --link-static --libfiles) && ls $archives >/dev/null; then
    make -C src librocmllvm.so STATIC_LIBS="$(echo $archives)" \
        LDFLAGS="$(echo $($config --link-static --cxxflags --ldflags --system-libs))"
else
    rpath=$($config --libdir)
    [ ! -d "$1"/../_rocm_sdk_core ] || rpath='$$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib'
    make -C src librocmllvm.so \
        LDFLAGS="$(echo $($config --cxxflags --ldflags --system-libs --libs core)) -Wl,-rpath,'$rpath'"
fi && mv src/librocmllvm.so $library
