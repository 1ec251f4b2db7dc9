"""Layer: a function of tensors that makes its variables at its first call, and remembers each call that leads to an Input."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

import numpy as np

from weft.framework.building.aliases import DTypeLike, Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation
from weft.framework.types.printed import printed, told_size
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.input_spec import check_inputs
from weft.models.layers.layer import Layer as GraphLayer
from weft.networks.config import Config, GivenConfig, Options
from weft.networks.engine.calls import history, operations
from weft.networks.engine.calls.context import calling
from weft.networks.engine.calls.invocation import Invocation
from weft.networks.engine.calls.record import CallRecord, SharedByCalls, masks_of, single, tuples_of
from weft.networks.engine.layer_state import LayerState
from weft.networks.objects import regularizers
from weft.networks.objects.arguments import config_of
from weft.networks.objects.policy import Policy, type_of_layer
from weft.platform.hints.spelling import did_you_mean
from weft.translation.calls import call

_OPTIONS: Final = frozenset(
    ("input_shape", "batch_input_shape", "batch_size", "weights", "activity_regularizer", "autocast", "input_dim",
     "experimental_autocast")
)  # fmt: skip


class Layer(LayerState):
    """A function of tensors with variables of its own.

    Subclasses make variables in `build(input_shape)` with `add_weight`, and compute in `call(inputs)`, which may ask for
    `training` and `mask` too.

    Args:
        trainable: whether its variables are trained.
        name: its name; the class's name in snake case with a number when None.
        dtype: the type of its variables, or a policy of types; that of the first inputs when None.
        dynamic: refused when true: weft builds graphs.
        kwargs: `input_shape` without the batch or `batch_input_shape` for the first layer of a Sequential, `batch_size`,
            `weights` to begin with, `activity_regularizer`.

    Raises:
        TypeError: unknown arguments.
        ValueError: `dynamic` is true.
    """

    call_record: CallRecord

    __repr__ = printed("tf.keras.layers", told_size)
    _first_has_no_number = True

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: DTypeLike | Policy | None = None, dynamic: bool = False,
        **kwargs: Options,
    ) -> None:  # fmt: skip
        for unknown in kwargs.keys() - _OPTIONS:
            taken = [each for each in inspect.signature(type(self)).parameters if each not in ("args", "kwargs")] + sorted(
                _OPTIONS
            )
            raise TypeError(
                f"Keyword argument not understood: {unknown!r}. {type(self).__name__} takes {', '.join(dict.fromkeys(taken))}."
                f"{did_you_mean(unknown, taken)}"
            )
        if dynamic:
            raise ValueError(
                "dynamic=True asks for eager execution, which weft does not have: write `call` with graph operations"
            )
        if isinstance(dtype, Policy):
            dtype = type_of_layer(dtype)
        self._start()
        self.call_record = CallRecord()
        GraphLayer.__init__(self, trainable, name, dtype, regularizers.get(kwargs.get("activity_regularizer")))
        self.stateful = False
        self.supports_masking = getattr(type(self), "supports_masking", False)
        self.input_spec: Nest = None
        self._initial_weights = kwargs.get("weights")
        self._call_parameters = _parameters(self.call)
        self.batch_input_shape = _batch_input_shape(kwargs)

    # What subclasses write.

    def compute_mask(self, inputs: Nest, mask: Nest = None) -> Nest:
        """The mask of the outputs: that of the inputs where the layer supports masks; TypeError if it gets one otherwise.

        Args:
            inputs: as of `call`.
            mask: the inputs' mask, or a list of them.
        """
        if self.supports_masking:
            return mask
        if any(each is not None for each in nest.flatten(mask)):
            raise TypeError(f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}")
        return None

    def compute_output_shape(self, input_shape: Nest) -> Nest:
        """The shape of the outputs for a shape of inputs, found by calling the layer in a graph of its own."""
        with get_default_graph().as_default():
            inputs = nest.map_structure(operations.placeholder_of, _shapes(input_shape))
            outputs = self(inputs, **({"training": False} if self.takes("training") else {}))
        return nest.map_structure(lambda each: each.shape, outputs)

    def get_config(self) -> Config:
        """The arguments that make an equal layer as it is now, as plain data."""
        config: Config = {"name": self.name, "trainable": self.trainable}
        if self.batch_input_shape is not None:
            config["batch_input_shape"] = tuple(self.batch_input_shape)
        config["dtype"] = self.dtype
        kept = getattr(self, "kept_arguments", None)
        if kept is None:
            known = {"self", "name", "trainable", "dtype", "dynamic"}
            signature = inspect.signature(type(self).__init__).parameters.values()
            further = [each for each in signature if each.name not in known and each.kind is each.POSITIONAL_OR_KEYWORD]
            if further and type(self).get_config is Layer.get_config:
                raise NotImplementedError("Layers with arguments in `__init__` must override `get_config`.")
            return config
        # As the layer has them now: sizes for each axis, and what the program has set since.
        return {**config, **config_of({name: getattr(self, name) for name in kept if name not in config})}

    @classmethod
    def from_config(cls, config: GivenConfig) -> Self:
        """A layer of its config.

        Args:
            config: what `get_config` gave.
        """
        return cls(**config)

    # The call.

    def __call__(self, inputs: Nest, *args: Options, **kwargs: Options) -> Nest:
        """The outputs for these inputs; the first call makes the variables."""
        inputs = nest.map_structure(_as_tensor, inputs)
        flat = nest.flatten(inputs)
        if "_call_parameters" not in self.__dict__:
            kind = type(self).__name__
            raise AttributeError(
                f"{kind!r} object has no attribute '_call_parameters': {kind}.__init__ does not call super().__init__(), which "
                "makes it a layer. It comes first there, before attributes are set."
            )
        invocation = Invocation(self, self._call_parameters, inputs, args, kwargs)
        if history.leads_to_input(flat):
            record_operations(flat)
        with calling(self, invocation.training), get_default_graph().name_scope(self._name):
            check_inputs(self.input_spec, inputs, self.name)
            self._build_once(inputs)
            outputs = call(self.call, (inputs, *args), invocation.arguments)
            if outputs is None:
                raise ValueError(
                    f"A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: {self.name})."
                )
            return invocation.finish(outputs)

    apply = __call__

    def takes(self, name: str) -> bool:
        """Whether `call` has an argument of this name."""
        return name in self._call_parameters or "**" in self._call_parameters

    def _build_once(self, inputs: Nest) -> None:
        if not self.built:
            first = nest.flatten(inputs)[0] if nest.flatten(inputs) else None
            if self._dtype is None and first is not None:
                self._dtype = first.dtype.base_dtype
            self.build(nest.map_structure(lambda each: each.shape, inputs))
            self.built = True
        if self._initial_weights is not None:
            weights, self._initial_weights = self._initial_weights, None
            self.set_weights(weights)

    @property
    def inbound_nodes(self) -> list[history.Node]:
        """The calls of the layer."""
        return self.call_record.inbound

    @property
    def outbound_nodes(self) -> list[history.Node]:
        """The calls of other layers on what this one made."""
        return self.call_record.outbound

    def add_node(self, inputs: Nest, outputs: Nest, arguments: Mapping[str, object]) -> history.Node:
        """Note a call of the layer, and at its outputs that it made them.

        Args:
            inputs: the tensors that the layer was called on, nested as they were.
            outputs: what the call gave.
            arguments: the call's other arguments by name.

        Returns:
            The Node, which is in the records of the layers whose outputs went in.
        """
        return self.call_record.add(self, inputs, outputs, arguments)

    # Names and properties.

    @property
    def trainable(self) -> bool:
        """Whether its variables are trained; setting it sets that of the layers in it."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for layer in self._inner_layers():
            layer.trainable = value

    @property
    def dynamic(self) -> bool:
        """Whether it needs eager execution: never."""
        return False

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The layers in it, and those in these."""
        inner = self._inner_layers()
        return tuple(dict.fromkeys([*inner, *(each for layer in inner for each in getattr(layer, "submodules", ()))]))

    input = SharedByCalls(
        "input",
        lambda node: single(node.input_tensors),
        "The input of the only call; AttributeError unless there is one.",
    )
    output = SharedByCalls(
        "output",
        lambda node: single(node.output_tensors),
        "The output of the only call; AttributeError unless there is one.",
    )
    input_mask = SharedByCalls(
        "input_mask",
        lambda node: masks_of(node.input_tensors),
        "The mask of the first call's input, or a list of masks; None where there is none. AttributeError before a call.",
    )
    output_mask = SharedByCalls(
        "output_mask",
        lambda node: masks_of(node.output_tensors),
        "The mask of the first call's output, or a list of masks; None where there is none. AttributeError before a call.",
    )
    input_shape = SharedByCalls(
        "input_shape", lambda node: tuples_of(node.input_tensors), "The shape of the inputs of all calls, as tuples."
    )
    output_shape = SharedByCalls(
        "output_shape", lambda node: tuples_of(node.output_tensors), "The shape of the outputs of all calls, as tuples."
    )

    def get_input_at(self, node_index: int) -> Nest:
        """The input of a call, by its number."""
        return single(self.call_record.at(node_index, "input").input_tensors)

    def get_output_at(self, node_index: int) -> Nest:
        """The output of a call, by its number."""
        return single(self.call_record.at(node_index, "output").output_tensors)

    def get_input_shape_at(self, node_index: int) -> Nest:
        """The shape of the input of a call, by its number.

        Args:
            node_index: 0 for the first call.

        Raises:
            ValueError: the layer has not been called so often.
        """
        return tuples_of(self.call_record.at(node_index, "input shape").input_tensors)

    def get_output_shape_at(self, node_index: int) -> Nest:
        """The shape of the output of a call, by its number.

        Args:
            node_index: 0 for the first call.

        Raises:
            ValueError: the layer has not been called so often.
        """
        return tuples_of(self.call_record.at(node_index, "output shape").output_tensors)

    def get_updates_for(self, inputs: Nest) -> list[Nest]:
        """The updates that depend on these inputs; for None those that depend on none."""
        return operations.depending(self.updates, inputs)

    def get_losses_for(self, inputs: Nest) -> list[Nest]:
        """The losses that depend on these inputs; for None those that depend on none."""
        return operations.depending(self.losses, inputs)


def _as_tensor(value: Nest) -> Nest:
    return convert_to_tensor(value) if isinstance(value, np.ndarray | float | int) else value


def _shapes(input_shape: Nest) -> Nest:
    if isinstance(input_shape, list) and input_shape and isinstance(input_shape[0], list | tuple | TensorShape):
        return [TensorShape(each) for each in input_shape]
    return TensorShape(input_shape)


def _parameters(function: Nest) -> list[str]:
    """The names of the arguments of `call`, with "**" for any."""
    kinds = inspect.signature(function).parameters.values()
    return ["**" if each.kind is each.VAR_KEYWORD else each.name for each in kinds]


def _batch_input_shape(options: GivenConfig) -> tuple[int | None, ...] | None:
    if "batch_input_shape" in options:
        return tuple(options["batch_input_shape"])
    given = options.get("input_shape", (options["input_dim"],) if options.get("input_dim") else None)
    if given is None:
        return None
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{type(given).__name__!r} object is not iterable: input_shape is {given!r}, and is the sizes of one sample in a "
            f"tuple, such as input_shape=({given!r},), or input_dim={given!r}"
        )
    sizes = tuple(given)
    return (options.get("batch_size"), *sizes)


class OperationLayer(Layer):
    """An operation between layers as a layer of a model: called on other tensors, it adds a node like it."""

    def __init__(self, operation: Operation) -> None:
        super().__init__(name=f"tf_op_layer_{operation.name}")
        self._operation = operation
        # Inputs that depend on no layer are the graph's own: constants, variables.
        self._fixed = {index: each for index, each in enumerate(operation.inputs) if history.history_of(each) is None}
        self.built = True

    def call(self, inputs: Nest) -> Nest:
        """A node like the operation, with other inputs."""
        given = iter(nest.flatten(inputs))
        own = self._operation
        wired = [self._fixed[index] if index in self._fixed else next(given) for index in range(len(own.inputs))]
        made = own.graph.create_op(
            own.type, wired, [each.dtype for each in own.outputs], name=own.name.rpartition("/")[2],
            attrs=dict(own.node_def.attr),
        )  # fmt: skip
        return made.outputs[0] if len(made.outputs) == 1 else list(made.outputs)

    def get_config(self) -> Config:
        """Refuse: an operation is a part of its graph."""
        raise NotImplementedError(
            f"{self.name}: an operation between layers has no config. Put it into a Lambda layer, or into the `call` of a "
            "layer of your own, to save or clone the model."
        )


def record_operations(tensors: Sequence[Nest]) -> None:
    """Make layers of the operations between tensors and the layers before them."""
    for operation in operations.operations_between(tensors):
        layer = OperationLayer(operation)
        inputs = [each for each in operation.inputs if history.history_of(each) is not None]
        outputs = list(operation.outputs)
        layer.add_node(inputs[0] if len(inputs) == 1 else inputs, outputs[0] if len(outputs) == 1 else outputs, {})
