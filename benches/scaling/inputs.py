"""Makes the inputs of `model.py` from what was measured.

    inputs.py --plan PLAN.json --wheels DEST/dist --timings TIMINGS.json
              --measured 1=SECONDS --measured 2=SECONDS [--cost NAME=SECONDS]
              [--about TEXT] > INPUTS.json

* PLAN.json: `rockpack plan --json --no-devel-tarball-compression`, for the sizes;
* DEST/dist: the packages of that plan, for which members are stored and how small the others get;
* TIMINGS.json: the trace of a build with `--jobs 1 --timings TIMINGS.json`, for the costs;
* `--measured N=SECONDS`: how long builds with `--jobs N` took;
* `--cost NAME=SECONDS`: a cost in seconds a byte, in place of the trace's (xz is not in a trace of
  a build without it); `fixed` is in seconds;
* `--about TEXT`: on which machine, with which tree, and how all this was measured.

`cargo bench --bench build -- --only default,scaling --scratch DIR` leaves all of them in DIR:
`plan.json`, `built/default/dist`, `timings-1.json`.
"""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

STAGES = ("read", "hash", "deflate", "xz", "write")


def stage_costs(trace: Any) -> dict[str, float]:
    """Seconds a byte by stage, from a trace of one worker."""
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    sums: dict[str, tuple[float, int]] = {}
    for event in events:
        if event["ph"] == "X":
            seconds, size = sums.get(event["name"], (0.0, 0))
            size += event.get("args", {}).get("bytes", 0)
            sums[event["name"]] = (seconds + event["dur"] / 1e6, size)
    return {name: seconds / size for name, (seconds, size) in sums.items() if size and name in STAGES}


def busy(trace: Any) -> float:
    """All seconds of all stages."""
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    return sum(float(event["dur"]) for event in events if event["ph"] == "X") / 1e6


def stored(dist: Path) -> tuple[set[str], float]:
    """The names of stored members, and what a deflated byte comes to."""
    names, before, after = set(), 0, 0
    for wheel in sorted(dist.rglob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                if member.compress_type == zipfile.ZIP_STORED:
                    names.add(member.filename)
                else:
                    before += member.file_size
                    after += member.compress_size
    return names, after / before if before else 1.0


def tar_size(members: list[dict[str, Any]]) -> int:
    """About how large a tarball of these members is."""
    block = 512
    return sum(block + -(-member["size"] // block) * block for member in members)


def outputs(plan: dict[str, Any], kept: set[str]) -> list[dict[str, Any]]:
    """Sizes by output."""
    found = []
    for output in plan["distributions"]:
        members = [member for member in output["members"] if member["step"] not in ("link", "directory")]
        sizes = {method: [m["size"] for m in members if (m["path"] in kept) == (method == "store")] for method in ("deflate", "store")}
        archive = tar_size(output["archive"]["members"]) if "archive" in output else 0
        found.append({"name": output["name"], **sizes, "archive": archive})
    return found


def pair(text: str) -> tuple[str, float]:
    """`NAME=NUMBER`."""
    name, _, number = text.partition("=")
    return name, float(number)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="inputs of the scaling model")
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--timings", type=Path)
    parser.add_argument("--measured", type=pair, action="append", default=[])
    parser.add_argument("--cost", type=pair, action="append", default=[])
    parser.add_argument("--about", default="")
    asked = parser.parse_args()
    kept, ratio = stored(asked.wheels)
    measured = dict(asked.measured)
    costs: dict[str, float] = {}
    if asked.timings:
        trace = json.loads(asked.timings.read_text())
        costs = stage_costs(trace)
        if "1" in measured:
            costs["fixed"] = max(measured["1"] - busy(trace), 0.0)
    costs = {**costs, **dict(asked.cost), "packed": round(ratio, 4)}
    missing = [name for name in (*STAGES, "fixed") if name not in costs]
    if missing:
        parser.error(f"no trace tells what these cost, give --cost NAME=SECONDS: {', '.join(missing)}")
    costs = {name: float(f"{cost:.4g}") for name, cost in costs.items()}
    plan = json.loads(asked.plan.read_text())
    lines = [json.dumps(output) for output in outputs(plan, kept)]
    print('{"about": ' + json.dumps(asked.about) + ',\n"costs": ' + json.dumps(costs) + ',\n"measured": ' + json.dumps(measured) + ',\n"outputs": [\n' + ",\n".join(lines) + "\n]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
