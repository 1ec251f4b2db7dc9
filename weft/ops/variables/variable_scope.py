"""variable_scope and get_variable: variables by name, with defaults that scopes set and sharing that scopes allow.

A variable's name comes from the variable scopes alone; an op's name from the name scopes, of which each variable
scope opens one.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, cast

from weft.framework import dtypes
from weft.framework.aliases import (
    Collections,
    Constraint,
    DeviceLike,
    DTypeLike,
    Getter,
    Initializer,
    Partitioner,
    Regularizer,
    ShapeLike,
    TensorLike,
    VariableLike,
)
from weft.framework.collections import GraphKeys
from weft.framework.graph import Graph, get_default_graph
from weft.framework.op_builder import graph_of
from weft.framework.tensor_conversion import convert_to_tensor
from weft.ops.variables.options import VariableAggregation, VariableSynchronization
from weft.ops.variables.variable import set_default_use_resource
from weft.ops.variables.variable_store import AUTO_REUSE, Reuse, VariableStore
from weft.platform import tf_logging

_STORE_KEY: Final = ("__variable_store",)
_SCOPES_KEY: Final = ("__varscope",)
_INHERITED: Final = ("initializer", "regularizer", "caching_device", "partitioner", "dtype", "use_resource")
_INHERITED_BY_VARIABLES: Final = (*_INHERITED, "reuse", "custom_getter", "constraint")


class VariableScope:
    """The defaults and the name prefix that `get_variable` uses; what `with tf.variable_scope(...) as scope` gives.

    Passing it to `variable_scope` again goes back to it, wherever that is.
    """

    def __init__(
        self,
        reuse: Reuse,
        name: str = "",
        initializer: Initializer | None = None,
        regularizer: Regularizer | None = None,
        caching_device: DeviceLike | None = None,
        partitioner: Partitioner | None = None,
        custom_getter: Getter | None = None,
        name_scope: str = "",
        dtype: DTypeLike = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Constraint | None = None,
    ) -> None:
        self._reuse = reuse
        self._name = name
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint

    @property
    def name(self) -> str:
        """The prefix of variables' names."""
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope opened with it, ending in '/'."""
        return self._name_scope

    @property
    def reuse(self) -> Reuse:
        """True, False or AUTO_REUSE."""
        return self._reuse

    @property
    def initializer(self) -> Initializer | TensorLike | None:
        """The default initializer."""
        return self._initializer

    @property
    def regularizer(self) -> Regularizer | None:
        """The default regularizer."""
        return self._regularizer

    @property
    def caching_device(self) -> DeviceLike:
        """The default caching device."""
        return self._caching_device

    @property
    def partitioner(self) -> Partitioner | None:
        """The default partitioner."""
        return self._partitioner

    @property
    def custom_getter(self) -> Getter | None:
        """The default custom getter."""
        return self._custom_getter

    @property
    def dtype(self) -> DTypeLike:
        """The default type."""
        return self._dtype

    @property
    def use_resource(self) -> bool | None:
        """Whether variables are resources by default."""
        return self._use_resource

    @property
    def constraint(self) -> Constraint | None:
        """The default constraint."""
        return self._constraint

    def reuse_variables(self) -> None:
        """Share existing variables from here on."""
        self._reuse = True

    def set_initializer(self, initializer: Initializer | None) -> None:
        """Set the default initializer."""
        self._initializer = initializer

    def set_dtype(self, dtype: DTypeLike) -> None:
        """Set the default type."""
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        """Set whether variables are resource variables by default."""
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Regularizer | None) -> None:
        """Set the default regularizer."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: DeviceLike) -> None:
        """Set the default caching device."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Partitioner | None) -> None:
        """Set the default partitioner."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Getter | None) -> None:
        """Set the default custom getter."""
        self._custom_getter = custom_getter

    def get_collection(self, name: str) -> list[VariableLike]:
        """The items of a collection whose names are in this scope."""
        return get_default_graph().get_collection(name, f"{self._name}/" if self._name else "")

    def trainable_variables(self) -> list[VariableLike]:
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[VariableLike]:
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[VariableLike]:
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self, var_store: VariableStore, name: str, shape: ShapeLike = None, dtype: DTypeLike | None = None,
        initializer: Initializer | None = None, **options: object,
    ) -> VariableLike:  # fmt: skip
        """The variable of this name in this scope, found or made; `options` are the further arguments of `tf.get_variable`."""
        # Names of variables don't depend on the name scopes that are open.
        with get_default_graph().name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                found = convert_to_tensor(initializer).dtype.base_dtype
                if found != dtype:
                    raise ValueError(f"Initializer type '{found}' and explicit dtype '{dtype}' don't match.")
            given = {**options, "dtype": dtype, "initializer": initializer}
            inherited = {key: _first(given.get(key), getattr(self, key)) for key in _INHERITED_BY_VARIABLES}
            full_name = f"{self._name}/{name}" if self._name else name
            return var_store.get_variable(full_name, shape, **{**given, **inherited})


# A scope to go back to, or the name of one to open.
ScopeLike: TypeAlias = "VariableScope | str | None"


def _first(given: object, default: object) -> Any:
    return default if given is None else given


