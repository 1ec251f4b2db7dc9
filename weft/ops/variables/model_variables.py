"""Variables that layers make and models share: tf.contrib.framework's functions over the graph's collections."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from weft.framework.building.aliases import (
    Collections,
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
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.ops.arg_scope import add_arg_scope
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.options import VariableAggregation, VariableSynchronization
from weft.ops.variables.scopes import ScopeLike, VariableScope, get_variable_scope
from weft.ops.variables.variable import Variable

# Calling the class makes an object of the kind wanted, with more arguments than the class itself takes.
_new_variable: Any = Variable


@add_arg_scope
def variable(
    name: str,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: Initializer | None = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    collections: Collections = None,
    caching_device: DeviceLike | None = None,
    device: DeviceLike | None = None,
    partitioner: Partitioner | None = None,
    custom_getter: Getter | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> VariableLike:
    """`get_variable` on a device; a custom getter is called with the scope's reuse setting.

    Args:
        name: the name inside the scope.
        shape: the shape; left out when `initializer` is a value.
        initializer, regularizer, caching_device, partitioner, custom_getter, use_resource: as of `get_variable`.
        trainable: whether optimizers change it by default.
        collections: the graph collections to add it to; GLOBAL_VARIABLES when None.
        device: the device, or a function of the operation that names it.
        dtype: the type; float32 unless the scope says otherwise.
        synchronization, aggregation: recorded.

    Returns:
        The variable.

    Raises:
        ValueError: as of `get_variable`.
    """
    getter: Any = get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=get_variable_scope().reuse)
    with get_default_graph().device(device or ""):
        return getter(
            name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
            collections=list(dict.fromkeys(collections or [GraphKeys.GLOBAL_VARIABLES])), caching_device=caching_device,
            partitioner=partitioner, use_resource=use_resource, synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip


@add_arg_scope
def model_variable(name: str, *args: Any, collections: Collections = None, **kwargs: Any) -> VariableLike:
    """`variable`, in the collections GLOBAL_VARIABLES and MODEL_VARIABLES too.

    Args:
        name: the name inside the scope.
        args: further arguments of `variable`, by position.
        collections: the graph collections to add it to, besides the two.
        kwargs: further arguments of `variable`, by name.

    Returns:
        The variable.

    Raises:
        ValueError: as of `get_variable`.
    """
    kwargs["collections"] = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, *args, **kwargs)


def local_variable(
    initial_value: TensorLike | Callable[[], TensorLike],
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> VariableLike:
    """A variable of this process, which is not trained and not saved.

    Args: those of `tf.contrib.framework.global_variable`.
    """
    return _untrained(GraphKeys.LOCAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def global_variable(
    initial_value: TensorLike | Callable[[], TensorLike],
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> VariableLike:
    """A variable that the cluster shares, which is not trained.

    Args:
        initial_value: a tensor, what becomes one, or a function without arguments that returns one.
        validate_shape: whether the initial value's shape must be known.
        use_resource: whether to make a resource variable; the variable scope's choice when None.
    """
    return _untrained(GraphKeys.GLOBAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def _untrained(
    collection: str,
    initial_value: TensorLike | Callable[[], TensorLike],
    validate_shape: bool,
    name: str | None,
    use_resource: bool | None,
) -> VariableLike:
    return _new_variable(
        initial_value, trainable=False, collections=[collection], validate_shape=validate_shape, name=name,
        use_resource=use_resource,
    )  # fmt: skip


def add_model_variable(var: Variable) -> None:
    """Add a variable to the collection MODEL_VARIABLES, unless it is there.

    Args:
        var: the variable.
    """
    graph = get_default_graph()
    if not any(var is each for each in graph.get_collection(GraphKeys.MODEL_VARIABLES)):
        graph.add_to_collection(GraphKeys.MODEL_VARIABLES, var)


def get_variables(
    scope: ScopeLike = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[VariableLike]:
    """The variables of a collection.

    Args:
        scope: those whose names it matches from the start, a regular expression; or a variable scope.
        suffix: those whose op's name ends so.
        collection: the collection.
    """
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = f"{scope or ''}.*{suffix}{'' if ':' in suffix else ':'}"
    return get_default_graph().get_collection(collection, scope)


def get_model_variables(scope: ScopeLike = None, suffix: str | None = None) -> list[VariableLike]:
    """`get_variables` of MODEL_VARIABLES.

    Args: those of `tf.contrib.framework.get_local_variables`.

    Returns:
        A new list of variables.
    """
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: ScopeLike = None, suffix: str | None = None) -> list[VariableLike]:
    """`get_variables` of LOCAL_VARIABLES.

    Args:
        scope: the name of a scope, a VariableScope, or None for all variables.
        suffix: what the names end with; None for anything.
    """
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: ScopeLike = None, suffix: str | None = None) -> list[VariableLike]:
    """`get_variables` of TRAINABLE_VARIABLES.

    Args: those of `tf.contrib.framework.get_local_variables`.
    """
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: ScopeLike = None) -> list[VariableLike]:
    """The global variables whose op's name ends so.

    Args:
        suffix: the end of the name.
        scope: the name of a scope, a VariableScope, or None for all variables.
    """
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: ScopeLike = None) -> list[VariableLike]:
    """The global variables whose op's name without its scopes is this.

    Args:
        given_name: the name.
        scope: the name of a scope, a VariableScope, or None for all variables.
    """
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> VariableLike:
    """The variable with this op name; ValueError when there is none.

    Args:
        var_op_name: the whole name, with its scopes and without ":0".
    """
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variables_to_restore(include: Sequence[str] | None = None, exclude: Sequence[str] | None = None) -> list[VariableLike]:
    """The global variables in the scopes `include` (all when None) that are not in those of `exclude`.

    Args:
        include, exclude: lists of names of scopes, or None.

    Raises:
        TypeError: an argument is no list or tuple.
    """
    for name, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, list | tuple):
            raise TypeError(f"{name} is provided but is not a list or a tuple.")
    found = [var for scope in ([None] if include is None else include) for var in get_variables(scope)]
    left_out = {var for scope in exclude or () for var in get_variables(scope)}
    return [var for var in found if var not in left_out]


def filter_variables(
    var_list: Sequence[VariableLike], include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None, reg_search: bool = True,
) -> list[VariableLike]:  # fmt: skip
    """The variables whose op's name fits some of the first patterns (all when None) and none of the second ones.

    With `reg_search` a pattern may fit anywhere in the name, else from its start on.

    Args:
        var_list: a list of variables.
        include_patterns, exclude_patterns: lists of regular expressions.
        reg_search: whether they may fit anywhere in the name.
    """
    fits = re.search if reg_search else re.match
    included = [
        var for var in var_list if include_patterns is None or any(fits(each, var.op.name) for each in include_patterns)
    ]
    return [var for var in included if not any(fits(each, var.op.name) for each in exclude_patterns or ())]
