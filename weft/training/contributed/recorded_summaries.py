"""tf.contrib.summary: summaries that are written by operations of their own, whenever these run.

A block has a default writer, and another block says whether summaries are recorded. The operations write to the event file of
the process that built the graph.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Final

from tensorboard.compat.proto import event_pb2, graph_pb2, summary_pb2

from weft.client.session import get_default_session
from weft.framework.building.aliases import Array, SessionLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.models.functional.static_choices import smart_cond
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal
from weft.ops.process.script import py_func
from weft.ops.summary import nodes as summaries
from weft.training.contributed.summary_writers import INITIALIZERS, SummaryWriter, calling, default_writer
from weft.training.training_util import get_or_create_global_step

# Not among the graph's public collections.
_OPS: Final = "_SUMMARY_V2"

Condition = bool | Tensor | Callable[[], bool | Tensor]
_RECORDS: Final[ContextVar[Condition | None]] = ContextVar("weft_summary_recording", default=None)


@contextlib.contextmanager
def recording(value: Condition) -> Iterator[None]:
    """A block whose summaries are recorded where a condition holds.

    Args:
        value: a bool, a bool tensor, or a function that makes one for each summary.
    """
    token = _RECORDS.set(value)
    try:
        yield
    finally:
        _RECORDS.reset(token)


def always_record_summaries() -> contextlib.AbstractContextManager[None]:
    """A block whose summaries are recorded in each run."""
    return recording(True)


def never_record_summaries() -> contextlib.AbstractContextManager[None]:
    """A block whose summaries are not recorded."""
    return recording(False)


def record_summaries_every_n_global_steps(
    n: int, global_step: TensorLike | None = None
) -> contextlib.AbstractContextManager[None]:
    """A block whose summaries are recorded when the step is divisible by a number.

    Args:
        n: the number.
        global_step: the step; the graph's global one when None.
    """
    step = get_or_create_global_step() if global_step is None else global_step
    with get_default_graph().device("cpu:0"):
        return recording(equal(cast(step, dtypes.int64) % n, 0))


def should_record_summaries() -> Tensor | bool:
    """Whether summaries are recorded where the graph is being built: a bool, or a tensor of one run."""
    return is_recorded(default=False)


def is_recorded(default: bool) -> Tensor | bool:
    """Whether summaries are recorded where the graph is being built.

    Args:
        default: whether they are where no block says so.
    """
    value = _RECORDS.get()
    if value is None:
        return default
    return value if isinstance(value, bool | Tensor) else value()


def all_summary_ops() -> list[Tensor]:
    """The operations that record summaries, of the default graph."""
    found: list[Tensor] = get_default_graph().get_collection(_OPS)
    return found


def summary_writer_initializer_op() -> list[Operation]:
    """The operations that begin the event files of the default graph's writers."""
    found: list[Operation] = get_default_graph().get_collection(INITIALIZERS)
    return found


