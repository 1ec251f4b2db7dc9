"""Times of tasks whose clocks differ, in the trace of one step."""

from __future__ import annotations

from tensorboard.compat.proto.step_stats_pb2 import StepStats

from weft.distributed.master.steps.aligned_clocks import align_clocks

BEGAN_S = 1_800_000_000.0


def part(*times: tuple[float, float]) -> StepStats:
    """Of nodes that begin and end so many milliseconds after the step's beginning."""
    stats = StepStats()
    device = stats.dev_stats.add(device="/job:ps/replica:0/task:0/device:CPU:0")
    for begin, end in times:
        start = int(BEGAN_S * 1e6 + begin * 1e3)
        device.node_stats.add(all_start_micros=start, scheduled_micros=start, all_end_rel_micros=int((end - begin) * 1e3))
    return stats


def test_a_part_within_its_step_is_left_alone() -> None:
    inside, same = part((1, 2), (2, 9.9)), part((1, 2), (2, 9.9))
    align_clocks([inside, StepStats()], BEGAN_S, BEGAN_S + 0.01)
    assert inside == same


def test_a_part_of_another_clock_lies_in_the_middle_of_its_step() -> None:
    for ahead in (100_000.0, -3.0, 8.0):
        other = part((1 + ahead, 2 + ahead), (2 + ahead, 7 + ahead))
        align_clocks([other], BEGAN_S, BEGAN_S + 0.01)
        assert other == part((2, 3), (3, 8))


def test_a_part_that_seems_longer_than_its_step_keeps_its_length() -> None:
    longer = part((50, 70))
    align_clocks([longer], BEGAN_S, BEGAN_S + 0.01)
    assert longer == part((-5, 15))
