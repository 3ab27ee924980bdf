"""Tests of the scaling model."""

from __future__ import annotations

import json
import math
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import model  # noqa: E402

import inputs  # noqa: E402

BLOCK = model.BLOCK


def costs(**more: float) -> model.Costs:
    """Deflate alone, 0.01 s a block, unless something else is said, in seconds a block."""
    rates = {"read": 0.0, "hash": 0.0, "deflate": 0.01, "xz": 0.0, "write": 0.0, **more}
    fixed = {name: rates.pop(name, 0.0) for name in ("prepare", "fixed")}
    return model.Costs(**{name: rate / BLOCK for name, rate in rates.items()}, **fixed)


def wheels(contents: list[list[model.Member]], cost: model.Costs) -> list[model.Output]:
    """Outputs named by their place, of which deflate makes the half."""
    return [model.Output(str(index), members, cost, 0.5) for index, members in enumerate(contents)]


def build(contents: list[list[model.Member]], cost: model.Costs, machine: model.Machine) -> model.Result:
    """What a build comes to in the model."""
    return model.Simulation(wheels(contents, cost), cost, machine).run()


def seconds(contents: list[list[model.Member]], cost: model.Costs, cores: int, memory: float = math.inf) -> float:
    """How long it takes in the model."""
    return build(contents, cost, model.Machine(cores, memory)).seconds


def bound(contents: list[list[model.Member]], cost: model.Costs, machine: model.Machine) -> str:
    """What keeps it from being faster."""
    outputs = wheels(contents, cost)
    return model.bound(outputs, cost, machine, model.Simulation(outputs, cost, machine).run())


