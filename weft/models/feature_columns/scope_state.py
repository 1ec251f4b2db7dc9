"""ScopeStateManager: a column's variables as `get_variable` makes and finds them, in the variable scope that is open."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.aliases import DTypeLike, Initializer, VariableLike
from weft.framework.collections import GraphKeys
from weft.models.feature_columns.column import FeatureColumn
from weft.ops.variables.get_variable import get_variable


class ScopeStateManager:
    """Makes each variable where its column first asks for it, as TensorFlow 1's layers of columns do.

    Args:
        weight_collections: collections to add variables to, besides those of global and of model variables.
        trainable: whether variables are trained, where their columns say so too.
    """

    def __init__(self, weight_collections: Sequence[str] | None, trainable: bool) -> None:
        self.extra_collections = list(weight_collections or [])
        self.collections = list(self.extra_collections)
        for name in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES):
            if name not in self.collections:
                self.collections.append(name)
        self._trainable = trainable
        self._made: dict[str, VariableLike] = {}

    def create_variable(
        self, feature_column: FeatureColumn, name: str, shape: tuple[int, ...], dtype: DTypeLike | None = None,
        trainable: bool = True, use_resource: bool = True, initializer: Initializer | None = None,
    ) -> VariableLike:  # fmt: skip
        """Make or find the variable in the open scope, which says whether it is a resource."""
        made = get_variable(
            name, shape, dtype, initializer, trainable=self._trainable and trainable, collections=self.collections
        )
        self._made[name] = made
        return made

    def get_variable(self, feature_column: FeatureColumn, name: str) -> VariableLike:
        """The variable, made now: a column asks once, in its own scope."""
        feature_column.create_state(self)
        return self._made[name]

    def add_resource(self, feature_column: FeatureColumn, name: str, resource: object) -> None:
        """Do nothing: the graph's collections have the table."""
