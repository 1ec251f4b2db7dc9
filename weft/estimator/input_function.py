"""The results of input functions: features and labels, taken from a Dataset where it is one."""

from __future__ import annotations

from weft.estimator.aliases import Features, Labels
from weft.framework import nest
from weft.framework.aliases import Nest
from weft.framework.collections import GraphKeys
from weft.framework.graph import get_default_graph
from weft.framework.operation import Tensor
from weft.training.hooks.session_run_hook import SessionRunHook


def parse_input_fn_result(result: Nest) -> tuple[Features, Labels, list[SessionRunHook]]:
    """Features, labels (None without), and the hooks that start the input.

    Raises:
        ValueError: the function returned a tuple or list of another length than 2.
    """
    hooks: list[SessionRunHook] = []
    if isinstance(result, tuple | list):
        if len(result) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return result[0], result[1], hooks
    return result, None, hooks


def has_an_end(features: Features) -> bool:
    """Whether the input can end: it comes from a Dataset or through queues."""
    tensors = [each for each in nest.flatten(features, expand_composites=True) if isinstance(each, Tensor)]
    if any(each.op.type == "IteratorGetNext" for each in tensors):
        return True
    return bool(get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS))
