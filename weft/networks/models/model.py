"""Model: a network that is trained, saved and loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping

from weft.framework.building.aliases import Nest
from weft.networks.config import GivenConfig, Options
from weft.networks.models import building
from weft.networks.models.training import Trainable
from weft.networks.saving import model_files, weights
from weft.training.tracking.load_status import LoadStatus


class Model(Trainable):
    """Layers put together, and trained.

    `Model(inputs=..., outputs=...)` is what leads from Inputs to outputs. A subclass makes layers in `__init__`, as attributes,
    and uses them in `call(inputs, training=None)`.
    """

    restored_when_built: LoadStatus | None = None

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> Nest:
        """A model of its config.

        Args:
            custom_objects: classes and functions by the names that the config has for them.
        """
        if "layers" not in config:
            return cls(**config)
        inputs, outputs = building.tensors_of(config, custom_objects)
        return cls(inputs=inputs, outputs=outputs, name=config.get("name"))

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """The layers, and the optimizer that the model was compiled with."""
        optimizer = getattr(self, "optimizer", None)
        return [*super().checkpoint_dependencies(), *([] if optimizer is None else [("optimizer", optimizer)])]

    def __call__(self, inputs: Nest, *args: Options, **kwargs: Options) -> Nest:
        """The outputs for these inputs; the first call of a model with a `call` of its own makes its variables."""
        outputs = super().__call__(inputs, *args, **kwargs)
        if self.restored_when_built is not None:
            status, self.restored_when_built = self.restored_when_built, None
            weights.restore(status)
        return outputs

    def save_weights(self, filepath: str, overwrite: bool = True, save_format: str | None = None) -> None:
        """Write the weights.

        Args:
            filepath: the file; or the prefix of a checkpoint, in TensorFlow's format, which tells objects by their attributes.
            overwrite: whether a file there is overwritten without asking.
            save_format: "h5" or "tf"; None goes by the path: `.h5`, `.hdf5` and `.keras` are HDF5.
        """
        weights.save_weights(self, filepath, overwrite, save_format)

    def load_weights(self, filepath: str, by_name: bool = False) -> LoadStatus | None:
        """Read weights that `save_weights` has written, here or in TensorFlow, for a model with layers like these.

        A checkpoint that is read before a model of one's own is first called is restored by that call.

        Args:
            filepath: the file or prefix.
            by_name: whether layers are found by their names, rather than by their order; for HDF5.

        Returns:
            The status of a checkpoint's restore; None for HDF5.
        """
        return weights.load_weights(self, filepath, by_name)

    def save(
        self, filepath: str, overwrite: bool = True, include_optimizer: bool = True, save_format: str | None = None,
        signatures: object = None,
    ) -> None:  # fmt: skip
        """Write the model to an HDF5 file; see `tf.keras.models.save_model`.

        Args:
            filepath: the file's path.
            overwrite: whether a file that is there is replaced; otherwise the terminal is asked.
            include_optimizer: whether the optimizer and its state are written too.
            save_format: "h5"; "tf" is refused.
            signatures: refused: they are for the format "tf".
        """
        model_files.save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)

    def to_json(self, **kwargs: Options) -> str:
        """The config as JSON; `kwargs` go to `json.dumps`.

        Args:
            kwargs: arguments of `json.dumps`.
        """
        return json.dumps(building.model_config(self), default=building.jsonable, **kwargs)

    def to_yaml(self, **kwargs: Options) -> str:
        """The config as YAML; `kwargs` go to `yaml.dump`. ImportError without PyYAML.

        Args:
            kwargs: arguments of `yaml.dump`.
        """
        plain = json.loads(self.to_json())
        return str(building.yaml_module("to_yaml").dump(plain, **kwargs))
