"""If and While as graph nodes: functions of the graph's library run by a node.

A node has no kernel: the runtime runs its functions, compiled with the rest of the stage or interpreted. It is where its own
device says, and so are the nodes in its functions; a node whose functions update a variable is placed with that variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from weft.errors import InternalError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result
from weft.framework.building.op_builder import build
from weft.framework.devices import device_spec
from weft.framework.graphs.func_graph import FuncGraph, settle_references
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import RowAccess
from weft.framework.registry import op_registry
from weft.framework.types.attr_value import FunctionName
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType, resource
from weft.ops.declaration import Role, from_attr, not_differentiable, op
from weft.ops.process import sendrecv as sendrecv
from weft.platform.imports.jax_modules import jnp, lax

_NUMBERS: Final = itertools.count()


def _declared_shapes(node: Operation) -> list[Dims]:
    shapes = node.attrs["output_shapes"] or [None] * len(node.outputs)
    if len(shapes) != len(node.outputs):
        raise ValueError(f"Attribute 'output_shapes' has {len(shapes)} shapes for {len(node.outputs)} outputs")
    return list(shapes)


def _loop_shapes(node: Operation) -> list[Dims]:
    """The shapes that a loop declares; where it does not, as in TensorFlow, those of the variables that go in."""
    return _declared_shapes(node) if node.attrs["output_shapes"] else [tensor.dims for tensor in node.inputs]


def _not_called(node_type: str) -> InternalError:
    return InternalError.of(f"{node_type} runs functions and has no kernel to call")


def _declare_if(name: str, stateful: bool) -> None:
    @op(name, "cond: Tcond, input: [Tin] -> output: [Tout]", infer=_declared_shapes, gradient=None, stateful=stateful,
        role=Role.BRANCH, bodies=("then_branch", "else_branch"), limits={"output_shapes": None})  # fmt: skip
    def kernel(
        xp: ArrayModule, cond: Array, input: Array, *, Tin: list[DType], Tout: list[DType], then_branch: Function,
        else_branch: Function, output_shapes: list[Dims] = [],  # noqa: B006 - a declaration
    ) -> None:  # fmt: skip
        """The results of the branch that `cond` chooses: `scalar, n*[*input] -> m*[*output]`."""
        raise _not_called(name)


def _declare_while(name: str, stateful: bool) -> None:
    @op(name, "input: [T] -> output: [T]", infer=_loop_shapes, gradient=None, stateful=stateful,
        role=Role.LOOP, bodies=("cond", "body"), limits={"T": 0, "output_shapes": None})  # fmt: skip
    def kernel(
        xp: ArrayModule, input: Array, *, T: list[DType], cond: Function, body: Function,
        output_shapes: list[Dims] = [], parallel_iterations: int = 10,  # noqa: B006 - a declaration
    ) -> None:  # fmt: skip
        """The loop variables when `cond` of them is false, after `body` has made new ones as often as it was true.

        `n*[*variable] -> n*[*variable]`
        """
        raise _not_called(name)


for _prefix, _stateful in (("Stateless", False), ("", True)):
    _declare_if(f"{_prefix}If", _stateful)
    _declare_while(f"{_prefix}While", _stateful)


@op("RecordingWhile", "input: [T] -> output: [T], recorded: [Trecorded]", role=Role.RECORDING_LOOP,
    infer=_declared_shapes, gradient=None, stateful=True,
    bodies=("cond", "body"))  # fmt: skip
def recording_while(
    xp: ArrayModule, input: Array, *, T: list[DType], Trecorded: list[DType], cond: Function, body: Function,
    output_shapes: list[Dims] = [], parallel_iterations: int = 10,  # noqa: B006
) -> None:  # fmt: skip
    """A While whose body returns further values after the loop variables, and the stacks of these over all iterations.

    `n*[*variable] -> n*[*variable], recorded*[iterations, *value]`

    Where the values of a stack differ in shape it is a vector of arrays, which stays within its process.
    """
    raise _not_called("RecordingWhile")


def _recorded_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [unrecorded(node.inputs[0], node.inputs[1], grad), None]


def _recorded_shape(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    return [None if dims is None else dims[1:]]


@op("RecordedValue", "stack: T, index: int32 -> value: T", infer=_recorded_shape, gradient=_recorded_gradient,
    row_access=RowAccess("stack"))  # fmt: skip
def recorded_value(xp: ArrayModule, stack: Array, index: Array) -> Result:
    """The value of one iteration out of a stack that a RecordingWhile made.

    `[iterations, *value], scalar int32 -> [*value]`
    """
    return stack[index[()]] if xp is np else lax.dynamic_index_in_dim(jnp.asarray(stack), index, keepdims=False)


@op("RecordedValueGrad", "stack: T, index: int32, grad: T -> output: T", infer=lambda node: [node.inputs[0].dims],
    gradient=lambda node, grad: [None, None, recorded_value(grad, node.inputs[1])],
    row_access=RowAccess("stack", keeps=True))  # fmt: skip
def unrecorded(xp: ArrayModule, stack: Array, index: Array, grad: Array) -> Result:
    """Zeros in the shape of the stack, with the gradient of one iteration's value in its place.

    `[iterations, *value], scalar int32, [*value] -> [iterations, *value]`
    """
    result = xp.zeros_like(stack)
    if xp is not np:
        return result.at[index].set(grad)
    result[index[()]] = grad
    return result


@op("NoValue", "-> output: dtype", role=Role.ABSENT, infer=from_attr("shape"), gradient=not_differentiable)
def no_value(*, dtype: DType, shape: Dims) -> Result:
    """The stand-in that a branch returns for a value that only the other branch has; nothing uses it.

    `-> [*shape]`
    """
    return np.zeros((), dtype.as_numpy_dtype)


def function_name(scope: str, role: str) -> str:
    """A new name in the library for a body built under a name scope."""
    return f"{scope.strip('/').replace('/', '_') or 'body'}_{role}_{next(_NUMBERS)}"


def has_state(functions: Sequence[FuncGraph]) -> bool:
    """Whether a node in one of the functions reads or changes state."""
    return any(
        op.op_def.stateful and op.op_def.role is not Role.ARGUMENT for function in functions for op in function.get_operations()
    )


def share_captures(functions: Sequence[FuncGraph]) -> list[Tensor]:
    """Give all functions the same further arguments, one for each tensor that any of them captures; returns these tensors."""
    wanted = list(dict.fromkeys(tensor for function in functions for tensor in function.captures))
    for function in functions:
        captured = set(function.captures.values())
        own = [argument for argument in function.inputs if argument not in captured]
        for tensor in wanted:
            if tensor not in function.captures:
                function.capture_argument(tensor)
        function.inputs = own + [function.captures[tensor] for tensor in wanted]
        for index, argument in enumerate(function.inputs):
            argument.op.attrs["index"] = index
        function.captures = {tensor: function.captures[tensor] for tensor in wanted}
    return wanted


def add_functions(graph: Graph, functions: Sequence[FuncGraph], reads_inside: bool = False) -> list[FunctionName]:
    """Put finished bodies into the library.

    Args:
        graph: has the library.
        functions: the bodies of one node.
        reads_inside: see `settle_references`.
    """
    settle_references(functions, reads_inside)
    for function in functions:
        graph.add_function(function.name, function)
        function.finalize()
    return [FunctionName(function.name) for function in functions]


def _is_of_no_task(captured: Tensor) -> bool:
    """Whether what a body captures is no variable, or one of the task that the node is on, wherever that is."""
    is_variable = captured.dtype.is_ref or captured.dtype is resource
    return not is_variable or device_spec.task_name(captured.op.device) == device_spec.task_name("")


def build_node(
    graph: Graph, op_type: str, functions: Sequence[FuncGraph], inputs: Sequence[Any], attrs: Any, name: str
) -> Operation:
    """Add a node that runs the functions; it waits for what nodes in them were told to wait for."""
    waits = dict.fromkeys(op for function in functions for op in function.outer_control_inputs)
    stateless = "" if has_state(functions) else "Stateless"
    definition = op_registry.lookup(stateless + op_type)
    # A node that has a reference runs in the variable's task, which is for updates to say and not for reads.
    reads_inside = definition.role is Role.BRANCH and all(map(_is_of_no_task, functions[0].captures))
    names = dict(zip(definition.bodies, add_functions(graph, functions, reads_inside), strict=True))
    with graph.control_dependencies(list(waits)):
        return build(definition, inputs, {**names, **attrs}, name)
