"""get_variable: finds or makes a variable by name, in the open variable scope."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Final

from weft.framework.building.aliases import (
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
)
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.types import dtypes
from weft.ops.variables.options import VariableAggregation, VariableSynchronization
from weft.ops.variables.scopes import default_variable_store, get_variable_scope
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import Reuse


def get_variable(
    name: str | None,
    shape: ShapeLike = None,
    dtype: DTypeLike | None = None,
    initializer: Initializer | TensorLike | None = None,
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
) -> Variable:
    """Find or make a variable by name in the open variable scope, whose settings stand in for arguments that are None.

    Args:
        name: the name inside the scope; outside of all scopes None for `Variable`, `Variable_1` and so on.
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

    Returns:
        The variable, or a PartitionedVariable where there is a partitioner.

    Raises:
        ValueError: the scope's reuse setting forbids what would have to be done, or arguments don't fit.
        TypeError: `name` is no string, as where the shape stands first.

    >>> with tf.variable_scope("layer"):
    ...     w = tf.get_variable("w", [2, 3])
    >>> w
    <tf.Variable 'layer/w:0' shape=(2, 3) dtype=float32_ref>
    """
    if isinstance(name, bytes):
        name = name.decode()
    if name is None and not get_variable_scope().name:
        name = get_default_graph().unique_name("Variable", mark_as_used=False)  # as tf.Variable names it
    if not isinstance(name, str):
        raise TypeError(f"The name of a variable must be a string, got {name!r}: tf.get_variable(name, shape), the name first")
    if not name and not get_variable_scope().name:
        raise ValueError("'' is not a valid node name: a variable needs a name, which follows that of its variable scope")
    found: Variable = get_variable_scope().get_variable(
        default_variable_store(), name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
        trainable=trainable, collections=collections, caching_device=caching_device, partitioner=partitioner,
        validate_shape=validate_shape, use_resource=use_resource, custom_getter=custom_getter, constraint=constraint,
        synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip
    return found


_SIGNATURE: Final = inspect.signature(get_variable)


def get_local_variable(*args: object, **kwargs: object) -> Variable:
    """`get_variable`, with the same arguments, for a variable that is local and not trainable.

    Args: those of `tf.get_variable`.
    """
    given = _SIGNATURE.bind(*args, **kwargs).arguments
    collections = [*(given.get("collections") or ()), GraphKeys.LOCAL_VARIABLES]
    return get_variable(**{**given, "trainable": False, "collections": collections})


get_local_variable.__signature__ = _SIGNATURE  # type: ignore[attr-defined]


def create_partitioned_variables(
    shape: Sequence[int], slicing: Sequence[int], initializer: Initializer, dtype: DTypeLike = dtypes.float32,
    trainable: bool = True, collections: Collections = None, name: str | None = None, reuse: Reuse = None,
) -> list[Variable]:  # fmt: skip
    """Make the parts of a variable of `shape` that is cut into `slicing[i]` parts along axis i.

    Args:
        shape: the shape of the whole, known in all dimensions.
        slicing: how many parts there are along each axis; more than 1 along one axis at most.
        initializer: what fills each part: an initializer or a tensor of the whole.
        dtype: the type of the elements.
        trainable: whether optimizers change the parts by default.
        collections: the graph collections to add them to; GLOBAL_VARIABLES when None.
        name: the name of the whole; "PartitionedVariable" when None, made unique.
        reuse: whether the parts are there already; None for what the variable scope says.

    Returns:
        A list of the parts.

    Raises:
        ValueError: `slicing` has another length than `shape`, there is no axis, or the scope has a custom getter.
    """
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
        made = default_variable_store().get_variable(
            scope.name, shape, dtype=dtype, initializer=initializer, regularizer=scope.regularizer, reuse=scope.reuse,
            trainable=trainable, collections=collections, caching_device=scope.caching_device,
            partitioner=lambda **unused: slicing, use_resource=scope.use_resource, constraint=scope.constraint,
        )  # fmt: skip
        return list(made)


def no_regularizer(_: object) -> None:
    """A regularizer that adds nothing, for variables in a scope that has one.

    Args:
        _: the variable's value, which is not looked at.
    """
