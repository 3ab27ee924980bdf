"""What is wrong with the installed packages, and what mends it.

`rocm-sdk doctor` prints what the checks here find; `rocm-sdk test` makes cases of the
same checks, and adds those that start processes.
"""

from ._finding import ERROR, WARNING, Finding
from ._report import Report, examine

__all__ = ["ERROR", "WARNING", "Finding", "Report", "examine"]
