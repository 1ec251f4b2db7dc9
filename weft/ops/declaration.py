"""The `op` decorator, which turns a kernel into a declared operation and into the function that builds its nodes."""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, Final, Never, ParamSpec, Protocol, TypeAlias, TypeVar, Unpack, overload

import numpy as np

from weft.framework.building.aliases import ArrayModule
from weft.framework.building.op_builder import build
from weft.framework.nodes.node_errors import ShapeMisfit
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.attr_limits import Limits
from weft.framework.op_types.op_def import REQUIRED, OpDef, Traits
from weft.framework.op_types.op_def import not_differentiable as not_differentiable
from weft.framework.op_types.op_role import Role as Role
from weft.framework.registry import op_registry
from weft.framework.types.dims import Dims, broadcast_dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.dispatch import fallback

Infer = Callable[[Operation], Sequence[Dims]]
Gradient = Callable[..., Any] | None
_Array: TypeAlias = np.ndarray[Any, Any]
# What a node is given: an input or an attribute, whose types the signature of its op has.
_Given: TypeAlias = Any
# What a kernel is called with before its inputs: the module of its arrays, or an OpContext.
_Context: TypeAlias = Any


_Inputs = ParamSpec("_Inputs")
_Made = TypeVar("_Made", covariant=True)


class Builder(Protocol[_Inputs, _Made]):
    """The function that adds nodes of an op: it takes what the kernel takes after its context, and a name.

    No type can say that the attributes, which a kernel takes by name alone, may follow the inputs by position: two positional
    arguments or more are not looked at by type checkers.
    """

    @overload
    def __call__(self, *inputs: _Inputs.args, **attrs: _Inputs.kwargs) -> _Made: ...
    @overload
    def __call__(self, *inputs: _Given, name: str | None, **attrs: _Given) -> _Made: ...
    @overload
    def __call__(self, first: _Given, second: _Given, /, *more: _Given) -> _Made: ...


class SourceBuilder(Protocol):
    """The function that adds nodes of an op without inputs and outputs."""

    def __call__(self, name: str | None = None) -> Operation: ...


class Decorator(Protocol):
    """Turns a kernel into the builder of its nodes; the type of the kernel's `Result` tells what that returns.

    A kernel whose result is annotated as Any (one that returns a variable's new value for no output) has a builder of Any.
    So that the type checker finds it, a gradient rule that names ops declared further down, or its own, is a function with
    a name, not a lambda.
    """

    @overload
    def __call__(self, kernel: Callable[..., Never]) -> Any: ...
    @overload
    def __call__(self, kernel: Callable[[ArrayModule], tuple[()]]) -> SourceBuilder: ...
    @overload
    def __call__(self, kernel: Callable[Concatenate[_Context, _Inputs], _Array]) -> Builder[_Inputs, Tensor]: ...
    @overload
    def __call__(self, kernel: Callable[_Inputs, _Array]) -> Builder[_Inputs, Tensor]: ...
    @overload
    def __call__(
        self, kernel: Callable[Concatenate[_Context, _Inputs], tuple[_Array, _Array]]
    ) -> Builder[_Inputs, tuple[Tensor, Tensor]]: ...
    @overload
    def __call__(
        self, kernel: Callable[Concatenate[_Context, _Inputs], tuple[_Array, _Array, _Array]]
    ) -> Builder[_Inputs, tuple[Tensor, Tensor, Tensor]]: ...
    @overload
    def __call__(
        self, kernel: Callable[Concatenate[_Context, _Inputs], tuple[_Array, _Array, _Array, _Array]]
    ) -> Builder[_Inputs, tuple[Tensor, Tensor, Tensor, Tensor]]: ...
    @overload
    def __call__(self, kernel: Callable[Concatenate[_Context, _Inputs], list[_Array]]) -> Builder[_Inputs, list[Tensor]]: ...
    @overload
    def __call__(
        self, kernel: Callable[Concatenate[_Context, _Inputs], tuple[()]] | Callable[Concatenate[_Context, _Inputs], None]
    ) -> Builder[_Inputs, Operation]: ...


