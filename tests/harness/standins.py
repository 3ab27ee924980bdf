# SPDX-License-Identifier: MIT
"""Stand-ins for the files that a small artifact tree leaves out for their size, so that CMake succeeds and libraries
load.

Debian has libraries at `lib/x86_64-linux-gnu`, and its CMake packages say so. In a tree they are in `lib`, as in a
build of ROCm. Absent libraries that the CMake packages name are compiled here under their names.
"""

import re

from process import run
from report import NotRun

MULTIARCH = "x86_64-linux-gnu"
HIP_VERSION = 70253211  # of hipRuntimeGetVersion in the stand-in
LOCATION = re.compile(r'IMPORTED_LOCATION_\w+ "\$\{_IMPORT_PREFIX\}/lib/([^"]+)"\s+IMPORTED_SONAME_\w+ "([^"]+)"')
PARENT_DIRECTORY = re.compile(r'get_filename_component\((\w+) "\$\{\1\}" PATH\)\n')
NEEDED = ("hip", "amd_comgr", "hsa-runtime64")
# Functions of HIP with a result: a test calls the first, and libraries with device code call the second when they load.
CALLED = {
    "hipRuntimeGetVersion": f"int hipRuntimeGetVersion(int *version) {{ *version = {HIP_VERSION}; return 0; }}",
    "__hipRegisterFatBinary": "void **__hipRegisterFatBinary(void) { static void *handle; return &handle; }",
}


def complete(tree, compiler, packages=()):
    """Point the CMake packages to `lib`, and compile the absent libraries that those of HIP and in `packages` name."""
    links = {path.name: path for path in tree.rglob("*.so*") if path.is_symlink()}
    for file in tree.glob("**/lib/cmake/*/*.cmake"):
        file.write_text(_one_level_up(file.read_text("utf-8")), "utf-8")
    directories = [path for name in (*NEEDED, *packages) for path in tree.glob(f"**/lib/cmake/{name}")]
    # `Targets-*.cmake` and `*-targets-*.cmake`.
    for targets in (path for directory in directories for path in directory.glob("*argets-*.cmake")):
        for file, soname in LOCATION.findall(targets.read_text("utf-8")):
            place = links[f"{soname.partition('.so')[0]}.so"].parent
            if not (place / file).exists():
                _stand_in(tree, place, compiler, file, soname)


def _one_level_up(text):
    """Take Debian's directory for a processor out of a file of a CMake package."""
    if MULTIARCH not in text:
        return text
    text = text.replace(f"/{MULTIARCH}", "").replace("}/../../../..", "}/../../..")
    return PARENT_DIRECTORY.sub("", text, count=1)


def _stand_in(tree, place, compiler, file, soname):
    """Compile the library behind the symbolic links, and link it under its SONAME."""
    source, nodes = place / "stand-in.c", place / "stand-in.map"
    functions = _functions_of_hip(tree) if soname.startswith("libamdhip64") else {}
    lines = [CALLED.get(name, f"void {name}(void) {{}}") for name in functions] or ["int rocm_stand_in;"]
    source.write_text("\n".join([*lines, ""]), "utf-8")
    versions = sorted(set(functions.values()))
    names_of_version = {version: "; ".join(name for name in functions if functions[name] == version) for version in versions}
    nodes.write_text("".join(f"{version} {{ {names}; }};\n" for version, names in names_of_version.items()), "utf-8")
    script = [f"-Wl,--version-script,{nodes}"] if functions else []
    result = run([compiler, "-shared", "-fPIC", f"-Wl,-soname,{soname}", *script, source, "-o", place / file], place)
    if result.status:
        raise NotRun(f"{compiler} cannot compile the stand-in of {soname}: {result.problem}")
    for path in (source, nodes):
        path.unlink()
    if not (place / soname).is_symlink():
        (place / soname).symlink_to(file)


def _functions_of_hip(tree):
    """Return the functions of HIP that libraries of a tree need, with their versions.

    Libraries that bind all symbols at once do not load without one of them.
    """
    functions = dict.fromkeys(CALLED, "hip_4.2")
    for library in tree.rglob("*.so*"):
        if library.is_file() and not library.is_symlink():
            symbols = run(["nm", "-D", "--undefined-only", library], tree).out
            functions |= dict(re.findall(r" U (\w+)@(hip_[\d.]+)", symbols))
    return functions
