"""SessionSteps: the steps of one session, each planned once, and the errors of their runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from tensorboard.compat.proto import config_pb2

from weft.client import feeds, remedies
from weft.client.backend import Backend
from weft.client.growth_watch import GrowthWatch
from weft.client.plans import Plan, Plans
from weft.client.tensor_handle import KeptTensors, TensorHandle
from weft.errors import InternalError, OpError
from weft.framework.building.aliases import Array, Fetches
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.node_errors import operand_lines
from weft.framework.nodes.operation import Operation, Tensor
from weft.platform.tracebacks.short_traceback import is_full
from weft.platform.waits.deadline import within
from weft.runtime.step.spans import spans
from weft.runtime.xla.xla_process import ForkedProcessError

CLOSED: Final = "Attempted to use a closed Session. It ends with its `with` block or by close(): run before, or make another."


class SessionSteps:
    """Plans a session's steps and runs them. Safe from many threads.

    Args:
        graph: the graph that the session runs.
        config: the session's ConfigProto.
        backend: what runs its steps; the session's until `close`.
    """

    def __init__(self, graph: Graph, config: config_pb2.ConfigProto | None, backend: Backend) -> None:
        self._graph = graph
        self._config = config
        self.backend: Backend | None = backend
        """None when the session is closed."""
        self.plans = Plans(graph)
        self._growth = GrowthWatch(graph)
        spans.look()

    def open_backend(self, fetches: Fetches = None) -> Backend:
        """The backend, of a session that can run something.

        Args:
            fetches: what is to run, for the error.

        Raises:
            RuntimeError: the session is closed, or the graph is empty.
        """
        backend = self.backend
        if backend is None:
            raise RuntimeError(CLOSED)
        if not self._graph.operations:
            one = fetches is not None and not isinstance(fetches, list | tuple | dict | Tensor | Operation)
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run(). The session is of "
                f"{self._graph.label}: of what other graph is the fetch? Make both inside of one `with graph.as_default():`, "
                "or pass tf.Session(graph=...). A fetch is a tensor or an operation"
                f"{f', and this one is {fetches!r}' if one else '; a number is none'}."
            )
        return backend

    def look_up(self, fetches: Fetches, feed_dict: object, options: config_pb2.RunOptions | None) -> tuple[Plan, list[object]]:
        """The plan of a run, made if there is none, and the values that are fed."""
        if feed_dict:
            pairs = feeds.resolve(self._graph, feed_dict)
            if TensorHandle in map(type, pairs.values()):
                pairs = dict(KeptTensors.fed(t, v) if type(v) is TensorHandle else (t, v) for t, v in pairs.items())
            fed = list(pairs)
            values = [feeds.as_feed(tensor, value) for tensor, value in pairs.items()]
        else:
            fed, values = [], []
        plan = self.plans.find(fetches, fed)
        return plan or self.make(fetches, fed, options), values

    def make(self, fetches: Fetches, fed: list[Tensor], options: config_pb2.RunOptions | None = None) -> Plan:
        """Plan a step, unless it is planned already. What the tasks are asked before a step takes nothing from its own time."""
        backend = self.open_backend(fetches)
        self._growth.look()
        try:
            return self.plans.make(fetches, fed, functools.partial(backend.prepare, timeout_s=self.limit_s(options)))
        except OpError as error:
            raise self.located(error) from None

    def run(
        self, plan: Plan, values: Sequence[object], options: config_pb2.RunOptions | None
    ) -> tuple[list[Array], config_pb2.RunMetadata | None]:
        """Run a planned step; returns the fetched values and the RunMetadata, or None."""
        tracing = spans.tracing
        try:
            if tracing is None:
                return plan.step.run(values, options)
            with tracing.run(len(values)):
                return plan.step.run(values, options)
        except OpError as error:
            self._raise(error)

    def repeat(self, plan: Plan, go_on: Callable[[], bool]) -> None:
        """Run a planned step without feeds at least once, and again for a short while as long as `go_on` says so."""
        try:
            plan.step.repeat(go_on)
        except OpError as error:
            self._raise(error)

    def _raise(self, error: OpError) -> NoReturn:
        if isinstance(error.__cause__, ForkedProcessError):
            raise error.__cause__ from None
        raise self.located(error) from error.__cause__

    def limit_s(self, options: config_pb2.RunOptions | None) -> float | None:
        """How many seconds a step may take, and before it each of what the tasks are asked for it."""
        checked = checked_options(options)
        timeout_ms = 0 if checked is None else checked.timeout_in_ms
        timeout_ms = timeout_ms or (self._config.operation_timeout_in_ms if self._config is not None else 0)
        return timeout_ms / 1000 if timeout_ms > 0 else None

    def located(self, error: OpError) -> OpError:
        """The error with the client's own operation, found by name when it comes from another task's copy of the graph."""
        op = error.op
        if op is not None and op.graph is not self._graph:
            op = self._graph.find_operation(op.name)
        elif op is None and error.node_def is not None:
            op = self._graph.find_operation(error.node_def.name)
        # An error that came over the wire has no more than the node's name: the NodeDef is the client's too.
        error.locate(op, None if op is None else op.node_def, operand_lines)
        remedies.attach(error, self._graph)
        # The frames between here and the failure are weft's.
        return error if is_full() or isinstance(error, InternalError) else error.with_traceback(None)

    def close(self) -> None:
        """End the session with its backend: runs that are blocked in other threads get CancelledError."""
        backend, self.backend = self.backend, None
        if backend is not None:
            with within(self.limit_s(None)):
                backend.close()
        self.plans.clear()


def checked_options(options: config_pb2.RunOptions | None) -> config_pb2.RunOptions | None:
    """The options of a run; TypeError for anything else."""
    if options is not None and not isinstance(options, config_pb2.RunOptions):
        raise TypeError(f"options must be a tf.RunOptions, but got {type(options)}")
    return options
