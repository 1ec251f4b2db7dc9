"""Input: where a model begins, a placeholder with a layer that made it."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import DTypeLike, Nest
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import as_dims
from weft.models.layers.layer_names import get_uid
from weft.networks.config import Config, Options
from weft.networks.engine.layer import Layer
from weft.networks.state.defaults import floatx
from weft.ops.array.placeholder import placeholder
from weft.ops.sparse.tensors import sparse_placeholder


class InputLayer(Layer):
    """The layer that stands before a placeholder.

    Args:
        input_shape: the shape without the batch.
        batch_size: the size of the batch, or None.
        dtype: the type; that of the tensor, else the default type of floats, when None.
        input_tensor: a tensor to take instead of a placeholder.
        sparse: whether it is a sparse placeholder.
        name: the name of the layer and of the placeholder.
        ragged: refused when true.
        kwargs: `batch_input_shape`, the shape with the batch.

    Raises:
        NotImplementedError: `ragged` is true.
        ValueError: shapes that contradict each other, or unknown arguments.
    """

    def __init__(
        self, input_shape: Sequence[int | None] | None = None, batch_size: int | None = None,
        dtype: DTypeLike | None = None, input_tensor: Nest = None, sparse: bool = False, name: str | None = None,
        ragged: bool = False, **kwargs: Options,
    ) -> None:  # fmt: skip
        whole = kwargs.pop("batch_input_shape", kwargs.pop("batch_shape", None))
        if whole is not None and input_shape is not None:
            raise ValueError(
                "Only provide the input_shape OR batch_input_shape argument to InputLayer, not both at the same time."
            )
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments: {kwargs.keys()}")
        if ragged:
            raise NotImplementedError("Input(ragged=True): pad the rows and use a Masking layer, or a sparse input")
        if whole is not None:
            batch_size, input_shape = whole[0], tuple(whole)[1:]
        if isinstance(input_shape, int):
            input_shape = (input_shape,)
        kind = dtypes.as_dtype(dtype or (floatx() if input_tensor is None else input_tensor.dtype)).base_dtype
        super().__init__(name=name or f"input_{get_uid('input')}", dtype=kind.name)
        self.sparse, self.built, self.supports_masking = sparse, True, True
        self.is_placeholder = input_tensor is None
        if input_tensor is None:
            shape = None if input_shape is None else [batch_size, *(as_dims(input_shape) or ())]
            maker = sparse_placeholder if sparse else placeholder
            input_tensor = maker(kind, shape, name=self.name)
            self.batch_input_shape = None if shape is None else tuple(shape)
        else:
            self.batch_input_shape = tuple(input_tensor.shape.as_list())
        self.add_node([], [input_tensor], {})

    def get_config(self) -> Config:
        """The arguments that make an equal layer."""
        return {"batch_input_shape": self.batch_input_shape, "dtype": self.dtype, "sparse": self.sparse, "ragged": False,
                "name": self.name}  # fmt: skip


def Input(
    shape: Sequence[int | None] | None = None, batch_size: int | None = None, name: str | None = None,
    dtype: DTypeLike | None = None, sparse: bool = False, tensor: Nest = None, ragged: bool = False, **kwargs: Options,
) -> Nest:  # fmt: skip
    """A placeholder with which a model begins.

    Args:
        shape: its shape without the batch.
        batch_size: the size of the batch, or None.
        name: the name of the layer and of the placeholder; `input_1` and so on when None.
        dtype: its type; the default type of floats when None.
        sparse: whether it is a sparse placeholder.
        tensor: a tensor to take instead of a placeholder.
        ragged: refused when true.
        kwargs: `batch_shape`, the shape with the batch.

    Raises:
        ValueError: neither shape nor tensor is given.
    """
    batch_shape = kwargs.pop("batch_shape", None)
    if shape is not None and batch_shape is not None:
        raise ValueError("Only provide the `shape` OR `batch_shape` argument to Input, not both at the same time.")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {list(kwargs)}")
    if shape is None and batch_shape is None and tensor is None:
        raise ValueError("Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` does not include "
                         "the batch dimension.")  # fmt: skip
    options: Config = {"batch_input_shape": batch_shape} if batch_shape is not None else {
        "input_shape": shape, "batch_size": batch_size}  # fmt: skip
    layer = InputLayer(dtype=dtype, input_tensor=tensor, sparse=sparse, name=name, ragged=ragged, **options)
    return layer.inbound_nodes[0].output_tensors[0]
