"""tf.compat.v2.summary in graphs: summaries for TensorBoard's plugins, which are written by operations of their own.

They go to the default writer of the block in which they are built, if there is one, and are recorded unless a block says
otherwise.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Final

import numpy as np
from tensorboard.compat.proto import summary_pb2

from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape
from weft.ops.array.stacking import stack
from weft.ops.control_flow.functional import map_fn
from weft.ops.control_flow.ordering import no_op
from weft.ops.debugging.rank_checks import assert_rank, assert_scalar
from weft.ops.image.codecs import encode_png
from weft.ops.image.transforms import convert_image_dtype
from weft.ops.math.casting import cast
from weft.ops.process.script import py_func
from weft.ops.signal.audio_files import encode_wav
from weft.ops.strings.elementwise import as_string
from weft.ops.summary import nodes as summaries
from weft.ops.summary.own_summaries import INVALID_SCOPE_CHARACTERS
from weft.platform.logs import tf_logging
from weft.training.contributed.recorded_summaries import Condition, is_recorded, recorded_by, recording
from weft.training.contributed.summary_writers import NoopSummaryWriter, SummaryWriter, default_writer
from weft.training.contributed.summary_writers import create_file_writer as writer_of

_STEP: Final[ContextVar[TensorLike | None]] = ContextVar("weft_summary_step", default=None)
# The form of audio in a summary, a WAV file, as TensorBoard's plugin for audio numbers it.
_WAV: Final = b"\x10\x0b"


def record_if(condition: Condition) -> contextlib.AbstractContextManager[None]:
    """A block whose summaries are recorded where a condition holds.

    Args:
        condition: a bool, a bool tensor, or a function that makes one for each summary.
    """
    return recording(condition)


def get_step() -> TensorLike | None:
    """The step of summaries that are given none; None where there is no such."""
    return _STEP.get()


def set_step(step: TensorLike | None) -> None:
    """Set the step of summaries that are given none.

    Args:
        step: a number, a tensor or a variable; None for none.
    """
    _STEP.set(step)


@contextlib.contextmanager
def summary_scope(
    name: str, default_name: str = "summary", values: Sequence[TensorLike] | None = None
) -> Iterator[tuple[str, str]]:
    """Yields a summary's tag, the name behind that of the name scope, and the name scope for its nodes.

    Args:
        name: the summary's name.
        default_name: the name where `name` is empty.
        values: what it is of; has no effect.
    """
    name = name or default_name
    around = get_default_graph().get_name_scope()
    with get_default_graph().name_scope(INVALID_SCOPE_CHARACTERS.sub("", name) or default_name) as scope:
        yield (f"{around}/{name}" if around else name), scope


def create_file_writer(
    logdir: str, max_queue: int | None = None, flush_millis: int | None = None, filename_suffix: str | None = None,
    name: str | None = None,
) -> SummaryWriter | NoopSummaryWriter:  # fmt: skip
    """A writer of summaries into an event file of a folder; `session.run(writer.init())` begins the file.

    Args:
        logdir: the folder.
        max_queue: how many events may wait before they are written.
        flush_millis: how many milliseconds they wait at most.
        filename_suffix: the end of the file's name; ".v2" when None.
        name: not used.

    Raises:
        ValueError: there is no folder.
    """
    if logdir is None:
        raise ValueError("logdir cannot be None")
    return writer_of(logdir, max_queue, flush_millis, filename_suffix)


def create_noop_writer() -> NoopSummaryWriter:
    """A writer that takes no summaries."""
    return NoopSummaryWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> Operation | None:
    """The operation that writes what waits.

    Args:
        writer: the writer; the default one when None.
        name: not used.
    """
    found = writer or default_writer()
    return no_op() if found is None else found.flush()


def write(
    tag: str, tensor: TensorLike | Callable[[], Tensor], step: TensorLike | None = None,
    metadata: summary_pb2.SummaryMetadata | bytes | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Record a tensor of any kind, for the plugin that its metadata name.

    Args:
        tag: what TensorBoard calls it.
        tensor: `[...]`, or a function that makes it where it is recorded.
        step: the step; that of `set_step` when None.
        metadata: whose it is, or its bytes; nobody's when None.
        name: the nodes' name.

    Returns:
        A bool tensor whose run records it, and tells whether it was.

    Raises:
        ValueError: there is a writer, and no step.
    """
    with get_default_graph().name_scope(name or "write_summary"):
        told = metadata.SerializeToString() if isinstance(metadata, summary_pb2.SummaryMetadata) else metadata or b""

        def serialize() -> Tensor:
            value = tensor() if callable(tensor) else convert_to_tensor(tensor)
            made: Tensor = summaries.tensor_summary_v2(tag, value, constant(told))
            return made

        return _recorded(step, serialize)


