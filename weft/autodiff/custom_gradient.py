"""custom_gradient: a function of tensors together with the gradient that it says it has."""

from __future__ import annotations

import functools
import inspect
import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import forget_gradient, register_gradient
from weft.ops.array.identity import identity_n

_NUMBERS: Final = itertools.count(1)


def custom_gradient(f: Callable[..., object] | None = None) -> Callable[..., Any]:
    """Decorate a function that returns its result and a function for its gradient.

        @tf.custom_gradient
        def log1pexp(x):
            e = tf.exp(x)
            return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    The gradient function takes one gradient per result and returns one per argument; when the function uses resource
    variables, it also takes `variables` and returns a pair with the list of the variables' gradients.

    Args:
        f: the function; a decorator is returned when None.
    """
    if f is None:
        return custom_gradient
    function = f

    @functools.wraps(function)
    def decorated(*args: object, **kwargs: object) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled."
            )
        return _call(function, args)

    return decorated


def _call(f: Callable[..., Any], args: Sequence[Any]) -> Any:
    inputs = _map(convert_to_tensor, list(args))
    before = _all_variables()
    returned = f(*inputs)
    if not (isinstance(returned, tuple | list) and len(returned) == 2 and callable(returned[1])):
        # Of the class that taking a pair apart has.
        kind = ValueError if isinstance(returned, tuple | list) and len(returned) != 2 else TypeError
        raise kind(
            f"The function {getattr(f, '__name__', f)!r} of tf.custom_gradient must return a pair, its result and a function "
            f"that makes the arguments' gradients of those of the results, `return y, lambda dy: dy`. Got {returned!r}"
        )
    result, grad_fn = returned
    _check_resources(f, _all_variables() - before)
    arguments, results = list(_flat(inputs)), [convert_to_tensor(each) for each in _flat(result)]
    variables = _resource_variables_between(arguments, results)
    _check_accepts_variables(grad_fn, variables)
    _note_identities(len(results))

    def rule(_: Operation, *gradients: Any) -> list[Any]:
        # The node's inputs are results, arguments and variables; the gradient goes to the last two.
        return [None] * len(results) + _gradients_of(grad_fn, gradients[: len(results)], variables)

    name = f"CustomGradient-{next(_NUMBERS)}"
    register_gradient(name, rule)
    with get_default_graph().gradient_override_map({"IdentityN": name}):
        copies = identity_n([*results, *arguments, *(variable.handle for variable in variables)], name=None)
    if get_default_graph().runs_eagerly:
        # Each call of a `tf.py_function` makes another graph.
        weakref.finalize(copies[0].op, forget_gradient, name)
    left = iter(copies[: len(results)])
    return _map(lambda _: next(left), result)


def _note_identities(count: int) -> None:
    """Take the names of the Identity nodes that TensorFlow has here, and count them: seeds go by the count."""
    graph = get_default_graph()
    for _ in range(count):
        graph.unique_name("Identity")
    graph.node_count.total += count


def _all_variables() -> set[Any]:
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)
    return {variable for key in keys for variable in get_default_graph().get_collection(key)}


def _check_resources(f: Callable[..., object], made: set[Any]) -> None:
    wrong = sorted(variable.name for variable in made if _handle_op(variable) is None)
    if wrong:
        raise TypeError(
            "All variables used by a function wrapped with @custom_gradient must be `ResourceVariable`s. "
            "Ensure that no `variable_scope` is created with `use_resource=False`. "
            f"{getattr(f, '__name__', 'It')} made {', '.join(wrong)}."
        )


def _check_accepts_variables(grad_fn: Callable[..., object], variables: Sequence[object]) -> None:
    parameters = inspect.signature(grad_fn).parameters
    accepts = "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if variables and not accepts:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must accept a keyword argument "
            f"'variables'. It uses {list(variables)}"
        )


def _gradients_of(grad_fn: Callable[..., Any], incoming: Sequence[Any], variables: Sequence[Any]) -> list[Any]:
    if not variables:
        return list(_flat(grad_fn(*incoming)))
    input_gradients, variable_gradients = grad_fn(*incoming, variables=list(variables))
    if len(variable_gradients) != len(variables):
        raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
    return [*_flat(input_gradients), *variable_gradients]


def _resource_variables_between(arguments: Sequence[Tensor], results: Sequence[Tensor]) -> list[Any]:
    """The resource variables that the results depend on other than through the arguments, by name."""
    ends = {tensor.op for tensor in arguments}
    seen: set[Operation] = set()
    stack = [tensor.op for tensor in results]
    while stack:
        op = stack.pop()
        if op not in seen and op not in ends:
            seen.add(op)
            stack.extend(tensor.op for tensor in op.inputs)
    found = {variable for variable in _all_variables() if _handle_op(variable) in seen}
    return sorted(found, key=lambda variable: variable.name)


def _handle_op(variable: object) -> Operation | None:
    handle = getattr(variable, "handle", None)
    return handle.op if isinstance(handle, Tensor) else None


def _flat(structure: object) -> Iterator[Any]:
    if isinstance(structure, list | tuple):
        for item in structure:
            yield from _flat(item)
    elif isinstance(structure, dict):
        for key in sorted(structure):
            yield from _flat(structure[key])
    else:
        yield structure


def _map(function: Callable[[Any], object], structure: object) -> Any:
    """The same nesting of lists, tuples and dicts, with `function` applied to each part, in the order of `_flat`."""
    if isinstance(structure, dict):
        made = {key: _map(function, structure[key]) for key in sorted(structure)}
        return {key: made[key] for key in structure}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_map(function, item) for item in structure))
    if isinstance(structure, list | tuple):
        return type(structure)(_map(function, item) for item in structure)
    return function(structure)
