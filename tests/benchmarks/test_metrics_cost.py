"""What metrics cost: which rows have tasks, how turns are compared, and how tasks tell of the threads that serve metrics."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import pytest

import weft as tf
from benchmarks import metrics_cost, scraping, turns
from benchmarks.catalogue import MEASURES
from benchmarks.contender import Answer, Contender
from benchmarks.estimate import Estimate, estimate
from benchmarks.framework import ROOT
from benchmarks.metrics_cost import Row, Sitting, Turn, as_json, from_json, has_tasks, in_words
from weft.distributed.server.observation import wait_sampler


def test_every_row_that_starts_a_task_is_measured() -> None:
    def starts_tasks(family: str) -> bool:
        text = (ROOT / "benchmarks/programs" / f"{family}.py").read_text()
        return "from benchmarks.cluster import" in text or "launch" in text

    families = {each.family for each in MEASURES if has_tasks(each)}
    assert families == {each.family for each in MEASURES if starts_tasks(each.family)}
    assert {each.name for each in metrics_cost.choose(["start_up"])} == {"cluster_start", "cluster_ready", "launched"}


def test_a_row_of_turns_gives_a_step_as_it_is_read_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = (turns.Turn(1.0, 1000, 0.0, 1.0), turns.Turn(1.0, 800, 0.05, 2.0))

    def ask(_: Contender, program: str, *, time_limit_s: float, environment: dict[str, str]) -> Answer:
        Path(environment[turns.FILE_VARIABLE]).write_text(json.dumps([[vars(turn) for turn in pair]]))
        scraping_done.done += 1
        return Answer({"value": 1.0})

    scraping_done = scraping.Readings()
    monkeypatch.setattr(Contender, "ask", ask)
    monkeypatch.setattr(scraping, "scraped", lambda *_, **__: contextlib.nullcontext(scraping_done))
    (row,) = metrics_cost.hold(Contender("weft", "python"), metrics_cost.choose(["remote_assign"]), rounds=1, tell=print).rows
    assert row.plain == [Turn(pytest.approx(1e-3))]
    # In a dose of five a step costs a quarter more.
    assert row.scraped == [Turn(pytest.approx(1.05e-3), pytest.approx(0.01), pytest.approx(0.005))]


def test_a_whole_row_tells_the_part_of_the_threads_that_serve_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = scraping.Readings(done=1, ran_ns={"71": 15_000_000, "72": 5_000_000})
    monkeypatch.setattr(Contender, "ask", lambda *_, **__: Answer({"value": 1.0, "cpu_s": 2.0}))
    monkeypatch.setattr(scraping, "scraped", lambda *_, **__: contextlib.nullcontext(readings))
    rows = metrics_cost.choose(["cluster_ready", "ps_memory"])
    ready, memory = metrics_cost.hold(Contender("weft", "python"), rows, rounds=2, tell=print).rows
    assert (ready.plain, ready.scraped) == ([Turn(2.0)] * 2, [Turn(2.0, pytest.approx(0.01))] * 2)
    assert (memory.plain, memory.scraped) == ([Turn(1.0)] * 2, [Turn(1.0)] * 2)


def test_the_table_has_what_metrics_add_and_which_rows_keep_to_the_limit() -> None:
    (assign,) = metrics_cost.choose(["remote_assign"])
    (start,) = metrics_cost.choose(["cluster_start"])
    (ready,) = metrics_cost.choose(["cluster_ready"])
    (launched,) = metrics_cost.choose(["launched"])
    rows = [
        Row(start, [Turn(2.0)] * 4, [Turn(2.1, 0.012)] * 4),
        Row(ready, [Turn(2.0)], [Turn(2.1)]),
        Row(launched, reason="it gave nothing"),
        Row(assign, [Turn(100e-6)] * 4, [Turn(value, 0.004, 0.002) for value in (100.8e-6, 101e-6, 101e-6, 101.2e-6)]),
    ]
    held = Sitting(rows, {"cores": 2})
    assert from_json(json.loads(json.dumps(as_json(held)))).rows == rows
    told = in_words(held).splitlines()
    lines = [line.split("  ") for line in told[1:5]]
    assert [[cell.strip() for cell in line if cell] for line in lines] == [
        ["First step on 2 servers and 2 workers*", "2.00 s", "2.10 s", "+5.00% ± 0.00%", "1.20%", "-", "4"],
        ["2 servers and 2 workers ready, beyond bare Python*", "2.00 s", "2.10 s", "+5.00%", "-", "-", "1"],
        ["First step after the launch of 1 server and 2 workers", "-", "-", "it gave nothing", "-", "-", "-"],
        ["Variable elsewhere: assign_add", "100 µs", "101 µs", "+1.00% ± 0.09%", "0.40%", "2.00 ms", "4"],
    ]
    assert told[-1] == "Below 2% by two standard errors: 1 of 4 rows; above: cluster_start; not decided: cluster_ready."


def test_turns_alternate_until_their_ratio_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(turns.FILE_VARIABLE, str(tmp_path / "turns.json"))
    monkeypatch.setenv(scraping.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(time, "sleep", lambda _: None)
    taken = []

    def take(seconds: float) -> int:
        taken.append(scraping.is_paused(tmp_path))
        return 1_000_000

    monkeypatch.setattr(turns, "ratio", lambda plain, read: 1.01)
    turns.alternate(take)
    # Those of the first two load and are not counted; each pair begins as the one before has ended.
    assert taken == [False, True] + [False, True, True, False] * (turns.FEWEST // 2)
    pairs = json.loads((tmp_path / "turns.json").read_text())
    assert [[turn["steps"] for turn in pair] for pair in pairs] == [[1_000_000] * 2] * turns.FEWEST
    assert not turns.is_known([(turns.Turn(1.0, 1, 0.0, 1.0),) * 2] * (turns.FEWEST - 1))


def test_a_task_is_neither_read_nor_looked_at_in_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(scraping.FOLDER_VARIABLE, str(tmp_path))
    # What it changes in this process is set back at the end.
    monkeypatch.setattr(wait_sampler, "_LASTS_S", wait_sampler._LASTS_S)
    monkeypatch.setattr(wait_sampler, "_PERIOD_S", wait_sampler._PERIOD_S)
    with (
        scraping.scraped(tmp_path, paused=True) as readings,
        tf.train.Server({"local": ["localhost:0"]}, metrics_port=0) as server,
    ):
        scraping.note_threads(server)
        looks = server._observed.reporter.sampler
        assert not readings.done
        scraping.pause(False)
        while readings.done < 3:
            pass
        assert looks._thread is not None
        scraping.pause(True)
        done = readings.done
        while looks._thread is not None:
            pass
        assert readings.done == done
    assert not readings.failed


def test_few_disturbed_values_move_neither_an_estimate_nor_its_error() -> None:
    found, disturbed = estimate([1.0, 1.02, 1.01, 1.0, 1.02] * 4), estimate([1.0, 1.02, 1.01, 1.0, 1.02] * 4 + [9.0])
    assert found is not None
    assert disturbed is not None
    assert found.value == 1.01
    assert found.error == pytest.approx(0.01 * 1.4826 * 1.2533 / 20**0.5, rel=1e-3)
    assert (disturbed.value, disturbed.error) == (1.01, pytest.approx(found.error, rel=0.05))
    assert estimate([]) is None
    assert estimate([1.0, 2.0, 4.0]) == Estimate(2.0, None)


def test_a_task_tells_which_threads_serve_its_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(scraping.FOLDER_VARIABLE, str(tmp_path))
    assert scraping.ran_ns(tmp_path) == {}
    server = tf.train.Server({"local": ["localhost:0"]}, metrics_port=0)
    try:
        scraping.note_threads(server)
        assert len(list(tmp_path.glob("*.page"))) == 1
        (path,) = (each for each in tmp_path.iterdir() if not each.suffix)
        # The thread that looks at steps tells of itself once it runs.
        while len(path.read_text().split()) < 2:
            pass
        with scraping.scraped(tmp_path) as readings:
            while len(path.read_text().split()) < 3:
                pass
        assert readings.done
        assert not readings.failed
        assert set(scraping.ran_ns(tmp_path)) >= set(path.read_text().split()[:2])
        assert scraping.ran_since_s(tmp_path, {}) > 0
        assert set(readings.ran_ns) >= set(path.read_text().split()[:2])
        assert readings.took_s > 0
    finally:
        server.stop()
