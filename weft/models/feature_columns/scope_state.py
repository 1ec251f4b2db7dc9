"""ScopeStateManager: a column's variables as `get_variable` makes and finds them, in the variable scope that is open."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from weft.framework.building.aliases import DTypeLike, Initializer, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.models.feature_columns.contracts import StatefulColumn
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.scopes import VariableScope
from weft.ops.variables.variable_scope import variable_scope


class ScopeStateManager:
    """Makes each variable where its column first asks for it, as TensorFlow 1's layers of columns do.

    Args:
        weight_collections: collections to add variables to, besides those of global and of model variables.
        trainable: whether variables are trained, where their columns say so too.
        of_model: whether the variables are the model's, too, among the graph's collections.
    """

    def __init__(self, weight_collections: Sequence[str] | None, trainable: bool, of_model: bool = True) -> None:
        self.extra_collections = list(weight_collections or [])
        self.collections = list(self.extra_collections)
        for name in (GraphKeys.GLOBAL_VARIABLES, *((GraphKeys.MODEL_VARIABLES,) if of_model else ())):
            if name not in self.collections:
                self.collections.append(name)
        self.trainable = trainable
        self._made: dict[str, VariableLike] = {}
        self._resources: dict[tuple[StatefulColumn, str], object] = {}

    def create_variable(
        self, feature_column: StatefulColumn, name: str, shape: tuple[int, ...], dtype: DTypeLike | None = None,
        trainable: bool = True, use_resource: bool = True, initializer: Initializer | None = None,
    ) -> VariableLike:  # fmt: skip
        """Make or find the variable in the open scope, which says whether it is a resource."""
        made = get_variable(
            name, shape, dtype, initializer, trainable=self.trainable and trainable, collections=self.collections
        )
        self._made[name] = made
        return made

    def get_variable(self, feature_column: StatefulColumn, name: str) -> VariableLike:
        """The variable, made now: a column asks once, in its own scope."""
        feature_column.create_state(self)
        return self._made[name]

    @contextlib.contextmanager
    def entered(self, column: StatefulColumn) -> Iterator[None]:
        """Open the scope that a column computes in."""
        with variable_scope(None, default_name=column.scope_name):
            yield

    def add_resource(self, feature_column: StatefulColumn, name: str, resource: object) -> None:
        """Keep what a column has made beside variables, such as a table or a part of a model."""
        self._resources[feature_column, name] = resource

    def has_resource(self, feature_column: StatefulColumn, name: str) -> bool:
        """Whether the column has made it."""
        return (feature_column, name) in self._resources

    def get_resource(self, feature_column: StatefulColumn, name: str) -> object:
        """What the column has made, now if it did not before.

        Raises:
            ValueError: it makes nothing of this name.
        """
        if not self.has_resource(feature_column, name):
            feature_column.create_state(self)
        if not self.has_resource(feature_column, name):
            raise ValueError(f"The column {feature_column} has made no resource {name!r}.")
        return self._resources[feature_column, name]


class EarlyStateManager(ScopeStateManager):
    """Makes the variables of all columns before one of them computes, as TensorFlow's canned networks do."""

    def __init__(self, columns: Sequence[StatefulColumn]) -> None:
        super().__init__(None, trainable=True)
        self._scopes: dict[StatefulColumn, VariableScope] = {}
        self._early: dict[tuple[StatefulColumn, str], VariableLike] = {}
        for column in columns:
            with variable_scope(None, default_name=column.scope_name) as self._scopes[column]:
                column.create_state(self)

    def create_variable(
        self, feature_column: StatefulColumn, name: str, shape: tuple[int, ...], dtype: DTypeLike | None = None,
        trainable: bool = True, use_resource: bool = True, initializer: Initializer | None = None,
    ) -> VariableLike:  # fmt: skip
        """Make the variable, unless it is there."""
        key = feature_column, name
        if key not in self._early:
            self._early[key] = super().create_variable(feature_column, name, shape, dtype, trainable, use_resource, initializer)
            # TensorFlow's is a resource, of one node more; later random nodes get their seeds by the count.
            get_default_graph().node_count.total += 1
        return self._early[key]

    def get_variable(self, feature_column: StatefulColumn, name: str) -> VariableLike:
        """The variable."""
        return self._early[feature_column, name]

    @contextlib.contextmanager
    def entered(self, column: StatefulColumn) -> Iterator[None]:
        """Open the scope of the column's variables."""
        scope = self._scopes[column]
        with (
            variable_scope(scope, auxiliary_name_scope=False),
            get_default_graph().name_scope(scope.original_name_scope),
        ):
            yield
