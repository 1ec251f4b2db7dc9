"""Expectations as means over samples, by the names of tf.contrib.bayesflow.monte_carlo."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.distributions.distribution import Distribution
from weft.ops.array.identity import stop_gradient
from weft.ops.input_scope import input_scope
from weft.ops.math.reduce_functions import reduce_max, reduce_mean
from weft.ops.math.unary import exp, log
from weft.ops.nn.activation import relu

_Function = Callable[[Tensor], Tensor]


def expectation(
    f: _Function, samples: Tensor, log_prob: _Function | None = None, use_reparametrization: bool = True,
    axis: int | Sequence[int] = 0, keep_dims: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The mean of a function of samples, with a gradient for the parameters of their distribution.

    Args:
        f: a function of the samples, `[samples, ...]`, that gives a value for each.
        samples: `[samples, ...]`, drawn from the distribution.
        log_prob: the logarithm of the distribution's density; needed without reparametrization.
        use_reparametrization: whether the gradient goes through the samples, which are functions of the parameters; else it is
            that of the score function, through `log_prob`.
        axis: the dimensions that the samples are along.
        keep_dims: whether these stay, of size 1.
        name: the name scope; "expectation" when None.

    Returns:
        The mean, without the dimensions of the samples.

    Raises:
        ValueError: `f`, or `log_prob` where it is needed, is no function.
    """
    with input_scope(name, "expectation", (samples,)):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        fixed = stop_gradient(samples)
        density, values = log_prob(fixed), f(fixed)
        # What is added is zero; its derivative is that of the density, times the value (Williams, 1992).
        values = values + stop_gradient(values) * (density - stop_gradient(density))
        return reduce_mean(values, axis=axis, keepdims=keep_dims)


def expectation_importance_sampler(
    f: _Function, log_p: _Function, sampling_dist_q: Distribution, z: TensorLike | None = None, n: int | None = None,
    seed: int | None = None, name: str = "expectation_importance_sampler",
) -> Tensor:  # fmt: skip
    """The expectation of a function under a density, of samples of another distribution that are weighted by both.

    Args:
        f: a function of samples, `[samples, ...]`, that gives a value of either sign for each.
        log_p: the logarithm of the density, which need not be normalized.
        sampling_dist_q: the distribution of the samples.
        z: `[samples, ...]`, samples of it; `n` are drawn when None.
        n: how many samples are drawn; none where there are some in `z`.
        seed: the op seed of the samples.
        name: the name scope.

    Returns:
        The expectation, of the shape of one sample's value.

    Raises:
        ValueError: both of `z` and `n` are given, or neither.
    """
    with input_scope(name, name, (z, n)):
        samples = _samples(sampling_dist_q, z, n, seed)
        density, sampled = log_p(samples), sampling_dist_q.log_prob(samples)
        values = f(samples)
        # Both parts are taken as their logarithms, where one is added to keep zero finite: it falls out of the difference.
        positive = log(relu(values) + 1.0)
        negative = log(relu(-1.0 * values) + 1.0)
        parts = [_log_of_mean(part + density - sampled) for part in (positive, negative)]
    return exp(parts[0]) - exp(parts[1])


def expectation_importance_sampler_logspace(
    log_f: _Function, log_p: _Function, sampling_dist_q: Distribution, z: TensorLike | None = None, n: int | None = None,
    seed: int | None = None, name: str = "expectation_importance_sampler_logspace",
) -> Tensor:  # fmt: skip
    """The logarithm of the expectation of a positive function, as `expectation_importance_sampler` has it.

    Args:
        log_f: the logarithm of the function.
        log_p: the logarithm of the density, which need not be normalized.
        sampling_dist_q: the distribution of the samples.
        z: `[samples, ...]`, samples of it; `n` are drawn when None.
        n: how many samples are drawn; none where there are some in `z`.
        seed: the op seed of the samples.
        name: the name scope.

    Returns:
        The logarithm, of the shape of one sample's value.

    Raises:
        ValueError: both of `z` and `n` are given, or neither.
    """
    with input_scope(name, name, (z, n)):
        samples = _samples(sampling_dist_q, z, n, seed)
        return _log_of_mean(log_f(samples) + log_p(samples) - sampling_dist_q.log_prob(samples))


def _log_of_mean(logarithms: Tensor) -> Tensor:
    """The logarithm of the mean of numbers whose logarithms these are: around the greatest, which does not overflow."""
    center = stop_gradient(reduce_max(logarithms, axis=[0]))
    return log(reduce_mean(exp(logarithms - center), axis=[0])) + center


def _samples(distribution: Distribution, z: TensorLike | None, n: int | None, seed: int | None) -> Tensor:
    with input_scope(None, "get_samples", (z, n)):
        if (n is None) == (z is None):
            raise ValueError(f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}')
        return convert_to_tensor(z, name="z") if n is None else distribution.sample(n, seed=seed)
