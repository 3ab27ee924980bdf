"""Checks of the installed packages: faults and remedies.

`rocm-sdk doctor` prints the findings. `rocm-sdk test` makes cases of the same checks, and adds
cases that start processes.
"""

from ._finding import ERROR, WARNING, Finding
from ._report import Report, examine

__all__ = ["ERROR", "WARNING", "Finding", "Report", "examine"]
