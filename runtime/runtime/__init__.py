"""The Python side of a ROCm package. Its files are in the platform directory beside it."""

from ._dist_info import DIST as _DIST

__version__: str = str(_DIST["version"])
"""The version of this distribution, normalised as PEP 440 has it."""
