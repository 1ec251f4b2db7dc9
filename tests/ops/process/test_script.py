from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.graphs.graph import Graph


def _run(func: Any, inputs: Any, Tout: Any) -> Any:
    with Graph().as_default() as graph:
        result = tf.py_func(func, inputs, Tout)
        with tf.Session(graph=graph) as session:
            return session.run(result)


def test_a_function_gets_arrays_and_gives_arrays() -> None:
    assert _run(lambda a, b: a + b, [np.float32([1, 2]), 3.0], tf.float32).tolist() == [4.0, 5.0]
    first, second = _run(lambda a: (a, a.astype(np.int64)), [np.float32([1, 2])], [tf.float32, tf.int64])
    assert (first.dtype, second.dtype) == (np.float32, np.int64)


def test_scalars_arrive_as_scalars_and_strings_as_bytes() -> None:
    seen: list[Any] = []
    _run(lambda a, b: seen.extend([a, b]), [np.float32(2), "x\0"], [])
    assert isinstance(seen[0], np.float32)
    assert seen[1] == b"x\0"


def test_text_becomes_utf_8() -> None:
    assert _run(lambda: "é", [], tf.string) == "é".encode()


@pytest.mark.parametrize(
    ("func", "Tout", "error", "text"),
    [
        (lambda: 1.0, tf.float32, "InvalidArgumentError", r"0-th value returned by pyfunc_\d+ is double, but expects float"),
        (lambda: (1, 2), tf.int64, "InvalidArgumentError", r"pyfunc_\d+ returns 2 values, but expects to see 1 values."),
        (lambda: int("x"), tf.int64, "InvalidArgumentError", "ValueError: invalid literal"),
        (lambda: {}["x"], tf.int64, "UnknownError", "KeyError: 'x'"),
        (lambda: next(iter(())), tf.int64, "OutOfRangeError", "StopIteration"),
    ],
)  # fmt: skip
def test_what_a_function_does_wrong_is_told_in_tensorflows_words(func: Any, Tout: Any, error: str, text: str) -> None:
    with pytest.raises(getattr(tf.errors, error), match=text):
        _run(func, [], Tout)


def test_only_functions_can_be_called() -> None:
    with Graph().as_default(), pytest.raises(ValueError, match="Expected func to be callable"):
        tf.py_func(3, [], tf.int32)


def test_a_function_lives_as_long_as_its_graph() -> None:
    class Callback:
        def __call__(self) -> Any:
            return np.float32(1)

    callback = Callback()
    alive = weakref.ref(callback)
    graph = Graph()
    with graph.as_default():
        tf.py_func(callback, [], tf.float32)
    del callback
    gc.collect()
    assert alive() is not None
    del graph
    gc.collect()
    assert alive() is None


_SERVER_WITH_FUNCTIONS = """
import sys
import numpy as np
import weft as tf

for _ in range(8):
    tf.py_func(lambda a: a * np.float32(1000), [1.0], tf.float32)
server = tf.train.Server.create_local_server()
print(server.target, flush=True)
sys.stdin.read()
"""


def test_another_process_refuses_a_function_that_is_not_its_own() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER_WITH_FUNCTIONS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            target = server.stdout.readline().strip()
            with Graph().as_default() as graph:
                result = tf.py_func(lambda a: a + np.float32(1), [1.0], tf.float32)
                with (
                    tf.Session(target, graph=graph) as session,
                    pytest.raises(tf.errors.InvalidArgumentError, match=r"callback pyfunc_\d+ is not found.*Place the node"),
                ):
                    session.run(result)
        finally:
            server.stdin.close()


_FORK = """
import os
from weft.ops.process import python_functions

child = os.fork()
if child:
    os.waitpid(child, 0)
print(python_functions.TOKENS.take(), flush=True)
if not child:
    os._exit(0)
"""


def test_a_forked_child_makes_tokens_of_its_own() -> None:
    ran = subprocess.run([sys.executable, "-c", _FORK], capture_output=True, text=True, timeout=60, check=True)
    (name, process), (other_name, other_process) = (line.split("@") for line in ran.stdout.split())
    assert name == other_name
    assert process != other_process


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_a_function_that_ends_its_thread_ends_the_step_with_an_error(error: BaseException) -> None:
    def stop() -> None:
        raise error

    stopped = tf.py_func(stop, [], tf.float32)
    with tf.Session() as session:
        waits = tf.RunOptions(timeout_in_ms=10_000)
        with ThreadPoolExecutor(1) as pool, pytest.raises(tf.errors.UnknownError, match=type(error).__name__):
            pool.submit(session.run, stopped, None, waits).result()
        with pytest.raises((tf.errors.UnknownError, type(error))):
            session.run(stopped, options=waits)
        assert session.run(tf.py_func(lambda: 2.0, [], tf.double)) == 2.0
