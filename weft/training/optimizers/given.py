"""What a program gives to an optimizer: the loss, the variables, their gradients, and hyperparameters; each is checked here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from weft.autodiff.gradient_tape import GradientTape
from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nested import nest
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.ops.array.slices_conversion import convert_to_tensor_or_indexed_slices
from weft.ops.variables.collections import trainable_variables
from weft.ops.variables.variable import Variable

# Variables that a message shows at most.
_SHOWN: Final = 8


def hyperparameter(value: object, name: str, optimizer: object) -> Tensor:
    """The tensor of a hyperparameter.

    Args:
        value: what the program gave; no function.
        name: the argument's name.
        optimizer: whose it is, for errors.

    Raises:
        TypeError: it is no number.
    """
    if value is None:
        raise TypeError(f"{name} of {optimizer!r} must be a number or a tensor, got None.")
    tensor = convert_to_tensor(value, name=name)
    dtype = tensor.dtype.base_dtype
    if dtype.is_floating or dtype.is_integer:
        return tensor
    if isinstance(value, str | bytes):
        raise TypeError(
            f"{name} of {optimizer!r} must be a number or a tensor, got {value!r} of type {type(value).__name__!r}: "
            f"float({value!r}) converts it; a flag of numbers is made by tf.flags.DEFINE_float."
        )
    raise TypeError(f"{name} of {optimizer!r} must be a tensor of numbers, got\n  {name}: {described(tensor)}")


def check_loss(loss: object) -> None:
    """Raise TypeError unless a loss is a tensor, or a variable."""
    if isinstance(loss, np.ndarray | np.generic):
        raise TypeError(
            f"loss must be a tensor, such as tf.reduce_mean(...), got {loss!r} of type {type(loss).__name__!r}. Is it a value "
            "that session.run returned? Minimize the tensor that was run."
        )
    if not hasattr(loss, "dtype"):
        raise TypeError(f"loss must be a tensor, such as tf.reduce_mean(...), got {loss!r} of type {type(loss).__name__!r}")


def loss_of(function: Callable[[], Tensor], var_list: Nest) -> tuple[Tensor, Nest]:
    """What a loss that is a function returns, and the variables to change for it.

    Inside of `tf.py_function` these are the ones that the function uses, since no graph has all that there are.

    Args:
        function: makes the loss.
        var_list: what the program gave; None for all variables.
    """
    with GradientTape() as tape:
        loss = function()
    is_eager = var_list is None and get_default_graph().runs_eagerly
    return loss, list(tape.watched_variables()) if is_eager else var_list


def variables_to_optimize(var_list: object) -> list[Any]:
    """The variables of `var_list`, or all trainable ones."""
    if var_list is not None:
        return nest.flatten(var_list)
    return trainable_variables() + get_default_graph().get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)


def no_variables(var_list: object, loss: Tensor) -> str:
    """The message where there is nothing to optimize."""
    trainable, graph = variables_to_optimize(None), get_default_graph()
    if var_list is None and loss.graph is not graph:
        return (
            f"No variables to optimize. The loss {loss.name} is of {loss.graph.label}, and the optimizer looks for variables "
            f"in {graph.label}: call it inside of `with loss.graph.as_default():`."
        )
    if var_list is None or not trainable:
        return "No variables to optimize. The graph has no trainable variables: is the model built before?"
    names = ", ".join(variable.op.name for variable in trainable[:_SHOWN])
    more = ", ..." if len(trainable) > _SHOWN else ""
    return f"No variables to optimize: var_list is empty. Trainable are {names}{more}: does the scope that chose them fit?"


def differentiated(variable: Variable) -> Tensor:
    """The tensor that gradients are taken for; NotImplementedError when this is no variable and no tensor."""
    if not isinstance(variable, Variable | Tensor):
        raise NotImplementedError(
            f"Trying to optimize unsupported type {type(variable).__name__!r}: {variable!r}. var_list takes variables, as "
            "tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='...') gives them."
        )
    return variable.reference if isinstance(variable, Variable) else variable


def checked_gradient(gradient: Tensor | IndexedSlices | None, variable: Any = None) -> Any:
    """A gradient as tensor or IndexedSlices, or None.

    Args:
        gradient: what the program gave.
        variable: what it is for, where that is known.

    Raises:
        TypeError: it is none of these. ValueError: it is a list that does not fit the variable.
    """
    if gradient is None:
        return None
    try:
        found = convert_to_tensor_or_indexed_slices(gradient)
    except TypeError:
        raise TypeError(f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {gradient}") from None
    if isinstance(gradient, list | tuple) and isinstance(variable, Variable):
        shape = found.get_shape()
        if not shape.is_compatible_with(variable.shape):
            raise ValueError(
                f"Shapes {shape} and {variable.shape} are incompatible: the gradient for the variable {variable.op.name!r} is "
                f"a list, {gradient!r}. tf.clip_by_global_norm returns the list of gradients and the norm, gradients, norm = "
                "tf.clip_by_global_norm(...), and zip(gradients, variables) makes the pairs."
            )
    return found
