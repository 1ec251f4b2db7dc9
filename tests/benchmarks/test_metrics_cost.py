"""What metrics cost: which rows have tasks, how turns are compared, and how tasks tell of the threads that serve metrics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weft as tf
from benchmarks import metrics_cost, scraping
from benchmarks.catalogue import MEASURES
from benchmarks.framework import ROOT
from benchmarks.metrics_cost import Row, Sitting, Turn, as_json, from_json, has_tasks, in_words, turn_of


def test_every_row_that_starts_a_task_is_measured() -> None:
    def starts_tasks(family: str) -> bool:
        text = (ROOT / "benchmarks/programs" / f"{family}.py").read_text()
        return "from benchmarks.cluster import" in text or "launch" in text

    families = {each.family for each in MEASURES if has_tasks(each)}
    assert families == {each.family for each in MEASURES if starts_tasks(each.family)}
    assert {each.name for each in metrics_cost.choose(["start_up"])} == {"cluster_start", "cluster_ready", "launched"}


def test_a_turn_is_the_cpu_time_of_a_step_and_what_of_it_was_the_metrics() -> None:
    processes = {"worker 0": {"waits": 30, "cpu_s": 0.3}, "ps 0": {"waits": 10, "cpu_s": 0.1}}
    counts = {"steps": 20, "processes": processes, "window_s": 2.0}
    assert turn_of(counts) == Turn(pytest.approx(0.02))
    assert turn_of({**counts, "metrics_s": 0.004}) == Turn(pytest.approx(0.02), pytest.approx(0.01), pytest.approx(0.002))


def test_the_table_has_ratios_within_rounds_and_the_metrics_part() -> None:
    (assign,) = metrics_cost.choose(["remote_assign"])
    (ready,) = metrics_cost.choose(["cluster_ready"])
    (launched,) = metrics_cost.choose(["launched"])
    rows = [
        Row(assign, [Turn(100e-6), Turn(200e-6)], [Turn(101e-6, 0.004, 0.002), Turn(204e-6, 0.006, 0.002)]),
        Row(ready, [Turn(2.0)], [Turn(2.1)]),
        Row(launched, reason="it gave nothing"),
    ]
    held = Sitting(rows, {"cores": 2})
    assert from_json(json.loads(json.dumps(as_json(held)))).rows == [rows[1], rows[2], rows[0]]
    lines = [line.split("  ") for line in in_words(held).splitlines()[1:4]]
    assert [[cell.strip() for cell in line if cell] for line in lines] == [
        ["Variable elsewhere: assign_add", "150 µs", "152 µs", "1.015", "1.010 to 1.020", "0.50%", "2.00 ms"],
        ["2 servers and 2 workers ready, beyond bare Python*", "2.00 s", "2.10 s", "1.050", "1.050 to 1.050", "-", "-"],
        ["First step after the launch of 1 server and 2 workers", "-", "-", "-", "it gave nothing", "-", "-"],
    ]


def test_a_task_tells_which_threads_serve_its_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(scraping.FOLDER_VARIABLE, str(tmp_path))
    assert scraping.ran_ns() is None
    server = tf.train.Server({"local": ["localhost:0"]}, metrics_port=0)
    try:
        scraping.note_threads(server)
        assert len(list(tmp_path.glob("*.port"))) == 1
        (path,) = (each for each in tmp_path.iterdir() if not each.suffix)
        own = len(path.read_text().split())
        with scraping.scraped(tmp_path) as readings:
            while len(path.read_text().split()) == own:
                pass
        assert (own, len(path.read_text().split())) == (2, 3)
        assert readings.done
        assert not readings.failed
        assert set(scraping.ran_ns() or ()) >= set(path.read_text().split()[:own])
        assert scraping.ran_since_s({}) > 0
    finally:
        server.stop()
