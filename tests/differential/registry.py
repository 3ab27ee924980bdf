# SPDX-License-Identifier: MIT
"""Registers of changes, by title."""

import zlib

# Errors of a change of bytes whose subject an earlier change removed, such as the rows of RECORD.
NO_SUBJECT = (AssertionError, AttributeError, EOFError, LookupError, OSError, TypeError, ValueError, zlib.error)


def register(changes, title):
    """Return a decorator that adds a function of a package and of its random numbers to `changes`."""
    def add(function):
        assert title not in changes, title
        changes[title] = function
        return function
    return add


def changed(content, changes):
    """Return `content` after all changes. A change without a subject has no effect, except the first, which is at fault."""
    for number, change in enumerate(changes):
        try:
            content = change(content)
        except NO_SUBJECT:
            if number == 0:
                raise
    return content


def register_each(changes, title, values):
    """Return a decorator that adds a change for each value, of a function that takes the value too."""
    def add(function):
        for name, value in values.items():
            # By position: the parameter has another name in each function.
            register(changes, f"{title}: {name}")(lambda package, dice, value=value: function(package, dice, value))
        return function
    return add
