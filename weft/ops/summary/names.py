"""Summaries by their names of before TensorFlow 1.0, whose tags are given rather than made of the nodes' names."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.value_types import OrNone
from weft.ops.summary import nodes as summary_ops
from weft.ops.summary.merge import merge


def _collected(summary: Tensor, collections: Sequence[str] | None) -> Tensor:
    get_default_graph().add_to_collections([GraphKeys.SUMMARIES] if collections is None else list(collections), summary)
    return summary


def scalar_summary(
    tags: TensorLike, values: TensorLike, collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """A summary of one number, or one for each tag; see `tf.summary.scalar`.

    Args:
        tags: the tag, or as many as there are values.
        values: numbers, of the shape of `tags`.
        collections: the collections that it is added to; SUMMARIES when None.
    """
    return _collected(summary_ops.scalar_summary(tags, values, name=name or "ScalarSummary"), collections)


def histogram_summary(
    tag: TensorLike, values: TensorLike, collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """A summary of how many values there are of each size; see `tf.summary.histogram`.

    Args:
        tag: the tag, a [] string.
        values: numbers, any shape.
        collections: the collections that it is added to; SUMMARIES when None.
    """
    return _collected(summary_ops.histogram_summary(tag, values, name=name or "HistogramSummary"), collections)


def image_summary(
    tag: TensorLike, tensor: TensorLike, max_images: int = 3, collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """A summary of images; see `tf.summary.image`.

    Args:
        tag: the tag, a [] string; a number is added to it.
        tensor: `[batch, height, width, channels]`, of 1, 3 or 4 channels.
        max_images: how many of the batch.
        collections: the collections that it is added to; SUMMARIES when None.
    """
    made = summary_ops.image_summary(tag, tensor, max_images=max_images, name=name or "ImageSummary")
    return _collected(made, collections)


def audio_summary(
    tag: TensorLike, tensor: TensorLike, sample_rate: TensorLike, max_outputs: int = 3,
    collections: Sequence[str] | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A summary of sounds; see `tf.summary.audio`.

    Args:
        tag: the tag, a [] string; a number is added to it.
        tensor: `[batch, frames, channels]`, or `[batch, frames]`, from -1 to 1.
        sample_rate: the samples of a second.
        max_outputs: how many of the batch.
        collections: the collections that it is added to; SUMMARIES when None.
    """
    rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
    made = summary_ops.audio_summary_v2(tag, tensor, rate, max_outputs=max_outputs, name=name or "AudioSummary")
    return _collected(made, collections)


def merge_summary(inputs: Sequence[object], collections: Sequence[str] | None = None, name: str | None = None) -> Tensor:
    """One scalar string, the Summary with the values of all of `inputs`; see `tf.summary.merge`.

    Args:
        inputs: scalar strings that summary ops made.
        collections: the collections that it is added to; none when None.
        name: the name scope.
    """
    return merge(inputs, collections, name or "MergeSummary")


def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Tensor | OrNone:
    """All summaries of the default graph merged, or None when there are none; see `tf.summary.merge_all`.

    Args:
        key: the collection of the summaries.
    """
    found = get_default_graph().get_collection(key)
    return merge_summary(found) if found else None
