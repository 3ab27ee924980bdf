# SPDX-License-Identifier: MIT
"""Compares rockpack's table of policies with the installed auditwheel's."""

import json
import subprocess
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "crates" / "binary" / "src" / "policy" / "table.tsv"
FAMILIES = ("manylinux", "musllinux")
VERSIONS = ("GLIBC", "GLIBCXX", "CXXABI", "GCC", "ZLIB", "LIBATOMIC")


def rows():
    """Yield the columns of each line of the table."""
    for line in TABLE.read_text().splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


def machines():
    """Return the names of the architectures."""
    return [name for _, name, kind, _ in rows() if kind == "machine"]


def table():
    """Return every policy of the table with all that it adds up to, by name and architecture."""
    policies, sums = {}, {}
    for name, architectures, category, words in rows():
        words = set(words.split(" ")) - {"-"}
        if category == "machine":
            continue
        for arch in machines() if architectures == "*" else architectures.split(" "):
            key = (name.split("_")[0], arch)
            total = sums.setdefault(key, {"library": set(), "forbid": {}, **{kind: set() for kind in VERSIONS}})
            if category == "policy":
                policies[name, arch] = {"alias": words}
            elif category.startswith(("forbid ", "permit ")):
                change, library = category.split(" ")
                symbols = total["forbid"].setdefault(library, set())
                (symbols.update if change == "forbid" else symbols.difference_update)(words)
            else:
                total[category] |= words
            if (name, arch) in policies:
                forbid = {library: frozenset(symbols) for library, symbols in total["forbid"].items() if symbols}
                policies[name, arch].update({kind: frozenset(total[kind]) for kind in (*VERSIONS, "library")}, forbid=forbid)
    return policies


def installed(python):
    """Return the same of auditwheel's files."""
    where = "import auditwheel.policy as p, pathlib; print(pathlib.Path(p.__file__).parent)"
    directory = Path(subprocess.run([python, "-c", where], check=True, text=True, capture_output=True).stdout.strip())
    policies = {}
    for family in FAMILIES:
        for policy in json.loads((directory / f"{family}-policy.json").read_text()):
            for arch, versions in policy["symbol_versions"].items():
                unknown = set(versions) - set(VERSIONS)
                assert not unknown, f"auditwheel judges {unknown} too"
                libraries = frozenset("libc.musl-{arch}.so.1" if name == "libc.so" else name for name in policy["lib_whitelist"])
                forbid = {library: frozenset(symbols) for library, symbols in policy["blacklist"].items()}
                kinds = {kind: frozenset(versions.get(kind, ())) for kind in VERSIONS}
                policies[policy["name"], arch] = {"alias": set(policy["aliases"]), "library": libraries, "forbid": forbid, **kinds}
    return policies


def problem(python):
    """Say where the two differ, or return None."""
    table_here, table_installed = table(), installed(python)
    if set(table_here) != set(table_installed):
        return f"policies that only one of them has: {sorted(set(table_here) ^ set(table_installed))}"
    for key, policy in table_installed.items():
        for field, expected in policy.items():
            if table_here[key][field] != expected:
                return f"{field} of {key}: the table has {table_here[key][field]}, auditwheel {expected}"
    return None
