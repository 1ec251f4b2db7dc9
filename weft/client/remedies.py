"""The next step after an error of a run, as far as the client's graph tells it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from weft.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
)
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import REMEDY
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role

# What every data set ends with.
_END: Final = "End of sequence"
# The queue of SyncReplicasOptimizer, which replicas wait at for an update.
_TOKENS: Final = "sync_token_q"
# What tf.sparse_placeholder names its parts, in its own name's scope.
_SPARSE_PARTS: Final = ("indices", "values", "shape")
_NO_VALUE: Final = re.compile(r"uninitialized value (\S+)")
_BLOCKED_AT: Final = re.compile(r"blocked at (.+)")
_INITIALIZERS: Final = {
    GraphKeys.GLOBAL_VARIABLES: "tf.global_variables_initializer()",
    GraphKeys.LOCAL_VARIABLES: "tf.local_variables_initializer()",
}


class _Runner(Protocol):
    """A QueueRunner, as far as a remedy asks."""

    name: str

    @property
    def failure(self) -> Exception | None: ...

    @property
    def is_running(self) -> bool: ...


def attach(error: OpError, graph: Graph) -> None:
    """Give an error of a run its remedy, and where another error has caused it that as its cause."""
    if isinstance(error, FailedPreconditionError):
        error.remedy = _of_missing_state(error.message, graph)
    elif isinstance(error, OutOfRangeError) and error.op is not None and "is closed" in error.message:
        _explain_closed(error, graph)
    elif isinstance(error, OutOfRangeError) and error.message == _END:
        error.remedy = (
            "All elements were taken, if there were any (a pattern may match no file): `except tf.errors.OutOfRangeError` "
            "ends a loop here, dataset.repeat() gives them again, and running iterator.initializer begins again."
        )
    elif isinstance(error, DeadlineExceededError):
        error.remedy = _of_blocked(error.message, graph)
    elif isinstance(error, InvalidArgumentError) and error.message.startswith("You must feed a value for placeholder"):
        name = error.op.name if error.op is not None else ""
        error.remedy = f"Feed it: run(..., feed_dict={{{_fed(name, graph)}}}); what is fetched depends on it."
    elif error.op is not None and isinstance(error, InvalidArgumentError) and "is not in [0, " in error.message:
        error.remedy = _of_part(error.op, graph)
    elif error.op is not None:
        # A layer that checks what it is given by an op says what the op's own words cannot.
        error.remedy = str(error.op.attrs.get(REMEDY, ""))


def _fed(name: str, graph: Graph) -> str:
    """An item of a feed_dict: of a part of a sparse placeholder the whole."""
    whole = name.rpartition("/")[0]
    if whole and all(f"{whole}/{part}" in graph.operations for part in _SPARSE_PARTS):
        return f"{whole}: tf.SparseTensorValue(indices, values, dense_shape)"
    return f"{name}: value"


def _of_part(op: Operation, graph: Graph) -> str:
    """For a row that a part of a variable lacks: the whole, which the program knows."""
    name = op.inputs[0].op.name.removesuffix("/read")
    for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
        info = getattr(variable, "_save_slice_info", None)
        if info is not None and variable.op.name == name:
            return (
                f"{name!r} is a part of the variable {info.full_name!r}, of {info.full_shape[0]} rows: an id is beyond them, "
                "and the number above is that of a row in the part."
            )
    return ""


def _of_missing_state(message: str, graph: Graph) -> str:
    if message.startswith("Table not initialized"):
        return "Run session.run(tf.tables_initializer()) first."
    found = _NO_VALUE.search(message)
    if found is None:
        return ""
    name = found[1]
    for key, initializer in _INITIALIZERS.items():
        if name in _names_in(graph, key):
            is_late = "/" in name and key == GraphKeys.GLOBAL_VARIABLES
            when = ", after the last variable was made: an optimizer makes some, too" if is_late else ""
            which = "local variable" if key == GraphKeys.LOCAL_VARIABLES else "variable"
            restore = _restore(graph, name)
            return f"Run session.run({initializer}) first, which gives the {which} {name!r} its value{when}.{restore}"
    return f"The variable {name!r} is in no collection that an initializer runs for: run its own `initializer` first."


def _restore(graph: Graph, name: str) -> str:
    """Where the values of a variable are to come from that stands in a graph with a Saver of it."""
    node = graph.operations.get(name)
    users = [] if node is None else [each for output in node.outputs for each in output.consumers()]
    values = [source.op for each in users for source in each.inputs[1:]]
    makers = [maker for each in values for maker in (each, *(source.op for source in each.inputs))]
    restores = any(maker.op_def.role is Role.RESTORE for maker in makers)
    return (
        f" Trained values of {name!r} come from a checkpoint: saver.restore(session, path), in its place." if restores else ""
    )


def _names_in(graph: Graph, key: str) -> set[str]:
    names: set[str] = set()
    for variable in graph.get_collection(key):
        name = getattr(variable, "name", None)
        if isinstance(name, str):
            names.add(name.partition(":")[0])
    return names


def _explain_closed(error: OpError, graph: Graph) -> None:
    queue = _queue_of(error.op)
    for runner in _runners(graph):
        if runner.name.partition(":")[0] != queue:
            continue
        failure = runner.failure
        if failure is not None:
            error.__cause__ = failure
            first = failure.message if isinstance(failure, OpError) else f"{failure}"
            rest = f" {failure.remedy}" if isinstance(failure, OpError) and failure.remedy else ""
            error.remedy = f"The thread that fills it has failed: {type(failure).__name__}: {first}{rest}"
            return
    error.remedy = "The input has ended: all elements were taken."


def _of_blocked(message: str, graph: Graph) -> str:
    found = _BLOCKED_AT.search(message)
    if found is None:
        return ""
    for name in re.findall(r"([\w./>-]+) \(\w+\)", found[1]):
        op = graph.operations.get(name)
        queue = "" if op is None else _queue_of(op)
        for runner in _runners(graph):
            if runner.name.partition(":")[0] == queue and not runner.is_running:
                return _of_idle(queue, is_late=any(each.is_running for each in _runners(graph)))
        if op is not None and (asked := _more_than_capacity(op) or _of_queue(op)):
            return asked
    return ""


def _of_idle(queue: str, is_late: bool) -> str:
    """What to do where no thread fills a queue that has a runner."""
    start = f"Nothing fills the queue {queue!r}: call tf.train.start_queue_runners(sess=session)"
    if is_late:
        return f"{start} when the whole pipeline is built. Others of its runners were started, before this queue was made."
    return f"{start} before the first step that takes from it."


def _of_queue(op: Operation) -> str:
    """What a queue waits for that no QueueRunner is of."""
    if not op.inputs or "capacity" not in op.inputs[0].op.attrs:
        return ""
    queue, capacity = _queue_of(op), op.inputs[0].op.attrs["capacity"]
    if op.outputs:  # what is blocked and gives something waits for elements, other nodes for room
        if queue.rpartition("/")[2] == _TOKENS:
            return (
                f"The chief fills the queue {queue!r}: is optimizer.make_session_run_hook(is_chief) among the hooks of each "
                "task, and does the chief run?"
            )
        return f"The queue {queue!r} is empty, and no QueueRunner fills it: run its enqueue, in another thread or before."
    return f"The queue {queue!r} is full, it holds {capacity}: something has to take elements out, in another thread."


def _more_than_capacity(op: Operation) -> str:
    """What is wrong with a dequeue of more elements than its queue ever holds."""
    capacity = op.inputs[0].op.attrs.get("capacity") if op.inputs else None
    wanted = constant_value(op.inputs[1]) if len(op.inputs) > 1 else None
    if not isinstance(capacity, int) or wanted is None or not 0 <= capacity < int(wanted):
        return ""
    return (
        f"It takes {int(wanted)} elements at once, and the queue {_queue_of(op)!r} holds {capacity}: make its capacity larger."
    )


def _queue_of(op: Operation) -> str:
    return op.inputs[0].op.name if op.inputs else ""


def _runners(graph: Graph) -> Iterator[_Runner]:
    found: Iterable[_Runner] = graph.get_collection(GraphKeys.QUEUE_RUNNERS)
    for runner in found:
        if hasattr(runner, "failure"):
            yield runner
