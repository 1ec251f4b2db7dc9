"""All optimizers by name, and what stands for them in `compile`: those of tf.train too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.networks.config import Config, GivenConfig
from weft.networks.objects import registry
from weft.networks.optimizers.adaptive import Adadelta, Adagrad, RMSprop
from weft.networks.optimizers.descent import SGD, Ftrl
from weft.networks.optimizers.moments import Adam, Adamax, Nadam
from weft.networks.optimizers.optimizer import Optimizer
from weft.networks.optimizers.parts import OptimizersOfParts
from weft.networks.state.graph_state import state_of, track_variable
from weft.ops.array.constant import constant
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer as GraphOptimizer


class TFOptimizer:
    """An optimizer of tf.train as one of Keras.

    Args:
        optimizer: the optimizer.
        iterations: the variable that counts steps; a new one when None.
    """

    def __init__(self, optimizer: GraphOptimizer, iterations: VariableLike = None) -> None:
        self.optimizer = optimizer
        if iterations is None:
            with get_default_graph().name_scope(type(self).__name__):
                iterations = _new_variable(
                    lambda: constant(0, dtypes.int64, name="initial_value"), name="iterations", trainable=False,
                    use_resource=True,
                )  # fmt: skip
            track_variable(iterations)
        self.iterations = iterations
        state_of(iterations.graph).optimizers.append(optimizer)

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """The optimizer with its slots, and the variable that counts steps, under TensorFlow's names."""
        return [("optimizer", self.optimizer), ("global_step", self.iterations)]

    def get_updates(self, loss: Tensor, params: Sequence[VariableLike]) -> list[Nest]:
        """The operations of a training step."""
        pairs = self.optimizer.compute_gradients(loss, list(params))
        return [self.optimizer.apply_gradients(pairs, global_step=self.iterations)]

    def get_gradients(self, loss: Tensor, params: Sequence[VariableLike]) -> list[Nest]:
        """The gradients of a loss."""
        return [gradient for gradient, _ in self.optimizer.compute_gradients(loss, list(params))]

    @property
    def weights(self) -> list[VariableLike]:
        """Not known: an optimizer of tf.train is saved by tf.train.Saver."""
        raise NotImplementedError

    def get_config(self) -> Config:
        """Not known."""
        raise NotImplementedError

    def from_config(self, config: GivenConfig) -> Nest:
        """Not known."""
        raise NotImplementedError


# Calling the class makes an object of the kind wanted, with more arguments than the class itself takes.
_new_variable: Final[Callable[..., VariableLike]] = Variable
_CLASSES: Final = (Adadelta, Adagrad, Adam, Adamax, Ftrl, Nadam, RMSprop, SGD)
OBJECTS: Final[Config] = {
    **{each.__name__: each for each in _CLASSES}, **{each.__name__.lower(): each for each in _CLASSES},
}  # fmt: skip

serialize = registry.serializer("optimizer")


def deserialize(config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> Nest:
    """The optimizer of a config, of which names may be in small letters.

    Args:
        config: a dict of `class_name` and `config`.
        custom_objects: further classes by name.
    """
    known = {**config, "class_name": str(config["class_name"])}
    if known["class_name"].lower() in OBJECTS:
        known["class_name"] = known["class_name"].lower()
    return registry.deserialize_keras_object(known, OBJECTS, custom_objects, "optimizer")


def get(identifier: Nest) -> Nest:
    """The optimizer that a name, a config, or itself stands for; ValueError for anything else.

    Args:
        identifier: a name such as "adam", a config, or an optimizer of tf.keras or tf.train.
    """
    if isinstance(identifier, Optimizer | TFOptimizer | OptimizersOfParts):
        return identifier
    if isinstance(identifier, GraphOptimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, Mapping):
        return deserialize(identifier)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    if isinstance(identifier, type):
        raise ValueError(f"Could not interpret optimizer identifier: {identifier}. Did you mean {identifier.__name__}(...)?")
    raise ValueError("Could not interpret optimizer identifier:", identifier)
