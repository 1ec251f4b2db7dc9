"""The building of replicas: each by a thread of its own, one at a time, that stops where the replicas have to meet.

A function that builds a replica may call `merge_call` anywhere. Its thread stops there until all others have come as far; the
thread that began it all then calls the merging function once, and the replicas go on one after another. Only one thread runs
at any time, so that graphs are the same in each run.
"""

from __future__ import annotations

import contextvars
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final

from weft.framework.context import replication, scopes
from weft.framework.context.replication import Mode
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.types import dtypes
from weft.framework.types.replica_values import Function, StrategyLike, Value
from weft.ops.array.constant import constant
from weft.ops.variables.scopes import VariableScope, get_variable_scope
from weft.ops.variables.variable import variable_creator_scope
from weft.ops.variables.variable_scope import variable_scope
from weft.strategies.context import ReplicaContext
from weft.strategies.replicas.values import regroup, select_replica

_UNIQUIFYING: Final = re.compile(r"_\d+(?=/|$)")


class _Stopped(BaseException):
    """Ends the thread of a replica because another one failed."""


class _Replica(ReplicaContext):
    """A replica and its thread."""

    def __init__(
        self,
        strategy: StrategyLike,
        index: int,
        first_id: int,
        device: str,
        creator: Function,
        call: Callable[[], Value],
    ) -> None:
        super().__init__(strategy, None, index)
        self._first_id = first_id
        self._device = device
        self._creator = creator
        self._call = call
        self._graph = get_default_graph()
        self._outer = get_variable_scope()
        self._turn = threading.Event()
        self._paused = threading.Event()
        self._is_stopped = False
        self.is_done = False
        self.error: BaseException | None = None
        self.result: Value = None
        self.meeting: _Meeting | None = None
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=lambda: context.run(self._run), name=f"weft replica {index}", daemon=True)
        self._thread.start()

    # For the thread that began it.

    def go_on(self) -> None:
        """Run to the next meeting or to the end; blocks until then."""
        self._turn.set()
        self._paused.wait()
        self._paused.clear()

    def stop(self) -> None:
        """End the thread; blocks until it has ended."""
        self._is_stopped = True
        self._turn.set()
        self._thread.join()

    # In its own thread.

    def _run(self) -> None:
        self._wait()
        try:
            if not self._is_stopped:
                self.result = self._built()
                self.is_done = True
        except _Stopped:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self._paused.set()

    def _wait(self) -> None:
        self._turn.wait()
        self._turn.clear()

    def _built(self) -> Value:
        graph, index = self._graph, self.local_index
        with ExitStack() as stack:
            stack.enter_context(graph.as_default())
            with graph.name_scope(None), graph.control_dependencies(None):
                self._replica_id_in_sync_group = constant(self._first_id + index, dtypes.int32)
            stack.enter_context(self)
            stack.enter_context(graph.device(self._device))
            stack.enter_context(graph.name_scope(_name_scope(graph, index)))
            stack.enter_context(variable_scope(self._outer, reuse=True if index else None))
            stack.enter_context(variable_creator_scope(self._creator))
            return self._call()

    def _merge_call(self, merge_fn: Function, args: Sequence[object], kwargs: Mapping[str, object]) -> Value:
        graph = get_default_graph()
        if graph is not self._graph:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a tf.function. Replicas cannot meet inside the branch of a "
                "cond, the body of a loop or a dataset's function: bring their values together outside of it."
            )
        self.meeting = _Meeting(merge_fn, args, kwargs, graph)
        self._paused.set()
        self._wait()
        if self._is_stopped:
            raise _Stopped
        return self.meeting.result


class _Meeting:
    """One replica's part in a `merge_call`, with the scopes that were open there."""

    def __init__(self, merge_fn: Function, args: Sequence[object], kwargs: Mapping[str, object], graph: Graph) -> None:
        self.merge_fn = merge_fn
        self.args = tuple(args)
        self.kwargs = dict(kwargs)
        self.name_scope = graph.get_name_scope()
        self.control = scopes.current(graph).control
        self.variable_scope: VariableScope = get_variable_scope()
        self.result: Value = None


