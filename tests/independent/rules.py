"""Expected form of each entry of the artifact tree, in runtime wheels and in devel."""

import posixpath
from dataclasses import dataclass, field

import elf
from globs import any_matches
from tree import Entry, merge, resolve

# Forms of entries in a wheel.
COPY, LINKED_ELF, STUB, FORWARD, INIT, DEVEL_LINKS = (
    "copy", "edited ELF", "exec stub", "forwarding library", "__init__.py", "devel links")

# Unversioned names that the manifest asks for (settled with the manifest's owner).
FORWARDED = {
    "core": {f"lib/lib{name}.so" for name in (
        "amdhip64", "hiprtc", "hsa-runtime64", "amd_smi", "rocm_smi64", "roctx64",
        "roctracer64", "rocprofv3-list-avail", "amd_comgr")},
    "libraries": {f"lib/lib{name}.so" for name in (
        "hipblas", "hipfft", "hiprand", "hipsolver", "hipsparse", "hipblaslt", "hipsparselt",
        "rccl")},
    "profiler": {f"lib/lib{name}.so" for name in (
        "rocprof-sys", "rocprof-sys-rt", "rocprof-sys-user", "profiler-hub")},
}
FULL_COPIES = {"profiler": {"lib/librocprof-sys-dl.so"}}


@dataclass
class Item:
    """One file of a package: its form, and the entry with its bytes (or the link's target)."""

    path: str
    form: str
    entry: Entry | None = None
    renamed: bool = False


@dataclass
class Package:
    """An expected package, with all its files."""

    logical: str
    distribution: str
    platform_dir: str
    own: dict
    view: dict
    subfolder: str = ""
    isa: str = ""
    items: dict = field(default_factory=dict)
    dropped: dict = field(default_factory=dict)


def soname_of(entry):
    return entry.elf.soname if entry.kind == elf.LIBRARY else None


def sibling(entry, name):
    """A path in the directory of an entry."""
    return posixpath.join(entry.folder, name)


def bears_soname(tree, view, path, soname):
    """True if the package has an entry at `path` that resolves to a library of that SONAME."""
    target = resolve(view, path) if path in tree else None
    return target is not None and target.form == "file" and soname_of(target) == soname


def runtime_item(tree, view, entry):
    """Returns the item of one entry, or the reason (a word) for its absence from the wheel."""
    if entry.form == "dir":
        return "directory"
    if entry.form == "file":
        return file_item(tree, view, entry)
    return link_item(view, entry)


def file_item(tree, view, entry):
    soname = soname_of(entry)
    if soname not in (None, entry.name):
        # Under another name it is an alias, unless no entry bears the SONAME.
        path = sibling(entry, soname)
        if bears_soname(tree, view, path, soname):
            return "alias"
        return Item(path, LINKED_ELF, entry, renamed=True)
    edited = entry.kind in (elf.LIBRARY, elf.PROGRAM)
    return Item(entry.path, LINKED_ELF if edited else COPY, entry)


def link_item(view, entry):
    target = resolve(view, entry.path)
    if target is None:
        return "dangling"
    if target.form == "dir":
        return "directory link"
    if target.kind == elf.LIBRARY:
        # The library's bytes if the link's name is the SONAME, otherwise an alias.
        return Item(entry.path, LINKED_ELF, target) if soname_of(target) == entry.name else "alias"
    if target.is_executable:
        return Item(entry.path, STUB, target)
    return Item(entry.path, COPY, target)


def marker(package):
    """Returns the path of the file that a device wheel alone has at the top of its platform directory."""
    return "." + package.distribution.replace("-", "_").lower()


def fill_runtime(package, earlier):
    """Sets the items of a runtime package; `earlier` are those it may start programs of."""
    for path, entry in sorted(package.own.items()):
        item = runtime_item(package.own, package.view, entry)
        if item == "alias":
            item = wanted_alias(package, entry) or item
        if isinstance(item, Item):
            package.items[item.path] = item
        else:
            package.dropped[path] = item
    drop_stubs_without_target(package, earlier)
    if package.logical != "device":
        # A regular package, owned by exactly one wheel; never by a device wheel.
        package.items["__init__.py"] = Item("__init__.py", INIT)
    else:
        path = f".devel_links/{package.isa}.json"
        package.items[path] = Item(path, DEVEL_LINKS)
        # pip removes emptied directories only below one that it removes a file from, so each device wheel has a file at
        # the top, and nothing remains after uninstallation.
        package.items[marker(package)] = Item(marker(package), INIT)


def wanted_alias(package, entry):
    """An alias that the manifest asks for is a forwarding library or a full copy."""
    target = resolve(package.view, entry.path)
    if entry.path in FULL_COPIES.get(package.logical, ()):
        return Item(entry.path, LINKED_ELF, target, renamed=True)
    if entry.path in FORWARDED.get(package.logical, ()) and soname_of(target):
        return Item(entry.path, FORWARD, target)
    return None


def drop_stubs_without_target(package, earlier):
    """A stub's target has to be shipped by its package or by an earlier one."""
    def shipped(path):
        return any(path in other.items for other in [package, *earlier])

    for path, item in list(package.items.items()):
        if item.form == STUB and not shipped(item.entry.path):
            del package.items[path]
            package.dropped[path] = "target not shipped"


def link_up(path, target):
    """The relative link `../` x depth + `target`, from below the platform directory."""
    return "../" * len(path.split("/")) + target


def soname_alias(tree, view, renamed, entry):
    """Returns the SONAME's path if an entry is a SONAME alias, otherwise None."""
    target = entry if entry.form == "file" else resolve(view, entry.path)
    soname = soname_of(target) if target and target.form == "file" else None
    if soname in (None, entry.name):
        return None
    for path in (sibling(entry, soname), sibling(target, soname)):
        if path in renamed or bears_soname(tree, view, path, soname):
            return path
    return None


def devel_members(tree, view, runtime):
    """Path -> (form, target or entry) of devel. Per entry, the first that fits."""
    owners = {}
    for package in runtime:  # the owner is the first in build order
        for path in package.items:
            owners.setdefault(path, package)
    renamed = renamed_paths(tree, runtime)
    members = {path: devel_member(tree, view, renamed, owners, entry)
               for path, entry in tree.items()}
    for path in renamed - tree.keys():
        # A library shipped under its SONAME is here under that name, too.
        members[path] = ("link", link_up(path, f"{owners[path].platform_dir}/{path}"))
    return members


def renamed_paths(tree, runtime):
    """Returns the paths of libraries of `own` that runtime packages ship under their SONAME."""
    return {item.path for package in runtime for item in package.items.values()
            if item.renamed and item.path not in FULL_COPIES.get(package.logical, ())
            and item.entry.path in tree}


def devel_member(tree, view, renamed, owners, entry):
    if entry.form == "dir":
        return ("dir", None)
    alias = soname_alias(tree, view, renamed, entry)
    if alias:
        return ("link", posixpath.relpath(alias, entry.folder or "."))
    if entry.path in owners:
        return ("link", link_up(entry.path, f"{owners[entry.path].platform_dir}/{entry.path}"))
    if entry.form == "link":
        return ("link", entry.target)
    return ("file", entry)


def select(entries, include=None, exclude=()):
    """The entries that an include glob matches (all without one) and no exclude glob."""
    return {path: entry for path, entry in entries.items()
            if (include is None or any_matches(include, path)) and not any_matches(exclude, path)}


def tree_of(artifacts, keys, families):
    """Returns the tree of the artifacts for these families with a (name, component) in `wanted`."""
    return merge(a for a in artifacts if a.key in keys and a.base_isa in families)
