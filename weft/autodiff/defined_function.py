"""Defun: a function of typed tensors with a gradient of its own choice, by the name of tensorflow.python.framework.function.

The nodes of a call stand in the graph of the caller, where compiling, shapes and placement see them.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from weft.autodiff.gradients import is_trainable
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import not_differentiable
from weft.framework.registry.op_registry import register_gradient
from weft.framework.types.dtypes import DType, as_dtype
from weft.ops.array.filling import zeros_like
from weft.ops.array.identity import identity_n
from weft.ops.control_flow.ordering import group
from weft.ops.variables.scopes import VariableScope, get_variable_scope
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import AUTO_REUSE

_NUMBERS: Final = itertools.count(1)
_NOT_IN_NAMES: Final = re.compile(r"[^\w.]", re.ASCII)
# How TensorFlow compiles, inlines and writes the function; for a call whose nodes stand in the graph they are without effect.
_WITHOUT_EFFECT: Final = (
    "out_names", "shape_func", "capture_by_value", "noinline", "compiled", "separate_compiled_gradients", "_noinline",
    "_implements", "_reference",
)  # fmt: skip
_TRIED: Final = "experimental_"  # begins the names of options that TensorFlow writes into the function, without effect as well


@dataclass(frozen=True)
class _Call:
    """What a Python gradient function is told of the call: its tensors, and the function's name as the type."""

    type: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


class Defun:
    """Decorate a function of tensors, to give its arguments types, and its calls a gradient.

    A call builds the function's nodes under a name scope, and returns a tensor, or a tuple of several.

        @function.Defun(tf.float32, tf.float32)
        def gradient(x, dy):
            return dy * tf.sign(x)

        @function.Defun(tf.float32, grad_func=gradient)
        def length(x):
            return tf.abs(x)

    Args:
        *input_types: the types of the arguments; those of the tensors that a call gets when none are given.
        func_name: its name; that of the decorated function when None.
        grad_func: the gradient, a Defun of all arguments and one incoming gradient for each result, which gives a gradient for
            each argument.
        python_grad_func: the gradient, a Python function of the call, with `inputs` and `outputs`, and of the incoming ones.
        out_names, shape_func, capture_by_value, noinline, compiled, separate_compiled_gradients: taken, without effect.

    Raises:
        ValueError: what is decorated is no function, or takes fewer or more arguments than there are types; a call has another
            number of arguments, or one of another type.
        TypeError: there is no such option.
    """

    def __init__(self, *input_types: object, **kwargs: object) -> None:
        self._types = [as_dtype(each) for each in input_types]
        self._name = kwargs.pop("func_name", None)
        self._gradient = kwargs.pop("grad_func", None)
        self._python_gradient = kwargs.pop("python_grad_func", None)
        wrong = [key for key in kwargs if key not in _WITHOUT_EFFECT and not key.startswith(_TRIED)]
        if wrong:
            raise TypeError(
                f"Defun has no option {wrong[0]!r}; it has func_name, grad_func, python_grad_func and {_WITHOUT_EFFECT}"
            )

    def __call__(self, func: Callable[..., object]) -> DefinedFunction:
        """The function with these types and this gradient."""
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        _check_count(func, len(self._types))
        name = str(self._name or _NOT_IN_NAMES.sub("", getattr(func, "__name__", "")).lstrip("_") or "function")
        return DefinedFunction(func, name, self._types, self._gradient, self._python_gradient)


