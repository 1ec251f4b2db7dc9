"""Summaries merged into one: MergeSummary, merge and merge_all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import summary_pb2

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.value_types import OrNone
from weft.ops.declaration import not_differentiable, op, scalar_shape


@op("MergeSummary", "inputs: N*string -> summary: string", infer=scalar_shape, gradient=not_differentiable, limits={"N": 1})
def merge_summary(ctx: OpContext, inputs: Array) -> Result:
    """The Summary with the values of all inputs; two values of one tag are an error.

    `N*[...] string -> scalar string`
    """
    merged = summary_pb2.Summary()
    tags = set()
    for data in (item for part in inputs for item in np.ravel(part).tolist()):
        try:
            summary = summary_pb2.Summary.FromString(data)
        except DecodeError as error:
            raise InvalidArgumentError.of("Could not parse one of the summary inputs") from error
        for value in summary.value:
            if value.tag in tags:
                raise InvalidArgumentError.of(f"Duplicate tag {value.tag} found in summary inputs")
            tags.add(value.tag)
        merged.MergeFrom(summary)
    return as_string_scalar(merged.SerializeToString())


def as_string_scalar(data: bytes) -> Array:
    """Bytes as a scalar string tensor's value."""
    array = np.empty((), np.object_)
    array[()] = data
    return array


def merge(inputs: Sequence[object], collections: Sequence[str] | None = None, name: str | None = None) -> Tensor:
    """One scalar string, the Summary with the values of all of `inputs`.

    Args:
        inputs: scalar strings that summary ops made.
        collections: the collections to add it to.
        name: the node's name.

    Returns:
        A [] string tensor, all of these Summaries in one.

    Raises:
        ValueError: there is nothing to merge.

    >>> merged = tf.summary.merge([tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)])
    >>> [value.tag for value in tf.Summary.FromString(sess.run(merged)).value]
    ['a', 'b']
    """
    with get_default_graph().name_scope("Merge" if name is None else name):
        merged = merge_summary(list(inputs), name=name)
    get_default_graph().add_to_collections(list(collections or ()), merged)
    return merged


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | OrNone:
    """All summaries of the default graph merged, or None when there are none.

    Args:
        key: the collection of the summaries.
        scope: take only those whose name this regular expression matches from the start.
        name: the node's name.

    Returns:
        A [] string tensor, all Summaries in one; None where the graph has none.

    >>> tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)
    (<tf.Tensor 'a:0' shape=() dtype=string>, <tf.Tensor 'b:0' shape=() dtype=string>)
    >>> len(tf.Summary.FromString(sess.run(tf.summary.merge_all())).value)
    2
    """
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None
