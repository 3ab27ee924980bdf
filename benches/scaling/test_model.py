"""Tests of the scaling model."""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import model  # noqa: E402

import inputs  # noqa: E402

MB = 1e6


def costs(**more: float) -> model.Costs:
    """Deflate alone, a second for 100 MiB, unless something else is said."""
    given = {"read": 0.0, "hash": 0.0, "deflate": 0.01 / model.MIB, "xz": 0.0, "write": 0.0, "fixed": 0.0, "packed": 0.5, **more}
    return model.Costs(**given)


def seconds(outputs: list[list[model.Member]], cost: model.Costs, cores: int, memory: float = 1e12, storage: float | None = None) -> float:
    """How long a build takes in the model."""
    return model.Simulation(outputs, cost, cores, memory, storage).run().seconds


class Simulated(unittest.TestCase):
    """Cases that can be computed by hand."""

    def setUp(self) -> None:
        self.large = [[model.Member(64 * model.MIB, "deflate")]]

    def test_one_core_does_all_work_one_after_the_other(self) -> None:
        cost = costs(hash=0.002 / model.MIB, write=0.004 / model.MIB, fixed=0.5)
        # 64 blocks, deflated, hashed as parts of a member, and half of them written.
        self.assertAlmostEqual(seconds(self.large, cost, 1), 0.5 + 64 * (0.01 + 0.002 + 0.002))

    def test_blocks_are_shared(self) -> None:
        self.assertAlmostEqual(seconds(self.large, costs(), 1), 0.64)
        self.assertAlmostEqual(seconds(self.large, costs(), 64), 0.01)
        self.assertAlmostEqual(seconds(self.large, costs(), 40), 0.02)

    def test_small_members_are_blocks_of_their_own_and_hashed_by_any_worker(self) -> None:
        small = [[model.Member(model.MIB, "store")] * 8]
        cost = costs(hash=0.1 / model.MIB)
        self.assertAlmostEqual(seconds(small, cost, 8), 0.1)
        self.assertAlmostEqual(seconds([[model.Member(8 * model.MIB, "store")]], cost, 8), 0.8)

    def test_one_writer_an_output(self) -> None:
        cost = costs(deflate=0.0, write=0.02 / model.MIB)
        one, two = self.large, [[model.Member(32 * model.MIB, "deflate")]] * 2
        self.assertAlmostEqual(seconds(one, cost, 8), 0.64)
        self.assertAlmostEqual(seconds(two, cost, 8), 0.32)

    def test_memory_holds_readers_back(self) -> None:
        # Two blocks fit, each counted twice.
        self.assertAlmostEqual(seconds(self.large, costs(), 64, memory=4 * model.MIB), 0.32)
        self.assertAlmostEqual(seconds(self.large, costs(), 64, memory=1.0), 0.64)

    def test_storage_is_shared(self) -> None:
        storage = 100.0 * model.MIB
        self.assertAlmostEqual(seconds(self.large, costs(), 64, storage=storage), 0.64 + 0.01)

    def test_xz_has_larger_blocks(self) -> None:
        sizes = [block.size // model.MIB for block in model.blocks([model.Member(50 * model.MIB, "xz")])]
        self.assertEqual(sizes, [24, 24, 2])
        self.assertEqual(len(model.blocks([model.Member(0, "deflate")])), 1)

    def test_what_bounds_is_named(self) -> None:
        cost = costs(deflate=0.0, write=0.02 / model.MIB)
        result = model.Simulation(self.large, cost, 8, 1e12, None).run()
        self.assertEqual(model.bound(self.large, cost, 8, None, result), "one output's writer")
        result = model.Simulation(self.large, costs(), 8, 4.0 * model.MIB, None).run()
        self.assertEqual(model.bound(self.large, costs(), 8, None, result), "memory, then cores")


class Committed(unittest.TestCase):
    """The inputs that are committed."""

    def setUp(self) -> None:
        self.data = json.loads((HERE / "full.json").read_text())

    def test_the_model_says_what_was_measured(self) -> None:
        outputs, cost = model.load(self.data, xz=False)
        self.assertIn("1", self.data["measured"])
        for cores, measured in self.data["measured"].items():
            modelled = seconds(outputs, cost, int(cores), memory=256 * MB)
            self.assertLess(abs(modelled / measured - 1), 0.15, f"{modelled} against {measured} with {cores} cores")

    def test_more_cores_are_never_slower(self) -> None:
        lines = model.table(self.data, [1, 2, 4, 8, 16, 32, 64], xz=False, memory=256 * MB, storage=None)
        times = [float(line[1]) for line in lines[1:]]
        # List scheduling can lose a little at the end.
        for index, fewer in enumerate(times[:-1]):
            self.assertLessEqual(times[index + 1], fewer * 1.02)


class Inputs(unittest.TestCase):
    """What inputs are made of."""

    def test_costs_come_from_a_trace(self) -> None:
        event = {"ph": "X", "name": "deflate", "tid": 1, "ts": 0, "dur": 2_000_000, "args": {"bytes": 1000}}
        idle = {"ph": "X", "name": "edit", "tid": 1, "ts": 0, "dur": 1_000_000}
        for trace in ([event, event, idle], {"traceEvents": [{"ph": "M"}, event, event, idle]}):
            self.assertEqual(inputs.stage_costs(trace), {"deflate": 0.002})
            self.assertEqual(inputs.busy(trace), 5.0)

    def test_members_are_sorted_by_method(self) -> None:
        members = [{"path": path, "step": step, "size": 700} for path, step in [("a", "copy"), ("b", "copy"), ("c", "link")]]
        plan = {"distributions": [{"name": "n", "members": members, "archive": {"members": members}}]}
        expected = [{"name": "n", "deflate": [700], "store": [700], "archive": 3 * (512 + 1024)}]
        self.assertEqual(inputs.outputs(plan, {"b"}), expected)


if __name__ == "__main__":
    unittest.main()
