"""Blueprint: what models like another one are made of, in other graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.framework.building.aliases import VariableLike
from weft.framework.nodes.operation import Tensor
from weft.networks.config import Config, GivenConfig, KerasObject
from weft.networks.objects.registry import custom_object_scope
from weft.networks.optimizers import catalog as optimizers


class Blueprint:
    """A model's config and what its `compile` was told, if it was compiled.

    Args:
        model: the model.
        custom_objects: the program's own classes and functions, by name.
    """

    def __init__(self, model: KerasObject, custom_objects: Mapping[str, object]) -> None:
        self._class, self._config, self._custom_objects = type(model), model.get_config(), custom_objects
        self._arguments: Config = {}
        given = getattr(model, "optimizer", None)
        if given is not None:
            self._arguments = {**model.compilation.arguments, "sample_weight_mode": model.sample_weight_mode}
        self._of_graphs = given.optimizer if isinstance(given, optimizers.TFOptimizer) else None
        is_own = given is not None and self._of_graphs is None
        self._optimizer: GivenConfig | None = optimizers.serialize(given) if is_own else None

    def model(self) -> KerasObject:
        """A model like the original in the default graph, not compiled, with variables of its own."""
        with custom_object_scope(self._custom_objects):
            made: KerasObject = self._class.from_config(self._config)
        return made

    def compile(self, model: KerasObject, targets: Sequence[Tensor] | None = None, iterations: VariableLike = None) -> None:
        """Compile a model as the original was, which was compiled, with an optimizer like its own.

        Args:
            model: the model.
            targets: tensors that stand for the targets; placeholders when None.
            iterations: the variable that counts the optimizer's steps; one of its own when None.
        """
        with custom_object_scope(self._custom_objects):
            if self._of_graphs is not None:
                optimizer: KerasObject = optimizers.TFOptimizer(self._of_graphs, iterations=iterations)
            else:
                optimizer = optimizers.deserialize(self._optimizer or {})
                if iterations is not None:
                    optimizer.iterations = iterations
            model.compile(optimizer, **{**self._arguments, "target_tensors": targets})
