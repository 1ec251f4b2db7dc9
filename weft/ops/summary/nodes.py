"""Summary operations: they make serialized Summary protos of tensors, for FileWriter and TensorBoard."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from tensorboard.compat.proto import summary_pb2

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context import replication
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_util import make_tensor_proto
from weft.ops.array.constant import constant
from weft.ops.declaration import not_differentiable, op, scalar_shape
from weft.ops.math.elementwise import REAL
from weft.ops.summary.histogram import histogram_of
from weft.ops.summary.media import pixels_of, png_of, wav_of
from weft.ops.summary.merge import as_string_scalar
from weft.platform.logs import tf_logging

_ILLEGAL: Final = re.compile(r"[^-/\w\.]")
_RED: Final = np.array([255, 0, 0, 255], np.uint8)
_IMAGE_TYPES: Final = (dtypes.uint8, dtypes.float32, dtypes.float16, dtypes.float64)


def _text(value: Array) -> str:
    return bytes(value).decode("utf-8", "replace")


def _serialized(*values: object) -> Array:
    return as_string_scalar(summary_pb2.Summary(value=values).SerializeToString())


@op(
    "ScalarSummary",
    "tags: string, values: T -> summary: string",
    infer=scalar_shape,
    gradient=not_differentiable,
    types={"T": REAL},
)
def scalar_summary(ctx: OpContext, tags: Array, values: Array) -> Result:
    """One simple value for each tag: `[...] string, [...] -> scalar string`."""
    if tags.shape != values.shape:
        single = f" (tag '{_text(tags.item())}')" if tags.size == 1 else ""
        raise InvalidArgumentError.of(f"tags and values not the same shape: {list(tags.shape)} != {list(values.shape)}{single}")
    pairs = zip(np.ravel(tags).tolist(), np.ravel(values).astype(np.float32).tolist(), strict=True)
    return _serialized(*(summary_pb2.Summary.Value(tag=_text(tag), simple_value=value) for tag, value in pairs))


@op("HistogramSummary", "tag: string, values: T -> summary: string", infer=scalar_shape, ranks={"tag": 0},
    gradient=not_differentiable, types={"T": REAL},
    defaults={"T": dtypes.float32})  # fmt: skip
def histogram_summary(ctx: OpContext, tag: Array, values: Array) -> Result:
    """A histogram of the values: `scalar string, [...] -> scalar string`."""
    name = _text(_single(tag))
    numbers = np.asarray(values, np.float64)
    if np.isnan(numbers).any():
        raise InvalidArgumentError.of(f"Nan in summary histogram for: {name}")
    if np.isinf(numbers).any():
        raise InvalidArgumentError.of(f"Infinity in summary histogram for: {name}")
    return _serialized(summary_pb2.Summary.Value(tag=name, histo=histogram_of(numbers)))


@op("ImageSummary", "tag: string, tensor: T -> summary: string", infer=scalar_shape, gradient=not_differentiable,
    types={"T": _IMAGE_TYPES}, defaults={"T": dtypes.float32})  # fmt: skip
def image_summary(ctx: OpContext, tag: Array, tensor: Array, *, max_images: int = 3, bad_color: np.ndarray = _RED) -> Result:
    """The first images of a batch as PNGs.

    `scalar string, [batch, height, width, channels] -> scalar string`
    """
    name = _text(_single(tag))
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        raise InvalidArgumentError.of(f"Tensor must be 4-D with last dim 1, 3, or 4, not {list(tensor.shape)} (tag '{name}')")
    values = []
    for number, image in enumerate(tensor[:max_images]):
        pixels = image if image.dtype == np.uint8 else pixels_of(image, bad_color)
        height, width, channels = pixels.shape
        proto = summary_pb2.Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=png_of(pixels))
        values.append(summary_pb2.Summary.Value(tag=_numbered(f"{name}/image", number, max_images), image=proto))
    return _serialized(*values)


@op("AudioSummaryV2", "tag: string, tensor: float32, sample_rate: float32 -> summary: string", infer=scalar_shape,
    gradient=not_differentiable, limits={"max_outputs": 1})  # fmt: skip
def audio_summary_v2(ctx: OpContext, tag: Array, tensor: Array, sample_rate: Array, *, max_outputs: int = 3) -> Result:
    """The first sounds of a batch as WAVs, of a sample rate in Hz; one channel needs no dimension.

    `scalar string, [batch, frames, channels] float32, scalar float32 -> scalar string`
    """
    name, rate = _text(_single(tag)), float(_single(sample_rate))
    if tensor.ndim not in (2, 3):
        raise InvalidArgumentError.of(f"Tensor must be 3-D or 2-D, not {list(tensor.shape)} (tag '{name}')")
    sounds = tensor.reshape(*tensor.shape[:2], -1)[:max_outputs]
    values = []
    for number, samples in enumerate(sounds):
        proto = summary_pb2.Summary.Audio(
            sample_rate=rate, num_channels=samples.shape[1], length_frames=samples.shape[0],
            encoded_audio_string=wav_of(samples, rate), content_type="audio/wav",
        )  # fmt: skip
        values.append(summary_pb2.Summary.Value(tag=_numbered(f"{name}/audio", number, max_outputs), audio=proto))
    return _serialized(*values)


@op("TensorSummaryV2", "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string", infer=scalar_shape,
    gradient=not_differentiable)  # fmt: skip
def tensor_summary_v2(ctx: OpContext, tag: Array, tensor: Array, serialized_summary_metadata: Array, *, T: DType) -> Result:
    """Any tensor, for a plugin of TensorBoard: `scalar string, [...], scalar string -> scalar string`."""
    metadata = summary_pb2.SummaryMetadata.FromString(_single(serialized_summary_metadata))
    proto = make_tensor_proto(tensor, dtype=T)
    return _serialized(summary_pb2.Summary.Value(tag=_text(_single(tag)), tensor=proto, metadata=metadata))


def _single(value: Array) -> Array:
    if value.size != 1:
        raise InvalidArgumentError.of(f"expected a scalar, got shape {list(value.shape)}")
    return value.item()


def _numbered(tag: str, number: int, most: int) -> str:
    return tag if most == 1 else f"{tag}/{number}"


def clean_tag(name: str) -> str:
    """A summary's name as a node may have it: other characters become `_`, slashes in front go, and the log says so."""
    cleaned = _ILLEGAL.sub("_", name).lstrip("/")
    if cleaned != name:
        tf_logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextlib.contextmanager
