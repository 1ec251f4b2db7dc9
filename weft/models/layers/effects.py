"""Effects: what a layer adds to the graph beside its outputs, updates of variables and losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from weft.framework import nest
from weft.framework.aliases import Nest
from weft.framework.collections import GraphKeys
from weft.framework.graph import get_default_graph
from weft.framework.operation import Operation, Tensor
from weft.framework.reachable import get_reachable_from_inputs
from weft.models.layers.call_record import CallRecord

_Node = TypeVar("_Node", Operation, Tensor)


class Effects(CallRecord):
    """Keeps a layer's updates and losses, which are in the graph's collections, too; its calls tell the inputs."""

    def __init__(self) -> None:
        super().__init__()
        self._updates: list[Operation] = []
        self._losses: list[Tensor] = []
        self._penalties: list[Tensor] = []

    def add_update(self, updates: Nest, inputs: Nest = None) -> None:
        """Add operations that training must run to the collection UPDATE_OPS.

        Args:
            updates: such as the assignment of a moving average; one or a list of them.
            inputs: has no effect: whether an update depends on the inputs is read off the graph.

        Raises:
            ValueError: one is no operation, tensor or variable.
        """
        for each in updates if isinstance(updates, list | tuple) else [updates]:
            if not isinstance(each, Operation) and not hasattr(each, "op"):
                raise ValueError(
                    f"add_update of {type(self).__name__} takes operations, and tensors or variables for theirs, not {each!r}. "
                    "Leave out what is no update."
                )
            update = each if isinstance(each, Operation) else each.op
            self._updates.append(update)
            get_default_graph().add_to_collection(GraphKeys.UPDATE_OPS, update)

    def add_loss(self, losses: Nest, inputs: Nest = None) -> None:
        """Add regularization losses.

        Args:
            losses: a scalar or a list of them; None is left out.
            inputs: has no effect: whether a loss depends on the inputs is read off the graph.
        """
        for loss in losses if isinstance(losses, list | tuple) else [losses]:
            if loss is None:
                continue
            self._losses.append(loss)
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def note_penalty(self, loss: Tensor) -> None:
        """Take note of the loss of a variable's regularizer, which is in the collection already.

        Args:
            loss: a scalar.
        """
        self._penalties.append(loss)

    @property
    def updates(self) -> list[Operation]:
        """The operations that training must run."""
        return list(self._updates)

    @property
    def losses(self) -> list[Tensor]:
        """The losses of the regularizers of variables and of outputs, and those that `add_loss` was given."""
        return [*self._losses, *self._penalties]

    def get_updates_for(self, inputs: Nest) -> list[Operation]:
        """The updates that depend on these inputs.

        Args:
            inputs: tensors; with None those updates that depend on no inputs of the layer.
        """
        return _that_depend(self._updates, inputs, self._all_inputs())

    def get_losses_for(self, inputs: Nest) -> list[Tensor]:
        """The losses that depend on these inputs.

        Args:
            inputs: tensors; with None those losses that depend on no inputs of the layer.
        """
        return _that_depend(self.losses, inputs, self._all_inputs())


def _that_depend(nodes: Sequence[_Node], inputs: Nest, all_inputs: Sequence[Tensor]) -> list[_Node]:
    if inputs is None:
        reached = get_reachable_from_inputs(all_inputs, nodes)
        return [each for each in nodes if each not in reached]
    reached = get_reachable_from_inputs(nest.flatten(inputs), nodes)
    return [each for each in nodes if each in reached]
