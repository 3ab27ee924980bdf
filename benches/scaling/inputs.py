"""Makes the inputs of `model.py` from what was measured.

    inputs.py --wheels DEST/dist --timings TIMINGS.json
              --measured 1=SECONDS --measured 2=SECONDS [--cost NAME=SECONDS]
              [--about TEXT] > INPUTS.json

* DEST/dist: wheels of the default build, for the sizes of their members,
  for which of these are stored, and for how small the others get;
* TIMINGS.json: the trace of their build with `--no-cache --jobs 1 --timings TIMINGS.json`, for the costs;
* `--measured N=SECONDS`: how long builds with `--no-cache --jobs N` took; the one of `--jobs 1` is
  that of the trace, and what of it no stage took is the cost `fixed`;
* `--cost NAME=SECONDS`: a cost in seconds a byte, in place of the trace's (xz is not in a trace of
  a build without it); `fixed` and `prepare` are in seconds;
* `--about TEXT`: on which machine, with which tree, and how all this was measured.

`cargo bench --bench build -- --artifact-dir TREE --rounds 1 --only scaling --scratch DIR` leaves both
in DIR (`jobs/dist`, `timings-1.json`), and its row has the seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from model import BLOCK

STAGES = ("read", "hash", "deflate", "xz", "write")


def pieces(trace: Any) -> list[dict[str, Any]]:
    """What workers did, by a trace."""
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    return [event for event in events if event["ph"] == "X"]


def totals(trace: Any) -> dict[str, tuple[float, int]]:
    """Seconds and bytes by stage."""
    sums: dict[str, tuple[float, int]] = {}
    for piece in pieces(trace):
        seconds, size = sums.get(piece["name"], (0.0, 0))
        sums[piece["name"]] = (seconds + piece["dur"] / 1e6, size + piece.get("args", {}).get("bytes", 0))
    return {name: sums[name] for name in STAGES if name in sums}


def stage_costs(trace: Any) -> dict[str, float]:
    """Seconds a byte by stage, from a trace of one worker.

    Every byte that is read is hashed once, and every one that is written: what the CRC-32 of a part
    took is shared out among these, so that its bytes do not count again.
    """
    sums = totals(trace)
    sizes = {name: size for name, (_, size) in sums.items()}
    sizes["hash"] = sizes.get("read", 0) + sizes.get("write", 0)
    return {name: seconds / sizes[name] for name, (seconds, _) in sums.items() if sizes[name]}


def preparing(trace: Any) -> float:
    """Seconds until the first block was read."""
    return min((float(piece["ts"]) for piece in pieces(trace) if piece["name"] == "read"), default=0.0) / 1e6


def repeats(members: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Large members with the content of an earlier one, which are packed once (`execute/repeats.rs`)."""
    seen: set[tuple[int, int]] = set()
    found = []
    for member in members:
        content = (member.CRC, member.file_size)
        if member.file_size > BLOCK and content in seen:
            found.append(member)
        seen.add(content)
    return found


def output(wheel: Path) -> dict[str, Any]:
    """The sizes of a wheel's members, by how they are packed, and what a deflated byte comes to."""
    with zipfile.ZipFile(wheel) as archive:
        members = archive.infolist()
    deflated = [member for member in members if member.compress_type == zipfile.ZIP_DEFLATED]
    before = sum(member.file_size for member in deflated)
    repeated = repeats(deflated)
    inner = [member for member in deflated if member.filename.endswith("/_devel.tar")]
    return {
        "name": wheel.name.split("-")[0].replace("_", "-"),
        "deflate": [member.file_size for member in deflated if member not in inner and member not in repeated],
        "store": [member.file_size for member in members if member.compress_type == zipfile.ZIP_STORED],
        "repeat": [member.compress_size for member in repeated],
        "archive": sum(member.file_size for member in inner),
        "packed": round(sum(member.compress_size for member in deflated) / before, 4) if before else 1.0,
    }


def pair(text: str) -> tuple[str, float]:
    """`NAME=NUMBER`."""
    name, _, number = text.partition("=")
    return name, float(number)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="inputs of the scaling model")
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--timings", type=Path)
    parser.add_argument("--measured", type=pair, action="append", default=[])
    parser.add_argument("--cost", type=pair, action="append", default=[])
    parser.add_argument("--about", default="")
    asked = parser.parse_args()
    measured = dict(asked.measured)
    costs: dict[str, float] = {}
    if asked.timings:
        trace = json.loads(asked.timings.read_text())
        costs = {**stage_costs(trace), "prepare": preparing(trace)}
        if "1" in measured:
            costs["fixed"] = max(measured["1"] - costs["prepare"] - sum(seconds for seconds, _ in totals(trace).values()), 0.0)
    costs = {**costs, **dict(asked.cost)}
    missing = [name for name in (*STAGES, "prepare", "fixed") if name not in costs]
    if missing:
        parser.error(f"no trace tells what these cost, give --cost NAME=SECONDS: {', '.join(missing)}")
    costs = {name: float(f"{cost:.4g}") for name, cost in costs.items()}
    lines = [json.dumps(output(wheel)) for wheel in sorted(asked.wheels.rglob("*.whl"))]
    print('{"about": ' + json.dumps(asked.about) + ',\n"costs": ' + json.dumps(costs) + ',\n"measured": ' + json.dumps(measured) + ',\n"outputs": [\n' + ",\n".join(lines) + "\n]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
