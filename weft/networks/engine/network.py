"""Network: layers put together, either by their calls on Inputs or by a `call` of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed, told_size
from weft.networks.config import Config, Options
from weft.networks.engine import layer_state, summaries
from weft.networks.engine.calls import history, operations
from weft.networks.engine.layer import Layer, record_operations
from weft.networks.engine.network_config import network_config
from weft.networks.engine.topology import Topology, located, topology_of
from weft.networks.objects.arguments import config_of
from weft.platform.hints.spelling import did_you_mean


def _check_tensors(name: str, given: Sequence[Nest]) -> None:
    for each in given:
        if not hasattr(each, "graph"):
            meant = f"a layer, which is called on a tensor: {each.name}(x)" if isinstance(each, Layer) else repr(each)
            raise TypeError(f"The {name} of a Model must be tensors that come from tf.keras.Input, not {meant}.")


class Network(Layer):
    """Layers put together.

    `Network(inputs, outputs)` is what leads from Inputs to outputs. A subclass makes layers in `__init__`, as attributes, and
    uses them in `call`.
    """

    topology: Topology | None = None

    __repr__ = printed("tf.keras", lambda network: f"{len(network.layers)} layers, {told_size(network)}")
    _repr_html_ = summaries.table_of

    def _check_begun(self) -> None:
        raise RuntimeError(
            "It looks like you are subclassing `Model` and you forgot to call `super(YourClass, self).__init__()`. "
            "Always start with this line."
        )

    def __init__(self, *args: Options, **kwargs: Options) -> None:
        given = dict(zip(("inputs", "outputs", "name"), args, strict=False))
        given.update(kwargs)
        name, inputs, outputs = given.pop("name", None), given.pop("inputs", None), given.pop("outputs", None)
        trainable = given.pop("trainable", None)
        super().__init__(name=name, **given)
        self.input_structure: Nest = None
        self.output_structure: Nest = None
        self.inputs: list[Nest] | None = None
        self.outputs: list[Nest] | None = None
        self.input_names: list[str] | None = None
        self.output_names: list[str] | None = None
        if outputs is not None:
            self.connect(inputs, outputs)
        if trainable is not None:
            self.trainable = trainable

    @property
    def is_graph_network(self) -> bool:
        """Whether it was made of inputs and outputs."""
        return self.topology is not None

    def connect(self, inputs: Nest, outputs: Nest) -> None:
        """Take what leads from the inputs to the outputs as the network.

        Args:
            inputs: what `tf.keras.Input` gave, nested as the model is to take it.
            outputs: tensors that layers made of them, nested as the model is to give them.

        Raises:
            ValueError: an input is named twice, something is no tensor of Keras, or an output depends on other inputs.
        """
        inputs, outputs = _unpacked(inputs), _unpacked(outputs)
        flat_inputs, flat_outputs = nest.flatten(inputs), nest.flatten(outputs)
        for name, given in (("inputs", flat_inputs), ("outputs", flat_outputs)):
            _check_tensors(name, given)
        if len({history.key_of(each) for each in flat_inputs}) != len(flat_inputs):
            raise ValueError(
                f"The list of inputs passed to the model is redundant. All inputs should only appear once. Found: {inputs}"
            )
        if history.leads_to_input(flat_outputs):
            record_operations(flat_outputs)
        self.topology = topology_of(flat_inputs, flat_outputs)
        self.input_structure, self.output_structure = inputs, outputs
        self.inputs, self.outputs = flat_inputs, flat_outputs
        self.input_names = [located(each).layer.name for each in flat_inputs]
        self.output_names = _distinct_names([located(each).layer.name for each in flat_outputs])
        self.built = True
        self.call_record.inbound = []
        self.call_record.add(self, inputs, outputs, {}, has_made=False)

    # The layers.

    @property
    def layers(self) -> list[Nest]:
        """The layers, in the order of their weights."""
        return list(self.topology.layers) if self.topology is not None else self._inner_layers()

    def _inner_layers(self) -> list[Nest]:
        if self.topology is None:
            return super()._inner_layers()
        extra = [each for each in super()._inner_layers() if each not in self.topology.layers]
        return [*self.topology.layers, *extra]

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """The layers by their numbers, if they are in an order, and what attributes hold."""
        return [*_numbered(self._ordered_layers()), *super().checkpoint_dependencies()]

    def _ordered_layers(self) -> list[Nest]:
        return list(self.topology.layers) if self.topology is not None else []

    @property
    def weights(self) -> list[VariableLike]:
        """All variables, layer by layer."""
        _check_built(self, self._inner_layers())
        own = [*self._held_variables(True), *self._held_variables(False)]
        return layer_state.distinct([*(each for layer in self._inner_layers() for each in layer.weights), *own])

    def own_additions(self) -> tuple[list[Tensor], list[Nest]]:
        """The tensors that `add_loss` and `add_metric` of the network itself were given."""
        return [each for each in self._added_losses if not callable(each)], list(self._added_metrics)

    def get_layer(self, name: str | None = None, index: int | None = None) -> Nest:
        """The layer of a name, or at an index; ValueError when there is none.

        Args:
            index: its place in `layers`, which counts when both are given.
        """
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(f"Was asked to retrieve layer at index {index} but model only has {len(self.layers)} layers.")
            return self.layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        found = next((each for each in self.layers if each.name == name), None)
        if found is None:
            known = [each.name for each in self.layers]
            raise ValueError(f"No such layer: {name}.{did_you_mean(name, known) or f' The layers are {known}.'}")
        return found

    @property
    def stateful(self) -> bool:
        """Whether a layer keeps its state from batch to batch."""
        return any(getattr(each, "stateful", False) for each in self._inner_layers())

    @stateful.setter
    def stateful(self, value: bool) -> None:
        """Do nothing: the layers tell it."""

    def reset_states(self) -> None:
        """Forget the states that recurrent layers keep."""
        for layer in self.layers:
            if getattr(layer, "stateful", False) and hasattr(layer, "reset_states"):
                layer.reset_states()

    @property
    def state_updates(self) -> list[Nest]:
        """The updates of layers that keep their state from batch to batch."""
        return [each for layer in self.layers if getattr(layer, "stateful", False) for each in layer.updates]

    # The call.

    def build(self, input_shape: Nest) -> None:
        """Make the variables, by a call on placeholders of this shape or, for several inputs, of these shapes."""
        if self.built or type(self).call is Network.call:
            self.built = True
            return
        structure = input_shape if isinstance(input_shape, list) and not _is_shape(input_shape) else None
        if structure is None:
            inputs: Nest = operations.placeholder_of(input_shape)
        else:
            inputs = [operations.placeholder_of(each) for each in structure]
        self.call(inputs, **({"training": False} if self.takes("training") else {}))
        self.built = True

    def _build_once(self, inputs: Nest) -> None:
        # A model of one's own makes its layers' variables in `call`; its `build` is there for being called by hand.
        if not self.built and (not self._has_own_build() or get_default_graph().runs_eagerly):
            self.built = True
        super()._build_once(inputs)

    def _has_own_build(self) -> bool:
        """Whether a program's class makes variables in a `build` of its own, which the first call calls."""
        return type(self).build is not Network.build

    def call(self, inputs: Nest, training: TensorLike | None = None, mask: Nest = None) -> Nest:
        """The outputs for other inputs: the layers are called anew, in order.

        Args:
            training: whether layers such as dropout act as in training; each layer's default when None.
            mask: which steps of each input count, None for all.
        """
        if self.topology is None:
            raise NotImplementedError("When subclassing the `Model` class, you should implement a `call` method.")
        return self.topology.replayed(
            dict(zip(map(history.key_of, self.inputs or ()), _ordered(self, inputs), strict=True)),
            _masks(mask, len(self.inputs or ())), self.output_structure,
        )  # fmt: skip

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Nest:
        """None: the layers have given the outputs their masks."""
        return None

    # Descriptions.

    def get_config(self) -> Config:
        """The layers and their connections, as plain data; NotImplementedError for a network with a `call` of its own."""
        if self.topology is None:
            kept = getattr(self, "kept_arguments", None)
            if kept is None:
                raise NotImplementedError
            return {"name": self.name, **config_of(kept)}
        return network_config(self)

    def summary(
        self,
        line_length: int | None = None,
        positions: Sequence[float] | None = None,
        print_fn: Callable[[str], object] | None = None,
    ) -> None:
        """Print the layers, their outputs' shapes and the numbers of their parameters.

        Args:
            line_length: the width of the table.
            positions: where the columns end, as parts of the width or in characters.
            print_fn: takes a line; `print` when None.

        Raises:
            ValueError: the network has not been built.
        """
        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or calling `fit()` with some "
                "data, or specify an `input_shape` argument in the first layer(s) for automatic build."
            )
        summaries.print_summary(self, line_length, positions, print_fn or print)


