"""Types of arguments that take many forms: what programs write for a tensor, a type or a shape, and the arrays of kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol, TypeAlias

import numpy as np

from weft.framework.building.run_signature import Feeds as Feeds
from weft.framework.building.run_signature import typed_run
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.graphs.graph import Graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dimension import Dimension
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.proto.messages import RunMetadata, RunOptions, TensorShapeProto

# An array of NumPy or of JAX, or a traced one: kernels are written once for all three, and these share no type.
Array: TypeAlias = Any
# NumPy or jax.numpy, the `xp` of a kernel.
ArrayModule: TypeAlias = ModuleType
# A kernel's result for one output. The `op` decorator tells by it what the builder of the nodes returns, which a bare Any
# would leave open.
Result: TypeAlias = np.ndarray[Any, Any] | Any
# What a gradient rule gives back: one gradient for each input, None where nothing goes back.
Gradients: TypeAlias = "list[Tensor | IndexedSlices | None]"


class HasValue(Protocol):
    """An object with a tensor as its value, as a variable is."""

    def value(self) -> Tensor:
        """The tensor."""
        ...


Scalar: TypeAlias = bool | int | float | complex | str | bytes | np.generic
# All that `convert_to_tensor` takes of itself; packages that register conversions take more.
TensorLike: TypeAlias = Tensor | HasValue | np.ndarray[Any, Any] | Scalar | Sequence["TensorLike"]
# What stands for one number, or for numbers of one type: a text or a list is a mistake there.
NumberLike: TypeAlias = Tensor | HasValue | np.ndarray[Any, Any] | float | np.generic
DTypeLike: TypeAlias = "DType | str | type | np.dtype[Any] | int"
ShapeLike: TypeAlias = TensorShape | TensorShapeProto | int | Sequence[int | Dimension | None] | None
# The dimensions that a function goes over: a number, several, a tensor of them; for None, mostly all.
Axes: TypeAlias = "TensorLike | None"
# A shape that the graph may work out: a tensor of sizes, or sizes of which some may be tensors.
DynamicShape: TypeAlias = "ShapeLike | TensorLike | Sequence[TensorLike | Dimension | None]"

# A size, known or not before the run.
SizeLike: TypeAlias = "int | Tensor"
# One number for all spatial dimensions, or one for each.
Sizes: TypeAlias = "int | Sequence[int]"
# "SAME", "VALID", or the padding before and after each dimension.
Padding: TypeAlias = "str | Sequence[Sequence[int]]"
# One axis, several, or all for None.
AxisLike: TypeAlias = "int | Sequence[int] | None"
DeviceLike: TypeAlias = "str | DeviceSpec | Callable[[Operation], object] | None"
Collections: TypeAlias = "str | Sequence[str] | None"
# Collections for all variables of a layer, or for each by its name.
VariableCollections: TypeAlias = "Sequence[str] | Mapping[str, Sequence[str]] | None"

# A tensor, or lists, tuples and dicts of tensors within each other: the function, cell or loop that the program passes with it
# knows its structure, and no type does.
Nest: TypeAlias = Any

# A variable of either kind or its mutable tensor, and the result of an update, which is the variable after it: they share what
# ops need (a dtype, a value, methods that update), and no base.
VariableLike: TypeAlias = Any

# What programs pass to say how variables and layers are made.
Activation: TypeAlias = "Callable[[Tensor], Tensor]"
Initializer: TypeAlias = "Callable[..., object]"
Regularizer: TypeAlias = "Callable[[Any], Tensor | None]"
Constraint: TypeAlias = "Callable[[Tensor], Tensor]"
Partitioner: TypeAlias = "Callable[..., Sequence[int]]"
Getter: TypeAlias = "Callable[..., Any]"

# What a run fetches, where weft's own code passes it on: tensors, operations, variables, names of these, what conversions
# are registered for, and structures of all that. `Run` tells what a program may fetch and what it gets.
Fetches: TypeAlias = Any
FetchValue: TypeAlias = Any


class SessionLike(Protocol):
    """A session, or what stands for one: one that recovers, that runs hooks, or that a hook is given."""

    @property
    def graph(self) -> Graph:
        """The graph that it runs."""
        ...

    @typed_run
    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> FetchValue:
        """Run the graph as far as the fetches need it, and return their values."""
        ...
