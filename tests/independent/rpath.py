"""The DT_RPATH that an ELF file of a runtime wheel has to carry."""

import posixpath

ORIGIN = ("$ORIGIN", "${ORIGIN}")


def entries_of(strings):
    return [entry for string in strings for entry in string.split(":") if entry]


def meaning(entry, folder):
    """Returns an entry as a directory below site-packages; `folder` is the file's directory.

    Entries without $ORIGIN are absolute or relative paths of the system, and are returned
    unchanged.
    """
    for origin in ORIGIN:
        if entry == origin or entry.startswith(origin + "/"):
            return posixpath.normpath(posixpath.join(folder, entry[len(origin):].lstrip("/")))
    return "system:" + posixpath.normpath(entry)


def expected(source, folder, entries):
    """Returns the source's entries, then the missing ones of `wanted`; no entry twice.

    "No entry twice" is taken of the whole DT_RPATH, so a repetition in the source is removed, too:
    a search never reaches the later one.
    """
    before = [meaning(entry, folder) for entry in entries_of(source.runpath or source.rpath)]
    return list(dict.fromkeys([*before, *entries]))


def wanted_directories(facts, plan, package):
    """The package's own `lib` (device: the shared directory's), then its RPATH rows."""
    platform_dirs = {p.logical: p.platform_dir for p in plan.runtime}
    rows = facts.rpath_dependencies(package.logical)
    return [f"{package.platform_dir}/lib",
            *(f"{platform_dirs[name]}/{path}" for name, path in rows)]
