"""Globs as the manifest writes them.

The sentence implemented: case-sensitive, on the installed relative path with `/`;
`*` and `?` stay inside one segment, `**` spans segments, `a/**` also matches `a`.
"""

from functools import lru_cache
import re


@lru_cache(maxsize=None)
def compiled(pattern):
    return re.compile("".join(pieces(pattern)), re.DOTALL)


def pieces(pattern):
    """The regular expression of a glob, piece by piece."""
    segments = pattern.split("/")
    for index, segment in enumerate(segments):
        last = index == len(segments) - 1
        if segment != "**":
            yield "".join(map(letter, segment)) + ("" if last else "/")
        elif last:
            # `a/**` has just given `a/`: the slash and all after it may be missing.
            yield ".*" if index == 0 else "(?<=/).*"
        else:
            yield "(?:[^/]+/)*"


def letter(char):
    return {"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char))


def matches(pattern, path):
    """True if a glob matches an installed relative path."""
    if compiled(pattern).fullmatch(path):
        return True
    return pattern.endswith("/**") and compiled(pattern[:-3]).fullmatch(path) is not None


def any_matches(patterns, path):
    return any(matches(pattern, path) for pattern in patterns)
