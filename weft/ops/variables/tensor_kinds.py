"""What counts as a tensor, by the names of tensorflow.python.framework.ops that standalone Keras and mesh programs ask."""

from __future__ import annotations

from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Tensor
from weft.ops.variables.variable import Variable

_dense: list[type] = [Tensor, Variable]


class _TensorKind(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor | SparseTensor | IndexedSlices)


class TensorLike(metaclass=_TensorKind):
    """Tensors, sparse ones and slices are its instances; for `isinstance` alone."""


def is_dense_tensor_like(t: object) -> bool:
    """Whether it is a tensor, a variable, or of a type that was registered as such."""
    return isinstance(t, tuple(_dense))


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Let objects of a type count as dense tensors.

    Raises:
        TypeError: the type has no property `name` or `dtype`.
    """
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{name}` property.")
    _dense.append(tensor_type)


def register_symbolic_tensor_type(cls: type) -> None:
    """Let objects of a class that converts to tensors count as dense tensors, also of one without a name or dtype.

    Args:
        cls: the class.
    """
    _dense.append(cls)


def as_graph_element(obj: object) -> object:
    """The tensor of the graph that an object stands for, as a variable does; None if it says nothing of the kind."""
    convert = getattr(obj, "_as_graph_element", None)
    return convert() if callable(convert) else None
