"""explain tells of each stage of a run which way it goes, why, and what that took, wherever its task is."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.client.stage_table import StageTable
from weft.distributed.client.remote_session import RemoteSession
from weft.runtime.choice.compile_rules import COLD_RUNS
from weft.runtime.choice.stage_report import StageReport, not_asked


def test_a_stage_is_told_of_before_it_runs_while_it_is_cold_and_compiled() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.tanh(x) * 2.0
        feed = {x: np.ones(3, np.float32)}
        (row,) = tf.explain(y, feed, session)
        assert (row.way, row.why, row.host_runs) == ("not yet run", "it has not run yet", 0)
        session.run(y, feed)
        (row,) = tf.explain(y, [x])
        assert (row.way, row.host_runs, row.compiled_runs) == ("interpreted so far", 1, 0)
        assert row.why.startswith("cold: 0 of 5 runs")
        assert row.host_s > 0.0
        for _ in range(COLD_RUNS + 3):
            session.run(y, feed)
        (row,) = tf.explain(y, [x])
        assert (row.way, row.why) == ("compiled", "warm: it has run 5 times")
        assert (row.host_runs, row.compiled_runs, row.sizes) == (5, 4, 1)
        assert row.compile_s > 0.0
        assert row.device.endswith("/device:CPU:0")


def test_explaining_runs_nothing() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        session.run(v.initializer)
        add = tf.assign_add(v, 1.0)
        tf.explain(add)
        assert session.run(v) == 0.0


def test_the_default_session_is_asked_or_there_has_to_be_one() -> None:
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        with pytest.raises(ValueError, match="pass `session=`"):
            tf.explain(x)
        with tf.Session():
            assert [row.why for row in tf.explain(x)] == ["only passes values on"]


def test_every_task_of_a_cluster_is_asked() -> None:
    workers, servers = tf.test.create_local_cluster(1, 1)
    with tf.Graph().as_default() as graph, tf.Session(workers[0].target) as session:
        with tf.device("/job:ps/task:0"):
            v = tf.get_variable("v", [4], initializer=tf.zeros_initializer())
        with tf.device("/job:worker/task:0"):
            y = tf.tanh(v) + 1.0
        session.run(v.initializer)
        session.run(y)
        table = tf.explain(y)
        assert [row.task.split("/")[1] for row in table] == ["job:ps", "job:worker"]
        assert [row.way for row in table] == ["host program", "interpreted so far"]
        elsewhere = RemoteSession(workers[0].target.removeprefix("grpc://"), graph, tf.ConfigProto())
        reports = elsewhere.prepare([], [y], []).explain()
        assert [row.way for row in StageTable(reports)] == ["not yet run", "not yet run"]
        elsewhere.close()
    for server in (*workers, *servers):
        server.stop()


def test_a_task_that_cannot_be_asked_has_a_row_that_says_so() -> None:
    table = StageTable([not_asked("/job:ps/replica:0/task:0", "it is gone")])
    assert (table[0].way, table[0].why) == ("not asked", "it is gone")
    assert repr(table).splitlines()[1].split() == ["/job:ps/replica:0/task:0", "not", "asked", "it", "is", "gone"]


def test_a_table_prints_its_rows_in_order() -> None:
    rows = [
        StageReport("/job:a", 1, "cpu", "compiled", "Mul, Add", "compiled", "warm", 5, 0.005, 10, 0.01, 0.25, 2),
        StageReport("/job:a", 0, "cpu", "host", "Unique, " * 20, "host program", "host ops: Unique", 7, 0.07, 0, 0.0, 0.0, 0),
    ]
    head, first, second = repr(StageTable(rows)).splitlines()
    assert head.split() == ["task", "stage", "way", "runs", "ms", "a", "run", "compiling", "nodes", "why"]
    assert "10.000" in first
    assert "…" in first
    assert "5 + 10" in second
    assert "1.000 / 1.000" in second
    assert "0.25 s, 2 sizes" in second


def untimed(table: str) -> list[list[str]]:
    """The cells of a printed table, without the digits of its times."""
    return [re.sub(r"\d+\.\d+(?= s,| /|  )", "", re.sub(r"(?<=/ )\d+\.\d+", "", line)).split() for line in table.splitlines()]


def test_the_table_in_the_documentation_is_that_of_the_program_beside_it() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text()
    program, table = re.findall(r"```(?:python|text)?\n(.*?)```", page, re.DOTALL)[:2]
    printed = io.StringIO()
    with tf.Graph().as_default(), contextlib.redirect_stdout(printed):
        exec(compile(program, "explain.md", "exec"), {})
    assert untimed(printed.getvalue()) == untimed(table)
