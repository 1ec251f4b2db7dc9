"""Summaries by their names of before TensorFlow 1.0, whose tags are given rather than made of the nodes' names."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.aliases import TensorLike
from weft.framework.collections import GraphKeys
from weft.framework.graph import get_default_graph
from weft.framework.operation import Tensor
from weft.ops.summary import nodes as summary_ops


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
