"""Transformations that call a function for each element."""

from __future__ import annotations

from collections.abc import Callable

from weft.data import structure
from weft.data.selecting import Made
from weft.data.structure import DatasetLike
from weft.data.traced import Traced
from weft.framework import dtypes
from weft.framework.aliases import Nest
from weft.framework.graph import get_default_graph
from weft.framework.tensor_shape import as_dims
from weft.framework.tensor_spec import TensorSpec
from weft.ops.data import mapping


def map_elements(dataset: DatasetLike, function: Callable[..., Nest], name: str = "Dataset.map()") -> tuple[Made, Traced]:
    """The results of a function for each element."""
    traced = Traced(function, name, dataset.element_spec)
    with get_default_graph().control_dependencies(traced.waits):
        variant = mapping.map_dataset(
            dataset.variant_tensor, traced.captured, f=traced.name, **structure.flat_attrs(traced.spec)
        )
    return Made(variant, traced.spec), traced


def filter_elements(dataset: DatasetLike, predicate: Callable[..., Nest]) -> tuple[Made, Traced]:
    """The elements for which a function is true; ValueError for one that does not return a scalar bool."""
    traced = Traced(predicate, "Dataset.filter()", dataset.element_spec)
    answer = traced.spec
    if not (isinstance(answer, TensorSpec) and answer.dtype is dtypes.bool and as_dims(answer.shape) in ((), None)):
        raise ValueError("`predicate` must return a scalar boolean tensor.")
    spec = dataset.element_spec
    with get_default_graph().control_dependencies(traced.waits):
        variant = mapping.filter_dataset(
            dataset.variant_tensor, traced.captured, predicate=traced.name, **structure.flat_attrs(spec)
        )
    return Made(variant, spec), traced


def flat_map(dataset: DatasetLike, function: Callable[..., Nest]) -> tuple[Made, Traced]:
    """The elements of the datasets that a function makes of each element."""
    traced = Traced(function, "Dataset.flat_map()", dataset.element_spec)
    spec = made_spec(traced)
    with get_default_graph().control_dependencies(traced.waits):
        variant = mapping.flat_map_dataset(dataset.variant_tensor, traced.captured, f=traced.name, **structure.flat_attrs(spec))
    return Made(variant, spec), traced


def made_spec(traced: Traced) -> Nest:
    """What the datasets that a function makes have for elements; TypeError when it makes none."""
    if not isinstance(traced.spec, structure.DatasetSpec):
        raise TypeError("`map_func` must return a `Dataset` object.")
    return traced.spec.element_spec
