"""Effects: what a layer adds to the graph beside its outputs, updates of variables and losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar, cast

from weft.framework.building.aliases import Nest, Regularizer, TensorLike, VariableLike
from weft.framework.building.reachable import get_reachable_from_inputs
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.models.layers.call_record import CallRecord
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.variables.partitioned_variable import PartitionedVariable
from weft.ops.variables.scopes import VariableScope
from weft.ops.variables.variable_store import penalty_of

_Node = TypeVar("_Node", Operation, Tensor)
# No string, so that neither the graph's keys nor a MetaGraph show it.
_VARIABLES: Final = cast("str", ("variables of layers",))


def variables_of_layers(graph: Graph) -> list[VariableLike]:
    """The variables that layers and cells have made in a graph.

    Args:
        graph: the graph.
    """
    return list(graph.get_collection_ref(_VARIABLES))


class Effects(CallRecord):
    """Keeps a layer's updates and losses, which are in the graph's collections, too; its calls tell the inputs."""

    # Whether its variables are resource variables whatever the scope says; what holds it sets it, before the first call.
    makes_resource_variables = False

    def __init__(self) -> None:
        super().__init__()
        self._updates: list[Operation] = []
        self._losses: list[Tensor] = []
        self._penalties: list[Tensor] = []
        # Layers and wrappers of programs' own add to these, and read them.
        self._trainable_weights: list[VariableLike] = []
        self._non_trainable_weights: list[VariableLike] = []

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
            losses: a scalar or a list of them, or functions that make them; None is left out.
            inputs: has no effect: whether a loss depends on the inputs is read off the graph.

        Raises:
            TypeError: one is no number.
        """
        for given in losses if isinstance(losses, list | tuple) else [losses]:
            made = given() if callable(given) else given
            if made is None:
                continue
            loss = _as_loss(made)
            self._losses.append(loss)
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

    def note_variable(self, variable: VariableLike, is_trained: bool) -> None:
        """Keep a variable of the layer's own.

        Args:
            variable: what was made or found.
            is_trained: whether the layer lets optimizers train it.
        """
        parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
        # A getter of the program's may have made a variable that is not trained, or give a tensor in the variable's place.
        is_trained = is_trained and all(hasattr(each, "initializer") and getattr(each, "trainable", True) for each in parts)
        (self._trainable_weights if is_trained else self._non_trainable_weights).append(variable)
        for each in parts:
            if hasattr(each, "initializer"):
                each.graph.get_collection_ref(_VARIABLES).append(each)

    def add_penalty(self, name: str, variable: VariableLike, regularizer: Regularizer, scope: VariableScope | None) -> None:
        """Add the loss of a variable's regularizer, one for each part of a variable of several.

        Its nodes have the name that the layer has for the variable, whatever a custom getter calls it, and stand beside the
        penalty of a scope's own regularizer: so does TensorFlow.

        Args:
            name: the variable's name in the scope.
            variable: what was made.
            regularizer: a function of it that gives a scalar, or None.
            scope: the layer's scope.
        """
        graph = get_default_graph()
        outer = "" if scope is None else scope.original_name_scope
        for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
            with init_scope(), graph.name_scope(outer or None), graph.name_scope(f"{name}/Regularizer") as inner:
                loss = penalty_of(inner, part, regularizer)
            if loss is not None:
                self._penalties.append(loss)
                graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)

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


def _as_loss(value: TensorLike) -> Tensor:
    """A loss as a tensor: numbers become float32 constants; TypeError for what is no number."""
    return cast("Tensor", value) if is_tensor(value) else convert_to_tensor(value, dtype=dtypes.float32)


def _that_depend(nodes: Sequence[_Node], inputs: Nest, all_inputs: Sequence[Tensor]) -> list[_Node]:
    if inputs is None:
        reached = get_reachable_from_inputs(all_inputs, nodes)
        return [each for each in nodes if each not in reached]
    reached = get_reachable_from_inputs(nest.flatten(inputs), nodes)
    return [each for each in nodes if each in reached]
