"""OpDef: everything weft knows about one kind of operation.

An op is declared once, by the `op` decorator on its kernel:

    @op("MatMul", "a: T, b: T -> product: T", infer=..., gradient=...)
    def mat_mul(xp, a, b, *, transpose_a: bool = False, transpose_b: bool = False):
        ...

`op_signature` has the notation of the string, `op_registry` all declarations by name. A kernel's keyword-only parameters are
further attributes, typed by their annotations, with their defaults. A kernel whose first parameter is `xp` gets the array
namespace (NumPy, or jax.numpy inside a compiled stage); one whose first parameter is `ctx` is a *host op*: it runs on NumPy
values only and may block or touch the task's state through the context.

The decorated name becomes the function that adds such a node to the default graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypedDict, TypeVar

import numpy as np
from tensorboard.compat.proto import op_def_pb2

from weft.framework.op_types.op_role import Role
from weft.framework.types import attr_value
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType

REQUIRED: Final = inspect.Parameter.empty

_T = TypeVar("_T")

OfNode: TypeAlias = Callable[[Any], _T]
"""What is told of a node; its Operation is made of an OpDef, so that this module cannot name it."""


class AtLeast(int):
    """A rank that an input must have or exceed, in a declaration's `ranks`."""

    __slots__ = ()


class AtMost(int):
    """A rank that an input must not exceed, in a declaration's `ranks`."""

    __slots__ = ()


Rule: TypeAlias = Callable[..., Any]
"""A kernel, a gradient rule or a check: its parameters are the op's own."""


@dataclass(frozen=True, slots=True)
class ArgDef:
    """One input or output: its name, how it is typed and whether it is a list.

    Exactly one of `dtype` (a fixed type), `type_attr` (a type attribute) and `type_list_attr` (a list of types) is set;
    `number_attr` names the attribute that counts a list of one type.
    """

    name: str
    dtype: DType | None = None
    type_attr: str = ""
    type_list_attr: str = ""
    number_attr: str = ""
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        """Whether this argument is a list of tensors."""
        return bool(self.number_attr or self.type_list_attr)


@dataclass(frozen=True, slots=True)
class AttrDef:
    """One attribute: its kind in TensorFlow's notation, its default (REQUIRED when there is none) and the types allowed.

    An integer is at least `minimum`, as is the length of a list; a string is one of `choices`, where there are any.
    """

    name: str
    kind: str
    default: Any = REQUIRED
    allowed: tuple[DType, ...] = ()
    minimum: int | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowAccess:
    """How a kernel touches the rows of an input, by their numbers alone.

    Args:
        input: the name of the input.
        keeps: whether the output has a row for each of them, and further ones with further rows.
        is_checked: whether the kernel refuses numbers of no row; compiled, it asks `rows_in_run` how many there are.
    """

    input: str
    keeps: bool = False
    is_checked: bool = False


