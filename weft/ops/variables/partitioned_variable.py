"""PartitionedVariable: several variables that stand for one large tensor, cut along one axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from weft.framework.building.aliases import TensorLike, VariableLike
from weft.framework.building.tensor_conversion import register_tensor_conversion_function
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.identity import identity_node
from weft.ops.array.joining import concat, split


class PartitionedVariable:
    """The parts, in order, and what they amount to. As a tensor it is their concatenation."""

    def __init__(
        self, name: str, shape: TensorShape, dtype: DType, variable_list: Sequence[VariableLike], partitions: Sequence[int]
    ) -> None:
        if not isinstance(variable_list, list | tuple):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, list | tuple):
            raise TypeError(f"partitions is not a list or tuple: {partitions}")
        if not all(count >= 1 for count in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        infos = [variable._get_save_slice_info() for variable in variable_list]
        if None in infos:
            names = [variable.name for variable in variable_list]
            raise ValueError(f"All variables must have a save_slice_info available: {names}")
        if len(shape) != len(partitions):
            raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
        for info in infos:
            if TensorShape(info.full_shape) != TensorShape(shape):
                raise ValueError(
                    f"All variables' full shapes must match shape: {shape}; but full shapes were: [{info.full_shape}]"
                )
        self._variable_list = sorted(variable_list, key=lambda variable: variable._get_save_slice_info().var_offset)
        self._name = name
        self._shape = shape
        self._dtype = dtype
        self._partitions = partitions

    @property
    def name(self) -> str:
        """The name of the whole."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The type of all parts."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self.get_shape()

    def get_shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def _get_variable_list(self) -> list[VariableLike]:
        return self._variable_list

    def _get_partitions(self) -> Sequence[int]:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        return [axis for axis, count in enumerate(self._partitions) if count > 1] or [0]

    def __iter__(self) -> Iterator[VariableLike]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"Cannot get a length for {len(axes)} > 1 partition axes")
        return len(self._variable_list)

    def as_tensor(self) -> Tensor:
        """The whole as a tensor, which does not wait for the control dependencies that are open here."""
        with get_default_graph().control_dependencies(None):
            return self._concat()

    def _concat(self) -> Tensor:
        graph = get_default_graph()
        whole = self._variable_list[0]
        if len(self._variable_list) > 1:
            axis = self._only_axis("concatenate", "concat")
            with graph.name_scope(f"{self._name}/ConcatPartitions/"):
                whole = concat(self._variable_list, axis)
        with graph.name_scope(None):
            return identity_node(whole, name=self._name)

    def _only_axis(self, action: str, kind: str) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(
                f"Cannot {action} along more than one dimension: {axes}. Multi-axis partition {kind} is not supported"
            )
        return axes[0]

    def to_tensor(self, dtype: DType | None, as_ref: bool) -> Tensor:
        if dtype is not None and not dtype.is_compatible_with(self._dtype):
            raise ValueError(
                f"Incompatible type conversion requested to type '{dtype.name}' for variable of type '{self._dtype.name}'"
            )
        if as_ref:
            raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
        return self.as_tensor()

    def _assign_parts(
        self, assign: Callable[[VariableLike, TensorLike], VariableLike], value: TensorLike, read_value: bool
    ) -> list[VariableLike]:
        axis = self._only_axis("do assign action", "assign action")
        if isinstance(value, list):
            parts = value
        elif isinstance(value, PartitionedVariable):
            parts = list(value)
        else:
            sizes = [int(variable.shape[axis]) for variable in self._variable_list]
            parts = split(value, sizes, axis=axis)
        assigned = [assign(variable, part) for variable, part in zip(self._variable_list, parts, strict=True)]
        return assigned if read_value else [each.op for each in assigned]

    def assign(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[VariableLike]:
        """Assign to each part its part of `value`: a tensor, a list of parts or another PartitionedVariable."""
        return self._assign_parts(lambda v, part: v.assign(part, use_locking=use_locking, name=name), value, read_value)

    def assign_add(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[VariableLike]:
        """Add to each part its part of `value`."""
        return self._assign_parts(lambda v, p: v.assign_add(p, use_locking=use_locking, name=name), value, read_value)

    def assign_sub(
        self, value: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> list[VariableLike]:
        """Subtract from each part its part of `value`."""
        return self._assign_parts(lambda v, p: v.assign_sub(p, use_locking=use_locking, name=name), value, read_value)


def _to_tensor(value: PartitionedVariable, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    return value.to_tensor(dtype, as_ref)


register_tensor_conversion_function(PartitionedVariable, _to_tensor)
