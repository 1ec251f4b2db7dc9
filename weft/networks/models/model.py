"""Model: a network that is trained, saved and loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping

from weft.framework.aliases import Nest
from weft.networks.config import GivenConfig, Options
from weft.networks.models import building
from weft.networks.models.training import Trainable


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

    def to_json(self, **kwargs: Options) -> str:
        """The config as JSON; `kwargs` go to `json.dumps`."""
        return json.dumps(building.model_config(self), default=building.jsonable, **kwargs)

    def to_yaml(self, **kwargs: Options) -> str:
        """Refuse: YAML is no part of weft."""
        raise NotImplementedError("to_yaml: weft has no YAML; use to_json")
