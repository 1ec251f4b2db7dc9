"""A graph of its own for every test, sessions of every kind to run it, and an operation that blocks."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf

OpenSession = Callable[..., tf.Session]

# For what is expected to happen at once; only a test that fails waits that long.
PATIENCE_S = 20.0


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """The default graph of the test, empty at its start."""
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(params=["direct", "in process", "remote"])
def open_session(request: pytest.FixtureRequest, graph: tf.Graph) -> Iterator[OpenSession]:
    """Opens sessions of one kind on the test's graph: without a server, on one of this process, and on one over RPC."""
    with contextlib.ExitStack() as stack:
        target = ""
        if request.param != "direct":
            target = stack.enter_context(tf.train.Server.create_local_server()).target

        def open_one(config: Any = None) -> tf.Session:
            config = tf.ConfigProto() if config is None else config
            config.rpc_options.use_rpc_for_inprocess_master = request.param == "remote"
            session = tf.Session(target, graph, config)
            stack.callback(session.close)
            return session

        yield open_one


class Gate:
    """A node that blocks until it is opened; `entered` tells that a step waits at it."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self._opened = threading.Event()
        self.tensor = tf.py_func(self._wait, [], tf.float32, name="gate")

    def _wait(self) -> Any:
        self.entered.set()
        assert self._opened.wait(PATIENCE_S)
        return np.float32(1)

    def open(self) -> None:
        """Let every step through from now on."""
        self._opened.set()


@pytest.fixture
def gate(graph: tf.Graph) -> Iterator[Gate]:
    """A gate in the test's graph; it is opened at the end, so that no thread stays behind."""
    gate = Gate()
    yield gate
    gate.open()
