"""Guide 0, first half: what sessions share with and without servers, where nodes run, whose graph it is."""

from __future__ import annotations

import json
import re

import pytest
from weft.python.client import timeline

import weft as tf
from tests.guides.conftest import Cluster, StartServers


@pytest.fixture
def local(start_servers: StartServers) -> list[tf.train.Server]:
    cluster: Cluster = start_servers({"local": 2})
    return cluster["local"]


def increment_in_one_read_in_both(var: tf.Variable, sess1: tf.Session, sess2: tf.Session) -> list[float]:
    sess1.run(tf.global_variables_initializer())
    sess2.run(tf.global_variables_initializer())
    before = [sess1.run(var), sess2.run(var)]
    sess1.run(var.assign_add(1.0))
    return [*before, sess1.run(var), sess2.run(var)]


def trace(session: tf.Session, fetch: object) -> list[tuple[str, list[str]]]:
    """The devices that a run used, each with its nodes, in the order of the trace."""
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    session.run(fetch, options=options, run_metadata=metadata)
    return [(stats.device, [node.node_name for node in stats.node_stats]) for stats in metadata.step_stats.dev_stats]


TASK0 = "/job:local/replica:0/task:0/device:CPU:0"
TASK1 = "/job:local/replica:0/task:1/device:CPU:0"


def test_sessions_without_servers_share_nothing() -> None:
    var = tf.Variable(initial_value=0.0)
    with tf.Session() as sess1, tf.Session() as sess2:
        assert increment_in_one_read_in_both(var, sess1, sess2) == [0.0, 0.0, 1.0, 0.0]


def test_sessions_on_the_servers_of_a_cluster_share_variables_by_name(local: list[tf.train.Server]) -> None:
    var = tf.Variable(initial_value=0.0, name="var")
    with tf.Session(local[0].target) as sess1, tf.Session(local[1].target) as sess2:
        assert increment_in_one_read_in_both(var, sess1, sess2) == [0.0, 0.0, 1.0, 1.0]


def test_nodes_run_on_the_first_task_whichever_session_runs_them(local: list[tf.train.Server]) -> None:
    var = tf.Variable(initial_value=0.0, name="var")
    with tf.Session(local[0].target) as sess1, tf.Session(local[1].target) as sess2:
        sess1.run(tf.global_variables_initializer())
        sess1.run(var.assign_add(1.0))
        assert trace(sess1, var) == [(TASK0, ["_SOURCE", "var"])]
        assert trace(sess1, var.assign_add(1.0)) == [(TASK0, ["_SOURCE", "AssignAdd_1/value", "var", "AssignAdd_1"])]
        assert trace(sess2, var) == [(TASK1, ["_SOURCE"]), (TASK0, ["_SOURCE", "var"])]


def test_a_pinned_variable_runs_on_its_task_and_the_trace_begins_with_the_sessions_own(local: list[tf.train.Server]) -> None:
    with tf.device("/job:local/task:0"):
        var1 = tf.Variable(0.0, name="var1")
    with tf.device("/job:local/task:1"):
        var2 = tf.Variable(0.0, name="var2")
    with tf.Session(local[0].target) as sess1, tf.Session(local[1].target) as sess2:
        sess1.run(tf.global_variables_initializer())
        assert trace(sess1, var1) == [(TASK0, ["_SOURCE", "var1"])]
        assert trace(sess1, var2) == [(TASK0, ["_SOURCE"]), (TASK1, ["_SOURCE", "var2"])]
        assert trace(sess2, var2) == [(TASK1, ["_SOURCE", "var2"])]
        assert trace(sess2, var1) == [(TASK1, ["_SOURCE"]), (TASK0, ["_SOURCE", "var1"])]


def test_a_step_that_is_compiled_is_still_traced_by_node(local: list[tf.train.Server]) -> None:
    var = tf.Variable(0.0, name="var")
    step = var.assign_add(1.0)
    with tf.Session(local[1].target) as session:
        session.run(var.initializer)
        for _ in range(20):
            session.run(step)
        assert trace(session, step) == [(TASK1, ["_SOURCE"]), (TASK0, ["_SOURCE", "AssignAdd/value", "var", "AssignAdd"])]
        assert session.run(var) == 21.0


def test_a_timeline_shows_all_tasks_and_what_went_between_them(local: list[tf.train.Server]) -> None:
    with tf.device("/job:local/task:1"):
        var = tf.Variable(tf.ones([8, 8]), name="var")
        doubled = tf.multiply(var, 2.0, name="doubled")
    with tf.device("/job:local/task:0"):
        total = tf.reduce_sum(doubled, name="total")
    with tf.Session(local[0].target) as session:
        session.run(var.initializer)
        metadata = tf.RunMetadata()
        for level in (tf.RunOptions.NO_TRACE, tf.RunOptions.FULL_TRACE):
            assert session.run(total, options=tf.RunOptions(trace_level=level), run_metadata=metadata) == 128.0
    events = json.loads(timeline.Timeline(metadata.step_stats).generate_chrome_trace_format())["traceEvents"]
    processes = {event["args"]["name"]: event["pid"] for event in events if event["name"] == "process_name"}
    assert sorted(processes) == [f"{TASK0} Compute", f"{TASK1} Compute"]
    ran = {(event["pid"], event["args"]["name"]): event for event in events if event["ph"] == "X"}
    sent, received = processes[f"{TASK1} Compute"], processes[f"{TASK0} Compute"]
    assert {(sent, "var"), (sent, "doubled"), (received, "total")} <= set(ran)
    (transfer,) = (event for event in ran.values() if event["name"] == "RecvTensor")
    assert transfer["pid"] == received
    label = r"\[256B\] edge_\d+_doubled from /job:local/replica:0/task:1 to /job:local/replica:0/task:0"
    assert re.fullmatch(label, transfer["args"]["name"])
    assert ran[sent, "doubled"]["ts"] <= transfer["ts"] <= ran[received, "total"]["ts"]
    # The arrow of the value ends at the transfer.
    arrows = [event for event in events if event["ph"] in "st" and event["name"] == "doubled"]
    assert [event["pid"] for event in arrows if event["ts"] == transfer["ts"] and event["ph"] == "t"] == [received]


def test_each_session_has_its_own_graph_and_shares_values_once_both_name_the_variable(local: list[tf.train.Server]) -> None:
    graph1, graph2 = tf.Graph(), tf.Graph()
    with graph1.as_default():
        var1 = tf.Variable(0.0, name="var")
    with tf.Session(local[0].target, graph=graph1) as sess1, tf.Session(local[1].target, graph=graph2) as sess2:
        assert str(graph1.get_operations()) == (
            "[<tf.Operation 'var/initial_value' type=Const>, <tf.Operation 'var' type=VariableV2>, "
            "<tf.Operation 'var/Assign' type=Assign>, <tf.Operation 'var/read' type=Identity>]"
        )
        assert graph2.get_operations() == []
        with graph2.as_default():
            var2 = tf.Variable(0.0, name="var")
        sess1.run(var1.assign(1.0))
        assert sess2.run(var2) == 1.0
