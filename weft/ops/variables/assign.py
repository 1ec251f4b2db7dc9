"""assign, scatter and count as functions of variables: the op for a Ref, the method for a resource variable."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.ops.state import reference_state as state


def assign(
    ref: VariableLike,
    value: TensorLike,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Replace the value of a variable; the result is the variable after that.

    Args:
        ref: a variable or its mutable tensor.
        value: a tensor of the variable's type.
        validate_shape: whether the value must have the variable's shape; True when None.
        use_locking: accepted and recorded; updates are always whole.
        name: the node's name.

    Returns:
        The variable's value after it: a reference to the variable, or an operation of a resource variable.

    Raises:
        ValueError: the shapes differ and `validate_shape` is true, or the dtypes do.
        InvalidArgumentError: in a run, the shapes differ.

    >>> v = tf.Variable(1.0)
    >>> sess.run(tf.assign(v, 2.0))
    np.float32(2.0)
    """
    _check_variable(ref, "assign")
    if ref.dtype.is_ref:
        attrs = _given(validate_shape=validate_shape, use_locking=use_locking)
        return state.assign(ref, value, name=name, **attrs)
    updated: Tensor = ref.assign(value, name=name)
    return updated


def _check_variable(ref: object, function: str) -> None:
    if not hasattr(ref, "dtype"):
        kind = type(ref).__name__
        lists = (
            "; of lists, assign each: [tf.assign(v, x) for v, x in zip(variables, values)]"
            if isinstance(ref, list | tuple)
            else ""
        )
        raise AttributeError(f"{kind!r} object has no attribute 'dtype': {function} takes a tf.Variable, got {ref!r}{lists}")


def assign_add(ref: VariableLike, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """Add to a variable; the result is the variable after that.

    Args:
        ref: a variable of a numeric dtype.
        value: a tensor of its shape and dtype.
        use_locking: recorded; updates are always whole.

    Returns:
        The variable's value after it: a reference to the variable, or an operation of a resource variable.

    Raises:
        ValueError: known shapes differ, or the dtypes do.
        FailedPreconditionError: in a run, the variable has no value yet.
    """
    _check_variable(ref, "assign_add")
    if ref.dtype.is_ref:
        return state.assign_add(ref, value, name=name, **_given(use_locking=use_locking))
    updated: Tensor = ref.assign_add(value)
    return updated


def assign_sub(ref: VariableLike, value: TensorLike, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """Subtract from a variable; the result is the variable after that.

    Args: those of `tf.assign_add`.
    """
    _check_variable(ref, "assign_sub")
    if ref.dtype.is_ref:
        return state.assign_sub(ref, value, name=name, **_given(use_locking=use_locking))
    updated: Tensor = ref.assign_sub(value)
    return updated


def is_variable_initialized(variable: VariableLike, name: str | None = None) -> Tensor:
    """A scalar bool tensor: whether the variable has a value.

    Args:
        variable: a variable.

    Returns:
        [] bool tensor.
    """
    if variable.dtype.is_ref:
        return state.is_variable_initialized(variable, name=name)
    found: Tensor = variable.is_initialized(name=name)
    return found


def count_up_to(ref: VariableLike, limit: int, name: str | None = None) -> Tensor:
    """The counter before it is raised by one; the run raises OutOfRangeError when it has reached `limit`.

    Args:
        ref: a scalar variable of int32 or int64.
        limit: the number at which it stops.
    """
    if ref.dtype.is_ref:
        node: Tensor = state.count_up_to(ref, limit=limit, name=name)
        return node
    found: Tensor = ref.count_up_to(limit)
    return found


def _given(**attrs: object) -> dict[str, object]:
    return {key: value for key, value in attrs.items() if value is not None}
