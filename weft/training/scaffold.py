"""Scaffold: the parts of a graph that a training session needs: how to initialize it, when it is ready, how to save it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from weft.framework.building.aliases import Feeds
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.value_types import OrNone
from weft.ops.array.joining import concat
from weft.ops.control_flow.ordering import group
from weft.ops.summary.merge import merge_all
from weft.ops.variables.collections import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from weft.platform.logs import tf_logging
from weft.platform.waits.function_wait import call_watched
from weft.training.resources import Resource, local_resources, report_uninitialized_resources, shared_resources
from weft.training.saving.saver import Saver, get_saver_or_default


class Scaffold:
    """The operations and the Saver that initialize, check, summarize and save a model.

    A part that is not given is taken from the graph's collection for it by `finalize`, which makes it and puts it there
    when there is none.

    Args:
        init_op: initializes the global variables.
        init_feed_dict: what to feed it.
        init_fn: a function of the Scaffold and the session, called after `init_op`.
        ready_op: gives the names of the variables that have no value; the model is ready when there are none.
        ready_for_local_init_op: gives the names that `local_init_op` still waits for.
        local_init_op: initializes the local variables and tables.
        summary_op: gives all summaries in one string.
        saver: saves and restores the variables.
        copy_from_scaffold: gives the parts that are not given.
        local_init_feed_dict: what to feed `local_init_op`.

    Raises:
        TypeError: `copy_from_scaffold` is no Scaffold.

    >>> v = tf.Variable(1.0)
    >>> scaffold = tf.train.Scaffold(init_op=v.assign(5.0))
    >>> with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
    ...     print(session.run(v))
    5.0
    """

    def __init__(
        self,
        init_op: Operation | None = None,
        init_feed_dict: Feeds | None = None,
        init_fn: Callable[[Scaffold, Any], None] | None = None,
        ready_op: Tensor | None = None,
        ready_for_local_init_op: Tensor | None = None,
        local_init_op: Operation | None = None,
        summary_op: object = None,
        saver: Saver | None = None,
        copy_from_scaffold: Scaffold | None = None,
        local_init_feed_dict: Feeds | None = None,
    ) -> None:
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError(f"copy_from_scaffold is not a Scaffold instance, it is a {type(copy_from_scaffold).__name__}")

        def given_or_copied(value: object, attribute: str) -> Any:
            return getattr(copy_from_scaffold, attribute, None) if value is None else value

        self._init_op = given_or_copied(init_op, "_init_op")
        self._init_feed_dict: Feeds | None = given_or_copied(init_feed_dict, "_init_feed_dict")
        self._user_init_fn = given_or_copied(init_fn, "_user_init_fn")
        if init_fn is not None:
            _check_init_fn(init_fn)
        self._ready_op = given_or_copied(ready_op, "_ready_op")
        self._ready_for_local_init_op = given_or_copied(ready_for_local_init_op, "_ready_for_local_init_op")
        self._local_init_op = given_or_copied(local_init_op, "_local_init_op")
        self._summary_op = given_or_copied(summary_op, "_summary_op")
        if isinstance(saver, str | bytes | Operation):
            raise TypeError(f"saver must be a tf.train.Saver, such as tf.train.Saver(), got {saver!r}")
        self._saver = given_or_copied(saver, "_saver")
        self._local_init_feed_dict: Feeds | None = given_or_copied(local_init_feed_dict, "_local_init_feed_dict")

    def __repr__(self) -> str:
        parts = {name.removeprefix("_user").strip("_"): value for name, value in vars(self).items() if value is not None}
        shown = ", ".join(f"{name}={getattr(value, 'name', None) or type(value).__name__}" for name, value in parts.items())
        return f"<tf.train.Scaffold: {shown or 'all parts are made when it is finalized'}>"

    def finalize(self) -> Scaffold:
        """Make the parts that are missing, and close the graph for changes.

        Returns:
            This Scaffold.

        Raises:
            RuntimeError: a collection has several candidates for a part.
        """
        take = Scaffold.get_or_default
        if self._init_op is None:
            self._init_op = take("init_op", GraphKeys.INIT_OP, _default_init_op)
        if self._ready_op is None:
            self._ready_op = take("ready_op", GraphKeys.READY_OP, _report_uninitialized)
        if self._ready_for_local_init_op is None:
            self._ready_for_local_init_op = take(
                "ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP, _report_uninitialized_globals
            )
        if self._local_init_op is None:
            self._local_init_op = take("local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op)
        if self._summary_op is None:
            self._summary_op = take("summary_op", GraphKeys.SUMMARY_OP, merge_all)
        if self._saver is None:
            self._saver = get_saver_or_default()
        self._saver.build()
        get_default_graph().finalize()
        tf_logging.info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Callable[[Any], None] | None:
        """The function that initializes a session further, or None."""
        function = self._user_init_fn
        return None if function is None else lambda session: call_watched(function, self, session)

    @property
    def init_op(self) -> Operation | OrNone:
        """The operation that initializes the global variables."""
        return self._init_op

    @property
    def ready_op(self) -> Tensor | OrNone:
        """The tensor of the names of the variables that have no value."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Tensor | OrNone:
        """The tensor of the names that `local_init_op` waits for."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Operation | OrNone:
        """The operation that initializes the local variables and tables."""
        return self._local_init_op

    @property
    def local_init_feed_dict(self) -> Feeds | None:
        """The feeds of `local_init_op`."""
        return self._local_init_feed_dict

    @property
    def summary_op(self) -> Tensor | OrNone:
        """The tensor of all summaries in one string, or None."""
        return self._summary_op

    @property
    def saver(self) -> Saver | OrNone:
        """The Saver of the variables."""
        return self._saver

    @property
    def init_feed_dict(self) -> Feeds | None:
        """The feeds of `init_op`."""
        return self._init_feed_dict

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], object]) -> Any:
        """The one item of a collection; when it is empty, what the constructor makes, which is put there.

        Args:
            arg_name: the argument of Scaffold that it is for, as errors name it.
            collection_key: the collection.
            default_constructor: makes the item.

        Raises:
            RuntimeError: the collection has several items.
        """
        graph = get_default_graph()
        found = graph.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which one to use by passing it '
                f"to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to use)"
            )
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Operation:
        """The operation that initializes the local variables and tables that there are now."""
        tables = get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
        own = [each.create for each in local_resources()]
        return group(local_variables_initializer(), group(*tables, name="init_all_tables"), *own)


def _check_init_fn(function: Callable[..., None]) -> None:
    """Raise TypeError for a function that does not take what it will be called with."""
    try:
        inspect.signature(function).bind(None, None)
    except TypeError as error:
        name = getattr(function, "__name__", repr(function))
        raise TypeError(
            f"init_fn {name!r} of a Scaffold is called with the scaffold and the session, and cannot be: {error}. It is "
            "such as lambda scaffold, session: saver.restore(session, path)."
        ) from None
    except ValueError:
        return  # a builtin does not tell


def _default_init_op() -> Operation:
    others = get_default_graph().get_collection("saved_model_initializers")
    return group(global_variables_initializer(), *(each.create for each in shared_resources()), *others)


def _report_uninitialized() -> Tensor:
    return _with_resources(report_uninitialized_variables(), shared_resources() + local_resources())


def _report_uninitialized_globals() -> Tensor:
    variables = report_uninitialized_variables(global_variables(), name="report_uninitialized_global_variables")
    return _with_resources(variables, shared_resources())


def _with_resources(names: Tensor, resources: list[Resource]) -> Tensor:
    """The names, and those of resources that are not initialized."""
    return concat([names, report_uninitialized_resources(resources)], 0) if resources else names
