"""Model: a network that is trained, saved and loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping

from weft.framework.aliases import Nest
from weft.networks.config import GivenConfig, Options
from weft.networks.models import building
from weft.networks.models.training import Trainable
from weft.networks.saving import weights


class Model(Trainable):
    """Layers put together, and trained.

    `Model(inputs=..., outputs=...)` is what leads from Inputs to outputs. A subclass makes layers in `__init__`, as attributes,
    and uses them in `call(inputs, training=None)`.
    """

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> Nest:
        """A model of its config."""
        if "layers" not in config:
            return cls(**config)
        inputs, outputs = building.tensors_of(config, custom_objects)
        return cls(inputs=inputs, outputs=outputs, name=config.get("name"))

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """The layers, and the optimizer that the model was compiled with."""
        optimizer = getattr(self, "optimizer", None)
        return [*super().checkpoint_dependencies(), *([] if optimizer is None else [("optimizer", optimizer)])]

    def save_weights(self, filepath: str, overwrite: bool = True, save_format: str | None = None) -> None:
        """Write the weights to a checkpoint at a prefix, in files of TensorFlow's format; HDF5 is refused."""
        if save_format in ("h5", "hdf5", "keras"):
            raise NotImplementedError(f"save_weights(save_format={save_format!r}): weft writes no HDF5; use 'tf'")
        weights.save_weights(self, filepath)

    def load_weights(self, filepath: str, by_name: bool = False) -> None:
        """Read the weights of a checkpoint, which `save_weights` has written for a model with layers like these."""
        if by_name:
            raise NotImplementedError("load_weights(by_name=True) is for HDF5, which weft does not read")
        weights.load_weights(self, filepath)

    def save(self, filepath: str, *args: Options, **kwargs: Options) -> None:
        """Refuse: a model is saved as its config and its weights, or as a SavedModel."""
        raise NotImplementedError(
            "Model.save: write model.to_json() to a file and call model.save_weights(prefix); "
            "tf.saved_model.simple_save makes a "
            "SavedModel of the model's input and output"
        )

    def to_json(self, **kwargs: Options) -> str:
        """The config as JSON; `kwargs` go to `json.dumps`."""
        return json.dumps(building.model_config(self), default=building.jsonable, **kwargs)

    def to_yaml(self, **kwargs: Options) -> str:
        """Refuse: YAML is no part of weft."""
        raise NotImplementedError("to_yaml: weft has no YAML; use to_json")
