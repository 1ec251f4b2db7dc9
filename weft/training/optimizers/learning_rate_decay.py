"""Learning rates that change with the step.

Each function gives a scalar tensor: the rate at `global_step`, an integer variable or tensor (or a number).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import NumberLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.selection import where_v2
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater, minimum
from weft.ops.math.division import divide, pow_node
from weft.ops.math.elementwise import add, mul, neg
from weft.ops.math.trigonometry import cos
from weft.ops.math.unary import ceil, exp, floor, log, sqrt
from weft.ops.random.functions import random_normal
from weft.ops.variables.variable import Variable


def exponential_decay(
    learning_rate: NumberLike,
    global_step: Variable,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate * decay_rate ^ (global_step / decay_steps)`; with `staircase` the exponent is rounded down.

    >>> print(sess.run(tf.train.exponential_decay(0.5, global_step=10, decay_steps=10, decay_rate=0.5)))
    0.25

    Args:
        learning_rate: [] float, the rate at step 0.
        global_step: [] int or int tensor or variable, the step to compute with.
        decay_steps: [] positive int, the number of steps of the decay.
        decay_rate: [] float, the rate of the decay.
        staircase: whether the quotient of `global_step` and `decay_steps` is rounded down, so that the rate falls in stairs.
        name: the name scope.

    Returns:
        The rate, a [] tensor of the type of `learning_rate`, computed anew in each run.

    Raises:
        ValueError: there is no global step.
    """
    _check_step("exponential_decay", global_step)
    with input_scope(name, "ExponentialDecay", (learning_rate, global_step, decay_steps, decay_rate)) as scope:
        rate, step, steps, base = _numbers(learning_rate, global_step, decay_steps, decay_rate)
        return mul(rate, pow_node(base, _periods(step, steps, staircase)), name=scope)


