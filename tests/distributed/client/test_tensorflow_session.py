"""A weft session on a TensorFlow server: what comes back, what is refused, and with which error."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests import tensorflows
from tests.promptness import LATE_S
from tests.told_waits import ToldWaits, tell_soon
from weft.ops.data_flow.replica_board import replica_board_read

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(120)]

KINDS = [
    "float16", "float32", "float64", "bfloat16",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
    "complex64", "complex128", "string", "qint8", "quint8", "qint32",
]  # fmt: skip


@pytest.fixture(scope="module", params=sorted(tensorflows.VARIABLES))
def version(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(scope="module")
def server(version: str) -> Iterator[str]:
    with tensorflows.servers(version, {"a": 1}) as targets:
        yield targets["a"][0]


@pytest.fixture(scope="module")
def cluster(version: str) -> Iterator[dict[str, list[str]]]:
    with tensorflows.servers(version, {"ps": 1, "worker": 1}) as targets:
        yield targets


@pytest.fixture
def target(server: str) -> Iterator[str]:
    tf.reset_default_graph()
    yield server
    tf.Session.reset(server)
    tf.reset_default_graph()


@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_of_every_type_comes_back_as_it_was_fed(target: str, kind: str) -> None:
    dtype = tf.as_dtype(kind)
    value = np.array([[b"", b"a\0b"]], object) if kind == "string" else np.array([[0, 1]]).astype(dtype.as_numpy_dtype)
    x = tf.placeholder(dtype, [None, 2])
    with tf.Session(target) as session:
        found = session.run(tf.identity(x), {x: value})
        empty = session.run(tf.identity(x), {x: value[:0]})
    assert found.dtype == np.dtype(dtype.as_numpy_dtype)
    assert found.tolist() == value.tolist()
    assert empty.shape == (0, 2)


def test_fetches_keep_their_structure_and_their_order(target: str) -> None:
    a, b = tf.constant(1, name="z"), tf.constant(2.5, name="a")
    with tf.Session(target) as session:
        found = session.run({"x": [a, (b, a)], "y": tf.no_op()})
    assert found == {"x": [1, (2.5, 1)], "y": None}


def test_a_fetch_that_is_fed_is_what_was_fed(target: str) -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.Session(target) as session:
        assert [each.tolist() for each in session.run([x, x * 2], {x: [1, 2]})] == [[1, 2], [2, 4]]


def test_a_graph_may_grow_between_runs(target: str) -> None:
    x = tf.constant([1.0, 2.0])
    with tf.Session(target) as session:
        assert session.run(x).tolist() == [1, 2]
        assert session.run(x * 3).tolist() == [3, 6]
        assert session.run(tf.add_n([x, x * 2, tf.ones([2])])).tolist() == [4, 7]


def test_variables_stay_on_the_server_for_the_next_session(target: str) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(5, name="w", use_resource=False)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        session.run([v.assign_add([1, 1]), w.assign_sub(2)])
    with tf.Session(target) as session:
        assert [value.tolist() for value in session.run([v, w])] == [[2, 3], 3]


def test_reset_drops_the_variables(target: str) -> None:
    v = tf.Variable(1.0, name="gone", use_resource=False)
    with tf.Session(target) as session:
        session.run(v.initializer)
    tf.Session.reset(target)
    with tf.Session(target) as session, pytest.raises(tf.errors.FailedPreconditionError, match="gone"):
        session.run(v)


def test_branches_and_loops_run_there(target: str) -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: x * 2, lambda: x - 1)
    n, z = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * x), [0, 1.0])
    with tf.Session(target) as session:
        assert session.run([y, n, z], {x: 2}) == [4, 5, 32]
        assert session.run(y, {x: -2}) == -3


def test_a_queue_keeps_its_elements_between_runs_and_ends(target: str) -> None:
    queue = tf.FIFOQueue(10, [tf.float32, tf.string], [[], []])
    taken = queue.dequeue()
    with tf.Session(target) as session:
        session.run(queue.enqueue_many([[1.0, 2.0], ["a", "b"]]))
        assert session.run(taken) == [1.0, b"a"]
        assert session.run(queue.size()) == 1
        session.run(queue.close())
        session.run(taken)
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
            session.run(taken)


def test_a_table_is_looked_up(target: str) -> None:
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    found = table.lookup(tf.constant(["b", "z"]))
    with tf.Session(target) as session:
        session.run(tf.tables_initializer())
        assert session.run(found).tolist() == [2, -1]


def test_a_dataset_is_iterated(target: str) -> None:
    following = tf.data.make_one_shot_iterator(tf.data.Dataset.range(5).batch(2)).get_next()
    with tf.Session(target) as session:
        try:
            assert [session.run(following).tolist() for _ in range(3)] == [[0, 1], [2, 3], [4]]
        except tf.errors.NotFoundError as error:
            # TensorFlow has the op under this name since 1.13 only where its data service is linked.
            pytest.skip(str(error))
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)


def test_a_partial_run_goes_on_where_it_was(target: str) -> None:
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    c = a + 1
    d = c * b
    with tf.Session(target) as session:
        handle = session.partial_run_setup([c, d], [a, b])
        assert session.partial_run(handle, c, {a: 1}) == 2
        assert session.partial_run(handle, d, {b: 3}) == 6


def test_a_callable_runs_with_what_it_is_given(target: str) -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.Session(target) as session:
        double = session.make_callable(x * 2, [x])
        assert [double([1, 2]).tolist(), double([3, 4]).tolist()] == [[2, 4], [6, 8]]


def test_the_servers_devices_are_listed(target: str) -> None:
    with tf.Session(target) as session:
        assert "/job:a/replica:0/task:0/device:CPU:0" in [device.name for device in session.list_devices()]


def test_a_trace_comes_with_the_step(target: str) -> None:
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(target) as session:
        session.run(tf.constant([1.0, 2.0]) + tf.random.uniform([2], seed=1), options=options, run_metadata=metadata)
    assert any("/job:a/" in stats.device for stats in metadata.step_stats.dev_stats)


def test_summaries_are_made_there(target: str) -> None:
    tf.summary.histogram("h", tf.constant([1.0, 2.0]))
    tf.summary.scalar("s", tf.constant(3.0))
    merged = tf.summary.merge_all()
    with tf.Session(target) as session:
        found = tf.Summary.FromString(session.run(merged))
    assert sorted(value.tag for value in found.value) == ["h", "s"]
    assert [value.simple_value for value in found.value if value.tag == "s"] == [3]


def test_a_checkpoint_that_the_server_wrote_is_read_here(target: str, tmp_path: Path) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver()
    with tf.Session(target) as session:
        session.run(v.initializer)
        path = saver.save(session, str(tmp_path / "model"))
        session.run(v.assign([0, 0]))
        saver.restore(session, path)
        assert session.run(v).tolist() == [1, 2]
    assert tf.train.load_checkpoint(path).get_tensor("v").tolist() == [1, 2]


def test_random_numbers_of_a_seed_are_those_of_this_process(target: str) -> None:
    x = tf.random.uniform([4], seed=3)
    with tf.Session(target) as there, tf.Session() as here:
        assert there.run(x).tolist() == here.run(x).tolist()


def test_a_tensor_of_many_megabytes_goes_there_and_back(target: str) -> None:
    value = np.arange(4_000_000, dtype=np.float32)
    x = tf.placeholder(tf.float32, [None])
    with tf.Session(target) as session:
        assert (session.run(x + 1, {x: value}) == value + 1).all()


@pytest.mark.parametrize(
    ("make", "error", "node", "text"),
    [
        (lambda: tf.placeholder(tf.float32, [2], "x") + 1, tf.errors.InvalidArgumentError, "x", "You must feed a value"),
        (lambda: tf.gather([1, 2], 5, name="g"), tf.errors.InvalidArgumentError, "g", "not in [0, 2)"),
        (lambda: tf.check_numerics(float("nan"), "bad", "c"), tf.errors.InvalidArgumentError, "c", "bad : Tensor had NaN"),
        (lambda: tf.floordiv(1, 0, "d"), tf.errors.InvalidArgumentError, "d", "division by zero"),
        (lambda: tf.read_file("/no/such/file", "r"), tf.errors.NotFoundError, "r", "/no/such/file"),
    ],
)
def test_errors_have_tensorflows_class_and_the_programs_operation(
    target: str, make: Any, error: type[tf.errors.OpError], node: str, text: str
) -> None:
    made = make()
    with tf.Session(target) as session, pytest.raises(error) as caught:
        session.run(made)
    assert text in caught.value.message
    assert caught.value.op is not None
    assert caught.value.op.name == node
    assert "test_tensorflow_session.py" in str(caught.value)


def test_a_step_that_takes_too_long_ends_at_its_deadline_and_the_session_goes_on(target: str) -> None:
    queue = tf.FIFOQueue(1, [tf.float32], [[]])
    taken = queue.dequeue()
    with tf.Session(target) as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(taken, options=tf.RunOptions(timeout_in_ms=200))
        assert session.run(queue.size()) == 0


def test_the_sessions_own_deadline_holds_for_every_step(target: str) -> None:
    taken = tf.FIFOQueue(1, [tf.float32], [[]]).dequeue()
    with tf.Session(target, timeout=1) as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(taken)


def test_a_server_that_stands_still_is_told_of_and_a_step_ends_at_its_deadline(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tf.reset_default_graph()
    x = tf.constant(1.0) + 1.0
    with tensorflows.started_servers(version, {"a": 1}) as started:
        server = started["a"][0]
        with tf.Session(server.target, timeout=5) as session:
            session.run(x)
            os.kill(server.process_id, signal.SIGSTOP)
            tell_soon(monkeypatch)
            told = ToldWaits()
            with told.listening(), pytest.raises(tf.errors.DeadlineExceededError, match="its process stands still"):
                session.run(x)
            assert server.target.removeprefix("grpc://") in told.texts[0]
            assert "running a step for 'add:0'" in told.texts[0]
            assert "its process stands still" in told.texts[0]


def test_a_step_whose_server_is_killed_ends_at_once(version: str) -> None:
    tf.reset_default_graph()
    queue = tf.FIFOQueue(1, [tf.float32], [[]])
    taken = queue.dequeue()
    with tensorflows.started_servers(version, {"a": 1}) as started:
        server = started["a"][0]
        with tf.Session(server.target) as session:
            session.run(queue.size())
            threading.Timer(0.3, os.kill, (server.process_id, signal.SIGKILL)).start()
            began_s = time.monotonic()
            for _ in range(2):
                with pytest.raises(tf.errors.UnavailableError, match=server.target.removeprefix("grpc://")):
                    session.run(taken)
            assert time.monotonic() - began_s < 0.3 + LATE_S


def test_a_deadline_names_the_tasks_for_which_the_server_may_wait(version: str) -> None:
    tf.reset_default_graph()
    with tf.device("/job:ps/task:0"):
        v = tf.Variable([1.0, 2.0], name="v", use_resource=False)
    with tf.device("/job:worker/task:0"):
        y = v * 3
    with (
        tensorflows.started_servers(version, {"ps": 1, "worker": 1}) as started,
        tf.Session(started["worker"][0].target, timeout=5) as session,
    ):
        session.run(v.initializer)
        os.kill(started["ps"][0].process_id, signal.SIGSTOP)
        with pytest.raises(tf.errors.DeadlineExceededError, match=r"its process lives.*/job:ps/task:0, /job:worker/task:0"):
            session.run(y)


def test_closing_the_session_ends_a_step_that_waits(target: str) -> None:
    queue = tf.FIFOQueue(1, [tf.float32], [[]])
    taken = queue.dequeue()
    session = tf.Session(target)
    session.run(queue.size())
    caught: list[Exception] = []

    def wait() -> None:
        try:
            session.run(taken)
        except (tf.errors.OpError, RuntimeError) as error:
            caught.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    threading.Timer(0.3, session.close).start()
    waiting.join(20)
    assert [type(error) for error in caught] == [tf.errors.CancelledError]


def test_ctrl_c_ends_a_step_that_waits_there(target: str) -> None:
    queue = tf.FIFOQueue(1, [tf.float32], [[]])
    taken = queue.dequeue()
    with tf.Session(target) as session:
        session.run(queue.size())
        main = threading.main_thread().ident or 0
        threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
        began_s = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            session.run(taken)
        assert time.monotonic() - began_s < 0.3 + LATE_S
        session.run(queue.enqueue(1.0))
        assert session.run(queue.size()) == 1


def test_an_op_that_tensorflow_does_not_know_is_named_with_its_nodes_and_harms_no_other(target: str) -> None:
    read = replica_board_read(container="c", shared_name="b", name="board")
    x = tf.constant(1) + 1
    with tf.Session(target) as session:
        with pytest.raises(tf.errors.NotFoundError, match=r"'ReplicaBoardRead'.*nodes of it: 'board'"):
            session.run(read)
        assert session.run(x) == 2


def test_explaining_a_step_says_that_only_wefts_servers_tell(target: str) -> None:
    x = tf.constant(1) + 1
    with tf.Session(target) as session, pytest.raises(tf.errors.UnimplementedError, match="only servers of weft"):
        session.explain(x)


def test_nodes_run_on_the_tasks_that_the_program_asks_for(cluster: dict[str, list[str]]) -> None:
    tf.reset_default_graph()
    with tf.device("/job:ps/task:0"):
        v = tf.Variable([1.0, 2.0], name="v", use_resource=False)
    with tf.device("/job:worker/task:0"):
        y = v * 3
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session(cluster["worker"][0]) as session:
        session.run(v.initializer)
        assert session.run(y, options=options, run_metadata=metadata).tolist() == [3, 6]
        names = [device.name for device in session.list_devices()]
    with tf.Session(cluster["ps"][0]) as other:
        assert other.run(v).tolist() == [1, 2]
    assert {name.split("/")[1] for name in names} == {"job:ps", "job:worker"}
    devices = {
        (stats.device.split("/")[1], node.node_name) for stats in metadata.step_stats.dev_stats for node in stats.node_stats
    }
    assert ("job:worker", "mul") in devices


def test_a_replica_device_setter_places_variables_on_the_ps(cluster: dict[str, list[str]]) -> None:
    tf.reset_default_graph()
    with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:0")):
        v = tf.get_variable("w", [3], initializer=tf.ones_initializer())
        total = tf.reduce_sum(v)
    with tf.Session(cluster["worker"][0]) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(total) == 3


def test_a_device_that_no_task_has_is_an_error(target: str) -> None:
    with tf.device("/job:none/task:0"):
        x = tf.constant(1.0, name="elsewhere")
    with tf.Session(target) as session, pytest.raises(tf.errors.InvalidArgumentError, match="elsewhere"):
        session.run(x)
