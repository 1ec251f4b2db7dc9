"""Functions whose values need not be kept for the gradient, and functions with gradients of other sizes.

What a step keeps is XLA's choice, so what these functions make are the nodes themselves; the gradients are TensorFlow's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

from weft.autodiff.custom_gradient import custom_gradient
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.array.identity import identity
from weft.ops.variables.variable_scope import variable_scope

_Function = TypeVar("_Function", bound=Callable[..., Nest])
Block = Callable[..., Tensor]


def scale_gradient(inputs: TensorLike, gradient_multiplier: TensorLike) -> Tensor:
    """The inputs, whose gradient is multiplied.

    Args:
        inputs: a tensor.
        gradient_multiplier: the factor, a number or a [] tensor of the same dtype.

    Returns:
        A tensor like `inputs`.
    """

    @custom_gradient
    def scaled(x: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        return identity(x), lambda gradient: gradient * gradient_multiplier

    made: Tensor = scaled(convert_to_tensor(inputs))
    return made


def grad_pass_through(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function with the values of another, and the gradient of the identity: through quantization and the like.

    Args:
        f: a function of a tensor, whose result has the same shape.

    Returns:
        The function. Variables that `f` uses have no gradient.
    """

    def passed_on(gradient: Tensor, variables: Sequence[object] = ()) -> Nest:
        return (gradient, [None] * len(variables)) if variables else gradient

    @functools.wraps(f)
    def passing(x: TensorLike, *args: object, **kwargs: object) -> Tensor:
        @custom_gradient
        def inner(value: Tensor) -> tuple[Tensor, Callable[..., Nest]]:
            return f(value, *args, **kwargs), passed_on

        made: Tensor = inner(convert_to_tensor(x))
        return made

    return passing


def recompute_grad(fn: _Function | None = None, use_data_dep: object = None, tupleize_grads: bool = False) -> Nest:
    """Let a function's values be computed again for its gradient rather than kept: XLA decides which; values are the same.

    Args:
        fn: the function; a decorator is returned when None.
        use_data_dep, tupleize_grads: not used: nothing orders what XLA computes again.

    Returns:
        A function like `fn`.
    """
    if fn is None:
        return functools.partial(recompute_grad, use_data_dep=use_data_dep, tupleize_grads=tupleize_grads)

    @functools.wraps(fn)
    def recomputed(*args: Nest, **kwargs: Nest) -> Nest:
        return fn(*args, **kwargs)

    return recomputed


def _side_inputs(given: Nest, num_layers: int) -> list[list[Tensor]]:
    """The side inputs of each layer: one list for all, or one for each."""
    if given is None:
        return [[] for _ in range(num_layers)]
    if given and isinstance(given[0], list | tuple):
        return [list(each) for each in given]
    return [list(given) for _ in range(num_layers)]


def rev_block(
    x1: Tensor, x2: Tensor, f: Block | Sequence[Block], g: Block | Sequence[Block], num_layers: int = 1,
    f_side_input: Nest = None, g_side_input: Nest = None, is_training: bool = True,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Reversible residual layers (Gomez et al., 2017): `y1 = x1 + f(x2); y2 = x2 + g(y1)`, again and again.

    Args:
        x1, x2: what enters.
        f, g: functions of a tensor, and of the side inputs if there are any, or a list of one for each layer.
        num_layers: how many layers.
        f_side_input, g_side_input: further arguments of these.
        is_training: not used: XLA decides what is kept for the gradient.

    Returns:
        What leaves, of the same shapes.

    Raises:
        ValueError: a list has another length than there are layers.
    """
    functions: list[list[Block]] = []
    for name, given in (("f", f), ("g", g)):
        each: list[Nest] = list(given) if isinstance(given, list | tuple) else [given] * num_layers
        if len(each) != num_layers:
            raise ValueError(f"rev_block: {name} has {len(each)} functions for {num_layers} layers")
        functions.append(each)
    sides = [_side_inputs(given, num_layers) for given in (f_side_input, g_side_input)]
    with variable_scope("revblock", use_resource=True):
        for number in range(num_layers):
            with variable_scope(f"revlayer_{number}"):
                with variable_scope("f"):
                    x1 = x1 + functions[0][number](x2, *sides[0][number])
                with variable_scope("g"):
                    x2 = x2 + functions[1][number](x1, *sides[1][number])
    return identity(x1), identity(x2)
