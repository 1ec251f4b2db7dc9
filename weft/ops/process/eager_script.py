"""EagerPyFunc: the node of `tf.py_function`, whose function computes with operations that run when they are made.

The gradient is a node of the same type. It gets what the call has computed, its tape, as a value of its own: so each step, each
iteration of a loop and each thread has the right one, and it lives no longer than the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients
from weft.framework.building.eager_graph import EagerGraph
from weft.framework.building.op_builder import build
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op, unknown
from weft.ops.process import python_functions
from weft.platform.files.file_access import limited_to


class Recording:
    """The nodes of one call, as long as a tape goes through them.

    Args:
        graph: where they are.
    """

    def __init__(self, graph: EagerGraph) -> None:
        self.graph = graph

    def __del__(self) -> None:
        self.graph.forget()


@dataclass(frozen=True, eq=False)
class Tape:
    """What one call has computed, for gradients.

    Attributes:
        recording: its nodes, which further tapes may share.
        inputs: the inputs of the node that have gradients, in its order.
        outputs: its outputs that have gradients, in its order.
    """

    recording: Recording
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]


class Called(Protocol):
    """What such a node calls."""

    @property
    def count(self) -> int:
        """How many results there are."""
        ...

    def call(self, ctx: OpContext, arrays: Sequence[Array], keeps_tape: bool) -> tuple[list[Array], Tape | None]:
        """The results as arrays for the values of the node's inputs, and the tape if it is to be kept."""
        ...

    def derivative(self, node: Operation) -> Called:
        """What the node calls that is the gradient of this one."""
        ...

    def __str__(self) -> str:
        """The function in a message."""
        ...


def has_gradient(tensor: Tensor) -> bool:
    """Whether gradients go through an input or output of such a node."""
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def _tape_of(node: Operation, called: Called) -> Tensor:
    """The node's output with its tape, which it has from now on; plans that were made before go on without it."""
    if len(node.outputs) == called.count:
        output = Tensor(node, called.count, dtypes.variant)
        output.dims = ()
        node.attrs["Tout"] = [*node.attrs["Tout"], dtypes.variant]
        node.outputs.append(output)
        node.graph.note_growth(node.name)
    return node.outputs[-1]


def _gradient(node: Operation, *grads: Tensor) -> Gradients:
    called: Called = python_functions.find(node.attrs["token"])
    tape = _tape_of(node, called)
    given = [
        convert_to_tensor(grad)
        for output, grad in zip(node.outputs[: called.count], grads, strict=False)
        if has_gradient(output)
    ]
    sources = [each for each in node.inputs if has_gradient(each)]
    token = python_functions.register(called.derivative(node))
    attrs = {"token": token, "Tout": [each.dtype.base_dtype for each in sources]}
    # The sources are there for the gradient of the gradient.
    made = build(lookup("EagerPyFunc"), [[tape, *sources, *given]], attrs, None)
    for source, output in zip(sources, made.outputs, strict=True):
        output.set_shape(source.shape)
    found = iter(made.outputs)
    return [next(found) if has_gradient(each) else None for each in node.inputs]


@op("EagerPyFunc", "input: [Tin] -> output: [Tout]", infer=unknown, gradient=_gradient, stateful=True,
    defaults={"is_async": False})  # fmt: skip
def eager_py_func(ctx: OpContext, input: Array, *, token: str, Tout: list[DType], is_async: bool = False) -> Array:
    """The results of the function of that token, and the tape where it is asked for: `n*[*argument] -> m*[*result]`."""
    called: Called = python_functions.find(token)
    # The function is this process's own, whatever the graphs of others may touch here.
    with limited_to(None), python_functions.watched(lambda: str(called)):
        values, tape = called.call(ctx, input, len(Tout) > called.count)
    if len(values) < called.count:
        name = python_functions.short(token)
        raise InvalidArgumentError.of(
            f"{name} returns {len(values)} values, but expects to see {called.count} values.\n  The function is {called}: it "
            "returns a list with a value for each type in Tout."
        )
    if tape is None:
        return tuple(values)
    boxed = np.empty((), object)
    boxed[()] = tape
    return (*values, boxed)
