"""tf.keras.backend's functions that run the graph, update variables and take gradients."""

from __future__ import annotations

import sys

from weft.autodiff.gradients import gradients as gradients_of
from weft.framework.building.aliases import Array, Nest, TensorLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.networks.backend.inspection import to_dense
from weft.networks.state.session_arguments import NOTHING, SessionArguments
from weft.networks.state.sessions import batch_get_value, batch_set_value, get_session
from weft.ops.array.identity import identity
from weft.ops.control_flow.assertion import print_v2
from weft.ops.control_flow.ordering import group
from weft.ops.variables.moving_average import assign_moving_average


class Function:
    """A run of a graph as a function of arrays.

    Args:
        inputs: what is fed; None for what is not.
        outputs: what is returned.
        updates: operations to run as well, or pairs of a variable and its new value.
        session_arguments: what each run is given as well.

    Raises:
        TypeError: the updates are no list.
    """

    def __init__(
        self, inputs: Nest, outputs: Nest, updates: Nest = None, session_arguments: SessionArguments = NOTHING
    ) -> None:
        if not isinstance(updates, list | tuple | None):
            raise TypeError(f"`updates` in a Keras backend function should be a list or tuple, not {updates!r}.")
        self.inputs = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        self.outputs = outputs
        self._session_arguments = session_arguments
        made = [each[0].assign(each[1]).op if isinstance(each, tuple) else each for each in updates or ()]
        self._updates = group(*made) if made else None

    def __call__(self, inputs: Nest) -> Nest:
        """The outputs for these arrays."""
        given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        feeds = {key: value for key, value in zip(self.inputs, given, strict=False) if key is not None and value is not None}
        fetches = [self.outputs, self._updates if self._updates is not None else []]
        return self._session_arguments.run(get_session(), fetches, feeds)[0]


def function(inputs: Nest, outputs: Nest, updates: Nest = None, name: str | None = None, **kwargs: object) -> Function:
    """A function of arrays that runs the graph.

    Args:
        inputs: the placeholders to feed, one or a list.
        outputs: a structure of tensors to return the values of.
        updates: operations to run as well, or pairs of a variable and its new value.
        name: not used.
        kwargs: what each run of the session is given as well: `fetches`, `feed_dict`, `options`, `run_metadata`.

    Returns:
        A callable of a list of arrays that returns the outputs' values.

    Raises:
        TypeError: the updates are no list.
        ValueError: `kwargs` has something else.
    """
    return Function(inputs, outputs, updates, SessionArguments.of(kwargs))


def get_value(x: VariableLike) -> Array:
    """The value of a variable or tensor, by a run of Keras's session.

    Args:
        x: the variable or tensor.
    """
    return batch_get_value([x])[0]


def set_value(x: VariableLike, value: Array) -> None:
    """Give a variable a value, by a run of Keras's session.

    Args:
        x: the variable.
        value: an array of its shape.
    """
    batch_set_value([(x, value)])


def eval(x: Nest) -> Array:
    """The value of a tensor or variable, by a run of Keras's session; a sparse tensor's as a dense array.

    Args:
        x: the tensor or variable.
    """
    return get_session().run(to_dense(x))


def update(x: VariableLike, new_x: TensorLike) -> VariableLike:
    """The operation that gives a variable a value.

    Args:
        x: the variable.
        new_x: a tensor of its shape and dtype.
    """
    return x.assign(new_x)


def update_add(x: VariableLike, increment: TensorLike) -> VariableLike:
    """The operation that adds to a variable.

    Args:
        x: the variable.
        increment: a tensor of its shape and dtype.
    """
    return x.assign_add(increment)


def update_sub(x: VariableLike, decrement: TensorLike) -> VariableLike:
    """The operation that takes from a variable.

    Args:
        x: the variable.
        decrement: a tensor of its shape and dtype.
    """
    return x.assign_sub(decrement)


def moving_average_update(x: VariableLike, value: TensorLike, momentum: float) -> VariableLike:
    """The operation that moves a variable towards a value: `momentum * x + (1 - momentum) * value`.

    Args:
        x: the variable.
        value: a tensor of its shape and dtype.
        momentum: how much of the old value stays, 0 to 1.
    """
    return assign_moving_average(x, value, momentum, zero_debias=False)


def gradients(loss: Tensor, variables: Nest) -> list[Nest]:
    """The gradients of a loss, one for each variable; None where it does not depend on one.

    Args:
        loss: the tensor; its elements are summed.
        variables: a list of variables or tensors.
    """
    return list(gradients_of(loss, variables))


def print_tensor(x: Tensor, message: str = "") -> Tensor:
    """Pass a tensor through, and print it to standard output whenever it is computed.

    Args:
        x: the tensor.
        message: what stands before it.

    Returns:
        A tensor with the value of `x`.
    """
    with get_default_graph().control_dependencies([print_v2(message, x, output_stream=sys.stdout)]):
        return identity(x)
