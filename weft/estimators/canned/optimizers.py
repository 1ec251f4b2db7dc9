"""The optimizers of canned estimators, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from weft.platform.hints.spelling import did_you_mean
from weft.training.optimizers.adagrad import AdagradOptimizer
from weft.training.optimizers.adam import AdamOptimizer
from weft.training.optimizers.ftrl import FtrlOptimizer
from weft.training.optimizers.gradient_descent import GradientDescentOptimizer
from weft.training.optimizers.optimizer import Optimizer
from weft.training.optimizers.rmsprop import RMSPropOptimizer

# A name, an Optimizer, or a function that makes one.
OptimizerLike: TypeAlias = str | Optimizer | Callable[[], Optimizer]

_BY_NAME: Final[dict[str, Callable[..., Optimizer]]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}


def get_optimizer_instance(optimizer: OptimizerLike, learning_rate: float | None = None) -> Optimizer:
    """The optimizer that a program means.

    Args:
        optimizer: a name, an Optimizer, or a function that makes one in the model's graph.
        learning_rate: for one that is named.

    Raises:
        ValueError: there is none of this name, it has no learning rate, or it is no Optimizer.
    """
    if isinstance(optimizer, str):
        if optimizer not in _BY_NAME:
            raise ValueError(
                f"Unsupported optimizer name: {optimizer}. Supported names are: {tuple(sorted(_BY_NAME))}"
                f"{did_you_mean(optimizer, _BY_NAME)}"
            )
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return _BY_NAME[optimizer](learning_rate=learning_rate)
    made = optimizer() if callable(optimizer) else optimizer
    if not isinstance(made, Optimizer):
        raise ValueError(
            f"The given object is not an Optimizer instance. Given: {made}. One of tf.train is wanted, such as "
            f"tf.train.AdamOptimizer(0.001), or a name of {tuple(sorted(_BY_NAME))}."
        )
    return made