def summary_scope(name: str, family: str | None, default_name: str | None = None) -> Iterator[tuple[str, str]]:
    """Yields the tag and the node's name; TypeError or ValueError for a name that is none."""
    if isinstance(name, Tensor | np.ndarray):
        raise TypeError(
            f"The name of a summary must be a text, got {name!r}: the name comes first, tf.summary.scalar('loss', loss)"
        )
    if name is None and default_name is None:
        raise ValueError("At least one of name (None) and default_name (None) must be provided: a summary's name comes first")
    if name == "" and not family:
        raise ValueError("'' is not a valid node name: a summary needs a name, which becomes its tag in TensorBoard")
    name = clean_tag(name) if name is not None else default_name or ""
    family = None if family is None else clean_tag(family)
    with get_default_graph().name_scope(name if family is None else f"{family}/{name}") as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def _collected(summary: Tensor, collections: Sequence[str] | None) -> Tensor:
    replica = replication.current_replica()
    if replica is not None and replica.local_index > 0:
        # The replicas of a strategy have the same summaries: the first one's are written.
        return constant("", dtypes.string)
    get_default_graph().add_to_collections([GraphKeys.SUMMARIES] if collections is None else list(collections), summary)
    return summary


def scalar(name: str, tensor: TensorLike, collections: Sequence[str] | None = None, family: str | None = None) -> Tensor:
    """A summary of one number.

    Args:
        name: the node's name, which with the name scope is the tag in TensorBoard.
        tensor: a real scalar.
        collections: the collections to put it in; SUMMARIES when None.
        family: put in front of the tag, to group tags in TensorBoard.

    Returns:
        A [] string tensor, the Summary as a run's bytes.

    Raises:
        InvalidArgumentError: in a run, the value is no scalar.

    >>> tf.Summary.FromString(sess.run(tf.summary.scalar("loss", 0.5))).value[0].simple_value
    0.5
    """
    with summary_scope(name, family) as (tag, scope):
        return _collected(scalar_summary(tag, tensor, name=scope), collections)


