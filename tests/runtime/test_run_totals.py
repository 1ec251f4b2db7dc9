"""Runs are counted beyond the life of a graph, and updates by how many others came in between."""

from __future__ import annotations

import weft as tf
from weft.distributed.server.server import Server
from weft.runtime.run_totals import note_staleness


def test_updates_are_counted_by_the_digits_of_their_staleness() -> None:
    counts: list[int] = []
    for late in (0, 0, 1, 2, 3, 4, 7, 1 << 40):
        note_staleness(counts, late)
    assert counts[:4] == [2, 1, 2, 2]
    assert len(counts) == 17
    assert counts[-1] == 1


def test_runs_of_a_closed_session_still_count() -> None:
    with Server({"local": ["localhost:0"]}) as server:
        with tf.Session(server.target) as session:
            made = tf.constant(2) * 3
            for _ in range(5):
                session.run(made)
            assert server.worker.run_totals.parts == 5
        assert server.worker.executors == {}
        assert server.worker.run_totals.parts == 5