def initialize(graph: Graph | None = None, session: SessionLike | None = None) -> None:
    """Begin the event files of the writers, and write a graph to that of the default one.

    Args:
        graph: the graph to write; none when None.
        session: the session to run in; the default one when None.

    Raises:
        RuntimeError: no writer is the default one.
        ValueError: there is no session.
    """
    writer = default_writer()
    if writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = session or get_default_session()
    if session is None:
        raise ValueError("Argument `session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        writer.file().add_graph(graph)


def _record(name: str, family: str | None, step: TensorLike | None, serialize: Callable[[str], Tensor]) -> Tensor | Operation:
    """Record the summary that a function makes, if there is a writer and summaries are recorded here."""
    writer = default_writer()
    if writer is None:
        return no_op()
    with summaries.summary_scope(name, family) as (tag, _):
        number = get_or_create_global_step() if step is None else step
        return recorded_by(writer, number, lambda: serialize(tag), should_record_summaries())


def recorded_by(writer: SummaryWriter, step: TensorLike, serialize: Callable[[], Tensor], where: bool | Tensor) -> Tensor:
    """Record a summary, and have the graph know the operation.

    Args:
        writer: what writes it.
        step: the step.
        serialize: makes the summary's node, a scalar string, where it is recorded.
        where: whether it is.

    Returns:
        A bool tensor whose run records it.
    """

    def write(number: Array, summary: bytes) -> Array:
        writer.file().add_summary(summary, int(number))
        return dtypes.bool.as_numpy_dtype(True)

    def record() -> Tensor:
        made: Tensor = py_func(write, [cast(step, dtypes.int64), serialize()], dtypes.bool)
        made.set_shape([])
        return identity(made)

    recorded: Tensor = smart_cond(where, record, lambda: constant(False))
    get_default_graph().add_to_collection(_OPS, recorded)
    return recorded


def scalar(name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None) -> Tensor | Operation:
    """Record a number.

    Args:
        name: its name, behind the name scope's.
        tensor: the number.
        family: what stands before the name.
        step: the step; the global one when None.

    Returns:
        A bool tensor whose run records it; an operation that does nothing where there is no writer.
    """
    return _record(name, family, step, lambda tag: summaries.scalar_summary(tag, tensor))


def histogram(name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None) -> Tensor | Operation:
    """Record how many numbers are of which size.

    Args:
        name: its name, behind the name scope's.
        tensor: the numbers.
        family: what stands before the name.
        step: the step; the global one when None.

    Returns:
        A bool tensor whose run records it; an operation that does nothing where there is no writer.
    """
    return _record(name, family, step, lambda tag: summaries.histogram_summary(tag, tensor))


def generic(
    name: str, tensor: TensorLike, metadata: object = None, family: str | None = None, step: TensorLike | None = None
) -> Tensor | Operation:
    """Record any tensor, for a plugin of TensorBoard.

    Args:
        name: its name, behind the name scope's.
        tensor: the tensor.
        metadata: whose it is: a SummaryMetadata, its bytes, or a string tensor of these; nobody's when None.
        family: what stands before the name.
        step: the step; the global one when None.

    Returns:
        A bool tensor whose run records it; an operation that does nothing where there is no writer.
    """
    content = metadata.SerializeToString() if isinstance(metadata, summary_pb2.SummaryMetadata) else metadata
    told = convert_to_tensor(b"" if content is None else content)
    return _record(name, family, step, lambda tag: summaries.tensor_summary_v2(tag, tensor, told))


def image(
    name: str, tensor: TensorLike, bad_color: TensorLike | None = None, max_images: int = 3, family: str | None = None,
    step: TensorLike | None = None,
) -> Tensor | Operation:  # fmt: skip
    """Record images.

    Args:
        name: their name, behind the name scope's.
        tensor: `[batch, height, width, channels]`.
        bad_color: not used: pixels that are no numbers are red.
        max_images: how many at most.
        family: what stands before the name.
        step: the step; the global one when None.

    Returns:
        A bool tensor whose run records them; an operation that does nothing where there is no writer.
    """
    return _record(name, family, step, lambda tag: summaries.image_summary(tag, tensor, max_images=max_images))


def audio(
    name: str, tensor: TensorLike, sample_rate: TensorLike, max_outputs: int, family: str | None = None,
    step: TensorLike | None = None,
) -> Tensor | Operation:  # fmt: skip
    """Record sounds.

    Args:
        name: their name, behind the name scope's.
        tensor: `[batch, frames]` or `[batch, frames, channels]`, -1 to 1.
        sample_rate: how many frames a second has.
        max_outputs: how many at most.
        family: what stands before the name.
        step: the step; the global one when None.

    Returns:
        A bool tensor whose run records them; an operation that does nothing where there is no writer.
    """
    rate = convert_to_tensor(sample_rate, dtype=dtypes.float32)
    return _record(name, family, step, lambda tag: summaries.audio_summary_v2(tag, tensor, rate, max_outputs=max_outputs))


def graph(param: object, step: TensorLike | None = None, name: str | None = None) -> Operation:
    """Record a graph.

    Args:
        param: a GraphDef, its bytes, or a string tensor of these.
        step: not used: a graph stands at the beginning.
        name: not used.

    Returns:
        The operation that records it.

    Raises:
        TypeError: it is none of these.
    """
    writer = default_writer()
    if writer is None:
        return no_op()
    given = param.SerializeToString() if isinstance(param, graph_pb2.GraphDef) else param
    if not isinstance(given, bytes | Tensor):
        raise TypeError("graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode or a GraphDef, but received "
                        f"param={param} of type {type(param)}.")  # fmt: skip

    def write(content: bytes) -> None:
        writer.file().add_graph(None, graph_def=graph_pb2.GraphDef.FromString(content))

    return calling(write, convert_to_tensor(given))


def import_event(tensor: TensorLike, name: str | None = None) -> Operation:
    """Write an event as it is.

    Args:
        tensor: its bytes, a string tensor.
        name: not used.

    Returns:
        The operation that writes it.
    """
    writer = default_writer()
    if writer is None:
        return no_op()

    def write(content: bytes) -> None:
        writer.file().add_event(event_pb2.Event.FromString(content))

    return calling(write, convert_to_tensor(tensor))


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> Operation:
    """The operation that writes what waits.

    Args:
        writer: the writer; the default one when None.
        name: not used.

    Returns:
        The operation; one that does nothing where there is no writer.
    """
    found = writer or default_writer()
    return no_op() if found is None else group(found.flush())


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder of an evaluation's summaries.

    Args:
        model_dir: the model's folder.
        name: the evaluation's name.
    """
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")
