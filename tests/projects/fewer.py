# SPDX-License-Identifier: MIT
"""Reduces Cython sources to the wanted names: whole sources of hundreds of functions take minutes to compile."""

import re

# Starts of optional definitions, with their names. Unnamed parts stay: imports, declarations of headers.
NAMED = [re.compile(text) for text in (
    r"(?:cdef |cpdef )?(?:class|def) (\w+)", r"(?!cdef (?:extern|struct|union|enum)|ctypedef)cdef [^=(]*?(\w+)\(",
    r"cdef [^=(]*?(\w+) *=", r"(\w+) *=")]
TEXT = re.compile(r'r?""".*?"""|#[^\n]*', re.DOTALL)
OPEN = re.compile(r"[\])}\s#@]|$")


def pieces(text):
    """Yield the pieces of a source, each from one line at its margin to the next, as (name or None, text)."""
    piece, quoted = [], False
    for line in text.splitlines(keepends=True):
        margin = not quoted and (line[0] == "@" or not OPEN.match(line)) and not line.startswith('"""')
        if margin and not all(decorator.startswith("@") for decorator in piece):
            yield _named(piece)
            piece = []
        piece.append(line)
        quoted ^= line.count('"""') % 2 == 1
    yield _named(piece)


def _named(piece):
    first = next((line for line in piece if not line.startswith("@")), "")
    name_match = next((match for pattern in NAMED if (match := pattern.match(first))), None)
    # `__all__` itself stays.
    name = name_match[1] if name_match and not name_match[1].startswith("__all") else None
    return name, "".join(piece)


def words(text):
    """Return the words of code, without its documentation and comments."""
    return set(re.findall(r"\w+", TEXT.sub("", text)))


def cut(texts, roots):
    """Return the sources, {path: text}, without definitions that are unreachable from `roots`. Unnamed parts remain."""
    parts = {path: list(pieces(text)) for path, text in texts.items()}
    definitions_by_name = {}
    for path in parts:
        for name, text in parts[path]:
            if name:
                definitions_by_name.setdefault(name, []).append(text)
    reachable, new = set(), set(roots)
    while new:
        name = new.pop()
        if name in definitions_by_name and name not in reachable:
            reachable.add(name)
            new.update(*(words(text) for text in definitions_by_name[name]))
    result = {}
    for path, definitions in parts.items():
        lines = "".join(text for name, text in definitions if name is None or name in reachable)
        removed = set(definitions_by_name) - reachable
        # Entries of `__all__`.
        result[path] = re.sub(r'^    "(\w+)",\n', lambda line: "" if line[1] in removed else line[0], lines, flags=re.MULTILINE)
    return result
