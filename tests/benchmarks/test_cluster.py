"""The addresses of the benchmarks' clusters, which interpreters without weft ask for, too."""

from __future__ import annotations

from benchmarks.cluster import free_addresses


def test_each_task_has_an_address_of_its_own() -> None:
    cluster = free_addresses(ps=1, worker=2)
    assert {job: len(tasks) for job, tasks in cluster.items()} == {"ps": 1, "worker": 2}
    assert len({address for tasks in cluster.values() for address in tasks}) == 3
