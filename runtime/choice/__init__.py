"""Stands for the packages of this machine's GPUs; what it requires installs them."""

from ._dist_info import DIST as _DIST

__version__: str = str(_DIST["version"])
"""The version of this distribution, normalised as PEP 440 has it."""
