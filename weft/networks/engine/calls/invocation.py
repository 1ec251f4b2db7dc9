"""Invocation: one call of a layer under way, with the masks and the phase that come to it from its inputs and from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import Nest, Regularizer, TensorLike
from weft.framework.building.tensor_conversion import is_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.networks.config import Config, GivenConfig, KerasObject
from weft.networks.engine.calls import history
from weft.networks.engine.calls.context import current_call
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.math.casting import cast


class Invocation:
    """One call.

    Args:
        layer: the layer that is called.
        parameters: the names of the parameters of its `call`.
        inputs: the first argument, as tensors.
        args, kwargs: the further ones.

    Attributes:
        masks: those of the inputs, None where no input has one.
        training: the phase; None when nobody said.
        arguments: what `call` gets by name.
    """

    def __init__(
        self, layer: KerasObject, parameters: Sequence[str], inputs: Nest, args: Sequence[Nest], kwargs: GivenConfig
    ) -> None:
        self._layer, self._parameters, self._inputs = layer, parameters, inputs
        self._args, self._kwargs = args, kwargs
        self.arguments: Config = dict(kwargs)
        self.masks = self._masks()
        if self.masks is not None and layer.takes("mask") and not self._was_passed("mask"):
            self.arguments["mask"] = self.masks
        self.training = self._phase()

    def finish(self, outputs: Nest) -> Nest:
        """The outputs as the layer gives them: noted in the record of calls, with penalty and masks."""
        outputs = self._remember(outputs)
        self._penalize(outputs)
        self._set_masks(outputs)
        return outputs

    def _was_passed(self, name: str) -> bool:
        return name in self._kwargs or name in self._parameters[1 : len(self._args) + 1]

    def _masks(self) -> Nest:
        if self._was_passed("mask"):
            return self._kwargs["mask"] if "mask" in self._kwargs else self._args[self._parameters.index("mask") - 1]
        flat = [history.mask_of(each) for each in nest.flatten(self._inputs)]
        return None if all(each is None for each in flat) else nest.pack_sequence_as(self._inputs, flat)

    def _phase(self) -> TensorLike | None:
        """The phase that the call was told, or that of the call around it; passed on where `call` asks for it."""
        given, takes = self.arguments, self._layer.takes("training")
        if self._was_passed("training"):
            if "training" in given:
                told: TensorLike | None = given["training"] if takes else given.pop("training")
                return told
            found: TensorLike | None = self._args[self._parameters.index("training") - 1]
            return found
        outer = current_call()
        training = None if outer is None else outer.training
        if training is not None and takes:
            given["training"] = cast(training, dtypes.bool) if is_tensor(training) else bool(training)
        return training

    def _penalize(self, outputs: Nest) -> None:
        regularizer: Regularizer | None = self._layer.activity_regularizer
        if regularizer is None:
            return
        with get_default_graph().name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                penalty: Any = regularizer(output)
                self._layer.add_loss(penalty / cast(shape_of(output)[0], penalty.dtype), inputs=True)

    def _set_masks(self, outputs: Nest) -> None:
        flat = [each for each in nest.flatten(outputs) if history.is_tensor(each)]
        if flat and all(history.mask_of(each) is not None for each in flat):
            return
        found = self._layer.compute_mask(self._inputs, self.masks)
        if found is None:
            return
        given = nest.flatten(found) if isinstance(outputs, list | tuple) else [found]
        for output, mask in zip(nest.flatten(outputs), given, strict=False):
            history.set_mask(output, mask)

    def _remember(self, outputs: Nest) -> Nest:
        """Note the call, if the inputs came from layers; outputs that are inputs are made tensors of their own first."""
        flat = nest.flatten(self._inputs)
        if not flat or not history.have_histories(flat):
            return outputs
        own = {history.key_of(each) for each in flat}
        outputs = nest.map_structure(
            lambda each: self._copy(each) if isinstance(each, Tensor) and each.name in own else each, outputs
        )
        named = dict(zip(self._parameters[1:], self._args, strict=False))
        self._layer.add_node(self._inputs, outputs, {**named, **self._kwargs})
        return outputs

    def _copy(self, output: Tensor) -> Tensor:
        with get_default_graph().name_scope(self._layer.name):
            copy: Tensor = identity(output)
            return copy
