# SPDX-License-Identifier: MIT
"""A package on ROCm: its libraries are loaded before their users."""

from . import _rocm_init

_rocm_init.initialize()

from .lib._native import versions  # noqa: E402

__all__ = ["versions"]
