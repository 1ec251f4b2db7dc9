"""LinearModel and WideDeepModel: a linear model, and one beside a deep one."""

from __future__ import annotations

from collections.abc import Mapping

from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.config import Config, GivenConfig, KerasObject, Options
from weft.networks.layers.catalog import deserialize, register
from weft.networks.layers.core import Dense
from weft.networks.models.model import Model
from weft.networks.objects import activations, initializers, regularizers
from weft.networks.objects.registry import serialize_keras_object
from weft.networks.optimizers import catalog as optimizers
from weft.networks.optimizers.parts import OptimizersOfParts
from weft.ops.nn.bias import bias_add


class LinearModel(Model):
    """A weighted sum of the inputs: `[batch, size] -> [batch, units]`; of several inputs the sum of their weighted sums.

    Args:
        units: the size of the outputs.
        activation: a function of the sums, or its name.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: make the weights of each input, and the bias.
        kernel_regularizer, bias_regularizer: penalties on them.
        kwargs: `name` and others of Model.
    """

    def __init__(
        self, units: int = 1, activation: Nest = None, use_bias: bool = True, kernel_initializer: Nest = "glorot_uniform",
        bias_initializer: Nest = "zeros", kernel_regularizer: Nest = None, bias_regularizer: Nest = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(**kwargs)
        self.units, self.use_bias, self.activation = units, use_bias, activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.dense_layers: list[Dense] = []
        self.bias: VariableLike = None

    def build(self, input_shape: Nest) -> None:
        """Make the weights of each input, and the bias.

        Args:
            input_shape: the shape of the input, or a list of them.
        """
        several = isinstance(input_shape, list | tuple) and bool(input_shape) and not _is_size(input_shape[0])
        layers = []
        for shape in input_shape if several else [input_shape]:
            layer = Dense(
                self.units, use_bias=False, kernel_initializer=self.kernel_initializer,
                kernel_regularizer=self.kernel_regularizer, input_shape=TensorShape(shape).as_list()[1:],
            )  # fmt: skip
            with get_default_graph().name_scope(layer.name):
                layer.build(TensorShape(shape))
            layer.built = True
            layers.append(layer)
        self.dense_layers = layers
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", (self.units,), initializer=self.bias_initializer, regularizer=self.bias_regularizer, trainable=True
            )
        self.built = True

    def call(self, inputs: Nest, training: TensorLike | None = None, mask: Nest = None) -> Nest:
        """The sums, after the activation.

        Args:
            inputs: a tensor, or a list of them.
            training, mask: make no difference.

        Raises:
            ValueError: the number of inputs is not that of the first call.
        """
        given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        if len(given) != len(self.dense_layers):
            raise ValueError(f"{self.name} was built for {len(self.dense_layers)} inputs, but it received {len(given)}")
        total: Nest = None
        for layer, each in zip(self.dense_layers, given, strict=True):
            made = layer(each)
            total = made if total is None else total + made
        if self.use_bias:
            total = bias_add(total, self.bias)
        return total if self.activation is None else self.activation(total)

    def get_config(self) -> Config:
        """The arguments, as plain data."""
        return {
            "name": self.name, "trainable": self.trainable, "dtype": self.dtype, "units": self.units,
            "activation": activations.serialize(self.activation), "use_bias": self.use_bias,
            **{
                name: serialize_keras_object(getattr(self, name))
                for name in ("kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer")
            },
        }  # fmt: skip

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> Nest:
        """A model of its config.

        Args:
            config: what `get_config` gave.
            custom_objects: not needed.
        """
        return cls(**config)


class WideDeepModel(Model):
    """The mean of a linear and of a deep model, which a task trains together.

    Two inputs are the linear model's and the deep one's; a single one is that of both. `compile` takes an optimizer for all
    weights, or a list of two: that of the linear model and that of the deep one.

    Args:
        linear_model: the linear model, a LinearModel as a rule.
        dnn_model: the deep one.
        activation: a function of the mean, or its name.
        kwargs: `name` and others of Model.
    """

    def __init__(self, linear_model: KerasObject, dnn_model: KerasObject, activation: Nest = None, **kwargs: Options) -> None:
        super().__init__(**kwargs)
        self.linear_model, self.dnn_model, self.activation = linear_model, dnn_model, activations.get(activation)

    def compile(self, optimizer: Nest = "rmsprop", *args: Options, **kwargs: Options) -> None:
        """Say how the model is trained; see `tf.keras.Model.compile`.

        Args:
            optimizer: one for all weights, or a list: the linear model's and the deep model's.
            args, kwargs: as of `tf.keras.Model.compile`.
        """
        if isinstance(optimizer, list | tuple):
            made = [optimizers.get(each) for each in optimizer]
            optimizer = OptimizersOfParts(made, (self.linear_model, self.dnn_model))
        super().compile(optimizer, *args, **kwargs)

    def call(self, inputs: Nest, training: TensorLike | None = None, mask: Nest = None) -> Nest:
        """The mean of both models' outputs, after the activation.

        Args:
            inputs: a tensor for both, or a pair: the linear model's inputs and the deep one's.
            training: the phase, for those models that ask for it.
            mask: makes no difference.
        """
        of_linear = of_deep = inputs
        if isinstance(inputs, list | tuple):
            of_linear, of_deep = inputs if len(inputs) > 1 else (inputs[0], inputs[0])
        wide, deep = self._part(self.linear_model, of_linear, training), self._part(self.dnn_model, of_deep, training)
        return nest.map_structure(self._together, wide, deep)

    def _part(self, model: KerasObject, inputs: Nest, training: TensorLike | None) -> Nest:
        return model(inputs, training=training) if model.takes("training") else model(inputs)

    def _together(self, wide: Tensor, deep: Tensor) -> Tensor:
        mean = (wide + deep) * 0.5
        made: Tensor = mean if self.activation is None else self.activation(mean)
        return made

    def get_config(self) -> Config:
        """Both models and the activation, as plain data."""
        return {
            "name": self.name, "trainable": self.trainable, "dtype": self.dtype,
            "linear_model": serialize_keras_object(self.linear_model), "dnn_model": serialize_keras_object(self.dnn_model),
            "activation": activations.serialize(self.activation),
        }  # fmt: skip

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> Nest:
        """A model of its config.

        Args:
            config: what `get_config` gave.
            custom_objects: further classes and functions by name.
        """
        parts = {name: deserialize(config[name], custom_objects) for name in ("linear_model", "dnn_model")}
        return cls(**{**config, **parts})


def _is_size(value: object) -> bool:
    return value is None or isinstance(value, int) or hasattr(value, "value")


register("LinearModel", LinearModel)
register("WideDeepModel", WideDeepModel)
