"""vectorized_map: a function for each part of tensors, with the types of its results found by building it once."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.ops.control_flow.functional import map_fn


def vectorized_map(fn: Callable[[Nest], Nest], elems: Nest) -> Nest:
    """The results of `fn` for the parts of `elems` along the first dimension, stacked.

    `fn` is built twice: once for the types of its results, in a graph that is thrown away, and once as the body of a loop
    whose steps do not depend on each other. It must not create variables.

    Args:
        fn: from one part, in the structure of `elems`, to tensors or structures of them.
        elems: a tensor, or (nested) tensors with equal first dimensions.

    Raises:
        ValueError: `elems` are scalars, or have other first dimensions than each other.
        TypeError: `fn` is no function.
    """
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable. Please provide a callable function.")
    leaves = [convert_to_tensor(leaf, name="elem") for leaf in nest.flatten(elems)]
    if any(leaf.dims == () for leaf in leaves):
        raise ValueError("vectorized_map: elems must have at least one dimension, found a scalar")
    with get_default_graph().node_count.as_many_as(0):
        trial = FuncGraph("vectorized_map_types", get_default_graph())
        with trial.building():
            parts = [
                trial.add_argument(f"part_{index}", leaf.dtype.base_dtype, leaf.dims and leaf.dims[1:])
                for index, leaf in enumerate(leaves)
            ]
            made = fn(nest.pack_sequence_as(elems, parts))
            types = nest.map_structure(lambda leaf: convert_to_tensor(leaf).dtype.base_dtype, made)

    def converted(part: Nest) -> Nest:
        return nest.map_structure(convert_to_tensor, fn(part))

    packed = nest.pack_sequence_as(elems, leaves)
    return map_fn(converted, packed, dtype=types, name="vectorized_map")