def op(
    name: str,
    signature: str,
    *,
    infer: Infer,
    gradient: Gradient,
    types: Mapping[str, Sequence[DType]] | None = None,
    defaults: Mapping[str, object] | None = None,
    limits: Limits | None = None,
    **traits: Unpack[Traits],
) -> Decorator:
    """Declare an op by its kernel; the decorated name builds a node and returns its output, outputs or the Operation.

    Args:
        name: the op type, TensorFlow's where it has one.
        signature: inputs and outputs with their types; see `weft.framework.op_types.op_signature`.
        infer: the shape rule, `infer(op) -> one Dims per output`; ValueError when the inputs' shapes don't fit.
        gradient: `gradient(op, *output_grads)` giving a gradient (or None) for each input; `not_differentiable` when
            there is none to give, None when a program that wants one is to be told that the op has no rule; `vjp` (in
            `weft.ops.symbolic_gradient`) to take JAX's derivative of the kernel.
        types: the dtypes that each type attribute may take.
        defaults: defaults of attributes that the signature names.
        limits: those of attributes, where they differ from what `attr_limits` has for all attributes of a name.
        **traits: what passes and the runtime know of the op: its role, the state that it touches, what must be known to
            compile it; `weft.framework.op_types.op_def.OpDef` says what each means.
    """

    def decorate(kernel: Callable[..., object]) -> Callable[..., Any]:
        definition = op_registry.declare(
            name, signature, kernel, infer=infer, gradient=gradient, types=types, defaults=defaults, limits=limits, **traits
        )
        return _builder(definition, kernel)

    return decorate


def _builder(definition: OpDef, kernel: Callable[..., object]) -> Callable[..., Any]:
    count = len(definition.inputs)
    names = [arg.name for arg in definition.inputs]
    # As in TensorFlow's generated functions, attributes and the name may follow the inputs by position.
    trailing = (*_positional_attrs(definition), "name")
    known = frozenset((*names, *definition.attrs, "name"))
    plain_outputs = not any(arg.is_list for arg in definition.outputs)
    output_count = len(definition.outputs)

    @functools.wraps(kernel)
    def add(*inputs: _Given, name: str | None = None, **attrs: _Given) -> Any:
        if len(inputs) < count:
            inputs = (*inputs, *_given_by_name(kernel, attrs, names[len(inputs) :]))
        elif len(inputs) > count:
            given = dict(zip(trailing, inputs[count:], strict=False))
            _check_extra(kernel, inputs, count + len(trailing), given, attrs)
            attrs = {**given, **attrs}
            inputs, name = inputs[:count], attrs.pop("name", name)
        if not attrs.keys() <= known:
            unknown = next(key for key in attrs if key not in known)
            raise TypeError(f"{kernel.__name__}() got an unexpected keyword argument {unknown!r}")
        try:
            node = build(definition, inputs, attrs, name)
        except (TypeError, ValueError):
            result = fallback(add, inputs, attrs if name is None else {**attrs, "name": name})
            if result is NotImplemented:
                raise
            return result
        if not plain_outputs:
            return unpack_outputs(node)
        if output_count == 1:
            return node.outputs[0]
        return _results(definition)(*node.outputs) if output_count else node

    add.op_def = definition  # type: ignore[attr-defined]
    add.__signature__ = signature_of(definition)  # type: ignore[attr-defined]
    return add


def definition_of(builder: Callable[..., object]) -> OpDef:
    """The declaration behind a function that `op` made: how code names the very op that it means."""
    definition: OpDef = builder.op_def  # type: ignore[attr-defined]
    return definition


# What later versions of ops have, and programs of 1.x don't pass: it cannot stand before the name.
_LATER_ATTRS: Final = frozenset(("bad_indices_policy", "explicit_paddings", "incompatible_shape_error"))


def _positional_attrs(definition: OpDef) -> tuple[str, ...]:
    """The attributes that a caller may give by position: not those that the inputs' types tell."""
    inferred = {arg.type_list_attr or arg.type_attr for arg in definition.inputs}
    return tuple(key for key in definition.kernel_attrs if key not in inferred and key not in _LATER_ATTRS)


