"""How builds get faster with more cores: a simulation from measured costs.

    model.py INPUTS.json [--cores 1,2,4,…] [--storage GB/S] [--memory MB] [--xz]

INPUTS.json has the sizes of everything that a build packs, what each stage costs, and how long
builds took that were measured (`inputs.py` makes it). What is simulated is what a build does:

* Contents are cut into blocks of 1 MiB. A block is packed by any worker: it is read, its CRC-32
  and, when it is the whole member, its SHA-256 are computed, and it is deflated. The next block
  comes from the output of which the most is left.
* Each output has one writer: when a block is packed and all blocks before it are written, some
  worker writes it, and hashes it first when it is only a part of its member. Writing goes before
  packing.
* With `--xz`, the archive in the devel package is packed in blocks of 24 MiB by xz instead.
* A block counts as memory from when it is read until it is written: its content, and as much
  again for what it is packed to. Nothing is read while that would exceed the limit.
* With `--storage`, reading waits for storage that delivers so much to all workers together.
* What is no such stage (starting, scanning, planning) takes the same time with any number of cores.

Cores are taken to be equal, and not to slow each other down.
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MIB = 1 << 20
BLOCK = MIB
XZ_BLOCK = 24 * MIB


@dataclass(frozen=True)
class Costs:
    """Seconds a byte of one core, by stage, and the seconds that no core shortens."""

    read: float
    hash: float
    deflate: float
    xz: float
    write: float
    fixed: float
    packed: float
    """Bytes that a deflated byte comes to."""


@dataclass(frozen=True)
class Member:
    """A member of an output."""

    size: int
    method: str
    """`deflate`, `store` or `xz`."""


@dataclass(frozen=True)
class Block:
    """What one worker packs at a time."""

    size: int
    method: str
    whole: bool

    def packing(self, costs: Costs) -> float:
        """Seconds to pack it, but for reading."""
        hashing = costs.hash if self.whole else 0.0
        packing = {"deflate": costs.deflate, "xz": costs.xz, "store": 0.0}[self.method]
        return self.size * (hashing + packing)

    def writing(self, costs: Costs) -> float:
        """Seconds to write it."""
        packed = 1.0 if self.method == "store" else costs.packed
        return self.size * ((0.0 if self.whole else costs.hash) + packed * costs.write)


def blocks(members: list[Member]) -> list[Block]:
    """The blocks of an output, in its order."""
    cut = []
    for member in members:
        step = XZ_BLOCK if member.method == "xz" else BLOCK
        whole = member.size <= step
        cut += [Block(min(step, member.size - at), member.method, whole) for at in range(0, max(member.size, 1), step)]
    return cut


@dataclass
class Output:
    """An output while it is made."""

    blocks: list[Block]
    left: int = 0
    packed: set[int] = field(default_factory=set)
    next_pack: int = 0
    next_write: int = 0
    writing: bool = False

    def __post_init__(self) -> None:
        self.left = sum(block.size for block in self.blocks)

    def can_write(self) -> bool:
        """Whether a worker can write its next block now."""
        return not self.writing and self.next_write in self.packed


@dataclass
class Result:
    """What a simulation found."""

    seconds: float
    busy: float
    stalled: float
    """Core-seconds in which nothing was read for want of memory."""


class Simulation:
    """One build with so many cores."""

    def __init__(self, outputs: list[list[Member]], costs: Costs, cores: int, memory: float, storage: float | None) -> None:
        self.costs = costs
        self.free = cores
        self.memory = memory
        self.storage = storage
        self.outputs = [Output(blocks(members)) for members in outputs]
        self.queue = [(-output.left, index) for index, output in enumerate(self.outputs) if output.blocks]
        heapq.heapify(self.queue)
        self.writable: deque[Output] = deque()
        self.events: list[tuple[float, int, bool, Output, int]] = []
        self.now = costs.fixed
        self.storage_free = costs.fixed
        self.in_flight = 0.0
        self.count = 0
        self.result = Result(0.0, 0.0, 0.0)

    def run(self) -> Result:
        """Simulates to the end."""
        self.start()
        while self.events:
            time, _, packing, output, index = heapq.heappop(self.events)
            if self.free and self.queue:
                self.result.stalled += self.free * (time - self.now)
            self.now = time
            self.free += 1
            if packing:
                output.packed.add(index)
            else:
                self.written(output)
            if output.can_write():
                output.writing = True
                self.writable.append(output)
            self.start()
        self.result.seconds = self.now
        return self.result

    def start(self) -> None:
        """Gives every free core something to do, as far as there is something."""
        while self.free and (self.writable or self.may_read()):
            if self.writable:
                output = self.writable.popleft()
                index, packing = output.next_write, False
                end = self.now + output.blocks[index].writing(self.costs)
            else:
                output, index = self.take()
                packing = True
                end = self.read(output.blocks[index]) + output.blocks[index].packing(self.costs)
            self.count += 1
            self.free -= 1
            self.result.busy += end - self.now
            heapq.heappush(self.events, (end, self.count, packing, output, index))

    def may_read(self) -> bool:
        """Whether there is a block to pack, and memory for it; one block is always possible."""
        if not self.queue:
            return False
        output = self.outputs[self.queue[0][1]]
        size = 2 * output.blocks[output.next_pack].size
        return self.in_flight == 0 or self.in_flight + size <= self.memory

    def take(self) -> tuple[Output, int]:
        """The next block, of the output of which the most is left."""
        _, number = heapq.heappop(self.queue)
        output = self.outputs[number]
        index = output.next_pack
        output.next_pack += 1
        output.left -= output.blocks[index].size
        self.in_flight += 2 * output.blocks[index].size
        if output.next_pack < len(output.blocks):
            heapq.heappush(self.queue, (-output.left, number))
        return output, index

    def read(self, block: Block) -> float:
        """When a block that is asked for now has been read."""
        done = self.now + block.size * self.costs.read
        if self.storage is not None:
            self.storage_free = max(self.storage_free, self.now) + block.size / self.storage
            done = max(done, self.storage_free)
        return done

    def written(self, output: Output) -> None:
        """A block is in its file."""
        self.in_flight -= 2 * output.blocks[output.next_write].size
        output.packed.discard(output.next_write)
        output.next_write += 1
        output.writing = False


def bound(outputs: list[list[Member]], costs: Costs, cores: int, storage: float | None, result: Result) -> str:
    """What keeps a build from being faster: the largest of what it cannot fall below."""
    cut = [blocks(members) for members in outputs]
    every = [block for output in cut for block in output]
    size = sum(block.size for block in every)
    work = sum(block.packing(costs) + block.writing(costs) + block.size * costs.read for block in every)
    floors = {
        "cores": work / cores,
        "one output's writer": max(sum(block.writing(costs) for block in output) for output in cut),
        "one block": max(block.packing(costs) + block.writing(costs) for block in every),
        "storage": size / storage if storage else 0.0,
        "starting and planning": costs.fixed,
    }
    name = max(floors, key=lambda name: floors[name])
    if name != "storage" and result.stalled > 0.05 * cores * result.seconds:
        return f"memory, then {name}"
    return name


def load(data: dict[str, Any], xz: bool) -> tuple[list[list[Member]], Costs]:
    """Outputs and costs out of an inputs file."""
    outputs = []
    for output in data["outputs"]:
        members = [Member(size, "deflate") for size in output["deflate"]]
        members += [Member(size, "store") for size in output["store"]]
        if output["archive"]:
            members.append(Member(output["archive"], "xz" if xz else "deflate"))
        outputs.append(members)
    return outputs, Costs(**data["costs"])


def table(data: dict[str, Any], cores: list[int], *, xz: bool, memory: float, storage: float | None) -> list[list[str]]:
    """A line for each number of cores; the first has the heads."""
    outputs, costs = load(data, xz)
    lines = [["cores", "seconds", "speed-up", "cores busy", "measured", "bounded by"]]
    first: float | None = None
    for number in cores:
        result = Simulation(outputs, costs, number, memory, storage).run()
        first = first or result.seconds * number
        measured = data["measured"].get(str(number)) if not xz and storage is None else None
        lines.append(
            [
                str(number),
                f"{result.seconds:.2f}",
                f"{first / result.seconds:.2f}",
                f"{100 * result.busy / (number * result.seconds):.0f} %",
                "" if measured is None else f"{measured:.2f}",
                bound(outputs, costs, number, storage, result),
            ]
        )
    return lines


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="how builds get faster with more cores")
    parser.add_argument("inputs", type=Path)
    parser.add_argument("--cores", default="1,2,4,8,16,32,64")
    parser.add_argument("--storage", type=float, help="GB/s that storage delivers [what the page cache does]")
    parser.add_argument("--memory", type=float, default=256.0, help="MB of blocks in flight [256]")
    parser.add_argument("--xz", action="store_true", help="the devel archive as xz")
    return parser.parse_args()


def main() -> int:
    """Prints the table."""
    asked = options()
    cores = [int(number) for number in asked.cores.split(",")]
    storage = asked.storage * 1e9 if asked.storage else None
    data = json.loads(asked.inputs.read_text())
    print(data["about"] + "\n")
    lines = table(data, cores, xz=asked.xz, memory=asked.memory * 1e6, storage=storage)
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        aligned = [cell.rjust(width) for cell, width in zip(line[:-1], widths[:-1], strict=True)]
        print("  ".join([*aligned, line[-1]]).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
