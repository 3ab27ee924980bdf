"""Python module of a ROCm package, whose files are in the neighbouring platform directory."""

from ._dist_info import DIST as _DIST

__version__: str = str(_DIST["version"])
"""Version of this distribution, normalised by PEP 440."""
