"""tf.test.TestCase: a test case with sessions, and comparisons of arrays, messages and errors.

Each test gets a new default graph and the same random seeds, so that what it sees does not depend on the tests before it.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import IO, Any

import numpy as np
from absl import flags
from absl.testing import absltest
from google.protobuf import text_format
from google.protobuf.message import Message
from tensorboard.compat.proto import config_pb2

from weft.client.session import BaseSession, Session, get_default_session
from weft.errors import OpError
from weft.framework.building.aliases import FetchValue
from weft.framework.graphs.graph import GRAPH_DEF_VERSION, Graph, get_default_graph, reset_default_graph
from weft.framework.nested import nest
from weft.framework.version import GRAPH_DEF_VERSION_MIN_CONSUMER
from weft.ops.random.seed import set_random_seed
from weft.testing.array_assertions import ArrayAssertions
from weft.testing.captured_writes import CapturedWrites, capture

_SEED = 87654321


def get_temp_dir() -> str:
    """A directory for the files of this process's tests: `--test_tmpdir` where flags are parsed, else a new one."""
    if not (flags.FLAGS.is_parsed() and "test_tmpdir" in flags.FLAGS):
        return tempfile.mkdtemp()
    named = str(flags.FLAGS["test_tmpdir"].value)
    # Only absl's own `main` makes it.
    os.makedirs(named, exist_ok=True)
    return named


