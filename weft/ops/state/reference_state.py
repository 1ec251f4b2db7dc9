"""Variables as graph nodes: the slot that holds a value, and the ops that read and replace it as a whole.

Kernels never see a slot: they get the current value and return the new one, so a compiled stage can thread the state
through.
"""

from __future__ import annotations

from weft.errors import InvalidArgumentError, OutOfRangeError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.node_errors import ShapeMisfit
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, brackets, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import Role, from_attr, not_differentiable, op, same_as_input, scalar_shape
from weft.ops.math.elementwise import NUMBERS

INDICES = (dtypes.int32, dtypes.int64)


@op("VariableV2", "-> ref: Ref(dtype)", role=Role.VARIABLE, infer=from_attr("shape"), gradient=None, stateful=True)
def variable_v2(*, shape: Dims, dtype: DType, container: str = "", shared_name: str = "") -> Result:
    """A variable's slot; the runtime binds it by container and name, so there is nothing to compute.

    `-> [*shape]`
    """


def _shape_unless_scalar(node: Operation) -> list[Dims]:
    # Graphs that have this op say of a variable of unknown shape that it is a scalar.
    return [node.attrs["shape"] or None]


@op("Variable", "-> ref: Ref(dtype)", role=Role.VARIABLE, infer=_shape_unless_scalar, gradient=None, stateful=True)
def variable_v1(*, shape: Dims, dtype: DType, container: str = "", shared_name: str = "") -> Result:
    """The older form of VariableV2, for graphs from elsewhere: `-> [*shape]`."""


_KEEPS_SHAPE = "A variable keeps its shape; `validate_shape=False` allows another one."


def _assigned(node: Operation) -> list[Dims]:
    ref, value = node.inputs[0].dims, node.inputs[1].dims
    if not node.attrs["validate_shape"]:
        return [value]
    try:
        return [merge_dims(ref, value)]
    except ValueError as error:
        raise ShapeMisfit(str(error), _KEEPS_SHAPE) from None


def _updated(node: Operation) -> list[Dims]:
    return [merge_dims(node.inputs[0].dims, node.inputs[1].dims)]


def _check_assigned(node: Operation, ref: Array, value: Array) -> None:
    if ref is not None and value is not None and node.attrs["validate_shape"]:
        _check_same_shape(ref, value)


def _check_same_shape(ref: Array, value: Array) -> None:
    if ref.shape != value.shape:
        raise InvalidArgumentError.of(
            "Assign requires shapes of both tensors to match. "
            f"lhs shape= {brackets(ref.shape)} rhs shape= {brackets(value.shape)}"
        )


@op("Assign", "ref: Ref(T), value: T -> output_ref: Ref(T)", role=Role.ASSIGNMENT,
    infer=_assigned, gradient=not_differentiable, stateful=True,
    updates=("ref",), allows_uninitialized=True, check=_check_assigned)  # fmt: skip
def assign(ref: Array, value: Array, *, validate_shape: bool = True, use_locking: bool = True) -> Result:
    """The value, which becomes that of the variable; with `validate_shape` it has the same shape.

    `[*old], [...] -> [...]`
    """
    if validate_shape and ref is not None:
        _check_same_shape(ref, value)
    return value


def check_update(variable: Array, value: Array) -> None:
    """Refuse a value that would be broadcast, or give the variable another shape.

    Raises:
        InvalidArgumentError: the shapes differ.
    """
    if variable.shape != value.shape:
        raise InvalidArgumentError.of(
            f"Cannot update variable with shape {brackets(variable.shape)} using a Tensor with shape "
            f"{brackets(value.shape)}, shapes must be equal."
        )


@op("AssignAdd", "ref: Ref(T), value: T -> output_ref: Ref(T)", infer=_updated, gradient=not_differentiable, stateful=True,
    updates=("ref",), types={"T": NUMBERS})  # fmt: skip
def assign_add(ref: Array, value: Array, *, use_locking: bool = False) -> Result:
    """`ref + value`: `[...], [...] -> [...]`."""
    check_update(ref, value)
    return ref + value


@op("AssignSub", "ref: Ref(T), value: T -> output_ref: Ref(T)", infer=_updated, gradient=not_differentiable, stateful=True,
    updates=("ref",), types={"T": NUMBERS})  # fmt: skip
def assign_sub(ref: Array, value: Array, *, use_locking: bool = False) -> Result:
    """`ref - value`: `[...], [...] -> [...]`."""
    check_update(ref, value)
    return ref - value


@op("IsVariableInitialized", "ref: Ref(dtype) -> is_initialized: bool", role=Role.PROBE, infer=scalar_shape, gradient=None,
    stateful=True, at_once=True, allows_uninitialized=True)  # fmt: skip
def is_variable_initialized(ctx: OpContext, ref: Array, *, dtype: DType) -> Result:
    """Whether the variable has a value: `[...] -> scalar bool`."""
    return ref is not None


def raised_by_one(value: Array, limit: int) -> tuple[Array, Array]:
    """The next value of a counter and this one; OutOfRangeError when it has reached its limit."""
    if value >= limit:
        raise OutOfRangeError.of(f"Reached limit of {limit}")
    return value + value.dtype.type(1), value


@op("CountUpTo", "ref: Ref(T) -> output: T", infer=same_as_input, gradient=None, stateful=True, updates=("ref",),
    types={"T": INDICES})  # fmt: skip
def count_up_to(ctx: OpContext, ref: Array, *, limit: int) -> Array:
    """The counter before it is raised by one, in one locked update; OutOfRangeError at the limit.

    `scalar -> scalar`
    """
    return raised_by_one(ref, limit)
