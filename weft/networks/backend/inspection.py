"""tf.keras.backend's questions about tensors: shape, rank, type, and where they came from."""

from __future__ import annotations

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.networks.engine.calls.history import history_of, is_tensor
from weft.ops.sparse.tensors import sparse_tensor_to_dense


def int_shape(x: Nest) -> tuple[int | None, ...] | None:
    """The shape as a tuple; None when the rank is unknown.

    Args:
        x: a tensor, a variable, or what becomes a tensor.
    """
    shape = x.shape if hasattr(x, "shape") else convert_to_tensor(x).shape
    if isinstance(shape, tuple):
        return shape
    return None if shape.ndims is None else tuple(shape.as_list())


def ndim(x: Nest) -> int | None:
    """The rank, a Python number; None when it is unknown.

    Args:
        x: a tensor, a variable, or what becomes a tensor.
    """
    dims = int_shape(x)
    return None if dims is None else len(dims)


def dtype(x: Nest) -> str:
    """The name of the type, such as "float32".

    Args:
        x: a tensor or variable.
    """
    name: str = x.dtype.base_dtype.name
    return name


def count_params(x: VariableLike) -> int:
    """The number of elements of a variable; 0 where its shape is not known.

    Args:
        x: the variable.
    """
    return int(x.shape.num_elements() or 0)


def is_sparse(tensor: Nest) -> bool:
    """Whether a tensor is a SparseTensor.

    Args:
        tensor: a dense or sparse tensor.
    """
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: Nest) -> Nest:
    """A sparse tensor as a dense one, a dense one as it is.

    Args:
        tensor: a dense or sparse tensor.
    """
    if not isinstance(tensor, SparseTensor):
        return tensor
    return sparse_tensor_to_dense(tensor)


def is_keras_tensor(x: Nest) -> bool:
    """Whether a tensor came from a layer; ValueError for what is none.

    Args:
        x: a tensor or variable.
    """
    if not is_tensor(x):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance.")
    return history_of(x) is not None
