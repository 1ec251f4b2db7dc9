"""switch and merge of tensorflow.python.ops.control_flow_ops: values that are there in one of two cases, and the one that is.

TensorFlow does not run what hangs on the output that was not taken. Here all of it runs, and `merge` takes the value whose
switches were taken: preprocessing that applies one of several distortions, for which programs use the two, gives the same.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity
from weft.ops.control_flow.cond import cond
from weft.ops.math.comparison import logical_and, logical_not, logical_or


class Merge(NamedTuple):
    """What `merge` gives: the value, and which of the inputs it is."""

    output: Tensor
    value_index: Tensor


# Where the output of a switch or a merge is there: the name of the condition, None where it always is. Names, as tensors would
# keep the graph.
_CONDITIONS: Final[WeakKeyDictionary[Operation, str | None]] = WeakKeyDictionary()


def switch(
    data: TensorLike, pred: TensorLike, dtype: DTypeLike | None = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The value as two outputs, of which `merge` takes one.

    Args:
        data: a tensor.
        pred: a scalar bool tensor.
        dtype: the type of `data` where it is no tensor.
        name: the name of the nodes.

    Returns:
        The output that is there if `pred` is false, and the one that is there if it is true.
    """
    with get_default_graph().name_scope(name or "Switch"):
        value = convert_to_tensor(data, dtype=dtype, name="data")
        taken = convert_to_tensor(pred, dtype=dtypes.bool, name="pred")
        outputs = identity(value, name="output_false"), identity(value, name="output_true")
        around = _condition(value, taken)
        for output, chosen in zip(outputs, (logical_not(taken), taken), strict=True):
            _CONDITIONS[output.op] = (chosen if around is None else logical_and(around, chosen)).name
    return outputs


def merge(inputs: Sequence[TensorLike], name: str | None = None) -> Merge:
    """The first of the inputs that is there.

    Args:
        inputs: tensors of one type, made of outputs of `switch`; one that is made of none is always there.
        name: the name scope of the nodes.

    Returns:
        `output`, the value, and `value_index`, the place in `inputs`; the last input when none is there.

    Raises:
        ValueError: there is no input, or one is None.
    """
    if not inputs or any(each is None for each in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    with get_default_graph().name_scope(name or "Merge"):
        tensors = [convert_to_tensor(each) for each in inputs]
        output, index, is_any = tensors[-1], constant(len(tensors) - 1), _condition(tensors[-1])
        for number in reversed(range(len(tensors) - 1)):
            is_there = _condition(tensors[number])
            if is_there is None:
                output, index, is_any = tensors[number], constant(number), None
            else:
                output, index = _either(is_there, tensors[number], number, output, index)
                is_any = None if is_any is None else logical_or(is_there, is_any)
                _CONDITIONS[output.op] = None if is_any is None else is_any.name
    return Merge(output, index)


def _either(is_there: Tensor, value: Tensor, number: int, otherwise: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    output, found = cond(is_there, lambda: (value, constant(number)), lambda: (otherwise, index))
    return output, found


def _condition(*tensors: Tensor) -> Tensor | None:
    """Whether all switches are taken that tensors hang on; None when there are none."""
    conditions: dict[str, Tensor] = {}
    seen: set[Operation] = set()
    waiting = [each.op for each in tensors]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node not in _CONDITIONS:
            waiting.extend(each.op for each in node.inputs)
            continue
        # It says all that there is to say of what is before it.
        name = _CONDITIONS[node]
        if name is not None:
            conditions[name] = node.graph.get_tensor_by_name(name)
    return functools.reduce(logical_and, conditions.values()) if conditions else None
