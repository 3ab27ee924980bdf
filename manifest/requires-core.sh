# With packages of artifacts, the wheel requires core, and opens libraries of core and libraries by name: its loader
# has an rpath to them. Beside an installed ROCm, the system's loader finds them.
# $1: the expanded tree of the devel package, or an installed ROCm. $2: the project. $3: in it, the loader's source.

core=$(basename "$1"/../rocm_sdk_core-*.dist-info .dist-info)
[ -d "$1/../$core.dist-info" ] || exit 0

up=$(dirname "$3" | sed 's,[^/][^/]*/*,../,g')
rpath=
for package in "$1"/../_rocm_sdk_core "$1"/../_rocm_sdk_libraries*; do
    [ ! -d "$package/lib" ] || rpath="$rpath \$ORIGIN/$up$(basename "$package")/lib"
done
# Cython reads it for this module alone.
sed -i "1i # distutils: runtime_library_dirs =$rpath" "$2/$3" &&
    sed -i "s/^\[options\]/&\ninstall_requires = rocm-sdk-core==${core#*-}/" "$2/setup.cfg"
