"""A Dataset as a shell and a notebook show it: the elements' types and shapes, and the stages that they pass."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from weft.datasets import nest, structure
from weft.datasets.leaves import DatasetLike
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.framework.types.dims import brackets
from weft.framework.types.tensor_shape import as_dims

_MOST_STAGES: Final = 60
_ENDINGS: Final = ("V1", "V2", "V3", "V4", "V5")


def text_of(dataset: DatasetLike) -> str:
    """As TensorFlow prints one: `<DatasetV1Adapter shapes: (?,), types: tf.int64>`."""
    shapes = str(nest.map_structure(str, structure.legacy_shapes(dataset.element_spec))).replace("'", "")
    types = str(nest.map_structure(repr, structure.legacy_types(dataset.element_spec))).replace("'", "")
    kind = type(dataset).__name__
    return f"<{'DatasetV1Adapter' if kind == 'Dataset' else f'{kind}V1'} shapes: {shapes}, types: {types}>"


def table_of(dataset: DatasetLike) -> str:
    """HTML of its stages, each with the types and shapes of its elements."""
    rows = [
        f"<tr><td>{'&nbsp;' * 4 * depth}{escape(_stage_name(node))}</td><td>{escape(_elements(node))}</td></tr>"
        for (depth, node), _ in zip(_stages(dataset.variant_tensor.op, 0), range(_MOST_STAGES), strict=False)
    ]
    return f"<table><tr><th>stage, the last one first</th><th>its elements</th></tr>{''.join(rows)}</table>"


def _stages(node: Operation, depth: int) -> Iterator[tuple[int, Operation]]:
    """The stages from the last one on; those that one joins, such as zip's, stand farther in."""
    yield depth, node
    inputs = [each.op for each in node.inputs if each.dtype.base_dtype is dtypes.variant]
    for each in inputs:
        yield from _stages(each, depth + (len(inputs) > 1))


def _stage_name(node: Operation) -> str:
    """`Map` for a MapDataset."""
    name = node.type
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name.removesuffix("Dataset") or node.type


def _elements(node: Operation) -> str:
    types, shapes = node.attrs.get("output_types"), node.attrs.get("output_shapes")
    if not isinstance(types, list | tuple) or not isinstance(shapes, list | tuple):
        return ""
    of_leaves = zip(types, shapes, strict=False)
    return ", ".join(f"{dtypes.as_dtype(kind).name} {brackets(as_dims(shape))}" for kind, shape in of_leaves)
