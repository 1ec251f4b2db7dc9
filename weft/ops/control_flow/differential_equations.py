"""tf.contrib.integrate: ordinary differential equations, solved with steps that are given or that the error decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like
from weft.ops.array.identity import identity
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import reduce_all, reduce_mean
from weft.ops.math.unary import ceil, is_finite, sqrt

Slope = Callable[[Tensor, Tensor], Tensor]

# The tableau of Dormand and Prince: times, stages, and what their error and the middle of a step are made of.
_TIMES: Final = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES: Final = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_FIFTH: Final = (*_STAGES[-1], 0.0)
_FOURTH: Final = (
    1951 / 21600, 0.0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60,
)  # fmt: skip
_ERROR: Final = tuple(fifth - fourth for fifth, fourth in zip(_FIFTH, _FOURTH, strict=True))
_MIDDLE: Final = (
    6025192743 / 30085553152 / 2, 0.0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2, -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2,
)  # fmt: skip


class _Options(NamedTuple):
    """How steps are chosen."""

    first_step: float = 1.0
    safety: float = 0.9
    ifactor: float = 10.0
    dfactor: float = 0.2
    max_num_steps: int = 1000


class _Step(NamedTuple):
    """The last step that was taken: from where to where, the slope at its end, and the curve in it."""

    y: Tensor
    slope: Tensor
    start: Tensor
    end: Tensor
    size: Tensor
    curve: list[Tensor]


def odeint(
    func: Slope,
    y0: TensorLike,
    t: TensorLike,
    rtol: float = 1e-06,
    atol: float = 1e-12,
    method: str | None = None,
    options: Mapping[str, float] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Nest:
    """Solve `dy/dt = func(y, t)` with `y(t[0]) = y0`, by steps as long as the error allows.

    Args:
        func: a function of a state and a scalar time, which gives the slope in the shape of the state.
        y0: the state at first, of a floating or complex type.
        t: [n] floats that increase, the times to give the state of.
        rtol, atol: the relative and absolute error of a step.
        method: "dopri5", Dormand's and Prince's; None for it.
        options: with a method: `first_step`, `safety`, `ifactor`, `dfactor` and `max_num_steps`.
        full_output: also give how often the slope was asked for, and of each step its end and its error.
        name: the scope's name.

    Returns:
        the states, `[n, ...]`; with `full_output` a pair of them and a dict.

    Raises:
        ValueError: there is no such method, options are given without a method, or `t` is no vector.
        TypeError: the state or the times are of another type, or there is no such option.
    """
    if method is None:
        if options:
            raise ValueError("cannot supply `options` without specifying `method`")
    elif method != "dopri5":
        raise ValueError(f"invalid method: {method!r}. There is 'dopri5'; odeint_fixed takes steps of a given size.")
    unknown = sorted(set(options or ()) - set(_Options._fields))
    if unknown:
        raise TypeError(f"_dopri5() got an unexpected keyword argument {unknown[0]!r}. Options are {list(_Options._fields)}.")
    with input_scope(name, "odeint", [y0, t]):
        state, times = _given(y0, t)
        chosen = _Options(**(options or {}))  # type: ignore[arg-type]
        with control_dependencies([_increasing(times)]):
            times = identity(times)
        return _Solver(func, chosen, rtol, atol).solve(state, times, full_output)


def _given(y0: TensorLike, t: TensorLike) -> tuple[Tensor, Tensor]:
    state = convert_to_tensor(y0, name="y0")
    if not (state.dtype.is_floating or state.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    times = convert_to_tensor(t, name="t")
    if times.shape.ndims not in (1, None):
        raise ValueError(f"t must be a 1D tensor: {times}")
    if not times.dtype.is_floating:
        times = cast(times, dtypes.float64)
    return state, times


def _increasing(times: Tensor) -> Nest:
    return assert_that(reduce_all(times[1:] > times[:-1]), ["`t` must be monotonic increasing"])


def _weighed(weights: tuple[float, ...], parts: list[Tensor], size: Tensor) -> Tensor:
    """`size` times the weighted sum of the parts."""
    terms = [size * constant(weight, size.dtype) * part for weight, part in zip(weights, parts, strict=False) if weight]
    total = terms[0]
    for term in terms[1:]:
        total += term
    return total


class _Solver:
    """The method of Dormand and Prince, with steps that follow the error."""

    def __init__(self, func: Slope, options: _Options, rtol: float, atol: float) -> None:
        self._slope, self._options = func, options
        self._rtol, self._atol = rtol, atol

    def __repr__(self) -> str:
        return f"<dopri5 of {self._slope}>"

    def solve(self, state: Tensor, times: Tensor, full_output: bool) -> Nest:
        """The states at all times, and what `full_output` asks for."""
        first = _Step(
            state, self._slope(state, times[0]), times[0], times[0],
            constant(self._options.first_step, times.dtype), [state] * 5,
        )  # fmt: skip
        count = shape(times)[0]
        states = TensorArray(state.dtype.base_dtype, size=count).write(0, state)
        ends = TensorArray(times.dtype.base_dtype, size=0, dynamic_size=True)
        ratios = TensorArray(_real(state.dtype), size=0, dynamic_size=True)

        def next_time(index: Nest, states: Nest, step: Nest, tries: Nest, ends: Nest, ratios: Nest) -> Nest:
            step, tries, ends, ratios = self._until(times[index], step, tries, ends, ratios)
            return index + 1, states.write(index, _between(step, times[index])), step, tries, ends, ratios

        _, states, _, tries, ends, ratios = while_loop(
            lambda index, *_: index < count, next_time, (constant(1), states, first, constant(0), ends, ratios)
        )
        found = states.stack()
        found.set_shape([*times.shape.as_list(), *state.shape.as_list()] if state.shape.ndims is not None else None)
        if not full_output:
            return found
        told = {"num_func_evals": 6 * tries + 1, "integrate_points": ends.stack(), "error_ratio": ratios.stack()}
        return found, told

    def _until(self, time: Tensor, step: Nest, tries: Nest, ends: Nest, ratios: Nest) -> Nest:
        """Steps until one ends at the time or behind it."""

        def further(step: Nest, tries: Nest, taken: Nest, ends: Nest, ratios: Nest) -> Nest:
            checks = [
                assert_that(taken < self._options.max_num_steps, ["max_num_steps exceeded"]),
                assert_that(step.end + step.size > step.end, ["underflow in dt", step.size]),
                assert_that(reduce_all(is_finite(absolute(step.y))), ["non-finite values in state `y`", step.y]),
            ]
            with control_dependencies(checks):
                made, end, ratio = self._tried(_Step(*[_held(each) for each in step]))
            return made, tries + 1, taken + 1, ends.write(tries, end), ratios.write(tries, ratio)

        step, tries, _, ends, ratios = while_loop(
            lambda step, *_: step.end < time, further, (step, tries, constant(0), ends, ratios)
        )
        return step, tries, ends, ratios

    def _tried(self, step: _Step) -> tuple[_Step, Tensor, Tensor]:
        """The step that follows, or the same with a smaller size to try; where it was to end, and its error."""
        kind = step.y.dtype
        size = cast(step.size, kind)
        slopes = [step.slope]
        for time, weights in zip(_TIMES, _STAGES, strict=True):
            there = step.y + _weighed(weights, slopes, size)
            slopes.append(self._slope(there, step.end + constant(time, step.end.dtype) * step.size))
        y, slope = there, slopes[-1]
        tolerance = self._atol + self._rtol * maximum(absolute(step.y), absolute(y))
        ratio = sqrt(reduce_mean(square(absolute(_weighed(_ERROR, slopes, size)) / tolerance)))
        is_good = ratio <= 1.0
        after = cast(self._factor(ratio), step.size.dtype) * step.size
        curve = _curve(step.y, y, step.y + _weighed(_MIDDLE, slopes, size), step.slope, slope, size)
        new = _Step(y, slope, step.end, step.end + step.size, after, curve)
        old = step._replace(size=after)
        return _chosen(is_good, new, old), new.end, ratio

    def _factor(self, ratio: Tensor) -> Tensor:
        """By how much the next step is longer: as long as its error is likely to be right."""
        options = self._options
        shrink = ratio ** constant(0.2, ratio.dtype) / options.safety
        return 1.0 / maximum(constant(1.0 / options.ifactor, ratio.dtype), minimum(shrink, 1.0 / options.dfactor))


def _held(part: Nest) -> Nest:
    return [identity(each) for each in part] if isinstance(part, list) else identity(part)


def _chosen(is_good: Tensor, new: _Step, old: _Step) -> _Step:
    def one(a: Tensor, b: Tensor) -> Tensor:
        return where_v2(is_good, a, b)

    return _Step(
        one(new.y, old.y), one(new.slope, old.slope), one(new.start, old.start), one(new.end, old.end), one(new.size, old.size),
        [one(a, b) for a, b in zip(new.curve, old.curve, strict=True)],
    )  # fmt: skip


def _real(kind: DType) -> DType:
    return kind.real_dtype.base_dtype


def _curve(y0: Tensor, y1: Tensor, middle: Tensor, f0: Tensor, f1: Tensor, size: Tensor) -> list[Tensor]:
    """The polynomial of fourth degree through both ends with their slopes, and the middle; the highest power first."""
    ahead, back = size * f0, size * f1
    return [
        2.0 * (back - ahead) - 8.0 * (y1 + y0) + 16.0 * middle,
        5.0 * ahead - 3.0 * back + 18.0 * y0 + 14.0 * y1 - 32.0 * middle,
        back - 4.0 * ahead - 11.0 * y0 - 5.0 * y1 + 16.0 * middle,
        ahead,
        y0,
    ]


def _between(step: _Step, time: Tensor) -> Tensor:
    """The state at a time within a step."""
    x = cast((time - step.start) / (step.end - step.start), step.y.dtype)
    value = step.curve[0]
    for coefficient in step.curve[1:]:
        value = value * x + coefficient
    return value


def odeint_fixed(
    func: Slope, y0: TensorLike, t: TensorLike, dt: TensorLike | None = None, method: str = "rk4", name: str | None = None
) -> Tensor:
    """Solve `dy/dt = func(y, t)` with `y(t[0]) = y0`, by steps of a given size.

    Args:
        func: a function of a state and a scalar time, which gives the slope in the shape of the state.
        y0: the state at first, of a floating or complex type.
        t: [n] floats that increase, the times to give the state of.
        dt: the size that a step has at most, one or [n - 1]: as many equal steps as need be go to each time. One when None.
        method: "rk4" or "midpoint".
        name: the scope's name.

    Returns:
        the states, `[n, ...]`.

    Raises:
        ValueError: there is no such method, or `t` is no vector.
        TypeError: the state or the times are of another type.
    """
    if method not in _FIXED:
        raise ValueError(f"method not supported: {method}. There are {sorted(_FIXED)}.")
    with input_scope(name, "odeint_fixed", [y0, t, dt]):
        state, times = _given(y0, t)
        with control_dependencies([_increasing(times)]):
            times = identity(times)
        spans = times[1:] - times[:-1]
        rounds = ones_like(spans)
        if dt is not None:
            rounds = ceil(spans / convert_to_tensor(dt, times.dtype, name="dt"))
        count = shape(times)[0]
        states = TensorArray(state.dtype.base_dtype, size=count).write(0, state)
        change = _FIXED[method]

        def to_next(index: Nest, state: Nest, states: Nest) -> Nest:
            size = spans[index - 1] / rounds[index - 1]

            def step(done: Nest, state: Nest) -> Nest:
                now = times[index - 1] + done * size
                return done + 1.0, state + change(func, state, now, size)

            start = constant(0.0, times.dtype)
            _, state = while_loop(lambda done, _: done < rounds[index - 1], step, (start, state))
            return index + 1, state, states.write(index, state)

        _, _, states = while_loop(lambda index, *_: index < count, to_next, (constant(1), state, states))
        found: Tensor = states.stack()
        return found


def _rk4(func: Slope, y: Tensor, t: Tensor, dt: Tensor) -> Tensor:
    size, half = cast(dt, y.dtype), dt / 2.0
    k1 = func(y, t)
    k2 = func(y + size * k1 / 2.0, t + half)
    k3 = func(y + size * k2 / 2.0, t + half)
    k4 = func(y + size * k3, t + dt)
    return size * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0


def _midpoint(func: Slope, y: Tensor, t: Tensor, dt: Tensor) -> Tensor:
    size = cast(dt, y.dtype)
    return size * func(y + size * func(y, t) / 2.0, t + dt / 2.0)


_FIXED: Final = {"rk4": _rk4, "midpoint": _midpoint}
