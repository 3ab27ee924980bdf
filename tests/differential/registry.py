# SPDX-License-Identifier: MIT
"""Registers of changes, by title."""


def register(changes, title):
    """Return a decorator that adds a function of a package and of its random numbers to `changes`."""
    def add(function):
        assert title not in changes, title
        changes[title] = function
        return function
    return add


def changed(content, changes):
    """Return `content` after all changes. An earlier change can remove the text of RECORD, or replace it by bytes: the
    later ones have no subject then, and no effect. Every error is the fault of a change.
    """
    kind = type(content)
    for change in changes:
        if type(content) is kind:
            content = change(content)
    return content


def register_each(changes, title, values):
    """Return a decorator that adds a change for each value, of a function that takes the value too."""
    def add(function):
        for name, value in values.items():
            # By position: the parameter has another name in each function.
            register(changes, f"{title}: {name}")(lambda package, dice, value=value: function(package, dice, value))
        return function
    return add
