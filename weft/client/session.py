"""Session: runs a graph on the devices of this process or of a cluster.

A run is planned once for each combination of fetches and feeds. With a ready plan it costs a look-up, the conversion of the
feeds, the step itself and the conversion of the fetches.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from weft.client import feeds, targets, used_targets
from weft.client.partial_runs import PartialRuns
from weft.client.plans import Plan
from weft.client.session_steps import CLOSED, SessionSteps, checked_options
from weft.client.stage_table import StageTable
from weft.client.tensor_handle import KeptTensors, TensorHandle
from weft.errors import CancelledError, OpError
from weft.framework.building.aliases import Feeds, Fetches, FetchValue
from weft.framework.building.run_signature import typed_make_callable, typed_run
from weft.framework.context.default_stack import default_graphs, default_sessions
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dtypes import DType
from weft.framework.types.value_types import OrNone
from weft.platform.hints.argument_checks import check_arguments
from weft.proto.messages import ConfigProto, RunMetadata, RunOptions


class BaseSession:
    """The common part of all sessions: running, callables, devices, closing. Safe from many threads."""

    def __init__(
        self,
        target: str | bytes = "",
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        timeout: float | None = None,
    ) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if config is not None and not isinstance(config, ConfigProto):
            meant = ""
            if hasattr(config, "target"):
                meant = ": a server's address is the first argument, tf.Session(server.target)"
            elif isinstance(config, dict):
                meant = f": tf.ConfigProto({', '.join(f'{name}={value!r}' for name, value in config.items())}) makes one"
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}{meant}")
        config = _with_session_timeout(config, timeout)
        self._target = checked_target(target)
        self._graph = get_default_graph() if graph is None else graph
        self._closed = False
        self._when_closed: list[Callable[[], None]] = []
        self._partial_runs = PartialRuns(self._graph)
        self._kept_tensors = KeptTensors(self._graph)
        # By this name, TensorFlow's own, libraries look at a session's options.
        self._config = config
        self._steps = SessionSteps(self._graph, config, targets.open_backend(self._target, self._graph, config))
        used_targets.note(self._target, config)

    @property
    def graph(self) -> Graph:
        """The graph that this session runs."""
        return self._graph

    @property
    def graph_def(self) -> GraphDef:
        """The graph's GraphDef."""
        return self._graph.as_graph_def()

    def __repr__(self) -> str:
        where = f"on {self._target}" if self._target else "in this process"
        return f"<tf.{type(self).__name__} {where} of {self._graph.label}{', closed' if self._closed else ''}>"

    @property
    def sess_str(self) -> bytes:
        """The target, in bytes."""
        return self._target.encode()

    @typed_run
    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> FetchValue:
        """Run the part of the graph that the fetches need, and return their values in the structure of `fetches`.

        Blocks until the step is over in every task.

        Args:
            fetches: a tensor, operation (gives None), variable, name, or any nesting of these in lists, tuples, dicts.
            feed_dict: tensor -> value for this run; any feedable tensor, not only placeholders.
            options: a RunOptions: a timeout, a trace level.
            run_metadata: a RunMetadata to fill.

        Raises:
            RuntimeError: the session is closed, or the graph is empty.
            TypeError, ValueError: a fetch or feed is not of this graph, or does not fit.
            OpError: the step failed.
        """
        if self._closed:
            raise RuntimeError(CLOSED)
        if self._kept_tensors.has_dropped:
            self._kept_tensors.delete_dropped(self)
        plan = None if feed_dict else self._steps.plans.find(fetches, ())
        if plan is not None and options is None and run_metadata is None:
            return plan.results(self._steps.run(plan, (), None)[0], (), self._handle_of)
        plan, values = self._steps.look_up(fetches, feed_dict, options)
        return self._run_plan(plan, values, options, run_metadata)

    def _run_plan(
        self,
        plan: Plan,
        values: Sequence[object],
        options: RunOptions | None,
        run_metadata: RunMetadata | None,
    ) -> Any:
        fetched, metadata = self._steps.run(plan, values, checked_options(options))
        if run_metadata is not None:
            run_metadata.Clear()
            if metadata is not None:
                run_metadata.CopyFrom(metadata)
        return plan.results(fetched, values, self._handle_of)

    def _handle_of(self, handle: bytes, dtype: DType) -> TensorHandle:
        return TensorHandle(handle.decode(), dtype, self, self._kept_tensors)

    def explain(self, fetches: object, feed_dict: Mapping[Tensor, object] | Sequence[Tensor] | None = None) -> StageTable:
        """Which way each stage of a run goes, and why; see `weft.explain`. Runs nothing.

        Args:
            fetches: as for `run`.
            feed_dict: as for `run`, or a list of the tensors that are fed: their values do not matter.
        """
        fed = feeds.tensors_of(self._graph, list(feed_dict or ()))
        plan = self._steps.plans.find(fetches, fed) or self._steps.make(fetches, fed)
        try:
            return StageTable(plan.step.explain())
        except OpError as error:
            raise self._steps.located(error) from None

    @typed_make_callable
    def make_callable(
        self, fetches: Fetches, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function of the values of `feed_list` that runs `fetches`; cheaper than `run` for a step that is repeated.

        Args:
            fetches: as for `run`.
            feed_list: the tensors whose values the function takes, in this order. It may be given fewer: the others are not fed
                then, which a placeholder with a default allows.
            accept_options: whether the function takes `options` and `run_metadata` as well, by name, or by place where there
                is no feed list.

        Raises:
            TypeError: `feed_list` is no list of tensors.
        """
        if feed_list is not None and not isinstance(feed_list, list | tuple):
            raise TypeError(f"`feed_list` must be a list or tuple of the tensors to feed, not {feed_list!r}.")
        fed = feeds.tensors_of(self._graph, feed_list)
        count = len(feed_list or ())
        plan = self._steps.make(fetches, fed)

        def call(*args: Any, options: RunOptions | None = None, run_metadata: RunMetadata | None = None) -> Any:
            if not count and accept_options and len(args) <= 2:
                options, run_metadata = (*args, options, run_metadata)[:2]
                args = ()
            if self._closed:
                # With feeds TensorFlow's goes through `run`, without them it asks the session itself.
                raise RuntimeError(CLOSED) if count else CancelledError.of(f"Session has been closed. {CLOSED}")
            if len(args) > count:
                raise ValueError(f"Must pass {count} feed values to this callable, got {len(args)}")
            if (options is not None or run_metadata is not None) and not (accept_options or count):
                raise TypeError("This callable was made without accept_options=True, so it takes no options")
            if len(args) < len(fed):
                given = dict(zip(feed_list or (), args, strict=False))
                return self.run(fetches, given, options, run_metadata)
            values = [feeds.as_feed(tensor, value) for tensor, value in zip(fed, args, strict=True)]
            return self._run_plan(plan, values, options, run_metadata)

        return call

    def make_repeated(self, operation: Operation, go_on: Callable[[], bool]) -> Callable[[], object]:
        """A function that runs an operation once, or a number of times one after the other.

        For a thread that calls it again and again, as a QueueRunner's do. In a session of this process, where `operation` needs
        no other task, such runs follow each other without waking a thread.

        Args:
            operation: what is run.
            go_on: asked between two runs, on any thread, whether there is to be another.
        """
        own = type(self)
        if own.run is not BaseSession.run or own.make_callable is not BaseSession.make_callable:
            # A program's own class, which sees each run.
            return self.make_callable(operation)
        plan = self._steps.make(operation, [])

        def call() -> None:
            if self._closed:
                raise RuntimeError(CLOSED)
            self._steps.repeat(plan, go_on)

        return call

    def partial_run_setup(self, fetches: Fetches, feeds: Feeds | None = None) -> str:
        """Begin a step that `partial_run` runs in pieces; returns its handle.

        Args:
            fetches: all that the pieces may fetch, of any nesting.
            feeds: the tensors that the pieces may feed.
        """
        try:
            return self._partial_runs.set_up(self._steps.open_backend(), fetches, feeds)
        except OpError as error:
            raise self._steps.located(error) from error.__cause__

    def partial_run(self, handle: str, fetches: Fetches, feed_dict: Feeds | None = None) -> FetchValue:
        """Run the next piece of a step, and return the values of `fetches`.

        Every operation of the step runs once; what it computed is kept for the pieces that follow.

        Args:
            handle: what `partial_run_setup` returned; it names the step.
            fetches: tensors that were announced there, in any structure that `run` takes.
            feed_dict: values for tensors that were announced as feeds, each fed in one piece only.

        Raises:
            InvalidArgumentError: a feed or fetch was not announced or was used before, or a feed is missing.
            RuntimeError: an operation is fetched.
        """
        self._steps.open_backend()
        try:
            return self._partial_runs.run(handle, fetches, feed_dict)
        except OpError as error:
            raise self._steps.located(error) from error.__cause__

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices of every task of the session's cluster.

        Raises:
            RuntimeError: the session is closed.
        """
        backend = self._steps.backend
        if backend is None:
            raise RuntimeError(CLOSED)
        return backend.list_devices()

    def is_on_tensorflow_server(self) -> bool:
        """Whether a server of TensorFlow's runs the steps; blocks until the server is there."""
        return targets.is_foreign(self._steps.backend)

    def close(self) -> None:
        """End the session: runs that are blocked in other threads get CancelledError. State on servers stays."""
        self._closed = True
        self._steps.close()
        callbacks, self._when_closed = self._when_closed, []
        for callback in callbacks:
            callback()

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def when_closed(self, callback: Callable[[], None]) -> None:
        """Have a function called at the end of `close`.

        Args:
            callback: called without arguments, in the thread that closes the session.
        """
        self._when_closed.append(callback)

    def as_default(self) -> contextlib.AbstractContextManager[BaseSession]:
        """Make this the default session for the block, for `eval` and `Operation.run`.

        Returns:
            A context manager whose value is this session; leaving it does not close the session.
        """
        return default_sessions.use(self)

    # The default keeps the function: at the process's end the names of modules may be gone before a session is.
    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        steps = getattr(self, "_steps", None)
        # At the process's end its threads and locks are as they are; the servers see the connections end.
        if steps is not None and steps.backend is not None and not is_finalizing():
            steps.backend.abandon()


class Session(BaseSession):
    """A session as a context manager: `with tf.Session() as sess` makes it and its graph the defaults, and closes it.

    Args:
        target: '' for this process, or the `grpc://host:port` of a server.
        graph: the graph to run; the default graph when None.
        config: a ConfigProto.
        timeout: how many seconds anything may take that the session asks of its server: each step, and, before the first one of
            its kind, opening the session, sending nodes and planning, each for itself; and closing. It takes the place of the
            config's `operation_timeout_in_ms`.

    >>> with tf.Session() as session:
    ...     print(session.run(tf.constant(2) * 3))
    6
    """

    def __init__(
        self,
        target: str | bytes = "",
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        timeout: float | None = None,
    ) -> None:
        super().__init__(target, graph, config, timeout)
        self._entered: list[Any] | None = None

    def __enter__(self) -> Session:
        if self._entered is not None:
            raise RuntimeError("Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter a "
                               "session multiple times.")  # fmt: skip
        graph_block, session_block = self.graph.as_default(), self.as_default()
        graph_block.__enter__()
        session_block.__enter__()
        self._entered = [graph_block, session_block]
        return self

    def __exit__(self, exc_type: object, exc_value: object, exc_tb: object) -> None:
        assert self._entered is not None
        graph_block, session_block = self._entered
        self._entered = None
        session_block.__exit__(exc_type, exc_value, exc_tb)
        graph_block.__exit__(exc_type, exc_value, exc_tb)
        self.close()

    @staticmethod
    def reset(target: str | bytes, containers: Sequence[str] | None = None, config: ConfigProto | None = None) -> None:
        """Drop the resources in the containers given, or in all, on the server `target` and its cluster.

        Sessions that are open there get AbortedError afterwards. Without a target, the sessions of this process that use no
        server are closed: each has resources of its own.

        Args:
            target: the server's address, such as "grpc://host:2222"; empty for this process.
            containers: the names of the containers; None or none for all.
            config: how the server is reached: `operation_timeout_in_ms` limits the call.

        Raises:
            NotFoundError: `target` is no server's address. DeadlineExceededError: it cannot be reached in time.
        """
        check_arguments(Session.reset, containers=containers, config=config)
        targets.reset(checked_target(target), list(containers or ()), config)


class InteractiveSession(BaseSession):
    """A session that is the default one from its making until it is closed, for notebooks and shells.

    Only what a run needs is placed: a device that is missing here is no error elsewhere in the graph.

    Args: those of `tf.Session`.
    """

    _active_session_count = 0
    _count_lock = threading.Lock()

    def __init__(
        self,
        target: str | bytes = "",
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        timeout: float | None = None,
    ) -> None:
        super().__init__(target, graph, _placing_what_runs(config), timeout)
        if InteractiveSession._active_session_count:
            warnings.warn(
                "An interactive session is already active. This can cause out-of-memory errors in some cases. You must "
                "explicitly call `InteractiveSession.close()` to release resources held by the other session(s).",
                stacklevel=2,
            )
        with InteractiveSession._count_lock:
            InteractiveSession._active_session_count += 1
        self._is_counted = True
        default_sessions.push(self)
        if graph is not None:
            default_graphs.push(self.graph)
        self._owns_default_graph = graph is not None

    def close(self) -> None:
        """Close the session and stop being the default."""
        super().close()
        with InteractiveSession._count_lock:
            InteractiveSession._active_session_count -= self._is_counted
            self._is_counted = False
        default_sessions.remove(self)
        if self._owns_default_graph:
            default_graphs.remove(self.graph)
            self._owns_default_graph = False


def get_default_session() -> BaseSession | OrNone:
    """The innermost default session of this thread, or None.

    >>> with tf.Session() as session:
    ...     print(tf.get_default_session() is session)
    True

    Returns:
        The session, or None where no block of this thread has one.
    """
    return default_sessions.get_default()


def checked_target(target: str | bytes | None) -> str:
    """A session's target as text; TypeError for what is none, such as a server.

    Args:
        target: the target; None for this process.
    """
    if isinstance(target, bytes):
        return target.decode()
    if target is not None and not isinstance(target, str):
        raise TypeError(f"target must be a string, but got {type(target)}{_target_meant(target)}")
    return target or ""


def _target_meant(target: object) -> str:
    """What was meant by a server, cluster or graph in the place of a target."""
    own = getattr(target, "target", None)
    if isinstance(own, str):
        return f": a server's is its attribute `target`, here {own!r}"
    if hasattr(target, "as_cluster_def"):
        return ": it is that of one server of the cluster, server.target or 'grpc://host:port'"
    return ": a graph is given as Session(graph=...)" if isinstance(target, Graph) else ""


def _placing_what_runs(config: ConfigProto | None) -> ConfigProto | None:
    """The config, by which only the nodes of a run are placed."""
    if config is not None and not isinstance(config, ConfigProto):
        return config  # It is refused later.
    changed = ConfigProto()
    if config is not None:
        changed.CopyFrom(config)
    changed.graph_options.place_pruned_graph = True
    return changed


def _with_session_timeout(config: ConfigProto | None, timeout_s: float | None) -> ConfigProto | None:
    """The config with a session's timeout, if it has one."""
    if timeout_s is None:
        return config
    if not timeout_s > 0:
        raise ValueError(f"timeout must be a positive number of seconds, but got {timeout_s!r}")
    limited = ConfigProto()
    if config is not None:
        limited.CopyFrom(config)
    limited.operation_timeout_in_ms = max(int(timeout_s * 1000), 1)
    return limited
