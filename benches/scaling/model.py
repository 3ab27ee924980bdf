"""How builds get faster with more cores: a simulation from measured costs.

    model.py INPUTS.json [--cores 1,2,4,…] [--memory MB] [--storage GB/S] [--disk GB/S] [--xz]

INPUTS.json has the sizes of everything that a build packs, what each stage costs, and how long
builds took that were measured (`inputs.py` makes it). What is simulated is what a build without
a cache does (`src/execute/`), with the same limits:

* Contents are cut into blocks of 2 MiB, with `--xz` the archive in the devel package into blocks
  of 24 MiB. Small blocks that follow each other go as one batch: at most 128, of at most 2 MiB.
* Outputs have an order: first those of which a third or more is stored, then the one whose packing
  costs most. A free worker writes the
  next batch of the first output that has it ready; else it follows the first output that has
  something to follow; else it packs the next batch of the first output that has fewer than N being packed
  or waiting to be written; else it waits. N is twice the workers and two, but at most 16.
* To pack a block is to read it, to hash it when it is the whole member, and to deflate it. A large member
  that has the content of an earlier one in its output is not packed, only written.
* An output has one writer at a time. To write a block is to hash it, when it is a part of its
  member or xz (of which what is packed is hashed), and to write what is packed.
* All of an output is hashed once more while it grows, up to the last member that is complete, by one
  worker at a time, which follows for 16 MiB at a time, or for what is left when all is written.
* A batch holds memory from when it is read until it is written: a stored block its size, a
  deflated one twice that, an xz one its encoder as well. `--memory` bounds what all hold; an output
  whose next block is too much is passed over. `in flight` is what was held at most.
* With `--storage`, reading waits for storage that delivers so much to all workers together. With
  `--disk`, beside the workers, one after the other, the disk takes what an output has written
  since the last time: after each 128 MiB of content, and when all is written. The build waits for it.
* Before all that, edits are planned and files sampled, by all workers evenly; the rest (starting,
  scanning, planning) takes the same time with any number of cores.

What is simpler than it is: the stored members of an output come before its others, CRC-32 costs
nothing beside the hash, every byte of an output deflates equally fast and equally well, and xz
makes as much of it. Cores are taken to be equal, and not to slow each other down.

`bounded by` names the largest of what the time cannot fall below: all work divided by the cores,
the longest chain of writing one output and following it to its end, one block, or what else was asked for.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

MIB = 1 << 20
BLOCK = 2 * MIB
XZ_BLOCK = 24 * MIB
SMALL = 128
"""Blocks in a batch, at most."""
MOST = 16
"""Batches of an output in flight, at most."""
STRETCH = 16 * MIB
"""Bytes of an output that are followed at a time."""
OFTEN = 128 * MIB
"""Bytes of content of an output after which the disk is asked to take it."""
WEIGHTS = {"store": 1, "deflate": 8, "xz": 100 + 70 * 6, "repeat": 0}
"""What a byte costs for the order of outputs."""
XZ_ENCODER = 94 * MIB + 2 * XZ_BLOCK
"""Bytes that xz itself needs, at preset 6."""

Task = tuple[float, Callable[[], None]]
"""When a worker will have done something, and what is the case then."""


@dataclass(frozen=True)
class Costs:
    """Seconds of one core for a byte, by stage, and what comes before the first block."""

    read: float
    hash: float
    deflate: float
    xz: float
    write: float
    """For a packed byte."""
    prepare: float
    """Seconds that all cores share evenly before the first block."""
    fixed: float
    """Seconds that no core shortens."""


@dataclass(frozen=True)
class Member:
    """A member of an output."""

    size: int
    method: str
    """`deflate`, `store` or `xz`; or `repeat`, and then the size is that of the packed bytes."""


@dataclass(frozen=True)
class Block:
    """A cut of a member."""

    size: int
    method: str
    whole: bool
    last: bool
    """Of its member."""
    copied: int = 0
    """Packed bytes that another member has."""

    def memory(self) -> int:
        """Bytes that it needs until it is written."""
        return {"store": self.size, "deflate": 2 * self.size, "xz": 2 * self.size + XZ_ENCODER, "repeat": 0}[self.method]

    def packed(self, ratio: float) -> float:
        """Bytes that it comes to."""
        return self.copied + (self.size if self.method == "store" else self.size * ratio)

    def packing(self, costs: Costs) -> float:
        """Seconds to pack it, but for reading."""
        hashing = costs.hash if self.whole and self.method != "xz" else 0.0
        return self.size * (hashing + {"deflate": costs.deflate, "xz": costs.xz, "store": 0.0, "repeat": 0.0}[self.method])

    def writing(self, costs: Costs, ratio: float) -> float:
        """Seconds to write it."""
        packed = self.packed(ratio)
        hashed = packed if self.method == "xz" else 0.0 if self.whole else self.size
        return hashed * costs.hash + packed * costs.write


def blocks(members: list[Member]) -> list[Block]:
    """The blocks of an output, in its order. A member without bytes has one all the same."""
    cut = []
    for member in members:
        if member.method == "repeat":
            cut.append(Block(0, member.method, True, True, member.size))
            continue
        step = XZ_BLOCK if member.method == "xz" else BLOCK
        for at in range(0, max(member.size, 1), step):
            cut.append(Block(min(step, member.size - at), member.method, member.size <= step, at + step >= member.size))
    return cut


def together(cut: list[Block]) -> list[list[Block]]:
    """The blocks that go as one."""
    batches: list[list[Block]] = []
    size = 0
    for block in cut:
        if not batches or size + block.size > BLOCK or len(batches[-1]) == SMALL:
            batches.append([])
            size = 0
        batches[-1].append(block)
        size += max(block.size, 1)
    return batches


@dataclass(frozen=True)
class Batch:
    """What one worker packs, or writes, at a time."""

    size: int
    packed: float
    packing: float
    writing: float
    memory: int
    first: int
    """The memory that its first block needs, which alone is asked for."""
    solid: float
    """Bytes of the output that stay as they are when it is written."""


def gathered(batches: list[list[Block]], costs: Costs, ratio: float) -> list[Batch]:
    """What there is to do for each, and what is complete then."""
    made: list[Batch] = []
    written = solid = 0.0
    for batch in batches:
        for block in batch:
            written += block.packed(ratio)
            solid = written if block.last else solid
        made.append(
            Batch(
                size=sum(block.size for block in batch),
                packed=sum(block.packed(ratio) for block in batch),
                packing=sum(block.packing(costs) for block in batch),
                writing=sum(block.writing(costs, ratio) for block in batch),
                memory=sum(block.memory() for block in batch),
                first=batch[0].memory(),
                solid=solid,
            )
        )
    return made


class Output:
    """An output: what there is to do for it, and how far that is."""

    def __init__(self, name: str, members: list[Member], costs: Costs, ratio: float) -> None:
        self.name = name
        cut = blocks(members)
        stored = sum(block.size for block in cut if block.method == "store")
        self.rank = (0 < stored >= sum(block.size for block in cut) // 3, sum(block.size * WEIGHTS[block.method] for block in cut))
        self.batches = gathered(together(cut), costs, ratio)
        self.packing = sum(batch.packing for batch in self.batches)
        self.writing = sum(batch.writing for batch in self.batches)
        self.size = self.batches[-1].solid if self.batches else 0.0
        self.following = self.size * costs.hash
        self.chain = self.longest(costs)
        self.restart()

    def restart(self) -> None:
        """Nothing of it is done."""
        self.taken = self.written = 0
        self.packed: set[int] = set()
        self.busy = self.followed_now = self.ended = False
        self.solid = self.followed = 0.0
        self.content = 0
        self.unsettled = 0.0

    def longest(self, costs: Costs) -> float:
        """Seconds in which it is written and followed, whatever the cores.

        Nothing behind what was complete before a batch is followed until that batch is written.
        """
        chain, writing, solid = self.following, 0.0, 0.0
        for batch in self.batches:
            writing += batch.writing
            chain = max(chain, writing + (self.size - solid) * costs.hash)
            solid = batch.solid
        return chain


@dataclass
class Result:
    """What a simulation found."""

    seconds: float = 0.0
    busy: float = 0.0
    memory: int = 0
    """Bytes that were held, at most."""
    starved: float = 0.0
    """Core-seconds idle while there was something to pack and no memory for it."""


@dataclass
class Machine:
    """What a build runs on."""

    cores: int
    memory: float = math.inf
    storage: float = math.inf
    disk: float = math.inf

    def before(self, costs: Costs) -> float:
        """Seconds before the first block."""
        return costs.fixed + costs.prepare / self.cores


@dataclass
class Simulation:
    """One build on a machine."""

    outputs: list[Output]
    costs: Costs
    machine: Machine
    held: int = 0
    starving: bool = False
    count: int = 0
    result: Result = field(default_factory=Result)
    events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)

    def run(self) -> Result:
        """Simulates to the end."""
        self.outputs = sorted(self.outputs, key=lambda output: output.rank, reverse=True)
        for output in self.outputs:
            output.restart()
        self.free = self.machine.cores
        self.now = self.stored = self.settled = self.machine.before(self.costs)
        self.result.busy = self.costs.fixed + self.costs.prepare
        self.start()
        while self.events:
            time, _, done = heapq.heappop(self.events)
            if self.starving:
                self.result.starved += self.free * (time - self.now)
            self.now = time
            self.free += 1
            done()
            self.start()
        self.result.seconds = max(self.now, self.settled)
        return self.result

    def start(self) -> None:
        """Gives every free core something to do, as far as there is something."""
        self.starving = False
        while self.free and (task := self.write() or self.follow() or self.pack()):
            end, done = task
            self.count += 1
            self.free -= 1
            self.result.busy += end - self.now
            heapq.heappush(self.events, (end, self.count, done))

    def write(self) -> Task | None:
        """The next batch of the first output that has it, and has no writer."""
        for output in self.outputs:
            if not output.busy and output.written in output.packed:
                batch = output.batches[output.written]
                output.busy = True
                output.written += 1
                return self.now + batch.writing, partial(self.wrote, output, batch)
        return None

    def wrote(self, output: Output, batch: Batch) -> None:
        """A batch is in its file."""
        output.busy = False
        output.solid = batch.solid
        self.held -= batch.memory
        output.content += batch.size
        output.unsettled += batch.packed
        output.ended = output.written == len(output.batches)
        if output.ended or output.content >= OFTEN:
            self.settle(output)

    def follow(self) -> Task | None:
        """The next stretch of the first output that has one."""
        for output in self.outputs:
            ahead = output.solid - output.followed
            if not output.followed_now and ahead >= (1 if output.ended else STRETCH):
                output.followed_now = True
                stretch = min(ahead, STRETCH)
                return self.now + stretch * self.costs.hash, partial(self.did_follow, output, stretch)
        return None

    def did_follow(self, output: Output, stretch: float) -> None:
        """A stretch is hashed."""
        output.followed_now = False
        output.followed += stretch

    def settle(self, output: Output) -> None:
        """The disk takes what there is of an output, after what it was asked to take before."""
        self.settled = max(self.settled, self.now) + output.unsettled / self.machine.disk
        output.content, output.unsettled = 0, 0.0

    def pack(self) -> Task | None:
        """The next batch of the first output that may have one more in flight."""
        most = min(2 * self.machine.cores + 2, MOST)
        for output in self.outputs:
            if output.taken == len(output.batches) or output.taken - output.written >= most:
                continue
            batch = output.batches[output.taken]
            if self.held and self.held + batch.first > self.machine.memory:
                self.starving = True
                continue
            done = partial(output.packed.add, output.taken)
            output.taken += 1
            self.held += batch.memory
            self.result.memory = max(self.result.memory, self.held)
            return self.read(batch) + batch.packing, done
        return None

    def read(self, batch: Batch) -> float:
        """When a batch that is asked for now has been read."""
        self.stored = max(self.stored, self.now) + batch.size / self.machine.storage
        return max(self.now + batch.size * self.costs.read, self.stored)


def work(outputs: list[Output], costs: Costs) -> float:
    """Seconds that one core takes for everything after the first block was begun."""
    packing = sum(batch.packing + batch.size * costs.read for output in outputs for batch in output.batches)
    return packing + sum(output.writing + output.following for output in outputs)


def longest(outputs: list[Output]) -> Output:
    """The output that takes longest to be written and followed."""
    return max(outputs, key=lambda output: output.chain)


def bound(outputs: list[Output], costs: Costs, machine: Machine, result: Result) -> str:
    """What keeps a build from being faster: the largest of what it cannot fall below."""
    batches = [batch for output in outputs for batch in output.batches]
    floors = {
        "work / cores": work(outputs, costs) / machine.cores,
        f"{longest(outputs).name}'s chain": longest(outputs).chain,
        "one block": max(batch.packing + batch.writing for batch in batches),
        f"{MOST} batches of an output in flight": max(output.packing for output in outputs) / MOST,
        "storage": sum(batch.size for batch in batches) / machine.storage,
        "disk": sum(batch.packed for batch in batches) / machine.disk,
        "starting and planning": machine.before(costs),
    }
    name = max(floors, key=lambda name: floors[name])
    if name not in ("storage", "disk") and result.starved > 0.05 * machine.cores * result.seconds:
        return f"memory, then {name}"
    return name


def load(data: dict[str, Any], xz: bool) -> tuple[list[Output], Costs]:
    """Outputs and costs out of an inputs file."""
    costs = Costs(**data["costs"])
    outputs = []
    for output in data["outputs"]:
        members = [Member(size, method) for method in ("store", "deflate", "repeat") for size in output[method]]
        if output["archive"]:
            members.append(Member(output["archive"], "xz" if xz else "deflate"))
        outputs.append(Output(output["name"], members, costs, output["packed"]))
    return outputs, costs


HEADS = ["cores", "seconds", "speed-up", "cores busy", "in flight", "work / cores", "measured", "bounded by"]


def table(outputs: list[Output], costs: Costs, machines: list[Machine], measured: dict[str, float]) -> list[list[str]]:
    """A line for each machine; the first has the heads."""
    lines = [HEADS]
    one = Simulation(outputs, costs, Machine(1)).run().seconds
    for machine in machines:
        result = Simulation(outputs, costs, machine).run()
        took = measured.get(str(machine.cores))
        lines.append(
            [
                str(machine.cores),
                f"{result.seconds:.2f}",
                f"{one / result.seconds:.2f}",
                f"{100 * result.busy / (machine.cores * result.seconds):.0f} %",
                f"{result.memory / 1e6:.0f} MB",
                f"{work(outputs, costs) / machine.cores:.2f}",
                "" if took is None else f"{took:.2f}",
                bound(outputs, costs, machine, result),
            ]
        )
    return lines


def closing(outputs: list[Output], costs: Costs) -> str:
    """What no number of cores shortens."""
    slowest = longest(outputs)
    return (
        f"{slowest.name}'s chain: one writer takes {slowest.writing:.2f} s for its bytes, and hashing the whole {slowest.following:.2f} s, which follows;\n"
        f"together {slowest.chain:.2f} s, which is more than work / cores from {math.floor(work(outputs, costs) / slowest.chain) + 1} cores on.\n"
        f"Before the first block: {costs.fixed:.2f} s, and {costs.prepare:.2f} s / cores."
    )


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="how builds get faster with more cores")
    parser.add_argument("inputs", type=Path)
    parser.add_argument("--cores", default="1,2,4,8,16,32,64")
    parser.add_argument("--memory", type=float, default=math.inf, help="MB of blocks in flight; the program's own limit is an eighth of the machine's [none]")
    parser.add_argument("--storage", type=float, default=math.inf, help="GB/s that storage delivers [what the page cache does]")
    parser.add_argument("--disk", type=float, default=math.inf, help="GB/s that the disk takes [any]")
    parser.add_argument("--xz", action="store_true", help="the devel archive as xz")
    return parser.parse_args()


def main() -> int:
    """Prints the table."""
    asked = options()
    data = json.loads(asked.inputs.read_text())
    outputs, costs = load(data, asked.xz)
    limits = (asked.memory * 1e6, asked.storage * 1e9, asked.disk * 1e9)
    plain = not asked.xz and all(math.isinf(limit) for limit in limits)
    machines = [Machine(int(number), *limits) for number in asked.cores.split(",")]
    lines = table(outputs, costs, machines, data["measured"] if plain else {})
    print(data["about"] + "\n")
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADS))]
    for line in lines:
        aligned = [cell.rjust(width) for cell, width in zip(line[:-1], widths[:-1], strict=True)]
        print("  ".join([*aligned, line[-1]]).rstrip())
    print("\n" + closing(outputs, costs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