class Traits(TypedDict, total=False):
    """The traits that a declaration may give an op; `OpDef` says what each means and has its default."""

    role: Role
    stateful: bool
    at_once: bool
    may_wait: bool
    only_looks: bool
    parks: bool
    may_leave: bool
    compiled_only: bool
    shape_only: bool
    told_while_building: bool
    known_elements: OfNode[Dims]
    reshapes: bool
    memory_bound: bool
    ufunc: np.ufunc | None
    droppable: OfNode[bool] | None
    draw_many: Rule | None
    ranks: Mapping[str, int]
    static: Sequence[str]
    static_members: OfNode[Sequence[int]] | None
    dynamic: OfNode[frozenset[str]] | None
    updates: Sequence[str]
    reads: Sequence[str]
    allows_uninitialized: bool
    one_moment: bool
    by_row: bool
    ahead: Rule | None
    by_element: Sequence[str]
    row_access: RowAccess | None
    gradient_nodes: OfNode[int | None] | None
    check: Callable[..., None] | None
    checks_traced: bool
    bodies: Sequence[str]
    calls: Sequence[str]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class OpDef:
    """The declaration of one op type; immutable and shared by all its nodes.

    `infer(op) -> sequence of Dims` gives the outputs' shapes; `gradient(op, *output_grads) -> list of input gradients` builds
    the backward nodes; it is `not_differentiable` where nothing ever goes back, None where asking for a gradient is an
    error. What else passes and the runtime know of the op are its traits.
    """

    name: str
    inputs: tuple[ArgDef, ...]
    outputs: tuple[ArgDef, ...]
    attrs: Mapping[str, AttrDef]
    kernel: Rule
    kernel_attrs: tuple[str, ...]
    infer: OfNode[Sequence[Dims]]
    gradient: Rule | None
    is_host: bool
    """The kernel takes a context: it runs on NumPy values only and may block or touch the task's state."""
    takes_xp: bool
    is_random: bool
    """The kernel gets `take`, by which it takes blocks of the node's random stream."""

    takes_finish: bool
    """The kernel takes `finish`, a function that changes elements where they lie, each by itself, and calls it on all of its
    result; only on NumPy."""

    role: Role = Role.COMPUTATION
    stateful: bool = False
    """The op reads or changes state, so it is never folded, shared or dropped when asked for."""
    at_once: bool = False
    """The kernel of a host op with state waits for nobody: not for another step, a file, or a function of the program. So it
    runs on the thread that has its inputs; any other such kernel may block, and runs on a thread of the pool."""
    only_looks: bool = False
    """The kernel of a host op with state leaves it as it is, as a table's look-up does."""
    may_wait: bool = False
    """The kernel of a host op without state may wait all the same: for a file, or a function of the program."""
    parks: bool = False
    """The kernel of a host op with state never waits on its thread where it has an `OpContext.parking`."""
    may_leave: bool = False
    """The kernel of a host op that does not park leaves by `Parked` all the same, with nothing taken, where it has a parking
    and would have to wait; run anew it would not know what it had asked for."""
    compiled_only: bool = False
    """The kernel needs JAX; a stage with it is never interpreted on NumPy."""
    shape_only: bool = False
    """The value depends on the inputs' shapes alone."""
    told_while_building: bool = False
    """Programs that ask for a tensor's value while the graph is built get it where those of the inputs are told; see
    `told_value`."""
    known_elements: OfNode[Dims] | None = None
    """`known_elements(op)` of an op that makes shapes: the elements of its first output, an integer vector or scalar, None for
    each that only a run tells. It is asked where the value is not known as a whole."""
    reshapes: bool = False
    """The output has the elements of the first input in their order, in another shape."""
    memory_bound: bool = False
    """NumPy does it as fast as memory allows: it moves elements, or does little with each."""
    ufunc: np.ufunc | None = None
    """NumPy's function of two operands that the kernel is, but for strings."""
    droppable: OfNode[bool] | None = None
    """`droppable(op)` of an op that takes long: whether the host leaves it out where nothing takes its result, as XLA does with
    all that is pure. It is one that refuses nothing then."""
    draw_many: Rule | None = None
    """`draw_many(count, *inputs, take, **keywords)` of a random op: what so many runs of its kernel on NumPy make with these
    inputs, one after the other, along a new first axis; None, with nothing taken, where it is not for such inputs."""

    ranks: Mapping[str, int] = field(default_factory=dict)
    """The rank that an input must have, by its name, beyond what `infer` refuses; `AtLeast` and `AtMost` for a bound."""
    static: Sequence[str] = ()
    """The inputs whose values must be known while a stage is compiled: shapes, axes, permutations."""
    static_members: OfNode[Sequence[int]] | None = None
    """`static_members(op)` gives the numbers of the inputs that are static in this very node, where names cannot tell."""
    dynamic: OfNode[frozenset[str]] | None = None
    """`dynamic(op)` tells which of the static inputs this very node can be compiled without knowing."""

    updates: Sequence[str] = ()
    """The Ref or resource inputs whose new values the kernel returns, in that order, before the outputs that are not Refs; a
    Ref output stands for the first of them."""
    reads: Sequence[str] = ()
    """The resource inputs that the kernel gets the values of, as it does of Refs and of those in `updates`."""
    allows_uninitialized: bool = False
    """A variable without a value may come in, as None."""
    one_moment: bool = False
    """Where a run has such a node, each stage that only reads variables reads all of them between the same two updates. So does
    a run that does nothing but fetch variables."""
    by_row: bool = False
    """A gather or an update whose cost on NumPy is that of the rows that it names, not that of the variable, which is the
    first input. Such an update changes arrays in place that come to it writable, and all it updates come first."""
    ahead: Rule | None = None
    """`ahead(*inputs)` of an update `by_row` gets the inputs behind the variables and works out all that these alone tell, so
    that the variables are locked for less time; where that is done, the kernel gets the result as `ahead=`."""
    by_element: Sequence[str] = ()
    """The inputs that an update combines with the variables element by element, all of one shape; its other inputs are scalars,
    and all it updates come first."""

    row_access: RowAccess | None = None
    """The kernel touches rows of an input by their numbers alone: with further rows behind them it would compute the same."""

    gradient_nodes: OfNode[int | None] | None = None
    """`gradient_nodes(op)` tells how many nodes TensorFlow's gradient rule makes for this very node, None for as many as here:
    random nodes get their seeds by the count (`weft.framework.graphs.node_count`)."""

    check: Callable[..., None] | None = None
    """`check(op, *inputs)` looks for values that the kernel must refuse but cannot when it is compiled, such as indices out of
    range. Before a compiled stage runs it gets the inputs that come from outside of the stage, None for the others."""
    checks_traced: bool = False
    """The kernel itself tells a traced loop of the values that `check` would refuse (`note_wrong`)."""
    bodies: Sequence[str] = ()
    """The attributes that hold the functions which the node runs: the runtime does, and calls no kernel."""
    calls: Sequence[str] = ()
    """The attributes that hold functions which the kernel, of a host op, may call by its context, now or later."""

    @property
    def hands_on(self) -> bool:
        """Whether each output has the value of the input in the same place, unless the run feeds it another."""
        return self.role in _HANDING_ON

    @property
    def can_fold(self) -> bool:
        """Whether the kernel alone tells the outputs' values by the inputs', on NumPy and at any time."""
        return not (self.stateful or self.is_host or self.compiled_only or self.bodies)

    @property
    def is_loop(self) -> bool:
        """Whether it runs its bodies again and again."""
        return self.role in _LOOPS

    def __getattr__(self, name: str) -> Any:
        """What the public OpDef proto has besides, such as `attr` and `output_arg`: programs look at `op.op_def` so."""
        if name in _OF_PROTO:
            return getattr(to_op_def_proto(self), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __str__(self) -> str:
        """The text of the public proto."""
        return str(to_op_def_proto(self))


_OF_PROTO: Final = frozenset((
    *(field.name for field in op_def_pb2.OpDef.DESCRIPTOR.fields),
    "ByteSize", "DESCRIPTOR", "HasField", "ListFields", "SerializeToString",
))  # fmt: skip
_HANDING_ON: Final = frozenset((Role.ALIAS, Role.READ, Role.DEFAULT))
_LOOPS: Final = frozenset((Role.LOOP, Role.RECORDING_LOOP))


def not_differentiable(op: Any, *output_grads: object) -> list[None]:
    """The gradient rule of an op whose outputs are constants to its inputs: counts, comparisons, shapes, fresh numbers."""
    return [None] * len(op.inputs)


def to_op_def_proto(definition: OpDef) -> op_def_pb2.OpDef:
    """The OpDef proto of a declaration, without its documentation."""
    # That an op with a Ref has state goes without saying in TensorFlow.
    is_stateful = definition.stateful and not any(arg.is_ref for arg in definition.inputs)
    proto = op_def_pb2.OpDef(name=definition.name, is_stateful=is_stateful)
    for args, protos in ((definition.inputs, proto.input_arg), (definition.outputs, proto.output_arg)):
        for arg in args:
            _fill_arg(protos.add(), arg)
    for attr in definition.attrs.values():
        added = proto.attr.add(name=attr.name, type=attr.kind)
        if attr.default is not REQUIRED and (attr.default is not None or attr.kind == "shape"):
            added.default_value.CopyFrom(attr_value.encode(attr.kind, attr.default))
        if attr.allowed:
            added.allowed_values.list.type.extend(dtype.as_datatype_enum for dtype in attr.allowed)
        if attr.choices:
            added.allowed_values.list.s.extend(choice.encode() for choice in attr.choices)
        if attr.minimum is not None:
            added.has_minimum, added.minimum = True, attr.minimum
    return proto


def _fill_arg(proto: Any, arg: ArgDef) -> None:
    proto.name, proto.is_ref = arg.name, arg.is_ref
    proto.type_attr, proto.type_list_attr, proto.number_attr = arg.type_attr, arg.type_list_attr, arg.number_attr
    if arg.dtype is not None:
        proto.type = arg.dtype.as_datatype_enum