def _name_scope(graph: Graph, index: int) -> str | None:
    outer = graph.get_name_scope()
    prefix = f"{outer}/" if outer else ""
    return f"{prefix}replica_{index}/" if index else prefix or None


def call_for_each_replica(
    strategy: StrategyLike, devices: Sequence[str], fn: Function, args: Sequence[object], kwargs: Mapping[str, object],
    first_id: int = 0,
) -> Value:  # fmt: skip
    """Build a replica on each device by `fn(*args, **kwargs)`.

    Args:
        strategy: the strategy, in whose scope this is called.
        devices: the devices.
        fn: builds a replica.
        args, kwargs: its arguments; of values of replicas each gets its own.
        first_id: the first replica's number among all that are in sync.

    Returns:
        What the replicas gave, regrouped.

    Raises:
        RuntimeError: the replicas met different numbers of times, or made different variables.
    """
    shared: dict[str, list[Value]] = {}
    replicas = [
        _Replica(
            strategy, index, first_id, device, _creator(shared, index),
            _bound(fn, select_replica(index, list(args)), select_replica(index, dict(kwargs))),
        )
        for index, device in enumerate(devices)
    ]  # fmt: skip
    try:
        while True:
            for each in replicas:
                each.go_on()
                if each.error is not None:
                    raise each.error
            finished = [each.is_done for each in replicas]
            if all(finished):
                return regroup(devices, [each.result for each in replicas])
            if any(finished):
                raise RuntimeError("Some replicas made a different number of replica_context().merge_call() calls.")
            _meet(strategy, devices, [each.meeting for each in replicas])
    finally:
        for each in replicas:
            each.stop()


def _bound(fn: Function, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Callable[[], Value]:
    return lambda: fn(*args, **kwargs)


def _meet(strategy: StrategyLike, devices: Sequence[str], meetings: Sequence[Value]) -> None:
    """Call the merging function once, where the first replica is, and give each replica its part of the result."""
    first = meetings[0]
    args = regroup(devices, [each.args for each in meetings])
    kwargs = regroup(devices, [each.kwargs for each in meetings])
    with _where(strategy, meetings):
        result = first.merge_fn(strategy, *args, **kwargs)
    for index, each in enumerate(meetings):
        each.result = select_replica(index, result)


@contextmanager
def _where(strategy: StrategyLike, meetings: Sequence[Value]) -> Iterator[None]:
    first, graph = meetings[0], get_default_graph()
    waited_for = list(dict.fromkeys(op for each in meetings for frame in each.control for op in frame.operations))
    with (
        replication.entered(Mode(strategy)),
        graph.name_scope(f"{first.name_scope}/" if first.name_scope else None),
        graph.control_dependencies(waited_for),
        variable_scope(first.variable_scope),
    ):
        yield


def _creator(shared: dict[str, list[Value]], index: int) -> Function:
    """The creator of a replica's variables: the first makes them, the others take those of the same names in order."""
    taken: dict[str, int] = {}

    def make(next_creator: Function, **kwargs: Value) -> Value:
        made = next_creator(**kwargs)
        shared.setdefault(_canonical(kwargs.get("name")), []).append(made)
        return made

    def take(next_creator: Function, **kwargs: Value) -> Value:
        name = _canonical(kwargs.get("name"))
        place = taken.get(name, 0)
        taken[name] = place + 1
        if place >= len(shared.get(name, ())):
            raise RuntimeError(
                f"Tried to create variable {kwargs.get('name')} with mismatching name on device {index}: replica 0 has made "
                f"{place} of this name. All replicas must make the same variables."
            )
        return shared[name][place]

    return take if index else make


def _canonical(name: str | None) -> str:
    return _UNIQUIFYING.sub("", name) if name else "Variable"
