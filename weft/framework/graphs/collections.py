"""The named collections of a graph: variables, losses, summaries, queue runners and what programs add."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final


class GraphKeys:
    """The standard names of collections.

    >>> bias = tf.get_variable("bias", [2], initializer=tf.zeros_initializer())
    >>> tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == [bias]
    True
    """

    GLOBAL_VARIABLES: Final = "variables"
    VARIABLES: Final = "variables"
    LOCAL_VARIABLES: Final = "local_variables"
    METRIC_VARIABLES: Final = "metric_variables"
    MODEL_VARIABLES: Final = "model_variables"
    TRAINABLE_VARIABLES: Final = "trainable_variables"
    SUMMARIES: Final = "summaries"
    QUEUE_RUNNERS: Final = "queue_runners"
    TABLE_INITIALIZERS: Final = "table_initializer"
    ASSET_FILEPATHS: Final = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES: Final = "moving_average_variables"
    REGULARIZATION_LOSSES: Final = "regularization_losses"
    CONCATENATED_VARIABLES: Final = "concatenated_variables"
    SAVERS: Final = "savers"
    WEIGHTS: Final = "weights"
    BIASES: Final = "biases"
    ACTIVATIONS: Final = "activations"
    UPDATE_OPS: Final = "update_ops"
    LOSSES: Final = "losses"
    SAVEABLE_OBJECTS: Final = "saveable_objects"
    RESOURCES: Final = "resources"
    LOCAL_RESOURCES: Final = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES: Final = "trainable_resource_variables"
    INIT_OP: Final = "init_op"
    LOCAL_INIT_OP: Final = "local_init_op"
    READY_OP: Final = "ready_op"
    READY_FOR_LOCAL_INIT_OP: Final = "ready_for_local_init_op"
    SUMMARY_OP: Final = "summary_op"
    GLOBAL_STEP: Final = "global_step"
    EVAL_STEP: Final = "eval_step"
    TRAIN_OP: Final = "train_op"
    COND_CONTEXT: Final = "cond_context"
    WHILE_CONTEXT: Final = "while_context"


class Collections:
    """Lists of objects by name; an object may be in several, or twice in one."""

    def __init__(self) -> None:
        self._collections: dict[str, list[Any]] = {}

    def check_not_finalized(self) -> None:
        """Overridden by a graph that can be closed."""

    @property
    def collections(self) -> list[str]:
        """The names of the collections that have been written to."""
        return list(self._collections)

    def get_all_collection_keys(self) -> list[str]:
        """The names that are strings."""
        return [key for key in self._collections if isinstance(key, str)]

    def add_to_collection(self, name: str, value: object) -> None:
        """Append a value to a collection.

        Args:
            name: the collection's name, such as one of `tf.GraphKeys`.
            value: what to append, of any kind.
        """
        self.check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: str | Iterable[str], value: object) -> None:
        """Append a value to several collections, once to each.

        Args:
            names: the collections' names, or one name.
            value: what to append to each.
        """
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: str) -> list[Any]:
        """The list itself; changing it changes the collection."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """A copy; with `scope` only items whose name matches that regular expression from the start.

        Args:
            name: the collection's name.
            scope: the beginning, as a regular expression, of the names of the items that are wanted.
        """
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        pattern = re.compile(scope)
        return [item for item in items if hasattr(item, "name") and pattern.match(item.name)]

    def clear_collection(self, name: str) -> None:
        """Empty a collection."""
        self.check_not_finalized()
        self._collections.pop(name, None)
