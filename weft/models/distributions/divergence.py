"""The Kullback-Leibler divergence of two distributions, by a registry of closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from weft.framework.nodes.operation import Tensor
from weft.ops.array.identity import identity
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import logical_not
from weft.ops.math.reduce_functions import reduce_any
from weft.ops.math.unary import is_nan

Form = TypeVar("Form", bound=Callable[..., Tensor])


class HasEntropy(Protocol):
    """A distribution, as far as divergences need one."""

    @property
    def name(self) -> str:
        """The name of its scopes."""

    def entropy(self, name: str = "entropy") -> Tensor:
        """The entropy in nats."""


# The closed forms by the two classes.
_FORMS: Final[dict[tuple[type, type], Callable[..., Tensor]]] = {}


class RegisterKL:
    """A decorator: the function `(a, b, name=None)` computes KL(a || b) for distributions of these classes and subclasses.

    Args:
        dist_cls_a: the class of the first distribution.
        dist_cls_b: the class of the second.
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Form) -> Form:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _FORMS:
            first, second = self._key
            raise ValueError(f"KL({first.__name__} || {second.__name__}) has already been registered to: {_FORMS[self._key]}")
        _FORMS[self._key] = kl_fn
        return kl_fn


def _registered(first: type, second: type) -> Callable[..., Tensor] | None:
    """The form of the nearest classes: the fewest steps up both lines of ancestors together."""
    candidates = [
        (up_a + up_b, up_a, _FORMS[a, b])
        for up_a, a in enumerate(first.__mro__)
        for up_b, b in enumerate(second.__mro__)
        if (a, b) in _FORMS
    ]
    return min(candidates, key=lambda candidate: candidate[:2])[2] if candidates else None


def kl_divergence(
    distribution_a: HasEntropy, distribution_b: HasEntropy, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """KL(a || b) in nats, one number for each member of the batch.

    Args:
        distribution_a: the distribution that the expectation is taken over.
        distribution_b: the other one.
        allow_nan_stats: whether NaN may come out; the run fails on one otherwise.
        name: the scope's name.

    Returns:
        A tensor of the batch shapes, broadcast, of the distributions' dtype.

    Raises:
        NotImplementedError: no form is registered for these classes; see `RegisterKL`.
    """
    form = _registered(type(distribution_a), type(distribution_b))
    if form is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a "
            f"type {type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}. "
            "@tf.distributions.RegisterKL(type_a, type_b) registers a function for it."
        )
    with input_scope(None, "KullbackLeibler"):
        divergence = form(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return divergence
        divergence = identity(divergence, name="kl")
        message = (
            f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN values "
            "(and was called with allow_nan_stats=False). Values:"
        )
        check = assert_that(logical_not(reduce_any(is_nan(divergence))), [message, divergence])
        return with_dependencies([check], divergence, name="checked_kl")


def cross_entropy(ref: HasEntropy, other: HasEntropy, allow_nan_stats: bool = True, name: str | None = None) -> Tensor:
    """The cross-entropy H(ref, other) in nats: the entropy of `ref` and its divergence from `other`."""
    with input_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)