def write_raw_pb(tensor: TensorLike, step: TensorLike | None = None, name: str | None = None) -> Tensor:
    """Record summaries that are serialized already.

    Args:
        tensor: a scalar string, a Summary's bytes.
        step: the step; that of `set_step` when None.
        name: the nodes' name.

    Returns:
        A bool tensor whose run records them.

    Raises:
        ValueError: there is a writer, and no step.
    """
    with get_default_graph().name_scope(name or "write_raw_pb"):
        return _recorded(step, lambda: convert_to_tensor(tensor))


def _recorded(step: TensorLike | None, serialize: Callable[[], Tensor]) -> Tensor:
    """Record by the default writer what a function serializes; ValueError where there is one, and no step."""
    writer = default_writer()
    if writer is None:
        return constant(False)
    step = get_step() if step is None else step
    if step is None:
        raise ValueError("No step set via 'step' argument or tf.summary.experimental.set_step()")
    return recorded_by(writer, step, serialize, is_recorded(default=True))


def _of_plugin(plugin: str, description: str | None, content: bytes = b"") -> summary_pb2.SummaryMetadata:
    data = summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return summary_pb2.SummaryMetadata(summary_description=description, plugin_data=data)


def scalar(name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None) -> Tensor:
    """Record a number.

    Args:
        name: its name, behind the name scope's.
        data: a scalar; it is recorded as a float32.
        step: the step; that of `set_step` when None.
        description: a text about it, in Markdown.

    Returns:
        A bool tensor whose run records it.

    Raises:
        ValueError: it is no scalar, or there is a writer and no step.
    """
    with summary_scope(name, "scalar_summary") as (tag, _):
        assert_scalar(data)
        return write(tag, cast(data, dtypes.float32), step, _of_plugin("scalars", description))


def histogram(
    name: str, data: TensorLike, step: TensorLike | None = None, buckets: int | None = None, description: str | None = None
) -> Tensor:
    """Record how many numbers are of which size.

    Args:
        name: its name, behind the name scope's.
        data: the numbers, `[...]`.
        step: the step; that of `set_step` when None.
        buckets: into how many ranges of one width they are sorted; 30 when None.
        description: a text about it, in Markdown.

    Returns:
        A bool tensor whose run records it.

    Raises:
        ValueError: there is a writer, and no step.
    """

    def counted() -> Tensor:
        made: Tensor = py_func(
            lambda numbers: _counts(numbers, 30 if buckets is None else buckets), [cast(data, dtypes.float64)], dtypes.float64
        )
        return made

    with summary_scope(name, "histogram_summary") as (tag, _):
        return write(tag, counted, step, _of_plugin("histograms", description))


def _counts(numbers: Array, buckets: int) -> Array:
    """The ranges' left ends, right ends and counts: `[...] -> [buckets, 3]`, one range if all are alike, none of nothing."""
    numbers = numbers.ravel()
    if not numbers.size or not buckets:
        return np.zeros((0, 3))
    least, most = numbers.min(), numbers.max()
    if least == most:
        return np.array([[least - 0.5, least + 0.5, numbers.size]])
    positions = np.floor((numbers - least) / ((most - least) / buckets)).astype(np.int32)
    counts = np.bincount(np.minimum(positions, buckets - 1), minlength=buckets)
    ends = np.linspace(least, most, buckets + 1)
    return np.stack([ends[:-1], ends[1:], counts.astype(np.float64)], axis=1)


