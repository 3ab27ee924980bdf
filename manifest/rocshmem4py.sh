# With packages of artifacts, the wheel has their version in its local part, requires core, and finds its libraries
# there. Beside an installed ROCm, it has the version of rocSHMEM, and the system's loader finds the libraries.
# $1: the expanded tree of the devel package, or an installed ROCm. $2: the project.

core=$(basename "$1"/../rocm_sdk_core-*.dist-info .dist-info)
[ -d "$1/../$core.dist-info" ] || exit 0

version=${core#*-}
case $version in *dev*) kind=dev ;; *) kind= ;; esac
local="${kind}rocm$(echo "$version" | tr + .)"
sed -i "s/version=_package_version()/version=f'{BASE_VERSION}+$local'/" "$2/setup.py" &&
    sed -i "s/^dynamic = .*/&\ndependencies = [\"rocm-sdk-core==$version\"]/" "$2/pyproject.toml" || exit
if ! grep -qF "+$local" "$2/setup.py" || ! grep -q "^dependencies" "$2/pyproject.toml"; then
    echo "error: $2 has no line \`version=_package_version()\` in setup.py, or no \`dynamic\` in pyproject.toml"
    exit 1
fi
# The extension is a neighbour of core's directory. Without ISAs, the compiler would choose one, and the wheel would
# fail on all other GPUs.
cat >> "$2/CMakeLists.txt" <<'END'
if(NOT _ROCSHMEM_ARCHES)
  message(FATAL_ERROR "rocSHMEM has no librocshmem_device_ISA.bc, by which the ISAs of the wheel are known")
endif()
set_target_properties(_rocshmem4py PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/_rocm_sdk_core/lib")
END