class Simulated(unittest.TestCase):
    """Cases that can be computed by hand."""

    def setUp(self) -> None:
        self.large = [[model.Member(64 * BLOCK, "deflate")]]
        self.four = [[model.Member(16 * BLOCK, "deflate")]] * 4

    def test_one_core_does_all_work_one_after_the_other(self) -> None:
        cost = costs(read=0.001, hash=0.002, write=0.004, prepare=0.25, fixed=0.5)
        # 64 blocks: read, deflated, hashed as parts of a member; half of them written, and hashed once more.
        self.assertAlmostEqual(seconds(self.large, cost, 1), 0.75 + 64 * (0.001 + 0.01 + 0.002 + 0.002 + 0.001))

    def test_equal_blocks_are_shared(self) -> None:
        self.assertAlmostEqual(seconds(self.four, costs(), 1), 0.64)
        self.assertAlmostEqual(seconds(self.four, costs(), 2), 0.32)
        self.assertAlmostEqual(seconds(self.four, costs(), 40), 0.02)
        self.assertAlmostEqual(seconds(self.four, costs(), 64), 0.01)

    def test_planning_is_shared_and_starting_is_not(self) -> None:
        self.assertAlmostEqual(seconds([], costs(prepare=0.8, fixed=0.1), 4), 0.3)

    def test_sixteen_batches_of_an_output_are_in_flight(self) -> None:
        self.assertAlmostEqual(seconds(self.large, costs(), 16), 0.04)
        self.assertAlmostEqual(seconds(self.large, costs(), 64), 0.04)
        self.assertEqual(bound(self.large, costs(), model.Machine(64)), "16 batches of an output in flight")
        self.assertEqual(bound(self.large, costs(), model.Machine(4)), "work / cores")

    def test_small_blocks_go_together(self) -> None:
        # As in the test of `src/execute/lane.rs`.
        sizes = [10] * 200 + [2 * BLOCK, 5, BLOCK - 5, 1]
        batches = model.together(model.blocks([model.Member(size, "store") for size in sizes]))
        found = [(len(batch), sum(block.size for block in batch)) for batch in batches]
        self.assertEqual(found, [(128, 1280), (72, 720), (1, BLOCK), (1, BLOCK), (2, BLOCK), (1, 1)])
        self.assertEqual(len(model.blocks([model.Member(0, "deflate")])), 1)

    def test_whole_members_are_hashed_by_any_worker(self) -> None:
        cost = costs(hash=0.1)
        # Stored, so that hashing the whole takes as long again.
        self.assertAlmostEqual(seconds([[model.Member(BLOCK, "store")] * 8], cost, 8), 0.1 + 0.8)
        self.assertAlmostEqual(seconds([[model.Member(8 * BLOCK, "store")]], cost, 8), 0.8 + 0.8)

    def test_an_output_is_followed_while_it_grows(self) -> None:
        cost = costs(hash=0.1)
        # Eight blocks are a stretch: the second member is hashed by its writer while the first one is followed.
        self.assertAlmostEqual(seconds([[model.Member(8 * BLOCK, "store")] * 2], cost, 8), 0.8 + 0.8 + 0.8)
        # Of a member that is not complete nothing is.
        self.assertAlmostEqual(seconds([[model.Member(16 * BLOCK, "store")]], cost, 8), 1.6 + 1.6)
        self.assertAlmostEqual(wheels([[model.Member(8 * BLOCK, "store")] * 2], cost)[0].chain, 2.4)
        # Members of one block are hashed by many, so that following takes longest.
        self.assertAlmostEqual(wheels([[model.Member(BLOCK, "store")] * 64], cost)[0].chain, 6.4)

    def test_one_writer_an_output(self) -> None:
        cost = costs(deflate=0.0, write=0.02, hash=0.001)
        chain = 64 * (0.01 + 0.001 + 0.0005)
        for cores in (1, 8, 64):
            self.assertAlmostEqual(seconds(self.large, cost, cores), chain)
        self.assertAlmostEqual(seconds(self.four, cost, 8), chain / 4)
        self.assertEqual(bound(self.large, cost, model.Machine(8)), "0's chain")

    def test_outputs_with_much_stored_come_first_and_then_expensive_ones(self) -> None:
        small, large = [model.Member(BLOCK, "deflate")], [model.Member(2 * BLOCK, "deflate")]
        contents = [small, large, [*small, model.Member(BLOCK // 2, "store")]]
        order: list[str] = []

        class Watched(model.Simulation):
            def follow(self) -> model.Task | None:
                task = super().follow()
                order.extend(output.name for output in self.outputs if output.ended and output.name not in order)
                return task

        cost = costs()
        Watched(wheels(contents, cost), cost, model.Machine(1)).run()
        self.assertEqual(order, ["2", "1", "0"])

    def test_writing_goes_before_following_and_that_before_packing(self) -> None:
        done: list[str] = []

        class Watched(model.Simulation):
            def note(self, name: str, task: model.Task | None) -> model.Task | None:
                done.extend([name] if task else [])
                return task

            def write(self) -> model.Task | None:
                return self.note("write", super().write())

            def follow(self) -> model.Task | None:
                return self.note("follow", super().follow())

            def pack(self) -> model.Task | None:
                return self.note("pack", super().pack())

        cost = costs()
        Watched(wheels([[model.Member(BLOCK, "deflate")]] * 2, cost), cost, model.Machine(1)).run()
        self.assertEqual(done, ["pack", "write", "follow"] * 2)

    def test_memory_holds_readers_back(self) -> None:
        # Two deflated blocks fit, each counted twice; one is always possible.
        self.assertAlmostEqual(seconds(self.large, costs(), 64, memory=4 * BLOCK), 0.32)
        self.assertAlmostEqual(seconds(self.large, costs(), 64, memory=1.0), 0.64)
        # Sixteen, and the one that is being written.
        self.assertEqual(build(self.large, costs(), model.Machine(64)).memory, 17 * 2 * BLOCK)
        self.assertTrue(bound(self.large, costs(), model.Machine(8, 4.0 * BLOCK)).startswith("memory, then "))

    def test_what_is_too_large_is_passed_over(self) -> None:
        # While one of the xz blocks is packed, the others of the second output go on.
        contents = [[model.Member(2 * model.XZ_BLOCK, "xz")], [model.Member(36 * BLOCK, "deflate")]]
        cost = costs(xz=1.0, read=1.0, deflate=0.0)
        memory = 2.0 * model.XZ_BLOCK + model.XZ_ENCODER + 2 * BLOCK
        self.assertAlmostEqual(seconds(contents, cost, 2, memory), 48.0)

    def test_storage_and_disk_are_shared(self) -> None:
        storage, disk = 100.0 * BLOCK, 50.0 * BLOCK
        self.assertAlmostEqual(build(self.large, costs(), model.Machine(64, storage=storage)).seconds, 0.64 + 0.01)
        # All 128 MiB are written after 0.04 s, and come to the half.
        self.assertAlmostEqual(build(self.large, costs(), model.Machine(64, disk=disk)).seconds, 0.04 + 0.64)
        self.assertEqual(bound(self.large, costs(), model.Machine(64, disk=disk)), "disk")
        # Of twice as much the disk takes the first half while the second is packed.
        twice = [[model.Member(128 * BLOCK, "deflate")]]
        self.assertAlmostEqual(build(twice, costs(), model.Machine(1, disk=disk)).seconds, 0.64 + 2 * 0.64)

    def test_what_repeats_another_is_only_written(self) -> None:
        once, repeat = model.Member(64 * BLOCK, "deflate"), model.Member(BLOCK, "repeat")
        cost = costs(write=0.25, hash=0.5)
        packed, copied = (wheels([members], cost)[0] for members in ([once], [once, repeat]))
        self.assertAlmostEqual(copied.packing, packed.packing)
        # Its bytes are followed like all others.
        self.assertAlmostEqual(copied.writing - packed.writing, BLOCK * cost.write)
        self.assertAlmostEqual(copied.following - packed.following, BLOCK * cost.hash)
        self.assertEqual(copied.batches[-1].memory, packed.batches[-1].memory)

    def test_xz_has_larger_blocks(self) -> None:
        sizes = [block.size // model.MIB for block in model.blocks([model.Member(50 * model.MIB, "xz")])]
        self.assertEqual(sizes, [24, 24, 2])

    def test_the_closing_lines_name_the_longest_chain(self) -> None:
        cost = costs(hash=0.001)
        text = model.closing(wheels([*self.large, *self.four], cost), cost)
        # 128 blocks of 11.5 ms against 64 of 1.5 ms.
        self.assertIn("0's chain: one writer takes 0.06 s for its bytes, and hashing the whole 0.03 s, which follows;", text)
        self.assertIn("together 0.10 s, which is more than work / cores from 16 cores on.", text)


class Program(unittest.TestCase):
    """What the model takes from the program."""

    def test_the_scheduler_is_the_one_that_is_modelled(self) -> None:
        said = {
            "archive/deflate.rs": [f"const BLOCK: usize = {BLOCK >> 20} << 20;"],
            "archive/tarball/xz.rs": [f"const LARGEST: usize = {model.XZ_BLOCK >> 20} << 20;", "[3, 9, 17, 32, 48, 94, 94]"],
            "execute/lane.rs": [f"const SMALL: usize = {model.SMALL};", "bytes == 0 || bytes + block.len <= BLOCK", "stored >= bytes / 3"],
            "execute/repeats.rs": ["const SMALLEST: u64 = BLOCK as u64;", "len() > SMALLEST && matches!(entry.packing, Packing::Deflate(_))"],
            "execute/output.rs": [f"const OFTEN: u64 = {model.OFTEN >> 20} << 20;"],
            "execute/work.rs": [
                f"const MOST: u64 = {model.MOST};",
                "(2 * threads as u64 + 2).min(MOST)",
                f"const STRETCH: u64 = {model.STRETCH >> 20} << 20;",
                "self.write().or_else(|| self.end()).or_else(|| self.follow()).or_else(|| self.finish()).or_else(|| self.pack(limit))",
                "runs.sort_by_key(|run| std::cmp::Reverse(run.lane.rank()))",
            ],
            "execute/pack.rs": ["Self::Store | Self::Cached(_) => 1,", "Self::Deflate(Level::Default) => 8,", "100 + 70 * u64::from(preset.number())"],
        }
        for path, texts in said.items():
            # However the formatter breaks lines: white space does not count.
            source = "".join((HERE.parent.parent / "src" / path).read_text().split())
            for text in texts:
                self.assertTrue("".join(text.split()) in source, f"src/{path} has no {text}: it is not what benches/scaling/model.py simulates")


class Committed(unittest.TestCase):
    """The inputs that are committed."""

    def setUp(self) -> None:
        self.data = json.loads((HERE / "full.json").read_text())
        self.outputs, self.costs = model.load(self.data, xz=False)

    def test_the_model_says_what_was_measured(self) -> None:
        self.assertIn("1", self.data["measured"])
        for cores, measured in self.data["measured"].items():
            modelled = model.Simulation(self.outputs, self.costs, model.Machine(int(cores))).run().seconds
            self.assertLess(abs(modelled / measured - 1), 0.15, f"{modelled} against {measured} with {cores} cores")

    def test_one_core_is_busy_all_the_time(self) -> None:
        result = model.Simulation(self.outputs, self.costs, model.Machine(1)).run()
        alone = model.Machine(1).before(self.costs) + model.work(self.outputs, self.costs)
        self.assertAlmostEqual(result.seconds, alone)
        self.assertAlmostEqual(result.busy, alone)

    def test_more_cores_are_never_slower(self) -> None:
        machines = [model.Machine(cores) for cores in (1, 2, 4, 8, 16, 32, 64)]
        times = [float(line[1]) for line in model.table(self.outputs, self.costs, machines, {})[1:]]
        # List scheduling can lose a little at the end.
        for index, fewer in enumerate(times[:-1]):
            self.assertLessEqual(times[index + 1], fewer * 1.02)
        chain = self.costs.fixed + model.longest(self.outputs).chain
        self.assertGreaterEqual(times[-1], chain - 0.01)


class Inputs(unittest.TestCase):
    """What inputs are made of."""

    def test_costs_come_from_a_trace(self) -> None:
        def piece(name: str, start: float, took: float, size: int) -> dict[str, object]:
            return {"ph": "X", "name": name, "tid": 1, "ts": start * 1e6, "dur": took * 1e6, "args": {"bytes": size}}

        pieces = [
            piece("edit", 0.0, 0.25, 5000),
            piece("read", 0.5, 1.0, 1000),
            piece("deflate", 1.5, 4.0, 1000),
            # The CRC-32 of a part of a member, its hash, and the hash of the whole.
            piece("hash", 5.5, 0.5, 1000),
            piece("write", 6.0, 1.0, 500),
            piece("hash", 7.0, 1.5, 1000),
            piece("hash", 8.5, 1.0, 500),
        ]
        for trace in (pieces, {"traceEvents": [{"ph": "M"}, *pieces]}):
            self.assertEqual(inputs.stage_costs(trace), {"read": 0.001, "hash": 0.002, "deflate": 0.004, "write": 0.002})
            self.assertEqual(inputs.preparing(trace), 0.5)
            self.assertEqual(sum(took for took, _ in inputs.totals(trace).values()), 9.0)

    def test_members_are_those_of_the_wheel(self) -> None:
        with tempfile.TemporaryDirectory() as place:
            wheel = Path(place) / "rocm_sdk_devel-1-py3-none-any.whl"
            with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("d/a", bytes(700))
                archive.writestr("d/b", bytes(70), zipfile.ZIP_STORED)
                archive.writestr("d/_devel.tar", bytes(10240))
                archive.writestr("d/large", bytes(BLOCK + 1))
                archive.writestr("d/like-large", bytes(BLOCK + 1))
                archive.writestr("d/like-a", bytes(700))
                repeated = archive.getinfo("d/like-large").compress_size
            found = inputs.output(wheel)
        self.assertLess(found.pop("packed"), 0.02)
        expected = {"deflate": [700, BLOCK + 1, 700], "store": [70], "repeat": [repeated], "archive": 10240}
        self.assertEqual(found, {"name": "rocm-sdk-devel", **expected})


if __name__ == "__main__":
    unittest.main()