def image(
    name: str, data: TensorLike, step: TensorLike | None = None, max_outputs: int = 3, description: str | None = None
) -> Tensor:
    """Record images, as PNG.

    Args:
        name: their name, behind the name scope's.
        data: `[k, height, width, channels]`, floats from 0 to 1 or integers.
        step: the step; that of `set_step` when None.
        max_outputs: how many at most.
        description: a text about them, in Markdown.

    Returns:
        A bool tensor whose run records them.

    Raises:
        ValueError: there is a writer, and no step.
    """

    def encoded() -> Tensor:
        images = convert_image_dtype(convert_to_tensor(data), dtypes.uint8, saturate=True)
        files = map_fn(encode_png, images[:max_outputs], dtype=dtypes.string, name="encode_each_image")
        size = shape(images)
        return concat([stack([as_string(size[2], name="width"), as_string(size[1], name="height")]), files], 0)

    with summary_scope(name, "image_summary") as (tag, _), get_default_graph().control_dependencies([assert_rank(data, 4)]):
        return write(tag, encoded, step, _of_plugin("images", description))


def audio(
    name: str, data: TensorLike, sample_rate: TensorLike, step: TensorLike | None = None, max_outputs: int = 3,
    encoding: str | None = None, description: str | None = None,
) -> Tensor:  # fmt: skip
    """Record sounds, as WAV.

    Args:
        name: their name, behind the name scope's.
        data: `[k, frames, channels]`, -1 to 1.
        sample_rate: how many frames a second has, a scalar int32.
        step: the step; that of `set_step` when None.
        max_outputs: how many at most.
        encoding: "wav".
        description: a text about them, in Markdown.

    Returns:
        A bool tensor whose run records them.

    Raises:
        ValueError: the encoding is another one, or there is a writer and no step.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}. Sounds are recorded as 'wav'.")

    def encoded() -> Tensor:
        sounds = convert_to_tensor(data)[:max_outputs]
        files = map_fn(lambda sound: encode_wav(sound, sample_rate), sounds, dtype=dtypes.string, name="encode_each_audio")
        labels = map_fn(lambda _: constant(b""), sounds, dtype=dtypes.string, name="label_each_audio")
        return stack([files, labels], axis=1)

    with summary_scope(name, "audio_summary") as (tag, _), get_default_graph().control_dependencies([assert_rank(data, 3)]):
        return write(tag, encoded, step, _of_plugin("audio", description, _WAV))


def text(name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None) -> Tensor:
    """Record texts, in Markdown.

    Args:
        name: their name, behind the name scope's.
        data: `[...]` string.
        step: the step; that of `set_step` when None.
        description: a text about them, in Markdown.

    Returns:
        A bool tensor whose run records them.

    Raises:
        ValueError: there is a writer, and no step.
    """
    with summary_scope(name, "text_summary") as (tag, _):
        return write(tag, convert_to_tensor(data, dtypes.string), step, _of_plugin("text", description))


def trace_on(graph: bool = True, profiler: bool = False) -> None:
    """Warn: functions of eager mode are traced so, and there is none.

    Args:
        graph, profiler: not used.
    """
    tf_logging.warning("Cannot enable trace in graph mode. tf.train.ProfilerHook and `weft trace` record steps.")


def trace_export(name: str, step: TensorLike | None = None, profiler_outdir: str | None = None) -> None:
    """Warn: there is no trace of eager mode to write.

    Args:
        name, step, profiler_outdir: not used.
    """
    tf_logging.warning("Cannot export trace in graph mode. tf.train.ProfilerHook and `weft trace` record steps.")


def trace_off() -> None:
    """Do nothing: no trace of eager mode is on."""
