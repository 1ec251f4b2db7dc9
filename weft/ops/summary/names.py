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
    """A summary of one number, or one for each tag; see `tf.summary.scalar`."""
    return _collected(summary_ops.scalar_summary(tags, values, name=name or "ScalarSummary"), collections)


def histogram_summary(
    tag: TensorLike, values: TensorLike, collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """A summary of how many values there are of each size; see `tf.summary.histogram`."""
    return _collected(summary_ops.histogram_summary(tag, values, name=name or "HistogramSummary"), collections)


def image_summary(
    tag: TensorLike, tensor: TensorLike, max_images: int = 3, collections: Sequence[str] | None = None, name: str | None = None
) -> Tensor:
    """A summary of images; see `tf.summary.image`."""
    made = summary_ops.image_summary(tag, tensor, max_images=max_images, name=name or "ImageSummary")
    return _collected(made, collections)
