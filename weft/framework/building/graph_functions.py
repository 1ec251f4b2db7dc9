"""The functions of the public API that act on the default graph: scopes, collections, order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from weft.framework.building.aliases import DeviceLike
from weft.framework.building.op_builder import graph_of, refuse_loop_values
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import get_default_graph


def device(device_name_or_function: DeviceLike) -> contextlib.AbstractContextManager[None]:
    """Put nodes made in the block on a device; see `Graph.device`.

    >>> with tf.device("/job:ps/task:0"):
    ...     a = tf.zeros([2])
    >>> a.device
    '/job:ps/task:0'

    Args:
        device_name_or_function: a name such as "/job:ps/task:0" or "/gpu:0", perhaps partial; a function of the operation
            that returns one; or None, which forgets what blocks around this one say.

    Returns:
        A context manager.
    """
    return get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs: Iterable[object] | None) -> contextlib.AbstractContextManager[None]:
    """Make nodes of the block wait for operations and tensors; see `Graph.control_dependencies`.

    >>> v = tf.Variable(1)
    >>> sess.run(v.initializer)
    >>> with tf.control_dependencies([v.assign_add(1)]):
    ...     later = v.read_value()
    >>> sess.run(later)
    np.int32(2)

    Args:
        control_inputs: operations and tensors to wait for; None forgets those of blocks around this one.

    Returns:
        A context manager.
    """
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: object, ignore_existing: bool = False) -> contextlib.AbstractContextManager[None]:
    """Put nodes made in the block beside another; see `Graph.colocate_with`.

    Args:
        op: the operation, tensor or variable on whose device they shall be.
        ignore_existing: whether wishes of blocks around this one are forgotten.

    Returns:
        A context manager.
    """
    return get_default_graph().colocate_with(op, ignore_existing)


def container(container_name: str) -> contextlib.AbstractContextManager[str]:
    """Keep state made in the block in a resource container; see `Graph.container`.

    Args:
        container_name: the container's name; "" is the default one.

    Returns:
        A context manager.
    """
    return get_default_graph().container(container_name)


class name_scope:
    """A block whose nodes' names begin with a scope.

    Args:
        name: the scope; None to use the default name.
        default_name: the scope when `name` is None.
        values: tensors that settle which graph the block belongs to.

    The block gets the scope's full name with a '/' at the end.

    Raises:
        ValueError: neither name is given but values are, or the values belong to different graphs.
        TypeError: the name is no string.

    >>> with tf.name_scope("tower"):
    ...     x = tf.zeros([1], name="x")
    >>> x.name
    'tower/x:0'
    """

    def __init__(
        self, name: str | bytes | None, default_name: str | None = None, values: Iterable[object] | None = None
    ) -> None:
        if isinstance(name, bytes):
            name = name.decode()
        if not (name is None or isinstance(name, str)):
            raise TypeError(f"name_scope: `name` must be a string or None, got {type(name).__name__}")
        if not (default_name is None or isinstance(default_name, str | bytes)):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass this into the "
                "`values` kwarg."
            )
        self._name = default_name if name is None else name
        self._values = [] if values is None else list(values)
        if self._name is None and values is not None:
            raise ValueError(f"At least one of name ({name}) and default_name ({default_name}) must be provided.")
        self._blocks: list[contextlib.ExitStack] = []

    @property
    def name(self) -> str | None:
        """The name that was asked for."""
        return self._name

    def __enter__(self) -> str:
        graph = graph_of(self._values)
        refuse_loop_values(graph, self._values, self._name or "")
        stack = contextlib.ExitStack()
        if graph is not get_default_graph():
            stack.enter_context(graph.as_default())
        scope = stack.enter_context(graph.name_scope(self._name))
        self._blocks.append(stack)
        return scope

    def __exit__(self, *error: Any) -> bool | None:
        return self._blocks.pop().__exit__(*error)


def inside_function() -> bool:
    """Whether nodes are made in the body of a function, such as one of a dataset; branches and loops are none."""
    graph = get_default_graph()
    while isinstance(graph, FuncGraph):
        if graph.is_function or not graph.has_outer_graph:
            return True
        graph = graph.outer_graph
    return False


@contextlib.contextmanager
def op_scope(values: Iterable[object] | None, name: str | None, default_name: str | None = None) -> Iterator[str]:
    """The older form of `name_scope`, with the values first.

    Args:
        values: tensors that settle which graph the block belongs to.
        name: the scope; None to use the default name.
        default_name: the scope when `name` is None.
    """
    with name_scope(name, default_name, values) as scope:
        yield scope


def add_to_collection(name: str, value: object) -> None:
    """Append a value to a collection of the default graph.

    >>> tf.add_to_collection("losses", tf.constant(1.0))
    >>> len(tf.get_collection("losses"))
    1

    Args:
        name: the collection's name, such as `tf.GraphKeys.LOSSES`.
        value: what to append, of any kind.
    """
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: str | Iterable[str], value: object) -> None:
    """Append a value to several collections of the default graph.

    Args:
        names: the collections' names, or one name.
        value: what to append to each.
    """
    get_default_graph().add_to_collections(names, value)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """A copy of a collection of the default graph; with `scope` only items whose names match it from the start.

    >>> tf.add_to_collection("mine", 3)
    >>> tf.get_collection("mine")
    [3]

    Args:
        key: the collection's name, such as `tf.GraphKeys.LOSSES`.
        scope: a regular expression, matched from the start of a name; items without a name are left out then.

    Returns:
        A new list, of what was added in that order; empty where nothing was.
    """
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: str) -> list[Any]:
    """A collection of the default graph itself.

    Args:
        key: the collection's name; an empty collection is made where there is none.
    """
    return get_default_graph().get_collection_ref(key)


def get_all_collection_keys() -> list[str]:
    """The names of the default graph's collections."""
    return get_default_graph().get_all_collection_keys()
