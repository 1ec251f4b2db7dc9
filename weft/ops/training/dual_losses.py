"""The losses of stochastic dual coordinate ascent: what each example adds to the primal and to the dual objective.

An example has a label y, a weight and a dual variable a; p is its prediction. `updated` moves a to where the dual objective is
best while all other variables stand, `norm` being the example's squared norm divided by the strength of L2 (Shalev-Shwartz and
Zhang 2013), times the number of partitions of the loss (Ma et al. 2015). All numbers are floats of Python.
"""

from __future__ import annotations

import math
import sys
from typing import Final, Protocol

from weft.errors import InvalidArgumentError

_NEWTON_STEPS: Final = 10
_IMPOSSIBLE: Final = sys.float_info.max


def _exp(x: float) -> float:
    """Infinity where Python's own has an OverflowError: a model that diverges is seen by its losses, as with TensorFlow."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


class DualLoss(Protocol):
    """What the ascent needs of a loss."""

    smoothness: float
    """Gamma, where the derivative is 1 / gamma Lipschitz."""

    def label(self, given: float) -> float:
        """The label as the loss has it; InvalidArgumentError for one that it does not have."""

    def updated(self, label: float, weight: float, dual: float, prediction: float, norm: float) -> float:
        """The dual variable's next value."""

    def dual(self, dual: float, label: float, weight: float) -> float:
        """What the example adds to the dual objective."""

    def primal(self, prediction: float, label: float, weight: float) -> float:
        """What the example adds to the primal objective."""

    def slope(self, prediction: float, label: float) -> float:
        """The derivative of the loss with respect to the prediction, for the weight 1."""


class SquaredLoss:
    """`(p - y)^2 / 2`."""

    smoothness = 1.0

    def label(self, given: float) -> float:
        """Any number."""
        return given

    def updated(self, label: float, weight: float, dual: float, prediction: float, norm: float) -> float:
        """The exact optimum."""
        return dual + (label - dual - prediction) / (1.0 + norm * weight)

    def dual(self, dual: float, label: float, weight: float) -> float:
        """`a^2 / 2 - a y`."""
        return dual * (0.5 * dual - label) * weight

    def primal(self, prediction: float, label: float, weight: float) -> float:
        """`(p - y)^2 / 2`."""
        return 0.5 * (prediction - label) ** 2 * weight

    def slope(self, prediction: float, label: float) -> float:
        """`p - y`."""
        return prediction - label


class _SignedLabels:
    """Labels of two classes, 0 and 1, which the losses have as -1 and 1."""

    def label(self, given: float) -> float:
        """-1 or 1."""
        if given not in (0.0, 1.0):
            raise InvalidArgumentError.of(
                f"Only labels of 0.0 or 1.0 are supported right now. Found example with label: {given:g}"
            )
        return 1.0 if given else -1.0


class LogisticLoss(_SignedLabels):
    """`log(1 + exp(-y p))`."""

    smoothness = 4.0

    def updated(self, label: float, weight: float, dual: float, prediction: float, norm: float) -> float:
        """The optimum by Newton's method, in x with `a = (1 + tanh x) / 2y`, which keeps `a y` between 0 and 1."""
        x, scale = 0.0, norm * weight
        for _ in range(_NEWTON_STEPS):
            bent = math.tanh(x)
            value = -2.0 * label * x - prediction - scale * (0.5 * (1.0 + bent) / label - dual)
            x -= value / (-2.0 * label - scale * (1.0 - bent * bent) * 0.5 / label)
        return 0.5 * (1.0 + math.tanh(x)) / label

    def dual(self, dual: float, label: float, weight: float) -> float:
        """`ay log(ay) + (1 - ay) log(1 - ay)`."""
        share = dual * label
        return sum(each * math.log(each) for each in (share, 1.0 - share) if each > 0) * weight

    def primal(self, prediction: float, label: float, weight: float) -> float:
        """The loss, without overflow."""
        margin = label * prediction
        return (math.log1p(math.exp(-abs(margin))) + max(-margin, 0.0)) * weight

    def slope(self, prediction: float, label: float) -> float:
        """`-y / (1 + exp(y p))`, without overflow."""
        margin = label * prediction
        tail = math.exp(-abs(margin))
        return -label * (tail if margin > 0 else 1.0) / (1.0 + tail)


class HingeLoss(_SignedLabels):
    """`max(0, 1 - y p)`, rounded off over the last `gamma` before 1.

    Args:
        gamma: 0 for the hinge itself.
    """

    def __init__(self, gamma: float = 0.0) -> None:
        self._gamma = gamma
        self.smoothness = 1.0 / gamma if gamma else 0.0

    def updated(self, label: float, weight: float, dual: float, prediction: float, norm: float) -> float:
        """The exact optimum, with `a y` between 0 and 1."""
        found = dual + (label - prediction - self._gamma * dual) / (norm * weight + self._gamma)
        return label * min(max(label * found, 0.0), 1.0)

    def dual(self, dual: float, label: float, weight: float) -> float:
        """`-a y + gamma a^2 / 2`."""
        share = dual * label
        return (-share + 0.5 * self._gamma * dual * dual) * weight if 0.0 <= share <= 1.0 else _IMPOSSIBLE

    def primal(self, prediction: float, label: float, weight: float) -> float:
        """The loss."""
        lack = max(1.0 - label * prediction, 0.0)
        if lack < self._gamma:
            return lack * lack * 0.5 / self._gamma * weight
        return (lack - 0.5 * self._gamma) * weight

    def slope(self, prediction: float, label: float) -> float:
        """`-y` where the margin lacks something, less where that is little."""
        lack = max(1.0 - label * prediction, 0.0)
        return -label * (lack / self._gamma if lack < self._gamma else float(lack > 0))


class PoissonLoss:
    """`exp(p) - y p`."""

    smoothness = 1.0

    def label(self, given: float) -> float:
        """A number that is not negative."""
        if given < 0:
            raise InvalidArgumentError.of(
                f"Only non-negative labels can be used with the Poisson log loss. Found example with label: {given:g}"
            )
        return given

    def updated(self, label: float, weight: float, dual: float, prediction: float, norm: float) -> float:
        """The optimum by Newton's method, in x with `a = y - exp(x)`."""
        rest, scale = label - dual, norm * weight
        x = math.log(rest) if rest > 0 else 0.0
        for _ in range(_NEWTON_STEPS):
            rate = _exp(x)
            x -= (x - prediction - scale * (rest - rate)) / (1.0 + scale * rate)
        return label - _exp(x)

    def dual(self, dual: float, label: float, weight: float) -> float:
        """`(y - a) (log(y - a) - 1)`."""
        rest = label - dual
        if rest <= 0:
            return _IMPOSSIBLE if rest else 0.0
        return rest * (math.log(rest) - 1.0) * weight

    def primal(self, prediction: float, label: float, weight: float) -> float:
        """The loss."""
        return (_exp(prediction) - prediction * label) * weight

    def slope(self, prediction: float, label: float) -> float:
        """`exp(p) - y`."""
        return _exp(prediction) - label


DUAL_LOSSES: Final[dict[str, DualLoss]] = {
    "logistic_loss": LogisticLoss(),
    "squared_loss": SquaredLoss(),
    "hinge_loss": HingeLoss(),
    "smooth_hinge_loss": HingeLoss(gamma=1.0),
    "poisson_loss": PoissonLoss(),
}