def piecewise_constant(
    x: TensorLike, boundaries: Sequence[TensorLike], values: Sequence[TensorLike], name: str | None = None
) -> Tensor:
    """`values[0]` while `x <= boundaries[0]`, then `values[1]` while `x <= boundaries[1]`, and so on.

    Args:
        x: a scalar, usually the global step.
        boundaries: numbers or tensors of the type of `x`, rising.
        values: one more than there are boundaries, of one type.
        name: the name scope.

    Returns:
        A scalar tensor of the values' type.

    Raises:
        ValueError: the numbers of boundaries and values, or the types, don't fit.
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            f"The length of boundaries should be 1 less than the length of values. There are {len(boundaries)} and "
            f"{len(values)}: the last value is that behind the last boundary."
        )
    given, rates = [convert_to_tensor(boundary) for boundary in boundaries], [convert_to_tensor(value) for value in values]
    position = convert_to_tensor(x)
    if position.dims not in (None, ()):
        raise ValueError(f"Shape must be rank 0 but is rank {len(position.dims)}: x is one step, got {position.shape}.")
    limits = [_limit(boundary, position) for boundary in given]
    first = rates[0].dtype.base_dtype
    if other := next((each.dtype.base_dtype for each in rates if each.dtype.base_dtype is not first), None):
        text = f"Values must have elements all with the same dtype ({first} vs {other})."
        raise ValueError(f"{text} They are {values}: write all of them with a point, such as 1.0.")
    # TensorFlow asks by a case, of so many nodes: later random nodes get their seeds by the count.
    count, graph = len(limits), get_default_graph()
    with input_scope(name, "PiecewiseConstant", (x, *given, *rates)), graph.node_count.as_many_as(count * (count + 11) + 25):
        rate = rates[0]
        for place, (limit, later) in enumerate(zip(limits, rates[1:], strict=True), start=1):
            rate = where_v2(greater(position, limit), later, rate, name="case/cond/Merge" if place == count else None)
        return rate


piecewise_constant_decay = piecewise_constant


def _limit(boundary: Tensor, position: Tensor) -> Tensor:
    found, wanted = boundary.dtype.base_dtype, position.dtype.base_dtype
    if found is wanted:
        return boundary
    if found is dtypes.int32 and wanted is dtypes.int64:
        return cast(boundary, wanted)
    raise ValueError(
        f"Boundaries ({found}) must have the same dtype as x ({wanted}). x is {described(position)}; of a step they are whole "
        "numbers, such as 1000 and not 1000.0."
    )


def polynomial_decay(
    learning_rate: NumberLike,
    global_step: Variable,
    decay_steps: TensorLike,
    end_learning_rate: TensorLike = 0.0001,
    power: TensorLike = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """From `learning_rate` to `end_learning_rate` within `decay_steps`, along a polynomial of degree `power`.

    With `cycle`, `decay_steps` is doubled, tripled and so on when it is over; else the rate stays.

    Args:
        learning_rate: [] float, the rate at step 0.
        global_step: [] int or int tensor or variable, the step to compute with.
        decay_steps: [] positive int, the number of steps of the decay.
        end_learning_rate: [] float, the rate at the end.
        power: [] float, the degree; 1 is a straight line.
        cycle: whether to go on with a longer decay, from a higher rate, rather than to stay at the end.
        name: the name scope.

    Returns:
        The rate, a [] tensor of the type of `learning_rate`, computed anew in each run.

    Raises:
        ValueError: there is no global step.
    """
    _check_step("polynomial_decay", global_step)
    inputs = (learning_rate, global_step, decay_steps, end_learning_rate, power)
    with input_scope(name, "PolynomialDecay", inputs) as scope:
        rate = _rate(learning_rate, decay_steps)
        end, degree, step, steps = (cast(each, rate.dtype) for each in (end_learning_rate, power, global_step, decay_steps))
        if cycle:
            is_first = equal(step, 0)
            with get_default_graph().node_count.as_many_as(10):  # of TensorFlow's cond
                rounds = where_v2(is_first, cast(1.0, rate.dtype), ceil(divide(step, steps)))
            steps = mul(steps, rounds)
        else:
            step = minimum(step, decay_steps if isinstance(decay_steps, int | float) else steps)
        done, way = divide(step, steps), rate - end
        return add(mul(way, pow_node(1 - done, degree)), end, name=scope)


def natural_exp_decay(
    learning_rate: NumberLike,
    global_step: Variable,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate * exp(-decay_rate * global_step / decay_steps)`.

    Args:
        learning_rate: [] float, the rate at step 0.
        global_step: [] int or int tensor or variable, the step to compute with.
        decay_steps: [] positive int, the number of steps of the decay.
        decay_rate: [] float, the rate of the decay.
        staircase: whether the quotient of `global_step` and `decay_steps` is rounded down, so that the rate falls in stairs.
        name: the name scope.

    Returns:
        The rate, a [] tensor of the type of `learning_rate`, computed anew in each run.

    Raises:
        ValueError: there is no global step.
    """
    _check_step("natural_exp_decay", global_step)
    base = exp(neg(float(decay_rate) if isinstance(decay_rate, int) else decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, base, staircase=staircase, name=name)


def inverse_time_decay(
    learning_rate: NumberLike,
    global_step: Variable,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`; with `staircase` the quotient is rounded down.

    Args:
        learning_rate: [] float, the rate at step 0.
        global_step: [] int or int tensor or variable, the step to compute with.
        decay_steps: [] positive int, the number of steps of the decay.
        decay_rate: [] float, the rate of the decay.
        staircase: whether the quotient of `global_step` and `decay_steps` is rounded down, so that the rate falls in stairs.
        name: the name scope.

    Returns:
        The rate, a [] tensor of the type of `learning_rate`, computed anew in each run.

    Raises:
        ValueError: there is no global step.
    """
    _check_step("inverse_time_decay", global_step)
    with input_scope(name, "InverseTimeDecay", (learning_rate, global_step, decay_steps, decay_rate)) as scope:
        rate, step, steps, growth = _numbers(learning_rate, global_step, decay_steps, decay_rate)
        periods, one = _periods(step, steps, staircase), cast(constant(1), rate.dtype)
        return divide(rate, add(one, mul(growth, periods)), name=scope)


def cosine_decay(
    learning_rate: NumberLike,
    global_step: Variable,
    decay_steps: TensorLike,
    alpha: float | Tensor = 0.0,
    name: str | None = None,
) -> Tensor:
    """Half a cosine from `learning_rate` to `alpha * learning_rate` in `decay_steps` (Loshchilov and Hutter, 2016).

    Args:
        learning_rate: [] float, the rate at step 0.
        global_step: [] int or int tensor or variable, the step to compute with.
        decay_steps: [] positive int, the number of steps of the decay.
        alpha: [] float, the share of `learning_rate` that is left at the end.
        name: the name scope.

    Returns:
        The rate, a [] tensor of the type of `learning_rate`, computed anew in each run.

    Raises:
        ValueError: there is no global step.
    """
    _check_step("cosine_decay", global_step)
    with input_scope(name, "CosineDecay", (learning_rate, global_step, decay_steps)):
        rate, step, steps = _numbers(learning_rate, global_step, decay_steps)
        falling = _half_cosine(divide(minimum(step, steps), steps))
        return mul(rate, (1 - alpha) * falling + alpha)


def cosine_decay_restarts(
    learning_rate: NumberLike,
    global_step: Variable,
    first_decay_steps: TensorLike,
    t_mul: TensorLike = 2.0,
    m_mul: TensorLike = 1.0,
    alpha: float | Tensor = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cosine decay that starts again, each time for `t_mul` times as long and from `m_mul` times the rate.

    Args:
        learning_rate: [] float, the rate at step 0.
        global_step: [] int or int tensor or variable, the step to compute with.
        first_decay_steps: [] positive int, the number of steps of the first period.
        t_mul: [] float, how many times as long as the one before a period is.
        m_mul: [] float, how many times as high as the one before a period begins.
        alpha: [] float, the share of `learning_rate` that is left at the end of a period.
        name: the name scope.

    Returns:
        The rate, a [] tensor of the type of `learning_rate`, computed anew in each run.

    Raises:
        ValueError: there is no global step.
    """
    _check_step("cosine_decay_restarts", global_step)
    with input_scope(name, "SGDRDecay", (learning_rate, global_step, first_decay_steps)) as scope:
        rate, step, steps, alpha, longer, lower = _numbers(learning_rate, global_step, first_decay_steps, alpha, t_mul, m_mul)
        periods = divide(step, steps)
        with get_default_graph().node_count.as_many_as(31):  # TensorFlow has both cases in the branches of a cond.
            restarts, done = _restarts(periods, longer)
        falling = lower**restarts * _half_cosine(done)
        return mul(rate, (1 - alpha) * falling + alpha, name=scope)


def _restarts(periods: Any, longer: Any) -> tuple[Any, Any]:
    """How many periods are over, and which part of the present one, when each is `longer` times the one before."""
    whole = floor(periods)
    known = constant_value(longer)
    if known is not None and known == 1:
        return whole, periods - whole
    count = floor(log(1 - periods * (1 - longer)) / log(longer))
    grown = longer**count
    part = (periods - (1 - grown) / (1 - longer)) / grown
    if known is not None:
        return count, part
    is_even = equal(longer, cast(1, longer.dtype))
    return where_v2(is_even, whole, count), where_v2(is_even, periods - whole, part)


def linear_cosine_decay(
    learning_rate: NumberLike,
    global_step: Variable,
    decay_steps: TensorLike,
    num_periods: TensorLike = 0.5,
    alpha: float | Tensor = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """`learning_rate * ((alpha + linear) * cosine + beta)` (Bello et al., 2017), where `linear` and `cosine` go from 1 to 0.

    Args:
        learning_rate: [] float, the rate at step 0.
        global_step: [] int or int tensor or variable, the step to compute with.
        decay_steps: [] positive int, the number of steps of the decay.
        num_periods: [] float, the number of the cosine's periods within the decay.
        alpha, beta: [] floats of the formula.
        name: the name scope.

    Returns:
        The rate, a [] tensor of the type of `learning_rate`, computed anew in each run.

    Raises:
        ValueError: there is no global step.
    """
    _check_step("linear_cosine_decay", global_step)
    with input_scope(name, "LinearCosineDecay", (learning_rate, global_step, decay_steps)) as scope:
        rate, step, steps, *shape = _numbers(learning_rate, global_step, decay_steps, num_periods, alpha, beta)
        step = minimum(step, steps)
        return _on_waves(scope, rate, divide(steps - step, steps), divide(step, steps), shape)


def _on_waves(scope: str, rate: Any, linear: Any, done: Any, shape: Sequence[Any]) -> Tensor:
    """A linear fall times some waves; `shape` is their number, alpha and beta."""
    num_periods, alpha, beta = shape
    waves = _half_cosine(2.0 * num_periods * done)
    return mul(rate, (alpha + linear) * waves + beta, name=scope)


def noisy_linear_cosine_decay(
    learning_rate: NumberLike,
    global_step: Variable,
    decay_steps: TensorLike,
    initial_variance: TensorLike = 1.0,
    variance_decay: TensorLike = 0.55,
    num_periods: TensorLike = 0.5,
    alpha: float | Tensor = 0.0,
    beta: TensorLike = 0.001,
    name: str | None = None,
) -> Tensor:
    """`linear_cosine_decay` with noise on the linear part, of variance `initial_variance / (1 + step)^variance_decay`.

    Args:
        learning_rate: [] float, the rate at step 0.
        global_step: [] int or int tensor or variable, the step to compute with.
        decay_steps: [] positive int, the number of steps of the decay.
        initial_variance: [] float, the variance of the noise at step 0.
        variance_decay: [] float, the power of the step by which the variance is divided.
        num_periods: [] float, the number of the cosine's periods within the decay.
        alpha, beta: [] floats of the formula.
        name: the name scope.

    Returns:
        The rate, a [] tensor of the type of `learning_rate`, computed anew in each run.

    Raises:
        ValueError: there is no global step.
    """
    _check_step("noisy_linear_cosine_decay", global_step)
    with input_scope(name, "NoisyLinearCosineDecay", (learning_rate, global_step, decay_steps)) as scope:
        rate, step, steps, variance, fall, *shape = _numbers(
            learning_rate, global_step, decay_steps, initial_variance, variance_decay, num_periods, alpha, beta
        )
        step = minimum(step, steps)
        linear = divide(steps - step, steps)
        deviation = sqrt(variance / pow_node(1 + step, fall))
        noisy = linear + random_normal([], stddev=deviation, dtype=rate.dtype.base_dtype)
        return _on_waves(scope, rate, noisy, divide(step, steps), shape)


def _check_step(function: str, global_step: Variable) -> None:
    if global_step is None:
        raise ValueError(f"global_step is required for {function}. Give it tf.train.get_or_create_global_step().")


def _numbers(learning_rate: NumberLike, global_step: Variable, decay_steps: TensorLike, *others: TensorLike) -> list[Any]:
    """The rate as a tensor, and the step, the number of steps and the other numbers in its type."""
    rate = _rate(learning_rate, decay_steps)
    steps, *rest = (cast(each, rate.dtype) for each in (decay_steps, *others))
    return [rate, cast(global_step, rate.dtype), steps, *rest]


def _rate(learning_rate: NumberLike, decay_steps: TensorLike) -> Any:
    """The rate as a tensor; TypeError where it, or the number of steps, is no number."""
    rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
    if not (rate.dtype.base_dtype.is_floating or rate.dtype.base_dtype.is_integer):
        raise TypeError(
            f"learning_rate must be a number or a tensor of one, got {learning_rate!r}: float(...) converts a text."
        )
    if isinstance(learning_rate, Variable) and rate.dtype.base_dtype.is_integer:
        raise TypeError(
            f"learning_rate is the variable {learning_rate.op.name!r} of {rate.dtype.base_dtype.name}: the rate comes first, "
            "and the step second, decay(learning_rate, global_step, ...)."
        )
    if isinstance(decay_steps, str | bytes):
        raise TypeError(f"decay_steps must be a number of steps, got {decay_steps!r}: int(...) converts a text.")
    return rate


def _periods(step: TensorLike, steps: TensorLike, staircase: bool) -> Any:
    periods = divide(step, steps)
    return floor(periods) if staircase else periods


def _half_cosine(done: Any) -> Any:
    """From 1 to 0 as `done` goes from 0 to 1."""
    return 0.5 * (1.0 + cos(constant(math.pi, done.dtype) * done))