class CheckedThread:
    """A thread whose `join` raises what its function has raised, as a failure of the test that started it."""

    def __init__(
        self, case: TestCase, target: Callable[..., object], args: Sequence[object] | None, kwargs: Mapping[str, object] | None
    ) -> None:
        self._case, self._call = case, (target, args or (), kwargs or {})
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except BaseException as error:
            self._error = error

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the thread; the test fails when its function has raised."""
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error!r}")

    def is_alive(self) -> bool:
        """Whether the function is still running."""
        return self._thread.is_alive()


class TestCase(ArrayAssertions, absltest.TestCase):
    """A test case for programs with graphs.

    Example:

        class SquareTest(tf.test.TestCase):
            def test_square(self):
                with self.session():
                    self.assertAllEqual(tf.square([2, 3]).eval(), [4, 9])

        if __name__ == "__main__":
            tf.test.main()

    Args:
        methodName: the name of the test, as unittest gives it.
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._cached_session: Session | None = None
        self._cached_graph: Graph | None = None
        self._temp_dir: str | None = None

    def setUp(self) -> None:
        """Begin with a new default graph, with the same seeds for every test."""
        super().setUp()
        self._close_cached_session()
        random.seed(_SEED)
        np.random.seed(_SEED)
        reset_default_graph()
        set_random_seed(_SEED)

    def tearDown(self) -> None:
        """Close the cached session."""
        self._close_cached_session()
        super().tearDown()

    def _close_cached_session(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = self._cached_graph = None

    # Sessions and directories.

    @contextlib.contextmanager
    def session(
        self,
        graph: Graph | None = None,
        config: config_pb2.ConfigProto | None = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """A context with a session as the default one; it is closed at the end. GPUs are hidden unless `use_gpu`.

        Args:
            graph: the graph; the default one when None.
            config: a ConfigProto; the default one when None.
            use_gpu: whether GPUs can be used where there are any.
            force_gpu: whether operations without a device run on the GPU.
        """
        with Session(graph=graph, config=_configured(config, use_gpu, force_gpu)) as made:
            yield made

    @contextlib.contextmanager
    def cached_session(
        self,
        graph: Graph | None = None,
        config: config_pb2.ConfigProto | None = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """A context with the session that the whole test shares; it is closed when the test ends.

        Args:
            graph: the graph; the default one when None.
            config: a ConfigProto; the default one when None.
            use_gpu: whether GPUs can be used where there are any.
            force_gpu: whether operations without a device run on the GPU.

        Raises:
            ValueError: the test's session is one of another graph.
        """
        if self._cached_session is None:
            self._cached_session = Session(graph=graph, config=_configured(config, use_gpu, force_gpu))
            self._cached_graph = graph
        elif graph is not self._cached_graph:
            raise ValueError("The graph used to get the cached session is different than the one that was used to create it.")
        session = self._cached_session
        with session.graph.as_default(), session.as_default():
            yield session

    def test_session(
        self,
        graph: Graph | None = None,
        config: config_pb2.ConfigProto | None = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> contextlib.AbstractContextManager[Session]:
        """As `cached_session`, or as `session` when a graph is given; the older name.

        Args:
            graph: the graph; None for the session that the whole test shares.
            config: a ConfigProto; the default one when None.
            use_gpu: whether GPUs can be used where there are any.
            force_gpu: whether operations without a device run on the GPU.

        Returns:
            A context manager whose value is the Session.
        """
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        context = self.cached_session if graph is None else self.session
        return context(graph, config, use_gpu, force_gpu)

    def get_temp_dir(self) -> str:
        """A directory of this test's own, empty when it is first asked for."""
        if self._temp_dir is None:
            self._temp_dir = tempfile.mkdtemp(dir=get_temp_dir())
        return self._temp_dir

    # Threads and errors.

    def checkedThread(
        self, target: Callable[..., object], args: Sequence[object] | None = None, kwargs: Mapping[str, object] | None = None
    ) -> CheckedThread:
        """A thread whose `join` lets the test fail when the function has raised.

        Args:
            target: what the thread calls.
            args, kwargs: its arguments.
        """
        return CheckedThread(self, target, args, kwargs)

    def captureWritesToStream(self, stream: IO[str]) -> AbstractContextManager[CapturedWrites]:
        """A context whose `contents()` has, after it, what was written to the stream in it, also from C++.

        Args:
            stream: such as `sys.stderr`.
        """
        return capture(stream, self.get_temp_dir())

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]
        self, exception_type: type[Exception], expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """A context that must raise such an error; a regular expression must be found in its text, or a function accept it.

        Args:
            exception_type: the error's class.
            expected_err_re_or_predicate: a regular expression for its text, or a function that accepts the error.

        Raises:
            AssertionError: there is no such error, or its text is another.
        """
        try:
            yield
        except exception_type as error:
            if callable(expected_err_re_or_predicate):
                accepted = bool(expected_err_re_or_predicate(error))
            else:
                accepted = bool(re.search(expected_err_re_or_predicate, str(error)))
            if not accepted:
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            self.fail(f"{exception_type} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: object) -> AbstractContextManager[None]:
        """As `assertRaisesWithPredicateMatch`, for errors of operations.

        Args:
            expected_err_re_or_predicate: a regular expression for its text, or a function that accepts the error.

        Returns:
            A context manager, whose block has to raise such an error.
        """
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    # Messages.

    def assertProtoEquals(self, expected_message_maybe_ascii: object, message: Message, msg: str | None = None) -> None:
        """Fail unless two messages are equal; the first may be in text form.

        Args:
            expected_message_maybe_ascii: a message, or its text form.
            message: the message to look at.
            msg: what to say beside it.
        """
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = text_format.Merge(expected, type(message)())
        if type(expected) is not type(message):
            self.fail(f"Can't compare protos of type {type(expected)} and {type(message)}. {msg or ''}")
        if expected != message:
            self.fail(f"The messages differ: expected\n{expected}\nfound\n{message}\n{msg or ''}")

    def assertProtoEqualsVersion(
        self,
        expected: object,
        actual: Message,
        producer: int = GRAPH_DEF_VERSION,
        min_consumer: int = GRAPH_DEF_VERSION_MIN_CONSUMER,
        msg: str | None = None,
    ) -> None:
        """As `assertProtoEquals`, of a GraphDef in text form that lacks its versions.

        Args:
            expected: the text form, without versions.
            actual: the message to look at.
            producer, min_consumer: the versions that it must have.
            msg: what to say beside it.
        """
        self.assertProtoEquals(f"versions {{ producer: {producer} min_consumer: {min_consumer} }};\n{expected}", actual, msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """Fail unless the text begins with another.

        Args:
            actual: the text.
            expected_start: its beginning.
            msg: what to say beside it.
        """
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}. {msg or ''}")

    # Values.

    def evaluate(self, tensors: object) -> FetchValue:
        """The values of tensors, nested as they are, in one step of the default session, or of the one that the test shares.

        Args:
            tensors: tensors, in lists, tuples or dicts.
        """
        return nest.pack_sequence_as(tensors, self._values(nest.flatten(tensors)))

    def _session_of(self, graph: Graph) -> AbstractContextManager[BaseSession]:
        shared = self._cached_session
        of_shared = get_default_graph() if shared is None else shared.graph
        if get_default_session() is not None or graph is not of_shared:
            return super()._session_of(graph)
        return self.cached_session(self._cached_graph)


def _configured(config: config_pb2.ConfigProto | None, use_gpu: bool, force_gpu: bool) -> Any:
    made = config_pb2.ConfigProto()
    if config is None:
        made.allow_soft_placement = not force_gpu
    else:
        made.CopyFrom(config)
    if not use_gpu:
        made.device_count["GPU"] = 0
    return made


def main(argv: list[str] | None = None) -> None:
    """Run the tests of the program's main module, then exit.

    Args:
        argv: the command line; that of the process when None.
    """
    absltest.main(argv=argv)
