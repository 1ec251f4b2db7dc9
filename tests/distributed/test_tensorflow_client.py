"""A TensorFlow client opens a session on a weft server and sees what a server of its own would show it."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.distributed.waiting import until
from weft.distributed.server.server import Server
from weft.protocol.limits import ServerLimits

pytestmark = pytest.mark.oracle

_PREAMBLE = """
import json, sys
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import config_pb2
tf.disable_v2_behavior()
target = sys.argv[1]

def failure(run):
    try:
        run()
    except tf.errors.OpError as error:
        return [type(error).__name__, error.message, error.op.name if error.op is not None else None]
    return None
"""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server({"a": ["localhost:0"]}) as made:
        yield made


@pytest.fixture
def client(server: Server) -> Callable[[str], Any]:
    """Runs a script with TensorFlow as `tf` and the server as `target`; its `result` comes back."""
    interpreter = os.environ.get("WEFT_ORACLE_PYTHON")
    if not interpreter:
        pytest.skip("WEFT_ORACLE_PYTHON names no Python that has TensorFlow")

    def run(script: str) -> Any:
        code = _PREAMBLE + inspect.cleandoc(script) + "\nprint(json.dumps(result))"
        done = subprocess.run(
            [interpreter, "-c", code, server.target],
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""},
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run


def test_it_trains_a_variable_in_a_graph_that_grows(client: Callable[[str], Any]) -> None:
    result = client("""
        x = tf.placeholder(tf.float32, [None], "x")
        v = tf.Variable([1.0, 2.0], name="v", use_resource=False)
        y = x * v
        session = tf.Session(target)
        session.run(v.initializer)
        result = [session.run(y, {x: [3, 4]}).tolist()]
        session.run(tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(y)), {x: [2, 4]})
        result.append(session.run([v, y, y, x], {x: [1, 1]}))
        result[1] = [value.tolist() for value in result[1]]
        result.append(session.make_callable(y, [x])(np.float32([2, 2])).tolist())
    """)
    assert result == [[3, 8], [[0, 0], [0, 0], [0, 0], [1, 1]], [0, 0]]


def test_tensors_of_all_kinds_go_there_and_back(client: Callable[[str], Any]) -> None:
    assert (
        client("""
        values = [
            np.float32([[1.5]]), np.float64(2.5), np.int32([]), np.int64([[2**40]]), np.uint8([255]),
            np.bool_([True, False]), np.complex64([1 + 2j]), np.array([b"", b"a\\0b", "é".encode()], object),
            np.float16([1.5, 2.5]), np.ones(5_000_000, np.float32), np.zeros((3, 0, 2), np.int8),
        ]
        inputs = [tf.placeholder(tf.as_dtype(value.dtype) if value.dtype != object else tf.string) for value in values]
        outputs = [tf.identity(value) for value in inputs]
        with tf.Session(target) as session:
            found = session.run(outputs, dict(zip(inputs, values)))
        result = [bool(a.dtype == b.dtype and a.shape == b.shape and np.all(a == b)) for a, b in zip(values, found)]
    """)
        == [True] * 11
    )


def test_errors_come_back_as_their_classes_with_the_operation(client: Callable[[str], Any]) -> None:
    unfed, unset, elsewhere = client("""
        x = tf.placeholder(tf.float32, [2], "x")
        v = tf.Variable([1.0, 2.0], name="v", use_resource=False)
        y = tf.identity(v, "y")
        session = tf.Session(target)
        result = [failure(lambda: session.run(x + 1)), failure(lambda: session.run(y))]
        with tf.device("/job:b/task:0"):
            z = tf.constant(1.0, name="z")
        result.append(failure(lambda: session.run(z)))
    """)
    assert (unfed[0], unfed[2]) == ("InvalidArgumentError", "x")
    assert "You must feed a value for placeholder" in unfed[1]
    assert unset[0] == "FailedPreconditionError"
    assert "Attempting to use uninitialized value v" in unset[1]
    assert (elsewhere[0], elsewhere[2]) == ("InvalidArgumentError", "z")
    assert "Cannot assign a device" in elsewhere[1]


def test_an_op_that_weft_has_not_fails_the_steps_that_need_it_and_no_other(client: Callable[[str], Any]) -> None:
    first, second, other = client("""
        x = tf.constant(1.0) + 1.0
        session = tf.Session(target)
        session.run(x)
        y = tf.raw_ops.DebugNumericSummaryV2(input=x, name="unknown") + 1.0
        result = [failure(lambda: session.run(y)), failure(lambda: session.run(y)), float(session.run(x + 1.0))]
    """)
    assert first == second
    assert (first[0], first[2]) == ("NotFoundError", "unknown")
    assert "Op type not registered 'DebugNumericSummaryV2'" in first[1]
    assert other == 3


def test_branches_loops_and_their_gradients_grow_in_a_session(client: Callable[[str], Any]) -> None:
    assert client("""
        x = tf.placeholder(tf.float32, [], name="x")
        session = tf.Session(target)
        result = [float(session.run(x + 1.0, {x: 2.0}))]
        y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.cond(s > 5.0, lambda: s + x, lambda: s * x)), [0, x])[1]
        result.append(float(session.run(y, {x: 2.0})))
        gradient = tf.gradients(y, x)[0]
        result.append([float(each) for each in session.run([y, gradient], {x: 2.0})])
        result.append(float(session.run(tf.case([(y > 100.0, lambda: x)], default=lambda: -x), {x: 2.0})))
    """) == [3, 10, [10, 13], -2]


def test_variables_outlive_sessions_until_a_reset_which_aborts_those(client: Callable[[str], Any]) -> None:
    kept, aborted, lost = client("""
        v = tf.Variable(5.0, name="v", use_resource=False)
        with tf.Session(target) as first:
            first.run(v.initializer)
        second = tf.Session(target)
        kept = float(second.run(v))
        tf.Session.reset(target, ["a"])
        aborted = failure(lambda: second.run(v))
        result = [kept, aborted, failure(lambda: tf.Session(target).run(v))]
    """)
    assert kept == 5
    assert aborted[0] == "AbortedError"
    assert lost[0] == "FailedPreconditionError"


def test_devices_and_traces_name_the_servers_task(client: Callable[[str], Any]) -> None:
    devices, traced = client("""
        y = tf.constant(1.0) + tf.constant(2.0)
        session = tf.Session(target)
        metadata = tf.RunMetadata()
        session.run(y, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        devices = [[device.name, device.device_type, device.incarnation != 0] for device in session.list_devices()]
        result = [devices, [stats.device for stats in metadata.step_stats.dev_stats]]
    """)
    assert devices == [["/job:a/replica:0/task:0/device:CPU:0", "CPU", True]]
    assert traced == ["/job:a/replica:0/task:0/device:CPU:0"]


def test_callables_made_from_options_run(client: Callable[[str], Any]) -> None:
    assert client("""
        x = tf.placeholder(tf.float32, [2], "x")
        y = x * 3
        session = tf.Session(target)
        options = config_pb2.CallableOptions(feed=[x.name], fetch=[y.name])
        result = [value.tolist() for value in session._make_callable_from_options(options)(np.float32([1, 2]))]
    """) == [[3, 6]]


def test_a_closed_session_of_another_client_does_not_disturb(client: Callable[[str], Any]) -> None:
    assert client("""
        y = tf.constant(1.0) + tf.constant(2.0)
        first, second = tf.Session(target), tf.Session(target)
        found = [float(first.run(y)), float(second.run(y))]
        first.close()
        result = [*found, float(second.run(y))]
    """) == [3, 3, 3]


def test_a_session_lives_as_long_as_its_client_however_idle_and_no_longer() -> None:
    interpreter = os.environ.get("WEFT_ORACLE_PYTHON")
    if not interpreter:
        pytest.skip("WEFT_ORACLE_PYTHON names no Python that has TensorFlow")
    script = """
session = tf.Session(target)
v = tf.Variable(1.0)
session.run(v.initializer)
print("up", flush=True)
sys.stdin.readline()
print(session.run(v), flush=True)
sys.stdin.readline()
"""
    limits = ServerLimits(unused_session_s=0, lost_session_s=0)
    with Server({"a": ["localhost:0"]}, limits=limits) as server:
        command = [interpreter, "-c", _PREAMBLE + script, server.target]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
            try:
                assert client.stdin is not None
                assert client.stdout is not None
                assert client.stdout.readline() == "up\n"
                for _ in range(3):
                    server.sweep()
                assert server.session_count == 1
                client.stdin.write("\n")
                client.stdin.flush()
                assert client.stdout.readline() == "1.0\n"
            finally:
                client.kill()

        def is_closed() -> bool:
            server.sweep()
            return server.session_count == 0

        until(is_closed)
        assert server.worker.graph_count == 0