class _Scopes(threading.local):
    """Per thread: the open scope of one graph, and how often each name was opened inside the present one."""

    def __init__(self) -> None:
        super().__init__()
        self.current = VariableScope(False)
        self.counts: dict[str, int] = {}

    def opened(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def forget_inside(self, name: str) -> None:
        for key in self.counts:
            if key.startswith(f"{name}/"):
                self.counts[key] = 0

    def unique(self, prefix: str) -> str:
        name = f"{self.current.name}/{prefix}" if self.current.name else prefix
        if not self.counts.get(name):
            return prefix
        suffix = 1
        while self.counts.get(f"{name}_{suffix}"):
            suffix += 1
        return f"{prefix}_{suffix}"


def _kept_in_graph(key: Any, make: Callable[[], object]) -> Any:
    graph: Graph = get_default_graph()
    while graph.building_function:
        graph = graph.outer_graph  # type: ignore[attr-defined]
    kept = graph.get_collection_ref(key)
    if not kept:
        kept.append(make())
    return kept[0]


def _scopes() -> _Scopes:
    return cast("_Scopes", _kept_in_graph(_SCOPES_KEY, _Scopes))


def _get_default_variable_store() -> VariableStore:
    return cast("VariableStore", _kept_in_graph(_STORE_KEY, VariableStore))


def get_variable_scope() -> VariableScope:
    """The open variable scope."""
    return _scopes().current


set_default_use_resource(lambda: get_variable_scope().use_resource)


def get_variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool | None = None,
    collections: Collections = None,
    caching_device: DeviceLike | None = None,
    partitioner: Partitioner | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Getter | None = None,
    constraint: Constraint | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> VariableLike:
    """Find or make a variable by name in the open variable scope, whose settings stand in for arguments that are None.

    Args:
        name: the name inside the scope.
        shape: the shape; left out when `initializer` is a value.
        dtype: the type; float32 unless the scope says otherwise.
        initializer: an initializer (object, class or function of shape, dtype and partition_info), a function without
            arguments, or a value. Glorot's uniform one for floats and zeros for other types when nobody says.
        regularizer: a function of the variable; its result goes to REGULARIZATION_LOSSES when the variable is made.
        trainable: whether optimizers change it by default; true when None.
        collections: the graph collections to add it to; GLOBAL_VARIABLES when None.
        caching_device: where to read it once per run for all users.
        partitioner: a function of shape and dtype that says into how many parts to cut each axis.
        validate_shape: whether the initial value's shape must be known.
        use_resource: whether to make a resource variable.
        custom_getter: a function `(getter, name, *args, **kwargs)` that makes or finds the variable instead.
        constraint: a function of the value that optimizers apply after an update.
        synchronization: recorded.
        aggregation: recorded.

    Raises:
        ValueError: the scope's reuse setting forbids what would have to be done, or arguments don't fit.
    """
    return get_variable_scope().get_variable(
        _get_default_variable_store(), name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
        trainable=trainable, collections=collections, caching_device=caching_device, partitioner=partitioner,
        validate_shape=validate_shape, use_resource=use_resource, custom_getter=custom_getter, constraint=constraint,
        synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip


_SIGNATURE: Final = inspect.signature(get_variable)


def get_local_variable(*args: object, **kwargs: object) -> VariableLike:
    """`get_variable`, with the same arguments, for a variable that is local and not trainable."""
    given = _SIGNATURE.bind(*args, **kwargs).arguments
    collections = [*(given.get("collections") or ()), GraphKeys.LOCAL_VARIABLES]
    return get_variable(**{**given, "trainable": False, "collections": collections})


get_local_variable.__signature__ = _SIGNATURE  # type: ignore[attr-defined]


def create_partitioned_variables(
    shape: Sequence[int], slicing: Sequence[int], initializer: Initializer, dtype: DTypeLike = dtypes.float32,
    trainable: bool = True, collections: Collections = None, name: str | None = None, reuse: Reuse = None,
) -> list[VariableLike]:  # fmt: skip
    """Make the parts of a variable of `shape` that is cut into `slicing[i]` parts along axis i."""
    if len(shape) != len(slicing):
        raise ValueError(
            f"The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: {shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        if scope.custom_getter is not None:
            raise ValueError(
                "Private access to _get_partitioned_variable is not allowed when a custom getter is set. Current "
                "custom "
                f"getter: {scope.custom_getter}. It is likely that you're using create_partitioned_variables. If so, "
                "consider instead using get_variable with a non-empty partitioner parameter instead."
            )
        made = _get_default_variable_store().get_variable(
            scope.name, shape, dtype=dtype, initializer=initializer, regularizer=scope.regularizer, reuse=scope.reuse,
            trainable=trainable, collections=collections, caching_device=scope.caching_device,
            partitioner=lambda **unused: slicing, use_resource=scope.use_resource, constraint=scope.constraint,
        )  # fmt: skip
        return list(made)


def no_regularizer(_: object) -> None:
    """A regularizer that adds nothing, for variables in a scope that has one."""


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
    """

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
            raise ValueError("The reuse parameter must be True or False or None.")
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
                self._name_or_scope = given = _scopes().unique(cast("str", self._default_name))
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
        scopes = _scopes()
        before = scopes.current
        base = before if isinstance(given, str) else given
        scope = self._made(base, before, given, name_scope)
        scopes.opened(scope.name)
        counts = dict(scopes.counts)
        scopes.current = scope
        try:
            yield scope
        finally:
            if scopes.current is not scope:
                raise RuntimeError("Improper nesting of variable_scope.")
            if isinstance(given, str):
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
        settings = {key: _first(self._settings[key], getattr(base, key)) for key in _INHERITED}
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
    """The former form of `variable_scope`, whose further arguments it takes from `initializer` on."""
    tf_logging.warn(
        "tf.variable_op_scope(values, name, default_name) is deprecated, use tf.variable_scope(name, default_name, values)"
    )
    with variable_scope(name_or_scope, default_name, values, *settings, **more_settings) as scope:
        yield scope
