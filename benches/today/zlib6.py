"""Size of wheels with zlib at level 6: `zlib6.py WHEEL...`.

Prints the total size of the wheels in bytes, with each member compressed as one stream at level 6,
as Python's zipfile and therefore setuptools do. Uses all processors.
"""

from __future__ import annotations

import os
import sys
import zipfile
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def deflated(job: tuple[str, str]) -> int:
    """Returns the size of one member as one raw deflate stream."""
    wheel, member = job
    encoder = zlib.compressobj(6, zlib.DEFLATED, -15)
    size = 0
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as content:
        while block := content.read(1 << 20):
            size += len(encoder.compress(block))
    return size + len(encoder.flush())


def main() -> int:
    """Parses the command line and prints the size."""
    jobs: list[tuple[int, str, str]] = []
    rest = 0
    for wheel in sys.argv[1:]:
        rest += Path(wheel).stat().st_size
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                rest -= member.compress_size
                jobs.append((member.file_size, wheel, member.filename))
    jobs.sort(reverse=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        print(rest + sum(pool.map(deflated, [(wheel, name) for _, wheel, name in jobs])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
