# Makes librocmllvm.so of LLVM's static archives, if all of them are installed. Otherwise the library finds that of
# LLVM in rocm-sdk-core, which the wheel then requires; beside an installed ROCm, in that ROCm.
# A librocmllvm.so in the checkout is taken as it is.
# $1: the expanded tree of the devel package, or an installed ROCm.

library=rocm-llvm-python/rocm/llvm/librocmllvm.so
[ ! -f $library ] || exit 0

config="$1"/llvm/bin/llvm-config
$config --version || exit

# llvm-config prints several lines, make takes one: `echo` joins them.
if archives=$($config --link-static --libfiles) && ls $archives >/dev/null; then
    make -C src librocmllvm.so STATIC_LIBS="$(echo $archives)" \
        LDFLAGS="$(echo $($config --link-static --cxxflags --ldflags --system-libs))"
else
    rpath=$($config --libdir)
    core=$(basename "$1"/../rocm_sdk_core-*.dist-info .dist-info)
    if [ -d "$1/../$core.dist-info" ]; then
        rpath='$$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib'
        sed -i "s/^\[options\]/&\ninstall_requires = rocm-sdk-core==${core#*-}/" rocm-llvm-python/setup.cfg || exit
    fi
    make -C src librocmllvm.so \
        LDFLAGS="$(echo $($config --cxxflags --ldflags --system-libs --libs core)) -Wl,-rpath,'$rpath'"
fi && mv src/librocmllvm.so $library
