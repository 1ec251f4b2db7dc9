"""The switches between TensorFlow 1's behaviour and that of TensorFlow 2. weft has the former alone.

Turning TensorFlow 2's parts off is therefore a no-op, and turning one on is an error that says what to do instead.
"""

from __future__ import annotations

from weft.framework.context.default_stack import default_graphs
from weft.framework.types.dimension import Dimension
from weft.framework.types.tensor_shape import TensorShape


def executing_eagerly() -> bool:
    """Whether operations run when they are made: inside of the functions of `tf.py_function`, and nowhere else.

    >>> tf.executing_eagerly()
    False
    """
    graph = default_graphs.get_default()
    return graph is not None and graph.runs_eagerly


def in_graph_mode() -> bool:
    """Whether operations build a graph: everywhere but inside of the functions of `tf.py_function`."""
    return not executing_eagerly()


def executing_eagerly_outside_functions() -> bool:
    """Return False."""
    return False


def enabled() -> bool:
    """Whether the behaviour of TensorFlow 2 is on: never, programs build graphs."""
    return False


def disable_eager_execution() -> None:
    """Do nothing: there is no eager execution."""


def disable_v2_behavior() -> None:
    """Do nothing: the behaviour is that of TensorFlow 1."""


def disable_control_flow_v2() -> None:
    """Do nothing: the nodes of conditionals and loops do not change what they compute."""


def enable_control_flow_v2() -> None:
    """Do nothing: conditionals and loops are functional already."""


def control_flow_v2_enabled() -> bool:
    """Return True: conditionals and loops are made of If and While nodes with functions."""
    return True


def disable_tensor_equality() -> None:
    """Do nothing: `==` between tensors compares identity."""


def disable_v2_tensorshape() -> None:
    """Do nothing: a TensorShape holds Dimensions."""


def enable_eager_execution(config: object = None, device_policy: object = None, execution_mode: object = None) -> None:
    """Raise NotImplementedError.

    Args:
        config, device_policy, execution_mode: have no effect: weft builds graphs.
    """
    raise _no_such("enable_eager_execution", "operations that are run at once", "run tensors with `tf.Session().run`")


def enable_v2_behavior() -> None:
    """Raise NotImplementedError."""
    raise _no_such("enable_v2_behavior", "TensorFlow 2's behaviour", "keep TensorFlow 1's, which needs no call")


def enable_tensor_equality() -> None:
    """Raise NotImplementedError."""
    raise _no_such("enable_tensor_equality", "`==` that compares elements", "use `tf.equal`")


def enable_v2_tensorshape() -> None:
    """Raise NotImplementedError."""
    raise _no_such("enable_v2_tensorshape", "shapes of plain integers", "use `shape.as_list()`")


def _no_such(name: str, what: str, remedy: str) -> NotImplementedError:
    return NotImplementedError(f"tf.{name}: weft has no mode with {what}; {remedy}")


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The dimension of a shape at an index; an unknown one where the rank is unknown.

    Args:
        shape: a TensorShape.
        index: the place of the dimension; one below zero counts from the end.
    """
    return Dimension(None) if shape.dims is None else shape.dims[index]
