"""What a node refuses of the shapes that a run brings: its shape rule is asked once more where it could not tell before.

A node whose inputs all had a rank when it was built is never asked again. Of another, the rule gets the shapes as they are now,
and the values of those inputs that it may look at; what it has passed once, both the same, passes again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.nodes.node_errors import BuildMisfit
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.nodes.ranks import check_ranks, check_values
from weft.framework.op_types.op_def import OpDef
from weft.framework.op_types.op_role import Role
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims

# What passed is forgotten once there is so much: what comes in another shape each time is asked of each time.
_KEPT: Final = 256
_HANDLES: Final = (dtypes.resource, dtypes.variant)
# An assignment compares the shapes itself, in words that name the variable.
_NOT_ASKED: Final = frozenset((Role.ALIAS, Role.VARIABLE, Role.READ, Role.CONSTANT, Role.DEFAULT, Role.ASSIGNMENT))


class RunShapes:
    """The check of one node whose inputs' shapes only a run tells.

    Args:
        op: the node.
        skipped: how many of its first arguments are variables that the caller does not show.
    """

    __slots__ = ("_op", "_passed", "_ranks", "_skipped", "_static")

    def __init__(self, op: Operation, skipped: int) -> None:
        self._op = op
        self._skipped = skipped
        items = list(group(op.op_def.inputs, op.attrs, op.inputs))
        self._ranks = tuple(
            (number - skipped, arg.name, op.op_def.ranks[arg.name])
            for number, (arg, item) in enumerate(items)
            if number >= skipped
            and arg.name in op.op_def.ranks
            and any(tensor.dims is None for tensor in (item if arg.is_list else (item,)))
        )
        self._static = tuple(
            number - skipped for number, (arg, _) in enumerate(items) if number >= skipped and arg.name in op.op_def.static
        )
        self._passed: set[tuple[object, ...]] = set()

    def check(self, arguments: Sequence[Array], kernel: Callable[..., object] | None = None) -> None:
        """Raise ValueError where the node does not take arguments of these shapes; traced values have shapes, too.

        Args:
            arguments: what the kernel is about to get.
            kernel: the kernel, if it is pure: what the rule refuses it may refuse in words of its own.
        """
        seen = tuple([each.shape if type(each) is np.ndarray else _shapes_of(each) for each in arguments])
        if self._static:
            seen = (*seen, *[_values_of(arguments[number]) for number in self._static])
        if seen in self._passed:
            return
        check_values(self._ranks, arguments)
        stand_in = self._stand_in(arguments)
        try:
            stand_in.op_def.infer(stand_in)
        except BuildMisfit:
            pass
        except ValueError:
            if kernel is not None:
                kernel(*arguments)
            raise
        except Exception:
            # The rule counts on more than a stand-in has, or on ranks.
            check_ranks(stand_in)
        if len(self._passed) >= _KEPT:
            self._passed.clear()
        self._passed.add(seen)

    def _stand_in(self, arguments: Sequence[Array]) -> Operation:
        """The node on inputs of the arguments' shapes."""
        op = self._op
        inputs: list[Tensor] = []
        for number, (arg, item) in enumerate(group(op.op_def.inputs, op.attrs, op.inputs)):
            value = None if number < self._skipped else arguments[number - self._skipped]
            tensors, values = (item, value) if arg.is_list else ([item], [value])
            is_static = arg.name in op.op_def.static
            inputs.extend(_seen(*pair, is_static) for pair in zip(tensors, values or [None] * len(tensors), strict=True))
        return Operation(op.graph, op.op_def, op.name, inputs, (), [each.dtype for each in op.outputs], op.attrs)


def run_shapes(definition: OpDef, op: Operation, skipped: int = 0) -> RunShapes | None:
    """The check of a node whose inputs' ranks were not all known when it was built, None for others.

    Args:
        definition: the declaration of what runs, which may be another than the node's.
        op: the node.
        skipped: how many of its first arguments are variables that `check` is not shown.
    """
    if op.op_def is not definition or definition.role in _NOT_ASKED or definition.bodies:
        return None
    if all(tensor.dims is not None or tensor.dtype.base_dtype in _HANDLES for tensor in op.inputs):
        return None
    return RunShapes(op, skipped)


def _shapes_of(argument: Array) -> object:
    return tuple([_dims_of(each) for each in argument]) if type(argument) is list else _dims_of(argument)


def _values_of(argument: Array) -> object:
    """What tells the values of a static input from others; None for those that are traced, which the rule does not see."""
    if type(argument) is list:
        return tuple([_values_of(each) for each in argument])
    return argument.tobytes() if isinstance(argument, np.ndarray | np.generic) else None


def _dims_of(value: Array) -> Dims:
    return None if value is None else np.shape(value)


def _seen(tensor: Tensor, value: Array, is_static: bool) -> Tensor:
    """What stands for a tensor that has a value of a known shape."""
    if value is None or tensor.dtype.base_dtype in _HANDLES:
        return tensor
    maker = tensor.op
    if is_static and isinstance(value, np.ndarray | np.generic):
        maker = Operation(maker.graph, _CONSTANT, maker.name, (), (), (), {"value": np.asarray(value)})
    made = Tensor(maker, tensor.value_index, tensor.dtype)
    made.dims = tuple(np.shape(value))
    return made


def _no_kernel() -> None:
    raise AssertionError("a stand-in is never run")


_CONSTANT: Final = OpDef(
    name="Const", inputs=(), outputs=(), attrs={}, kernel=_no_kernel, kernel_attrs=(), infer=lambda op: [], gradient=None,
    is_host=False, takes_xp=False, is_random=False, takes_finish=False, role=Role.CONSTANT,
)  # fmt: skip
