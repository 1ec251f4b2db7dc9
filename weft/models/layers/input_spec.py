"""InputSpec: what a layer takes, checked before it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.framework.building.aliases import DTypeLike, Nest, ShapeLike
from weft.framework.nested import nest
from weft.framework.rank_remedies import UNKNOWN_RANK, rank_remedy
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape, as_dims


class InputSpec:
    """The type, the shape or the rank, and single sizes that an input must have.

    Args:
        dtype: the type.
        shape: the shape, of which None is any size.
        ndim, max_ndim, min_ndim: the rank, or its bounds.
        axes: sizes by dimension; None is any.
    """

    def __init__(
        self,
        dtype: DTypeLike | None = None,
        shape: ShapeLike = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Mapping[Any, int | None] | None = None,
    ) -> None:
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = None if shape is None else as_dims(shape)
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}

    def __repr__(self) -> str:
        fields = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return f"InputSpec({', '.join(f'{name}={getattr(self, name)}' for name in fields if getattr(self, name))})"

    def get_config(self) -> dict[str, Nest]:
        """The arguments, as plain data."""
        return {name: getattr(self, name) for name in ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")}

    @classmethod
    def from_config(cls, config: Mapping[str, Nest]) -> InputSpec:
        """A spec of its config.

        Args:
            config: what `get_config` gave.
        """
        return cls(**config)


def check_inputs(spec: Nest, inputs: Nest, layer_name: str) -> None:
    """ValueError when the inputs of a layer are not as its spec says."""
    if not spec:
        return
    specs = nest.flatten(spec)
    given = nest.flatten(inputs)
    if len(given) != len(specs):
        raise ValueError(
            f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(given)} input tensors. "
            f"Inputs received: {inputs}"
        )
    for index, (tensor, each) in enumerate(zip(given, specs, strict=True)):
        if each is not None:
            _check(each, tensor.shape, index, layer_name)


def _check(spec: InputSpec, shape: TensorShape, index: int, layer_name: str) -> None:
    start = f"Input {index} of layer {layer_name} is incompatible with the layer: "
    rank = shape.ndims
    if rank is None:
        if spec.ndim is not None or spec.min_ndim is not None or spec.max_ndim is not None:
            raise ValueError(f"{start}its rank is undefined, but the layer requires a defined rank. {UNKNOWN_RANK}")
        return
    sizes = shape.as_list()
    if spec.ndim is not None and rank != spec.ndim:
        raise ValueError(
            f"{start}expected ndim={spec.ndim}, found ndim={rank}. Full shape received: {sizes}{rank_remedy(spec.ndim, rank)}"
        )
    if spec.max_ndim is not None and rank > spec.max_ndim:
        raise ValueError(f"{start}expected max_ndim={spec.max_ndim}, found ndim={rank}")
    if spec.min_ndim is not None and rank < spec.min_ndim:
        remedy = rank_remedy(spec.min_ndim, rank)
        raise ValueError(f"{start}: expected min_ndim={spec.min_ndim}, found ndim={rank}. Full shape received: {sizes}{remedy}")
    for axis, size in spec.axes.items():
        if size is not None and -rank <= axis < rank and sizes[axis] not in (size, None):
            raise ValueError(
                f"{start}expected axis {axis} of input shape to have value {size} but received input with shape {sizes}"
            )
    for wanted, found in zip(spec.shape or (), sizes, strict=False):
        if wanted is not None and found is not None and wanted != found:
            raise ValueError(f"{start}expected shape={spec.shape}, found shape={sizes}")
