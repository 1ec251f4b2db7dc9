"""py_function: a Python function as a node, in which operations run when they are made, and which has a gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from weft.autodiff.gradients import gradients
from weft.framework.building.aliases import Array, DTypeLike, Nest, TensorLike
from weft.framework.building.eager_graph import EagerGraph
from weft.framework.building.op_builder import build
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.eager_tensor import EagerTensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.filling import zeros_like
from weft.ops.process import python_functions
from weft.ops.process.eager_script import Recording, Tape, has_gradient
from weft.ops.process.script import Types
from weft.ops.variables.variable import Variable
from weft.platform.waits.function_wait import shown


class _Function:
    """What the node of a `py_function` calls.

    Args:
        function: the program's.
        wanted: the types of its results.
    """

    def __init__(self, function: Callable[..., Nest], wanted: Sequence[DType]) -> None:
        self._function = function
        self._wanted = wanted

    @property
    def count(self) -> int:
        """How many results there are."""
        return len(self._wanted)

    def __str__(self) -> str:
        return shown(self._function)

    def call(self, ctx: OpContext, arrays: Sequence[Array], keeps_tape: bool) -> tuple[list[Array], Tape | None]:
        """Call the function on tensors of these values."""
        graph = EagerGraph(ctx.run_node, ctx.drop_container)
        with graph.opened(ctx.run_node):
            given = [graph.input(array, tensor.dtype.base_dtype) for array, tensor in zip(arrays, ctx.op.inputs, strict=True)]
            results = self.results(given)
        values = [each.value for each in results]
        if not keeps_tape:
            graph.forget()
            return values, None
        return values, Tape(Recording(graph), list(filter(has_gradient, given)), list(filter(has_gradient, results)))

    def results(self, given: Sequence[Tensor]) -> list[EagerTensor]:
        """Call the function within an EagerGraph; what it returns, as tensors of the types wanted.

        Raises:
            OpError: the function failed, or a result is not of its type.
        """
        try:
            made = self._function(*given)
            results = list(made) if isinstance(made, list | tuple) else [] if made is None else [made]
            return [_as_tensor(value, dtype) for value, dtype in zip(results, self._wanted, strict=False)]
        except BaseException as error:
            raise python_functions.translated(error) from error

    def derivative(self, node: Operation) -> _Gradient:
        """What the gradient's node calls."""
        return _Gradient(sum(map(has_gradient, node.inputs)), str(self))


class _Gradient:
    """What the node of a gradient calls, with a tape, the sources, and the gradients of the results.

    Args:
        count: how many sources there are.
        name: the function in messages.
    """

    def __init__(self, count: int, name: str) -> None:
        self.count = count
        self._name = name

    def __str__(self) -> str:
        return f"the gradient of {self._name}"

    def call(self, ctx: OpContext, arrays: Sequence[Array], keeps_tape: bool) -> tuple[list[Array], Tape | None]:
        """Go back through what the call of the function has computed."""
        tape: Tape = arrays[0][()]
        graph = tape.recording.graph
        with graph.opened(ctx.run_node):
            given = [
                graph.input(array, tensor.dtype.base_dtype)
                for array, tensor in zip(arrays[1 + self.count :], ctx.op.inputs[1 + self.count :], strict=True)
            ]
            found = gradients(list(tape.outputs), list(tape.inputs), given) if given else [None] * self.count
            results = [
                _as_tensor(zeros_like(source) if grad is None else grad, source.dtype)
                for source, grad in zip(tape.inputs, found, strict=True)
            ]
        further = Tape(tape.recording, [*tape.inputs, *given], results) if keeps_tape else None
        return [each.value for each in results], further

    def derivative(self, node: Operation) -> _Gradient:
        """What the node of the second derivative calls."""
        return _Gradient(sum(map(has_gradient, node.inputs)), str(self))


def _as_tensor(value: Nest, dtype: DType) -> EagerTensor:
    """A result of a function as a tensor of the type that the program says."""
    if isinstance(value, Variable):
        raise RuntimeError(
            "Attempting to return a variable from an eagerly executed py_func. Only numeric data structures like Tensors or "
            "NumPy arrays should be returned; to return the value of a variable, make sure to obtain the Tensor backing it by "
            f"calling `.read_value()` on the variable in question: {value}"
        )
    tensor = convert_to_tensor(value, dtype)
    if not isinstance(tensor, EagerTensor):
        raise TypeError(
            f"py_function's function returned {tensor!r}, a tensor of another graph, which has no value here. Give what it "
            "computes with to tf.py_function in `inp`."
        )
    return tensor


@overload
def py_function(func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: DTypeLike, name: str | None = None) -> Tensor: ...
@overload
def py_function(func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: Types, name: str | None = None) -> list[Tensor]: ...
def py_function(func: Callable[..., Nest], inp: Sequence[TensorLike], Tout: Nest, name: str | None = None) -> Nest:
    """Call a Python function on tensors that have values, in which operations run when they are made.

    Inside, `x.numpy()`, `float(x)`, `if x > 0:`, loops over a tensor and NumPy's functions work; so do operations, which give
    such tensors again, `tf.GradientTape`, and variables that the function makes itself. What it returns, NumPy's or Python's
    numbers too, becomes what `Tout` says. Gradients go through what the function computes by operations; what it computes by
    NumPy is a constant to them. The function runs in the process that built the graph, so the node must be placed on a task
    of that process. Tensors of the graph outside come in by `inp` alone.

    Args:
        func: takes one tensor for each of `inp` and returns a value or a list of them.
        inp: the tensors.
        Tout: the dtype of the result, or the list of the dtypes of all results; an empty list makes an Operation.
        name: the node's name.

    Raises:
        TypeError: `inp` is one tensor, no list.
        ValueError: `func` is no function.

    >>> y = tf.py_function(lambda x: tf.square(x) if x > 1 else x, [tf.constant(3.0)], tf.float32)
    >>> sess.run(y)
    np.float32(9.0)
    """
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable, got func of type {type(func)}. Give the function itself, `py_function(f, ...)`, "
            "not what it returns."
        )
    if isinstance(inp, Tensor):
        raise TypeError(
            f"Expected list for 'input' argument to 'EagerPyFunc' Op, not {inp}. Of one tensor it is [{inp.op.name}]."
        )
    is_list = isinstance(Tout, list | tuple)
    wanted = [dtypes.as_dtype(dtype) for dtype in (Tout if isinstance(Tout, list | tuple) else [Tout])]
    called = _Function(func, wanted)
    if get_default_graph().runs_eagerly:
        outputs: Sequence[Tensor] = called.results([convert_to_tensor(each) for each in inp])
        return list(outputs) if is_list else outputs[0]
    node = build(lookup("EagerPyFunc"), [list(inp)], {"token": python_functions.register(called), "Tout": wanted}, name)
    if not wanted:
        return node
    return list(node.outputs) if is_list else node.outputs[0]
