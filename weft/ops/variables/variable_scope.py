"""variable_scope: opens a scope, which sets the defaults and the sharing of the variables that are made inside.

A variable's name comes from the variable scopes alone; an op's name from the name scopes, of which each variable
scope opens one.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator
from typing import Any, cast

from weft.framework.building.aliases import (
    Constraint,
    DeviceLike,
    DTypeLike,
    Getter,
    Initializer,
    Partitioner,
    Regularizer,
    TensorLike,
)
from weft.framework.building.op_builder import graph_of
from weft.framework.graphs.graph import Graph
from weft.framework.types.printed import printed
from weft.ops.variables.scopes import INHERITED, ScopeLike, VariableScope, first_given, open_scopes
from weft.ops.variables.variable_store import AUTO_REUSE, Reuse
from weft.platform.logs import tf_logging


def _chained_getter(custom_getter: Getter, outer_getter: Getter | None) -> Getter:
    if outer_getter is None:
        return custom_getter

    def getter_of_both(getter: Getter, *args: object, **kwargs: object) -> Any:
        return custom_getter(functools.partial(outer_getter, getter), *args, **kwargs)

    return getter_of_both


class variable_scope:
    """Open a variable scope, and a name scope of the same name, for a block.

    Args:
        name_or_scope: a name, or a VariableScope to go back to.
        default_name: the name when `name_or_scope` is None, made unique.
        values: tensors whose graph is meant.
        initializer: the default initializer inside.
        regularizer: the default regularizer inside.
        caching_device: the default caching device inside.
        partitioner: the default partitioner inside.
        custom_getter: a function around the getter inside; those of outer scopes come after it.
        reuse: True to share variables that exist, AUTO_REUSE to make those that don't; None or False to inherit.
        dtype: the default type inside.
        use_resource: whether variables inside are resource variables.
        constraint: the default constraint inside.
        auxiliary_name_scope: whether to open a name scope too.

    Raises:
        ValueError: `reuse` is something else, or True without a name.
        TypeError: there is no name, or it is neither a string nor a scope.

    >>> with tf.variable_scope("shared", reuse=tf.AUTO_REUSE):
    ...     a, b = tf.get_variable("w", [1]), tf.get_variable("w", [1])
    >>> a is b
    True
    """

    __repr__ = printed("tf")

    def __init__(
        self,
        name_or_scope: ScopeLike,
        default_name: str | None = None,
        values: Iterable[TensorLike | None] | None = None,
        initializer: Initializer | None = None,
        regularizer: Regularizer | None = None,
        caching_device: DeviceLike | None = None,
        partitioner: Partitioner | None = None,
        custom_getter: Getter | None = None,
        reuse: Reuse = None,
        dtype: DTypeLike | None = None,
        use_resource: bool | None = None,
        constraint: Constraint | None = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        self._reuse = None if reuse is False else reuse
        if self._reuse is not True and self._reuse is not None and self._reuse is not AUTO_REUSE:
            meant = ": the object tf.AUTO_REUSE, not its name" if reuse == AUTO_REUSE.name else ", or tf.AUTO_REUSE"
            raise ValueError(f"The reuse parameter must be True or False or None. Got {reuse!r}{meant}.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = [] if values is None else list(values)
        self._settings = {
            "initializer": initializer, "regularizer": regularizer, "caching_device": caching_device,
            "partitioner": partitioner, "dtype": dtype, "use_resource": use_resource,
        }  # fmt: skip
        self._custom_getter = custom_getter
        self._constraint = constraint
        self._auxiliary_name_scope = auxiliary_name_scope
        self._original: str | None = None
        self._entered: list[contextlib.ExitStack] = []

    def __enter__(self) -> VariableScope:
        with contextlib.ExitStack() as stack:
            graph = graph_of(self._values)
            stack.enter_context(graph.as_default())
            opened = stack.enter_context(self._opened(graph))
            self._entered.append(stack.pop_all())
        return opened

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)

    @contextlib.contextmanager
    def _opened(self, graph: Graph) -> Iterator[VariableScope]:
        given = self._name_or_scope
        if given is None:
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
            with self._named(graph, self._default_name) as name_scope:
                # The first entry settles the name.
                self._name_or_scope = given = open_scopes().unique(cast("str", self._default_name))
                with self._inside(given, name_scope) as scope:
                    yield scope
            return
        if not isinstance(given, VariableScope | str):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        last = given if isinstance(given, str) else given.name.split("/")[-1]
        if not last and self._auxiliary_name_scope:
            with self._inside(given, None) as scope:
                yield scope
            return
        with self._named(graph, last) as name_scope, self._inside(given, name_scope) as scope:
            yield scope

    def _named(self, graph: Graph, name: str | None) -> contextlib.AbstractContextManager[str]:
        if self._auxiliary_name_scope:
            return graph.name_scope(name)
        present = graph.get_name_scope()
        return graph.name_scope(f"{present}/" if present else present)

    @contextlib.contextmanager
    def _inside(self, given: VariableScope | str, name_scope: str | None) -> Iterator[VariableScope]:
        scopes = open_scopes()
        before = scopes.current
        base = before if isinstance(given, str) else given
        scope = self._made(base, before, given, name_scope)
        scopes.opened(scope.name)
        # Of a scope that is gone back to: what is opened in it this time does not count.
        counts = None if isinstance(given, str) else dict(scopes.counts)
        scopes.current = scope
        try:
            yield scope
        finally:
            if scopes.current is not scope:
                raise RuntimeError("Improper nesting of variable_scope.")
            if counts is None:
                scopes.forget_inside(scope.name)
            else:
                scopes.counts = counts
            scopes.current = before

    def _made(
        self, base: VariableScope, before: VariableScope, given: VariableScope | str, name_scope: str | None
    ) -> VariableScope:
        if isinstance(given, str):
            name = f"{before.name}/{given}" if before.name else given
            # Opening it again makes another name scope, but the original one stays the first.
            self._original = self._original or (given if name_scope is None else name_scope)
            original = self._original
        else:
            name, original = given.name, given.original_name_scope
        settings = {key: first_given(self._settings[key], getattr(base, key)) for key in INHERITED}
        getter = base.custom_getter
        if self._custom_getter is not None:
            getter = _chained_getter(self._custom_getter, getter)
        return VariableScope(
            self._reuse or base.reuse, name=name, name_scope=original, custom_getter=getter,
            constraint=self._constraint, **settings,
        )  # fmt: skip


@contextlib.contextmanager
def variable_op_scope(
    values: Iterable[TensorLike | None] | None,
    name_or_scope: ScopeLike,
    default_name: str | None = None,
    *settings: Any,
    **more_settings: Any,
) -> Iterator[VariableScope]:
    """The former form of `variable_scope`, whose further arguments it takes from `initializer` on.

    Args:
        values: tensors that settle which graph the block belongs to.
        name_or_scope: the scope's name, or a VariableScope to go back to.
        default_name: the name when `name_or_scope` is None, made unique.
        settings, more_settings: further arguments of `variable_scope`.
    """
    tf_logging.warn(
        "tf.variable_op_scope(values, name, default_name) is deprecated, use tf.variable_scope(name, default_name, values)"
    )
    with variable_scope(name_or_scope, default_name, values, *settings, **more_settings) as scope:
        yield scope
