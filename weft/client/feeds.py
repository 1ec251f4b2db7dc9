"""Feeds: from a feed_dict to tensors and arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from weft.client import feed_remedies
from weft.client.conversions import conversion_for
from weft.client.feed_values import convert
from weft.framework.building.aliases import TensorLike
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dims import dims_compatible, format_dims


def resolve(graph: Graph, feed_dict: object) -> dict[Tensor, Any]:
    """The value of each fed tensor; SparseTensor and IndexedSlices are several. Of a tensor fed twice the last counts.

    Raises:
        TypeError: the dict is none, a key is no tensor, or a value is a Tensor.
        ValueError: a tensor may not be fed.
    """
    if not isinstance(feed_dict, Mapping):
        raise TypeError(
            f"feed_dict must be a dictionary from tensors to values, such as {{images: batch}}, got {type(feed_dict).__name__}"
        )
    pairs: dict[Tensor, Any] = {}
    for key, value in feed_dict.items():
        # Nearly every key is a tensor of the graph.
        if type(key) is Tensor and key.op.graph is graph and graph.is_feedable(key):
            pairs[key] = value
        else:
            pairs.update(_expand(graph, key, value))
    return pairs


def tensors_of(graph: Graph, feed_list: object) -> list[Tensor]:
    """The tensors that a list announces as feeds; SparseTensor and IndexedSlices are several.

    Raises:
        TypeError: an element is no tensor. ValueError: it may not be fed.
    """
    items = [] if feed_list is None else feed_list if isinstance(feed_list, list | tuple) else [feed_list]
    return [tensor for item in items for part in _parts_of(item) for tensor in [_tensor_for(graph, part, "feed_list")]]


def _expand(graph: Graph, key: object, value: object) -> Iterator[tuple[Tensor, Any]]:
    conversion = conversion_for(key)
    if conversion is not None:
        if conversion.feed is None:
            raise TypeError(f"feed_dict: instances of {type(key).__name__} were registered without a function that feeds them")
        for part, part_value in conversion.feed(key, value):
            yield _tensor_for(graph, part), part_value
    elif isinstance(key, list | tuple):
        if not isinstance(value, list | tuple | np.ndarray) or len(key) != len(value):
            raise ValueError(f"feed_dict: the key has {len(key)} tensors, so its value must have as many parts; got {value!r}")
        for item, part in zip(key, value, strict=True):
            yield from _expand(graph, item, part)
    else:
        yield _tensor_for(graph, key), value


def _shape_hint(tensor: Tensor, array: np.ndarray) -> str:
    remedy = feed_remedies.for_shape(tensor.dims, array.shape)
    return f"\n  {described(tensor)}" + (f"\n  {remedy}" if remedy else "")


def _parts_of(key: object) -> Sequence[Any]:
    conversion = conversion_for(key)
    if conversion is None:
        return (key,)
    if conversion.feed_for_partial_run is None:
        raise ValueError(f"feed_list: instances of {type(key).__name__} were registered without a function for partial runs")
    return conversion.feed_for_partial_run(key)


def _tensor_for(graph: Graph, key: object, where: str = "feed_dict") -> Tensor:
    try:
        tensor: Tensor = graph.as_graph_element(key, allow_tensor=True, allow_operation=False)
    except Exception as error:
        raise TypeError(f"Cannot interpret {where} key as Tensor: {error.args[0]}") from error
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor} may not be fed.")
    return tensor


def as_feed(tensor: Tensor, value: TensorLike) -> Any:
    """Convert one value to an array of the tensor's dtype that fits its shape.

    Raises:
        TypeError: the value is a Tensor, or does not fit the dtype.
        ValueError: the value does not fit the shape.
    """
    wanted = tensor.dtype.as_numpy_dtype
    if type(value) is np.ndarray and value.dtype == wanted and wanted is not object:
        array = value
    else:
        array = convert(tensor, value, wanted)
    if not dims_compatible(tensor.dims, array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {tensor.name!r}, which has shape "
            f"{format_dims(tensor.dims)!r}{_shape_hint(tensor, array)}"
        )
    return array
