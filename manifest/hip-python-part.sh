# Writes the version of each part of hip-python 10, and gives one part the licence. CMake builds none of them here.
# $1: Python. $2: the directory of the part.

cmake -S packages -B unified -DPython_EXECUTABLE="$1" \
    -DHIP_PYTHON_BUILD_CORE=OFF \
    -DHIP_PYTHON_BUILD_HIP=OFF \
    -DHIP_PYTHON_BUILD_LIBRARIES=OFF \
    -DHIP_PYTHON_BUILD_SYSTEMS=OFF \
    -DHIP_PYTHON_BUILD_COMPILER=OFF \
    -DHIP_PYTHON_BUILD_INTEROP=OFF \
    -DHIP_PYTHON_BUILD_HIP_PYTHON=OFF \
    -DHIP_PYTHON_BUILD_NUMBA_HIP=OFF &&
    cp LICENSE "$2"
