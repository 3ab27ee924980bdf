"""Module of a distribution without files: its requirements install the packages of GPUs."""

from ._dist_info import DIST as _DIST

__version__: str = str(_DIST["version"])
"""Version of this distribution, normalised by PEP 440."""