def signature_of(definition: OpDef) -> inspect.Signature:
    """The signature of a builder: the inputs, the attributes in order of declaration, the node's name."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    inputs = [inspect.Parameter(arg.name, kind) for arg in definition.inputs]
    attrs = [inspect.Parameter(key, kind, default=definition.attrs[key].default) for key in _positional_attrs(definition)]
    name = inspect.Parameter("name", kind, default=None)
    required = [each.replace(default=each.empty) for each in attrs if each.default is REQUIRED]
    return inspect.Signature([*inputs, *required, *(each for each in attrs if each.default is not REQUIRED), name])


def _given_by_name(kernel: Callable[..., object], attrs: dict[str, _Given], names: Sequence[str]) -> list[_Given]:
    """The inputs of these names, taken out of the keyword arguments; TypeError, as of any function, when some are missing."""
    missing = [repr(key) for key in names if key not in attrs]
    if missing:
        raise TypeError(
            f"{kernel.__name__}() missing {len(missing)} required positional argument{'s' if len(missing) > 1 else ''}: "
            f"{' and '.join(missing)}"
        )
    return [attrs.pop(key) for key in names]


def _check_extra(
    kernel: Callable[..., object],
    inputs: Sequence[object],
    limit: int,
    given: Mapping[str, object],
    attrs: Mapping[str, object],
) -> None:
    """Raise TypeError when there are too many positional arguments, or one of them is also given by name."""
    if len(inputs) > limit:
        raise TypeError(f"{kernel.__name__}() takes at most {limit} positional arguments but {len(inputs)} were given")
    for key in given:
        if key in attrs:
            raise TypeError(f"{kernel.__name__}() got multiple values for argument {key!r}")


def unpack_outputs(node: Operation) -> Any:
    """A node's outputs, list arguments as lists: a named tuple, as TensorFlow's; a single argument comes alone."""
    parts = [part for _, part in group(node.op_def.outputs, node.attrs, node.outputs)]
    return parts[0] if len(parts) == 1 else _results(node.op_def)(*parts)


@functools.cache
def _results(definition: OpDef) -> Callable[..., tuple[Any, ...]]:
    return namedtuple(definition.name, [each.name for each in definition.outputs], rename=True)


# Shape rules that many ops share.


def scalar_shape(op: Operation) -> list[Dims]:
    """Every output is a scalar."""
    return [()] * len(op.outputs)


def unknown(op: Operation) -> list[Dims]:
    """Every output is of unknown shape."""
    return [None] * len(op.outputs)


def same_as_input(op: Operation) -> list[Dims]:
    """Every output has the shape of the first input."""
    return [op.inputs[0].dims] * len(op.outputs)


def one_shape(op: Operation) -> list[Dims]:
    """The inputs have one shape, and so have the outputs."""
    dims = op.inputs[0].dims
    for tensor in op.inputs[1:]:
        dims = merge_dims(dims, tensor.dims)
    return [dims] * len(op.outputs)


def one_count(op: Operation) -> list[Dims]:
    """The inputs have one number of elements; the outputs have the shape of the first."""
    counts = [tensor.shape.num_elements() for tensor in op.inputs]
    first = counts[0]
    for count in counts[1:]:
        if None not in (first, count) and first != count:
            raise ValueError(f"The two arguments to a cwise op must have same number of elements, got {first} and {count}")
    return same_as_input(op)


def no_outputs(op: Operation) -> list[Dims]:
    """There are no outputs."""
    return []


def broadcast(op: Operation) -> list[Dims]:
    """The output has the shape that the inputs broadcast to."""
    dims = op.inputs[0].dims
    for tensor in op.inputs[1:]:
        try:
            dims = broadcast_dims(dims, tensor.dims)
        except ValueError:
            raise ShapeMisfit(_sizes_differ(dims, tensor.dims), _BROADCASTING) from None
    return [dims]


_BROADCASTING = (
    "Sizes have to be equal or 1, counted from the last dimension; tf.expand_dims and tf.reshape bring operands together."
)


def _sizes_differ(a: Dims, b: Dims) -> str:
    """The message of TensorFlow for two shapes that cannot be broadcast: the first sizes that differ."""
    assert a is not None
    assert b is not None
    rank = max(len(a), len(b))
    pairs = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
    x, y = next((x, y) for x, y in pairs if x != y and None not in (x, y) and 1 not in (x, y))
    return f"Dimensions must be equal, but are {x} and {y}"


def from_attr(attr: str) -> Infer:
    """The output has the shape that an attribute holds."""

    def infer(op: Operation) -> list[Dims]:
        return [op.attrs[attr]] * len(op.outputs)

    return infer


def rank_of(tensor: Tensor) -> int | None:
    """The rank, or None."""
    return None if tensor.dims is None else len(tensor.dims)
