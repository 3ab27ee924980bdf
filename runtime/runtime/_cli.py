"""Console scripts: none in this distribution."""

from ._launch import __getattr__ as __getattr__
