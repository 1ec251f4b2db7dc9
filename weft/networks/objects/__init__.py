"""The objects that layers are configured with, by name or by config."""

from __future__ import annotations

from weft.models.layers.named_objects import look_up_by
from weft.networks.objects import activations, constraints, initializers, regularizers

look_up_by(activation=activations.get, constraint=constraints.get, initializer=initializers.get, regularizer=regularizers.get)
