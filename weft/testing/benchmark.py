"""tf.test.Benchmark: timing a fetch of a session, and reporting what was found."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from absl import logging

from weft.framework.building.aliases import Feeds, Fetches, SessionLike
from weft.proto.messages import ConfigProto


def benchmark_config() -> ConfigProto:
    """A ConfigProto for benchmarks; nothing needs to be switched off here."""
    return ConfigProto()


class Benchmark:
    """The base of benchmarks: methods `benchmark_*` of a subclass call `run_op_benchmark` or `report_benchmark`."""

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: Mapping[str, object] | None = None,
        name: str | None = None,
        metrics: object = None,
    ) -> None:
        """Write what was measured to the log, under the name of the class unless there is another; times in seconds.

        Args:
            iters: how often it ran.
            cpu_time, wall_time: seconds of one run.
            throughput: bytes or what else, a second.
            extras: further values by name.
            metrics: further values, in any form.
        """
        measured = {
            "iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput, "extras": extras,
            "metrics": metrics,
        }  # fmt: skip
        shown = ", ".join(f"{key}: {value}" for key, value in measured.items() if value is not None)
        logging.info("Benchmark [%s] %s", name or type(self).__name__, shown)

    def run_op_benchmark(
        self,
        sess: SessionLike,
        op_or_tensor: Fetches,
        feed_dict: Feeds | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: Mapping[str, object] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Run a fetch `burn_iters` times, then measure it `min_iters` times; report and return the median time and more.

        Args:
            sess: the session.
            op_or_tensor: the fetch.
            feed_dict: its feeds.
            burn_iters, min_iters: how often it runs before, and while, time is taken.
            store_trace, store_memory_usage: have no effect.
            name: the name to report under.
            extras: further things to report.
            mbs: how many megabytes a run moves, for a throughput.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        deltas = []
        for _ in range(min_iters):
            begin = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            deltas.append(time.perf_counter() - begin)
        median = float(np.median(deltas)) if deltas else -1.0
        throughput = mbs / median if mbs and median > 0 else None
        found = {"wall_time_stdev": float(np.std(deltas)) if deltas else 0.0, **(extras or {})}
        self.report_benchmark(iters=min_iters, wall_time=median, throughput=throughput, extras=found, name=name)
        return {"iters": min_iters, "extras": found, "name": name or type(self).__name__, "wall_time": median,
                "throughput": throughput}  # fmt: skip
