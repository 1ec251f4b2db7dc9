"""The global step as hooks read it: one tensor for all of them, made before the graph is closed."""

from __future__ import annotations

import contextlib
from typing import Any, Final

from weft.framework.graphs.graph import get_default_graph
from weft.ops.math.elementwise import add
from weft.ops.variables.resource_variable import is_resource_variable
from weft.ops.variables.variable import Variable
from weft.training.training_util import get_global_step

_COLLECTION: Final = "global_step_read_op_cache"


class StepReading:
    """The step that a run has made, from the value of the global step that the run fetched.

    The fetched value is from before the run's update or from after it: nothing orders the two. TensorFlow reads as the step
    begins, weft where the node stands in the program; which of them it is shows whenever the step is read again after a run.
    """

    def __init__(self) -> None:
        self._is_after = False

    def made(self, fetched: Any) -> Any:
        """The step that the run has made, when it trained alone."""
        return fetched if self._is_after else fetched + 1

    def note(self, fetched: Any, read_later: Any) -> None:
        """Learn from a run that fetched one value, after which the step was read once more."""
        self._is_after = bool(fetched == read_later)


def global_step_read(hook: str) -> Any:
    """A tensor with the global step's value, as it was at some moment of the run that fetches it.

    Args:
        hook: the class of the hook that needs it.

    Raises:
        RuntimeError: the graph has no global step, or several such tensors.
    """
    graph = get_default_graph()
    found = graph.get_collection(_COLLECTION)
    if len(found) > 1:
        raise RuntimeError(f"There are multiple items in collection {_COLLECTION}. There should be only one.")
    if found:
        return found[0]
    step = get_global_step(graph)
    if step is None:
        raise RuntimeError(
            f"Global step should be created to use {hook}. Call tf.train.get_or_create_global_step() while the graph is built, "
            "and give it to minimize(loss, global_step=...)."
        )
    # Outside of the program's scopes: the reading waits for nothing and is where the step is.
    # TensorFlow has the initial value stand in for a step without a value, by a branch; seeds of later nodes go by the count.
    nodes = 12 if is_resource_variable(step) else 11
    counted = graph.node_count.as_many_as(nodes) if isinstance(step, Variable) else contextlib.nullcontext()
    with graph.as_default(), graph.control_dependencies(None), graph.name_scope(f"{step.op.name}/"), counted:
        value = step.read_value() if isinstance(step, Variable) else step
        read = add(value, 0)
    graph.add_to_collection(_COLLECTION, read)
    return read
