"""Layers around layers: TimeDistributed and Bidirectional."""

from __future__ import annotations

from collections.abc import Mapping

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.config import Config, GivenConfig, KerasObject, Options
from weft.networks.engine.layer import Layer
from weft.networks.objects.registry import deserialize_keras_object
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.tiling import reverse


def layer_config(layer: KerasObject) -> Config:
    """A layer as the configs of others have it."""
    return {"class_name": type(layer).__name__, "config": layer.get_config()}


class Wrapper(Layer):
    """A layer around another one.

    Args:
        layer: the layer inside.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.

    Raises:
        ValueError: `layer` is no layer.
    """

    def __init__(self, layer: KerasObject, **kwargs: Options) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Layer {layer} supplied to wrapper is not a supported layer type. Please ensure "
                f"wrapped layer is a valid Keras layer."
            )
        # First, since wrappers of programs' own have properties that ask it.
        self.layer = layer
        super().__init__(**kwargs)

    def build(self, input_shape: Nest = None) -> None:
        """Build the inner layer, unless it is built."""
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    def get_config(self) -> Config:
        """The inner layer's config too."""
        return {**super().get_config(), "layer": layer_config(self.layer)}

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> KerasObject:
        """A wrapper of its config.

        Args:
            custom_objects: classes of layers by the names that the config has for them.
        """
        given = dict(config)
        inner = deserialize_keras_object(given.pop("layer"), _KNOWN, custom_objects, "layer")
        return cls(inner, **given)


# The layers that configs name; the catalogue, which is above this module, fills it.
_KNOWN: dict[str, KerasObject] = {}


def know(layers: Mapping[str, KerasObject]) -> None:
    """Take the layers that configs name."""
    _KNOWN.update(layers)


class TimeDistributed(Wrapper):
    """A layer on each time step by itself: `[batch, steps, ...] -> [batch, steps, ...]`."""

    supports_masking = True

    def build(self, input_shape: Nest = None) -> None:
        """Build the inner layer for a step."""
        sizes = TensorShape(input_shape).as_list()
        if not self.layer.built:
            self.layer.build(TensorShape([sizes[0], *sizes[2:]]))
            self.layer.built = True
        self.built = True

    def call(self, inputs: Nest, training: TensorLike | None = None, mask: Nest = None) -> Nest:
        """The layer on all steps at once, as on a larger batch.

        Args:
            training: handed to the layer where it takes it.
            mask: `[batch, steps]` bool; has no effect on what is computed.
        """
        sizes = inputs.shape.as_list()
        steps = shape_of(inputs)[1] if sizes[1] is None else sizes[1]
        flat = reshape(inputs, [-1, *_sizes_from(inputs, 2)])
        flat.set_shape([None, *sizes[2:]])
        given = {"training": training} if training is not None and self.layer.takes("training") else {}
        count = get_default_graph().node_count
        before = count.total
        made: Tensor = self.layer(flat, **given)
        # TensorFlow calls a network of layers again for the mask; later random nodes get their seeds by the count.
        count.total += count.total - before if hasattr(self.layer, "layers") else 0
        wide = reshape(made, [-1, steps, *_sizes_from(made, 1)])
        wide.set_shape([sizes[0], sizes[1], *made.shape.as_list()[1:]])
        return wide


def _sizes_from(tensor: Tensor, first: int) -> list[TensorLike]:
    """The sizes from a dimension on, numbers where they are known."""
    sizes = tensor.shape.as_list()[first:]
    if None not in sizes:
        return [size for size in sizes if size is not None]
    actual = shape_of(tensor)
    return [actual[axis] if size is None else size for axis, size in enumerate(sizes, first)]


class Bidirectional(Wrapper):
    """A recurrent layer forwards and backwards.

    Args:
        layer: the layer that goes forwards.
        merge_mode: how the outputs are put together: "concat", "sum", "mul", "ave", or None for both.
        weights: the weights to begin with.
        backward_layer: the layer that goes backwards; one like `layer` when None.
        kwargs: see Layer.

    Raises:
        ValueError: another `merge_mode`. KeyError: `layer` is no recurrent one.
    """

    supports_masking = True

    def __init__(
        self, layer: KerasObject, merge_mode: str | None = "concat", weights: Nest = None, backward_layer: KerasObject = None,
        **kwargs: Options,
    ) -> None:  # fmt: skip
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError('Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave", "concat", None}')
        super().__init__(layer, **kwargs)
        self.merge_mode = merge_mode
        config = layer.get_config()
        if "go_backwards" not in config:
            raise KeyError(
                f"'go_backwards': Bidirectional takes a recurrent layer, such as tf.keras.layers.LSTM(units), and {layer!r} "
                "has no steps"
            )
        forward = {**config, "name": f"forward_{layer.name}"}
        backward = {**config, "name": f"backward_{layer.name}", "go_backwards": not config["go_backwards"]}
        self.forward_layer = type(layer).from_config(forward)
        self._own_backward = backward_layer is not None
        self.backward_layer = backward_layer or type(layer).from_config(backward)
        self.return_sequences, self.return_state = layer.return_sequences, layer.return_state
        self._parts.pop("layer", None)
        self._initial_weights = weights
        self.batch_input_shape = self.batch_input_shape or layer.batch_input_shape

    def build(self, input_shape: Nest = None) -> None:
        """Make the variables of both layers."""
        for layer in (self.forward_layer, self.backward_layer):
            with get_default_graph().name_scope(layer.name):
                layer.build(input_shape)
            layer.built = True
        self.built = True

    def call(self, inputs: Nest, training: TensorLike | None = None, mask: Nest = None) -> Nest:
        """The outputs of both, put together.

        Args:
            training: whether the layers drop; Keras' learning phase when None.
            mask: `[batch, steps]` bool, which steps count; all when None.
        """
        states: list[Nest] = []
        if isinstance(inputs, list | tuple):
            inputs, states = inputs[0], list(inputs[1:])
            mask = mask[0] if isinstance(mask, list | tuple) else mask
        half = len(states) // 2
        y = self.forward_layer(inputs, initial_state=states[:half] or None, mask=mask, training=training)
        back = self.backward_layer(inputs, initial_state=states[half:] or None, mask=mask, training=training)
        last: list[Nest] = []
        if self.return_state:
            last = [*y[1:], *back[1:]]
            y, back = y[0], back[0]
        if self.return_sequences:
            back = reverse(back, [0 if getattr(self.forward_layer, "time_major", False) else 1])
        made = self._merged(y, back)
        if self.return_state:
            return [*(made if isinstance(made, list) else [made]), *last]
        return made

    def _merged(self, y: Tensor, back: Tensor) -> Nest:
        if self.merge_mode == "concat":
            return concat([y, back], -1)
        if self.merge_mode == "sum":
            return y + back
        if self.merge_mode == "ave":
            return (y + back) / 2
        return y * back if self.merge_mode == "mul" else [y, back]

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Nest:
        """The mask of the inputs where all outputs are returned."""
        own = mask[0] if isinstance(mask, list | tuple) else mask
        made: Nest = own if self.return_sequences else None
        return [made, made] if self.merge_mode is None else made

    def get_config(self) -> Config:
        """How outputs are put together too."""
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._own_backward:
            config["backward_layer"] = layer_config(self.backward_layer)
        return config

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> KerasObject:
        """A wrapper of its config.

        Args:
            custom_objects: classes of layers by the names that the config has for them.
        """
        given = dict(config)
        if given.get("backward_layer") is not None:
            given["backward_layer"] = deserialize_keras_object(given["backward_layer"], _KNOWN, custom_objects, "layer")
        return super().from_config(given, custom_objects)