class DefinedFunction:
    """What Defun makes of a function: call it with tensors, and with `name` for the scope of the call's nodes."""

    def __init__(
        self, func: Callable[..., object], name: str, types: Sequence[DType], gradient: object, python_gradient: object
    ) -> None:
        self._function = func
        self._types = list(types)
        self._gradient = gradient if gradient is not None else python_gradient
        self._asks_for_call = gradient is None
        # Where the first call in a graph has made its variables: later ones have the same, wherever they stand.
        self._scopes: WeakKeyDictionary[Graph, VariableScope] = WeakKeyDictionary()
        self.name = name
        self.__name__ = name
        self.__doc__ = func.__doc__

    @property
    def declared_input_types(self) -> list[DType]:
        """The types of the arguments, as the decorator was told them."""
        return list(self._types)

    def __call__(self, *args: object, name: str | None = None) -> Tensor | Operation | tuple[Tensor, ...]:
        """Build the function's nodes.

        Args:
            *args: tensors, or what converts to tensors of the declared types.
            name: the scope of its nodes; the function's name when None.

        Returns:
            The result, a tuple of several; the operation of the call where there is none.
        """
        if self._types and len(args) != len(self._types):
            raise ValueError(f"Expected number of arguments: {len(self._types)}, received: {len(args)}")
        with get_default_graph().name_scope(name or self.name) as scope:
            inputs = [self._converted(index, each) for index, each in enumerate(args)]
            before = len(get_default_graph().get_operations())
            found = self._with_its_variables(inputs)
            parts = list(found) if isinstance(found, list | tuple) else [found]
            if parts == [None]:
                return group(*get_default_graph().get_operations()[before:])
            results = [convert_to_tensor(each) for each in parts]
            results = self._named(scope, inputs, results, get_default_graph().get_operations()[before:])
        return results[0] if len(results) == 1 else tuple(results)

    def _with_its_variables(self, inputs: list[Tensor]) -> object:
        graph = get_default_graph().outermost
        first = self._scopes.get(graph)
        if first is None:
            self._scopes[graph] = get_variable_scope()
            return self._function(*inputs)
        with variable_scope(first, reuse=AUTO_REUSE, auxiliary_name_scope=False):
            return self._function(*inputs)

    def _converted(self, index: int, value: object) -> Tensor:
        wanted = self._types[index] if self._types else None
        if isinstance(value, Tensor) and wanted is not None and value.dtype.base_dtype != wanted:
            raise ValueError(
                f"Input {index} of {self.name!r} passed {value.dtype.base_dtype.name} expected {wanted.name}: {value}"
            )
        return convert_to_tensor(value, wanted)

    def _named(self, scope: str, inputs: list[Tensor], results: list[Tensor], made: Sequence[Operation]) -> list[Tensor]:
        """The results as outputs of one node with the name of the call, whose gradient is the function's."""
        if not callable(self._gradient):
            # Arguments that no gradient reaches have zeros for a gradient, as in TensorFlow: so the node passes them on.
            used = _reached(results, set(made))
            unused = [each for each in inputs if each not in used and is_trainable(each)]
            return list(identity_n([*results, *unused], name=scope))[: len(results)]
        kind = f"Defun-{next(_NUMBERS)}"
        register_gradient(kind, self._rule(self._gradient, len(results)))
        with get_default_graph().gradient_override_map({"IdentityN": kind}):
            copies = identity_n([*results, *inputs], name=scope)
        return list(copies[: len(results)])

    def _rule(self, gradient: Callable[..., object], count: int) -> Callable[..., list[object]]:
        def rule(node: Operation, *incoming: Tensor | None) -> list[object]:
            # The node's inputs are results and arguments; the gradient goes to the arguments. They are asked of the node, which
            # may be that of a copy of the graph.
            results, inputs = tuple(node.inputs[:count]), tuple(node.inputs[count:])
            arrived = [zeros_like(result) if each is None else each for each, result in zip(incoming, results, strict=False)]
            call = _Call(self.name, inputs, results)
            made = gradient(call, *arrived) if self._asks_for_call else gradient(*inputs, *arrived)
            given = list(made) if isinstance(made, list | tuple) else [made]
            if len(given) != len(inputs):
                raise ValueError(f"The gradient of {self.name!r} gave {len(given)} gradients for {len(inputs)} arguments")
            return [None] * count + given

        return rule


def _reached(results: Sequence[Tensor], made: set[Operation]) -> set[Tensor]:
    """The tensors that gradients of some results of a call reach, as far as its own nodes go."""
    found: set[Tensor] = set()
    left = list(results)
    while left:
        tensor = left.pop()
        if tensor not in found:
            found.add(tensor)
            passes = tensor.op in made and tensor.op.op_def.gradient is not not_differentiable
            left.extend(tensor.op.inputs if passes else ())
    return found


def _check_count(func: Callable[..., object], count: int) -> None:
    kinds = [each.kind for each in inspect.signature(func).parameters.values()]
    if inspect.Parameter.VAR_KEYWORD in kinds:
        raise ValueError("Functions with keyword arguments not supported by Defun.")
    if inspect.Parameter.VAR_POSITIONAL in kinds or not count:
        return
    if len(kinds) < count:
        raise ValueError("The function has fewer arguments than the number of specified input types.")
    if len(kinds) > count:
        raise ValueError("The function has more arguments than the number of specified input types.")
