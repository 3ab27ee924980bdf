"""Python module of a ROCm package. The package's files are in the platform directory."""

from ._dist_info import DIST as _DIST

__version__: str = str(_DIST["version"])
"""Version of this distribution, normalised by PEP 440."""
