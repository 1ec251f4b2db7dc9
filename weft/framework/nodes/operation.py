"""Operation and Tensor: the nodes and edges of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
from google.protobuf import text_format

from weft.errors import OutOfRangeError
from weft.framework.context.conversion_status import OperatorNotAllowedInGraphError, not_allowed
from weft.framework.context.default_stack import default_sessions
from weft.framework.devices import device_spec
from weft.framework.nodes import built_at
from weft.framework.nodes.arithmetic import OVERLOADABLE_OPERATORS, Arithmetic
from weft.framework.nodes.no_value import NoValueYet, refuse_at_run_time
from weft.framework.object_identity import Reference
from weft.framework.op_types.op_def import OpDef
from weft.framework.types import attr_value
from weft.framework.types.dims import Dims, format_dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.framework.types.tensor_util import make_tensor_proto

if TYPE_CHECKING:
    from tensorboard.compat.proto import node_def_pb2

    from weft.framework.building.aliases import SessionLike
    from weft.framework.graphs.graph import Graph


class Tensor(Arithmetic, NoValueYet):
    """One output of an Operation: a symbolic value, hashable by identity.

    Args:
        op: the operation that makes it.
        value_index: which of the operation's outputs it is, from 0.
        dtype: the dtype of its elements.

    Raises:
        TypeError: `op` is no operation.
    """

    # Programs hang attributes of their own on tensors; the dict comes into being with the first.
    __slots__ = ("__dict__", "__weakref__", "_consumers", "dims", "dtype", "op", "value_index")

    # NumPy leaves `array + tensor` to Tensor.__radd__.
    __array_priority__ = 100

    # A set of its own: libraries whose objects act as tensors take from it and add to it.
    OVERLOADABLE_OPERATORS: ClassVar[set[str]] = {*OVERLOADABLE_OPERATORS, "__eq__", "__ne__"}

    def __init__(self, op: Operation, value_index: int, dtype: DType) -> None:
        if not isinstance(op, Operation):
            raise TypeError(f"op needs to be an Operation: {op}")
        self.op = op
        self.value_index = value_index
        self.dtype = dtype
        # The shape as far as it is known: a tuple with None for each unknown size, or None for an unknown rank.
        self.dims: Dims = None
        self._consumers: list[Operation] = []

    @property
    def graph(self) -> Graph:
        """The graph that this tensor belongs to."""
        return self.op.graph

    @property
    def name(self) -> str:
        """`op:index`."""
        return f"{self.op.name}:{self.value_index}"

    @property
    def device(self) -> str:
        """The device of the op that makes this tensor, as far as it is given."""
        return self.op.device

    @property
    def shape(self) -> TensorShape:
        """The shape as far as it is known."""
        return TensorShape(self.dims)

    def get_shape(self) -> TensorShape:
        """The shape as far as it is known."""
        return TensorShape(self.dims)

    _shape = shape  # programs that have no need of a copy take it

    def _shape_tuple(self) -> Dims:
        # By this name programs take a shape's sizes from TensorFlow.
        return self.dims

    def set_shape(self, shape: object) -> None:
        """Add what the program knows of the shape; ValueError when it contradicts what is known.

        Args:
            shape: a TensorShape, a list of sizes with None for an unknown one, or None.
        """
        self.dims = merge_dims(self.dims, as_dims(shape))

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as an input."""
        return list(self._consumers)

    def add_consumer(self, op: Operation) -> None:
        """Note that an operation takes this tensor as an input; for the graph, which keeps both ends of an edge.

        Args:
            op: the operation that has it as an input from now on.
        """
        self._consumers.append(op)

    def remove_consumer(self, op: Operation) -> None:
        """Forget one use of this tensor by an operation; for the graph.

        Args:
            op: the operation; its other uses of the tensor stay.
        """
        self._consumers.remove(op)

    def eval(self, feed_dict: Mapping[Any, object] | None = None, session: SessionLike | None = None) -> Any:
        """Run the graph up to this tensor in the session given or the default one, and return its value.

        Args:
            feed_dict: values by the tensors that they are fed to.
            session: the session; the default one when None.

        Raises:
            ValueError: no session is given and none is the default one, or the session is of another graph.
        """
        return _session_for(self.graph, session, "evaluate tensor", "eval").run(self, feed_dict)

    def as_node_def_input(self) -> str:
        """The tensor's name as a NodeDef has it: the operation's, and the output's number unless it is 0."""
        return self.op.name if self.value_index == 0 else f"{self.op.name}:{self.value_index}"

    # Without these, type checkers would take any object for a condition, and one with `__getitem__` for an iterable.
    __bool__: Callable[[], None]
    __iter__: None

    # With `Graph._c_graph` it is what programs hand on to `pywrap_tensorflow`'s `TF_TryEvaluateConstant_wrapper`.
    def _as_tf_output(self) -> Tensor:
        return self

    def experimental_ref(self) -> Reference:
        """A key for sets and dictionaries that stands for this tensor."""
        return Reference(self)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: object) -> Tensor:
        return self

    def __str__(self) -> str:
        shape = "" if self.dims is None else f", shape={format_dims(self.dims)}"
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={format_dims(self.dims)} dtype={self.dtype.name}>"

    @staticmethod
    def override_operator(operator: str, function: object) -> None:
        """Let a function be what an operator of tensors does.

        Args:
            operator: the method's name, one of `OVERLOADABLE_OPERATORS`.
            function: takes the operands.

        Raises:
            ValueError: it is none of these.
        """
        if operator not in OVERLOADABLE_OPERATORS:
            raise ValueError(f"Overriding {operator} is disallowed")
        setattr(Tensor, operator, function)


