"""The DT_RPATH that an ELF file of a runtime wheel has to carry."""

import posixpath

ORIGIN = ("$ORIGIN", "${ORIGIN}")


def entries_of(strings):
    return [entry for string in strings for entry in string.split(":") if entry]


def meaning(entry, folder):
    """An entry as a directory below site-packages; `folder` is where the file stands.

    What does not begin with $ORIGIN is an absolute or relative path of the system and
    means itself.
    """
    for origin in ORIGIN:
        if entry == origin or entry.startswith(origin + "/"):
            return posixpath.normpath(posixpath.join(folder, entry[len(origin):].lstrip("/")))
    return "system:" + posixpath.normpath(entry)


def expected(source, folder, wanted):
    """What the source has, then what is wanted and not there yet; no entry twice.

    "No entry twice" is taken of the whole DT_RPATH, so a repetition that the build left
    in the source goes, too: a later one never decides a search.
    """
    before = [meaning(entry, folder) for entry in entries_of(source.runpath or source.rpath)]
    return list(dict.fromkeys([*before, *wanted]))


def wanted_directories(facts, plan, package):
    """The package's own `lib` (device: the shared directory's), then its RPATH rows."""
    platform_dirs = {p.logical: p.platform_dir for p in plan.runtime}
    rows = facts.rpath_dependencies(package.logical)
    return [f"{package.platform_dir}/lib",
            *(f"{platform_dirs[name]}/{path}" for name, path in rows)]
