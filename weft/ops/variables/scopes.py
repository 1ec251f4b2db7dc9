"""VariableScope and the scopes that are open: per graph and thread, with the names that were opened in them.

They are kept in collections of the graph, as TensorFlow keeps them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from weft.framework.building.aliases import (
    Constraint,
    DeviceLike,
    DTypeLike,
    Getter,
    Initializer,
    Partitioner,
    Regularizer,
    ShapeLike,
    TensorLike,
)
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.variables.variable import Variable, set_default_use_resource
from weft.ops.variables.variable_store import Reuse, VariableStore

_STORE_KEY: Final = ("__variable_store",)
_SCOPES_KEY: Final = ("__varscope",)
INHERITED: Final = ("initializer", "regularizer", "caching_device", "partitioner", "dtype", "use_resource")
"""The settings that a scope inherits from the one around it where it is given none."""
_INHERITED_BY_VARIABLES: Final = (*INHERITED, "reuse", "custom_getter", "constraint")


class VariableScope:
    """The defaults and the name prefix that `get_variable` uses; what `with tf.variable_scope(...) as scope` gives.

    Passing it to `variable_scope` again goes back to it, wherever that is.

    Args:
        reuse: True to find variables only, False to make them, `tf.AUTO_REUSE` for either.
        name: the prefix of names, without a slash at its end.
        initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource, constraint: what
            `get_variable` takes where its own argument of that name is None.
        name_scope: the name scope of the nodes, as it was when the scope was made.
    """

    __repr__ = printed("tf")

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
        """Set the default initializer.

        Args:
            initializer: the initializer of variables that are made without one.
        """
        self._initializer = initializer

    def set_dtype(self, dtype: DTypeLike) -> None:
        """Set the default type.

        Args:
            dtype: the type of variables that are made without one.
        """
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        """Set whether variables are resource variables by default.

        Args:
            use_resource: None for the default of TensorFlow 1.x, reference variables.
        """
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Regularizer | None) -> None:
        """Set the default regularizer.

        Args:
            regularizer: a function of a variable that gives a loss, for those made without one.
        """
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: DeviceLike) -> None:
        """Set the default caching device.

        Args:
            caching_device: where the value of a variable is kept for those who read it.
        """
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Partitioner | None) -> None:
        """Set the default partitioner.

        Args:
            partitioner: a function of shape and dtype that gives the number of parts along each dimension.
        """
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Getter | None) -> None:
        """Set the default custom getter.

        Args:
            custom_getter: called in place of the function that makes a variable, which is its first argument.
        """
        self._custom_getter = custom_getter

    def get_collection(self, name: str) -> list[Variable]:
        """The items of a collection whose names are in this scope."""
        return get_default_graph().get_collection(name, f"{self._name}/" if self._name else "")

    def trainable_variables(self) -> list[Variable]:
        """The trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Variable]:
        """The global variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Variable]:
        """The local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self, var_store: VariableStore, name: str, shape: ShapeLike = None, dtype: DTypeLike | None = None,
        initializer: Initializer | TensorLike | None = None, **options: object,
    ) -> Variable:  # fmt: skip
        """The variable of this name in this scope, found or made; `options` are the further arguments of `tf.get_variable`.

        Args:
            var_store: where variables are looked up by their full names.
            shape: its shape; None where the initializer is a value.
            dtype: its type; the scope's when None.
            initializer: makes its first value; the scope's when None.
            options: the further arguments of `tf.get_variable`, by name.

        Raises:
            ValueError: it exists and is not to be reused, or the other way round, or shape and initializer do not go
                together.
        """
        # Names of variables don't depend on the name scopes that are open.
        with get_default_graph().name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                found = convert_to_tensor(initializer).dtype.base_dtype
                if found != dtype:
                    wanted = dtypes.as_dtype(dtype).name
                    raise ValueError(
                        f"Initializer type '{found}' and explicit dtype '{dtype}' don't match. Variable {name!r} takes the "
                        f"type of its initial value: leave out dtype, or convert the value, such as value.astype('{wanted}')."
                    )
            given = {**options, "dtype": dtype, "initializer": initializer}
            inherited = {key: first_given(given.get(key), getattr(self, key)) for key in _INHERITED_BY_VARIABLES}
            full_name = f"{self._name}/{name}" if self._name else name
            variable: Variable = var_store.get_variable(full_name, shape, **{**given, **inherited})
            return variable


# A scope to go back to, or the name of one to open.
ScopeLike: TypeAlias = "VariableScope | str | None"


def first_given(given: object, default: object) -> Any:
    """What was given, or the default for None."""
    return default if given is None else given


class OpenScopes(threading.local):
    """Per thread: the open scope of one graph, and how often each name was opened inside the present one."""

    def __init__(self) -> None:
        super().__init__()
        self.current = VariableScope(False)
        self.counts: dict[str, int] = {}
        # For each scope the names that were opened inside of it since it was last forgotten.
        self._inside: dict[str, set[str]] = {}

    def opened(self, name: str) -> None:
        """Count a scope of this full name."""
        self.counts[name] = self.counts.get(name, 0) + 1
        end = name.rfind("/")
        while end > 0:
            self._inside.setdefault(name[:end], set()).add(name)
            end = name.rfind("/", 0, end)

    def forget_inside(self, name: str) -> None:
        """Forget the scopes that were opened inside the one of this name."""
        for key in self._inside.pop(name, ()):
            self.counts[key] = 0

    def unique(self, prefix: str) -> str:
        """The prefix, with a number where it was opened inside the present scope before."""
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


def open_scopes() -> OpenScopes:
    """The open scopes of the default graph, or of the graph that a function is built in."""
    return cast("OpenScopes", _kept_in_graph(_SCOPES_KEY, OpenScopes))


def default_variable_store() -> VariableStore:
    """The variables of the default graph by name."""
    return cast("VariableStore", _kept_in_graph(_STORE_KEY, VariableStore))


def get_variable_scope() -> VariableScope:
    """The open variable scope.

    >>> with tf.variable_scope("a"):
    ...     print(tf.get_variable_scope().name)
    a

    Returns:
        The VariableScope.
    """
    return open_scopes().current


set_default_use_resource(lambda: get_variable_scope().use_resource)