def _check_built(network: Network, layers: Sequence[Nest]) -> None:
    if not network.is_graph_network and not network.built and not layers:
        return
    if not network.is_graph_network and not network.built and type(network).__name__ in ("Sequential", "Model"):
        raise ValueError(
            f"Weights for model {network.name} have not yet been created. Weights are created when the Model is first called "
            "on inputs or `build()` is called with an `input_shape`."
        )


def _ordered(network: Network, inputs: Nest) -> list[Nest]:
    if isinstance(inputs, Mapping) and not isinstance(network.input_structure, Mapping):
        return [inputs[name] for name in network.input_names or ()]
    flat: list[Nest] = nest.flatten(inputs)
    if len(flat) != len(network.inputs or ()):
        raise ValueError(
            f"Model {network.name} expects {len(network.inputs or ())} inputs, but it received {len(flat)}: {inputs}"
        )
    return flat


def _numbered(layers: Sequence[Nest]) -> list[tuple[str, object]]:
    """The names of layers in checkpoints: those with weights have two, so that others may come between them."""
    named: list[tuple[str, object]] = []
    with_weights = 0
    for index, layer in enumerate(layers):
        if layer.weights:
            named.append((f"layer_with_weights-{with_weights}", layer))
            with_weights += 1
        named.append((f"layer-{index}", layer))
    return named


def _unpacked(value: Nest) -> Nest:
    return value[0] if isinstance(value, list) and len(nest.flatten(value)) == 1 else value


def _distinct_names(names: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    made = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        made.append(f"{name}_{count}" if count else name)
    return made


def _masks(mask: Nest, count: int) -> list[Nest]:
    return [None] * count if mask is None else list(mask) if isinstance(mask, list | tuple) else [mask]


def _is_shape(value: Sequence[Nest]) -> bool:
    return all(each is None or isinstance(each, int) for each in value)