def histogram(name: str, values: TensorLike, collections: Sequence[str] | None = None, family: str | None = None) -> Tensor:
    """A summary of how many values there are of each size.

    Args:
        name: the node's name, which with the name scope is the tag in TensorBoard.
        values: real numbers of any shape, all finite.
        collections: the collections to put it in; SUMMARIES when None.
        family: put in front of the tag.

    Returns:
        A [] string tensor, the Summary as a run's bytes.

    Raises:
        InvalidArgumentError: in a run, a value is NaN or infinite.

    >>> tf.Summary.FromString(sess.run(tf.summary.histogram("w", [1.0, 3.0]))).value[0].histo.max
    3.0
    """
    with summary_scope(name, family, "HistogramSummary") as (tag, scope):
        return _collected(histogram_summary(tag, values, name=scope), collections)


def image(
    name: str, tensor: TensorLike, max_outputs: int = 3, collections: Sequence[str] | None = None, family: str | None = None
) -> Tensor:
    """A summary of images.

    Args:
        name: the node's name, which with the name scope begins the tags in TensorBoard.
        tensor: [batch, height, width, channels] uint8 or float, with 1, 3 or 4 channels; floats are scaled.
        max_outputs: how many of the batch to take.
        collections: the collections to put it in; SUMMARIES when None.
        family: put in front of the tags.

    Returns:
        A [] string tensor, the Summary as a run's bytes.

    Raises:
        InvalidArgumentError: in a run, the tensor is not of rank 4, or its depth is none of 1, 3 and 4.

    >>> summary = tf.Summary.FromString(sess.run(tf.summary.image("x", tf.zeros([1, 2, 3, 1]))))
    >>> summary.value[0].image.width
    3
    """
    with summary_scope(name, family) as (tag, scope):
        return _collected(image_summary(tag, tensor, max_images=max_outputs, name=scope), collections)


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int = 3,
    collections: Sequence[str] | None = None,
    family: str | None = None,
) -> Tensor:
    """A summary of sounds.

    Args:
        name: the node's name, which with the name scope begins the tags in TensorBoard.
        tensor: [batch, frames, channels] or [batch, frames] float32 from -1 to 1.
        sample_rate: frames per second.
        max_outputs: how many of the batch to take.
        collections: the collections to put it in; SUMMARIES when None.
        family: put in front of the tags.
    """
    with summary_scope(name, family) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32)
        return _collected(audio_summary_v2(tag, tensor, rate, max_outputs=max_outputs, name=scope), collections)


def tensor_summary(
    name: str,
    tensor: TensorLike,
    summary_description: str | None = None,
    collections: Sequence[str] | None = None,
    summary_metadata: summary_pb2.SummaryMetadata | None = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary that holds a tensor, for a plugin of TensorBoard.

    Args:
        name: the node's name, which with the name scope is the tag.
        tensor: any tensor.
        summary_description: what it is, in Markdown.
        collections: the collections to put it in; SUMMARIES when None.
        summary_metadata: a SummaryMetadata, which names the plugin.
        family: put in front of the tag.
        display_name: what TensorBoard shows in place of the tag.
    """
    metadata = summary_pb2.SummaryMetadata()
    if summary_metadata is not None:
        metadata.CopyFrom(summary_metadata)
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family) as (tag, scope):
        made = tensor_summary_v2(tag, tensor, metadata.SerializeToString(), name=scope)
        return _collected(made, collections)


def text(name: str, tensor: TensorLike, collections: Sequence[str] | None = None) -> Tensor:
    """A summary of strings, which TensorBoard shows as Markdown.

    Args:
        name: the tag and the node's name.
        tensor: strings, any shape.
        collections: the collections that it is added to; SUMMARIES when None.

    Raises:
        ValueError: the tensor holds no strings.
    """
    tensor = convert_to_tensor(tensor)
    if tensor.dtype.base_dtype is not dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype.name}")
    plugin = summary_pb2.SummaryMetadata.PluginData(plugin_name="text")
    metadata = summary_pb2.SummaryMetadata(plugin_data=plugin)
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)
