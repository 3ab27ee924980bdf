"""Module of a distribution without files: its requirements install the packages of GPUs."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    __version__: str
    """Version of this distribution, normalised by PEP 440."""


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._versions import own_version

    return own_version()