def _no_length(self: Tensor) -> NoReturn:
    raise TypeError(
        f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` rather than `len(x)` for shape "
        "information."
    )


def _no_iterator(self: Tensor) -> NoReturn:
    raise OperatorNotAllowedInGraphError(
        f"{not_allowed('iterating over `tf.Tensor`')} To iterate over this tensor use tf.map_fn. "
        f"({self.name}, shape {format_dims(self.dims)}; tf.unstack makes a list of its parts where their "
        "number is known.)"
    )


def _no_array(self: Tensor, dtype: object = None, copy: object = None) -> NoReturn:
    raise NotImplementedError(
        f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array. It has a value in a run only, which "
        f"session.run({self.op.name}) returns; while the graph is built, use the op in place of NumPy's function, "
        "such as tf.reduce_mean for np.mean."
    )


def _no_condition(self: Tensor) -> NoReturn:
    raise OperatorNotAllowedInGraphError(
        f"{not_allowed('using a `tf.Tensor` as a Python `bool`')} Use `if t is not None:` instead of `if t:` to test if a "
        "tensor is defined, and use TensorFlow ops such as tf.cond to execute subgraphs conditioned on the value of a "
        f"tensor. The tensor is {self.name}; session.run({self.op.name}) returns its value."
    )


refuse_at_run_time(
    Tensor,
    {
        "__bool__": _no_condition,
        "__nonzero__": _no_condition,
        "__len__": _no_length,
        "__iter__": _no_iterator,
        "__array__": _no_array,
    },
)


class Operation:
    """One node of a graph. Made by Graph only; its inputs never change after a session has seen it.

    `attrs` holds plain Python values (see `attr_value`); `built_from` is the stack where the program made the node.

    Args:
        graph: the graph that it belongs to.
        op_def: the declaration of its type.
        name: its name in the graph, unique.
        inputs: the tensors that its kernel takes.
        control_inputs: the operations that run before it.
        output_types: the dtype of each output.
        attrs: its attributes by name.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_device", "attrs", "built_from", "control_consumers", "control_flow_context",
        "control_inputs", "graph", "id", "inputs", "name", "op_def", "original_op", "outputs", "type",
    )  # fmt: skip

    def __init__(
        self,
        graph: Graph,
        op_def: OpDef,
        name: str,
        inputs: Sequence[Tensor],
        control_inputs: Sequence[Operation],
        output_types: Sequence[DType],
        attrs: dict[str, Any],
    ) -> None:
        self.graph = graph
        self.op_def = op_def
        self.type = op_def.name
        self.name = name
        self.inputs = list(inputs)
        self.control_inputs = list(control_inputs)
        self.control_consumers: list[Operation] = []
        self.attrs = attrs
        self.outputs = [Tensor(self, index, dtype) for index, dtype in enumerate(output_types)]
        self.built_from: built_at.Stack = ()
        self.id = -1
        self._device = ""
        self.original_op: Operation | None = None
        self.control_flow_context: Any = None

    @property
    def device(self) -> str:
        """The device asked for, canonical, perhaps partial, perhaps empty."""
        return self._device

    def _set_device(self, device: object) -> None:
        self.place(device_spec.canonical_name(device_spec.as_string(device)))

    def place(self, device: str) -> None:
        """Ask for a device by its canonical name.

        Args:
            device: such as "/job:ps/task:0/device:CPU:0"; parts may be left out.
        """
        self._device = device

    @property
    def node_def(self) -> node_def_pb2.NodeDef:
        """The serial form."""
        return self.graph.node_def_of(self)

    @property
    def values(self) -> Callable[[], tuple[Tensor, ...]]:
        """A method for TensorFlow's sake: `op.values()` are the outputs."""
        return lambda: tuple(self.outputs)

    @property
    def traceback(self) -> list[tuple[str, int, str, str | None]]:
        """The stack at which the op was built: (file, line, function, source) from the outermost."""
        return built_at.entries(self.built_from)

    @property
    def built_at(self) -> str:
        """The stack at which the op was built as text; empty for an op that came from a GraphDef."""
        return built_at.stack_text(self.built_from)

    def get_attr(self, name: str) -> Any:
        """The value of an attribute; text is bytes and a shape its proto, as in TensorFlow. ValueError when there is none."""
        if name not in self.attrs:
            raise ValueError(f"Operation {self.name!r} has no attr named {name!r}.")
        return _as_shown(self.attrs[name])

    def _set_attr(self, name: str, value: object) -> None:
        """Set an attribute from an AttrValue or a plain value."""
        if isinstance(value, list):
            value = value.copy()  # the program may go on with its own
        self.attrs[name] = attr_value.decode(value) if isinstance(value, attr_value.AttrValue) else value

    def colocation_groups(self) -> list[bytes]:
        """The `loc:@name` groups that this op belongs to, its own when it has no other."""
        groups = [g.encode() for g in self.attrs.get("_class", ()) if g.startswith("loc:@")]
        return groups or [b"loc:@" + self.name.encode()]

    def run(self, feed_dict: Mapping[Any, object] | None = None, session: SessionLike | None = None) -> None:
        """Run the graph up to this op in the session given or the default one.

        Args:
            feed_dict: values by the tensors that they are fed to.
            session: the session; the default one when None.

        Raises:
            ValueError: no session is given and none is the default one, or the session is of another graph.
        """
        _session_for(self.graph, session, "execute operation", "run").run(self, feed_dict)

    @property
    def _control_outputs(self) -> list[Operation]:
        return list(self.control_consumers)

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: Sequence[Operation]) -> None:
        for op in ops:
            if op not in self.control_inputs:
                self.control_inputs.append(op)
                op.control_consumers.append(self)
        self.graph.note_change()

    def update_input(self, index: int, tensor: Tensor) -> None:
        """Let another tensor be an input.

        Args:
            index: which input.
            tensor: a tensor of the same dtype.

        Raises:
            OutOfRangeError: the operation has no such input.
            ValueError: the tensor is of another graph.
        """
        if not 0 <= index < len(self.inputs):
            raise OutOfRangeError.of(
                f"Cannot update edge. Input index [{index}] is greater than the number of total inputs [{len(self.inputs)}]. "
                f"It is of {self.name!r}."
            )
        if tensor.graph is not self.graph:
            raise ValueError(f"{tensor} must be from the same graph as {self.name!r}, whose input {index} it is to be.")
        self.inputs[index].remove_consumer(self)
        self.inputs[index] = tensor
        tensor.add_consumer(self)
        self.graph.note_change()

    # By this name, TensorFlow's own, programs rewire graphs.
    _update_input = update_input

    def _get_control_flow_context(self) -> Any:
        return self.control_flow_context

    def _set_control_flow_context(self, context: object) -> None:
        self.control_flow_context = context

    def __str__(self) -> str:
        # A protobuf's own text has the attributes in any order.
        return text_format.MessageToString(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __copy__(self) -> Operation:
        return self

    def __deepcopy__(self, memo: object) -> Operation:
        return self


def _as_shown(value: object) -> Any:
    """An attribute as TensorFlow shows it to programs: text as bytes, a shape or a constant's value as its proto."""
    if type(value) is str:
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, list):
        return [_as_shown(item) for item in value]
    if isinstance(value, tuple) or value is None:
        return TensorShape(value).as_proto()
    return make_tensor_proto(value) if isinstance(value, np.ndarray) else value


def _session_for(graph: Graph, session: Any, what: str, method: str) -> Any:
    default = default_sessions.get_default() if session is None else session
    if default is None:
        raise ValueError(
            f"Cannot {what} using `{method}()`: No default session is registered. Use `with sess.as_default()` or pass an "
            f"explicit session to `{method}(session=sess)`. A default session is that of one thread."
        )
    if default.graph is not graph:
        which, remedy = ("given", "") if session is not None else (
            "default", f" Pass an explicit session to `{method}(session=sess)`."
        )  # fmt: skip
        raise ValueError(
            f"Cannot use the {which} session to {what}: the {what.split()[1]}'s graph is different from the session's graph."
            f"{remedy} The {what.split()[1]} is of {graph.label}, the session runs {default.graph.label}."
        )
    return default


def outermost(tensor: Tensor) -> Tensor:
    """The tensor of the graph around all bodies that an argument stands for; the tensor itself where it is of none."""
    while (around := tensor.op.graph.around(tensor)) is not None:
        tensor = around
    return tensor
