"""Weights of AddSign's and PowerSign's signs that become smaller over the steps."""

from __future__ import annotations

import math

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.selection import where
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater_equal, maximum, minimum
from weft.ops.math.division import floor_mod
from weft.ops.math.trigonometry import cos
from weft.training.contributed.sign_optimizers import SignDecay


def get_linear_decay_fn(decay_steps: int) -> SignDecay:
    """A function of the global step that goes from 1 to 0 in `decay_steps` steps, in a line.

    Args:
        decay_steps: the number of steps, a positive int; from then on the function gives 0.

    Returns:
        A function from the global step, a [] integer tensor or variable, to a [] float32 tensor.
    """

    def linear_decay_fn(global_step: VariableLike) -> Tensor:
        done = minimum(_checked(global_step, "linear_decay"), decay_steps)
        left = cast(decay_steps - cast(done, dtypes.int32), dtypes.float32)
        decayed: Tensor = maximum(0.0, left / float(decay_steps))
        return decayed

    return linear_decay_fn


def get_cosine_decay_fn(decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None) -> SignDecay:
    """A function of the global step that follows a cosine, from 1.

    Args:
        decay_steps: the steps after which it stays as it is.
        num_periods: the periods within these; with half a period it ends at 0.
        zero_after: the number of periods after which it is 0.
    """

    def cosine_decay_fn(global_step: VariableLike) -> Tensor:
        done = cast(minimum(_checked(global_step, "cosine_decay"), decay_steps), dtypes.float32)
        fraction = 2.0 * num_periods * (done / float(decay_steps))
        return _wave(fraction, fraction, None if zero_after is None else 2 * zero_after)

    return cosine_decay_fn


def get_restart_decay_fn(decay_steps: int, num_periods: float = 1, zero_after: float | None = None) -> SignDecay:
    """A function of the global step that falls from 1 to 0 along a cosine, again and again (Loshchilov and Hutter, 2017).

    Args:
        decay_steps: the steps after which it stays as it is.
        num_periods: how often it falls within these.
        zero_after: the number of falls after which it is 0.
    """

    def restart_decay_fn(global_step: VariableLike) -> Tensor:
        done = minimum(_checked(global_step, "cosine_decay"), decay_steps)
        falls = num_periods * cast(done, dtypes.float32)
        return _wave(floor_mod(falls, float(decay_steps)) / float(decay_steps), falls / float(decay_steps), zero_after)

    return restart_decay_fn


def _wave(fraction: Tensor, passed: Tensor, end: float | None) -> Tensor:
    decayed: Tensor = 0.5 * (1.0 + cos(math.pi * fraction))
    return decayed if end is None else where(greater_equal(passed, end), 0.0 * decayed, decayed)


def _checked(global_step: VariableLike, name: str) -> Nest:
    if global_step is None:
        raise ValueError(f"global_step is required for {name}.")
    return global_step
