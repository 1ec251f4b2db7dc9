"""One clock for the times of a traced step: those of tasks whose hosts have another are moved to when the step was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tensorboard.compat.proto.step_stats_pb2 import StepStats

# Times are noted in whole microseconds.
_ROUNDED_US: Final = 50.0


def align_clocks(parts: Iterable[StepStats], began_s: float, ended_s: float) -> None:
    """Move the times of those parts of a step that lie outside of it, by the master's clock, into its middle.

    A part is asked for after the step's beginning and tells of its end before the step's: where its times are others, its clock
    is. With the ways there and back equally long the middles are the same moment. Parts whose times fit are left alone.

    Args:
        parts: the StepStats of each task; changed.
        began_s: when the step began, in seconds since the epoch.
        ended_s: when it was over.
    """
    began_us, ended_us = began_s * 1e6, ended_s * 1e6
    for part in parts:
        nodes = [node for device in part.dev_stats for node in device.node_stats]
        if not nodes:
            continue
        first = min(node.all_start_micros for node in nodes)
        last = max(node.all_start_micros + node.all_end_rel_micros for node in nodes)
        if began_us - _ROUNDED_US <= first and last <= ended_us + _ROUNDED_US:
            continue
        ahead = round((first + last) / 2 - (began_us + ended_us) / 2)
        for node in nodes:
            node.all_start_micros -= ahead
            node.scheduled_micros -= ahead
