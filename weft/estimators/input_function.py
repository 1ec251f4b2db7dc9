"""The results of input functions: features and labels, taken from a Dataset where it is one."""

from __future__ import annotations

from typing import Final

from weft.client.session import Session
from weft.datasets.dataset import Dataset
from weft.estimators.aliases import Features, Labels
from weft.framework.building.aliases import Nest
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Operation, Tensor
from weft.training.coordinator import Coordinator
from weft.training.hooks.session_run_hook import SessionRunHook

_COUNT: Final = "limit_epochs/epochs"
"""The name of the variable by which `tf.train.limit_epochs` counts."""


class DatasetInitializerHook(SessionRunHook):
    """Starts the iterator of a Dataset in each session that is made.

    Args:
        initializer: the iterator's.
    """

    def __init__(self, initializer: Operation) -> None:
        self._initializer = initializer

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Run the initializer."""
        session.run(self._initializer)


def parse_input_fn_result(result: Nest) -> tuple[Features, Labels, list[SessionRunHook]]:
    """Features, labels (None without), and the hooks that start the input.

    Raises:
        ValueError: the function returned a tuple or list of another length than 2.
    """
    hooks: list[SessionRunHook] = []
    if isinstance(result, Dataset):
        iterator = result.make_initializable_iterator()
        hooks.append(DatasetInitializerHook(iterator.initializer))
        result = iterator.get_next()
    if isinstance(result, tuple | list):
        if len(result) != 2:
            raise ValueError(f"input_fn should return (features, labels) as a len 2 tuple. It returned {len(result)} values.")
        features, labels = result
    else:
        features, labels = result, None
    _check_built_here((features, labels))
    return features, labels, hooks


def _check_built_here(made: Nest) -> None:
    """ValueError for an Iterator in place of what it gives, and for tensors of another graph than the estimator's."""
    graph = get_default_graph()
    for each in nest.flatten(made, expand_composites=True):
        if hasattr(each, "get_next"):
            raise ValueError("input_fn returned an Iterator: return the Dataset itself, or iterator.get_next().")
        if isinstance(each, Tensor) and each.graph.outermost is not graph.outermost:
            raise ValueError(
                f"input_fn returned a tensor of another graph: {described(each)}. An estimator builds a graph of its own: make "
                "the tensors, and the Dataset, inside of input_fn."
            )


def has_an_end(features: Features) -> bool:
    """Whether the input can end: it comes from a Dataset or through queues, or is read so many times."""
    tensors = [each for each in nest.flatten(features, expand_composites=True) if isinstance(each, Tensor)]
    if any(each.op.type == "IteratorGetNext" for each in tensors):
        return True
    graph = get_default_graph()
    if any(each.op.name.endswith(_COUNT) for each in graph.get_collection(GraphKeys.LOCAL_VARIABLES)):
        return True
    return bool(graph.get_collection(GraphKeys.QUEUE_RUNNERS))
