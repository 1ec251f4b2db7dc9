"""Graph: the container of Operations. Its elements, names, scopes and collections are classes of their own.

A graph only grows. Appending is atomic under the interpreter's lock, so one thread may build while others run steps: a run sees
the nodes that were there when it began.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorboard.compat.proto import graph_pb2, node_def_pb2, versions_pb2

from weft.framework.context import scopes
from weft.framework.context.default_stack import default_graphs
from weft.framework.graphs import graph_picture
from weft.framework.graphs.collections import Collections
from weft.framework.graphs.graph_names import Names
from weft.framework.graphs.graph_scopes import BuildingScopes
from weft.framework.graphs.late_reads import LateReads
from weft.framework.graphs.node_count import NodeCount
from weft.framework.nodes import built_at, node_errors
from weft.framework.nodes.built_at import capture_stack
from weft.framework.nodes.graph_elements import Elements
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.nodes.ranks import check_ranks, with_declared_ranks
from weft.framework.op_types.op_def import OpDef
from weft.framework.registry import later_attrs, op_registry
from weft.framework.serial import graph_def
from weft.framework.serial.exported_graph import exported_graph_def
from weft.framework.types.dims import Dims, format_dims
from weft.framework.types.dtypes import DType

GRAPH_DEF_VERSION: Final = 134


class Graph(Elements, Names, BuildingScopes, Collections):
    """A dataflow graph. One is the default; `with graph.as_default()` makes another one so for the block.

    >>> graph = tf.Graph()
    >>> with graph.as_default():
    ...     x = tf.zeros([1], name="x")
    >>> [op.name for op in graph.get_operations()]
    ['x']
    """

    # Whether the nodes of branches and loops in it count with its own; in TensorFlow a function's are functions themselves.
    has_inline_bodies = True

    # Where something is made, for messages. A graph that no program sees need not know: to look takes a tenth of making a node.
    _place: Callable[[], built_at.Stack] = staticmethod(capture_stack)

    def __init__(self) -> None:
        super().__init__()
        self._changes = itertools.count(1)
        self._version = 0
        self._producer = GRAPH_DEF_VERSION
        self._finalized = False
        self._finalized_by = ""
        self._number = next(_graph_numbers)
        self._made_from = self._place()
        self._seed: int | None = None
        self.node_count = NodeCount()
        self.late_reads = LateReads()
        """Which nodes come behind updates of variables."""
        # For a branch, once its If node is there: gives the tensor outside that stands for a tensor or operation of it.
        self.leave: Callable[[Tensor | Operation], Tensor] | None = None
        # The version in which a node of that name, or of a function of that name, last got further outputs.
        self.grown: dict[str, int] = {}

    @property
    def label(self) -> str:
        """The graph's name in messages: graphs of one program are told apart by their numbers and where they were made."""
        made = built_at.place(self._made_from)
        default = ", the default one" if self is _global_graph else ""
        return f"graph {self._number} ({f'made in {made}, ' if made else ''}{len(self.operations)} operations{default})"

    def __repr__(self) -> str:
        return f"<tf.Graph: {self.label}>"

    _repr_html_ = graph_picture.table_of

    @property
    def version(self) -> int:
        """A number that grows with every change of the graph."""
        return self._version

    @property
    def graph_def_versions(self) -> versions_pb2.VersionDef:
        """The VersionDef that this graph's GraphDef carries."""
        return graph_def.version_def(self._producer)

    def note_producer(self, producer: int) -> None:
        """Take over the version of a program that wrote a part of the graph: the whole is as old as its oldest part.

        Args:
            producer: the version in a GraphDef's `versions.producer`.
        """
        self._producer = min(self._producer, producer)

    @property
    def seed(self) -> int | None:
        """The graph-level random seed."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def finalized(self) -> bool:
        """Whether the graph is closed for changes."""
        return self._finalized

    @property
    def building_function(self) -> bool:
        """Whether this is the body of a function or a branch."""
        return False

    @property
    def runs_eagerly(self) -> bool:
        """Whether nodes run when they are added, as they do inside of `tf.py_function`."""
        return False

    @property
    def home(self) -> Graph:
        """Where nodes that use tensors of this graph are added."""
        return self

    @property
    def outermost(self) -> Graph:
        """The graph around all others that this one is a body in."""
        return self

    def bring(self, element: Tensor | Operation) -> Tensor | Operation:
        """The tensor of this graph that stands for what a finished branch in it made; anything else as it is.

        Args:
            element: a tensor or operation, of this graph or of a branch in it.
        """
        while element.graph is not self and element.graph.leave is not None:
            element = element.graph.leave(element)
        return element

    def finalize(self) -> None:
        """Close the graph: any later change is a RuntimeError."""
        self._finalized = True
        self._finalized_by = built_at.place(capture_stack())

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def check_not_finalized(self, change: str = "") -> None:
        """Raise RuntimeError where the graph is closed for changes; `change` tells which was refused.

        Args:
            change: what is refused, for the message; empty where nothing more is to be said.
        """
        if self._finalized:
            by = (
                f" It was finalized in {self._finalized_by}, by a training session or Graph.finalize()."
                if self._finalized_by
                else ""
            )
            remedy = " Build everything before the session is made, outside of the training loop." if change else ""
            raise RuntimeError(
                f"Graph is finalized and cannot be modified.{f' Refused: {change}.' if change else ''}{by}{remedy}"
            )

    def note_change(self) -> None:
        """Give the graph a new version after an edge was added or replaced."""
        self._version = next(self._changes)

    def note_growth(self, name: str) -> None:
        """Give the graph a new version after the node of that name got further outputs."""
        self.note_change()
        self.grown[name] = self._version

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> graph_pb2.GraphDef:
        """The GraphDef, in TensorFlow's ops; with `from_version` only the nodes that were added after that version.

        Args:
            from_version: the version of the graph from which on nodes are wanted; all of them when None.
            add_shapes: whether each node gets the shapes of its outputs as an attribute, `_output_shapes`.
        """
        return exported_graph_def(self, self.graph_def_versions, from_version or 0, add_shapes)

    def node_def_of(self, op: Operation) -> node_def_pb2.NodeDef:
        """The NodeDef of one operation.

        Args:
            op: an operation of this graph.
        """
        node = graph_def.to_node_def(op)
        later_attrs.strip(node)
        return node

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType] | None = None,
        input_types: object = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: object = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Add a node of a declared op type. `attrs` may hold plain values or AttrValue protos.

        Args:
            op_type: the op's name, such as "MatMul".
            inputs: its input tensors, in the order of its declaration.
            dtypes: the types of its outputs, which are checked; None takes them from the declaration.
            input_types: taken for TensorFlow's sake; the declaration has them.
            attrs: the values of its attributes, by name.
            op_def: taken for TensorFlow's sake; the registered declaration counts.
            compute_shapes: taken for TensorFlow's sake; shapes are always inferred.
            compute_device: whether open device scopes count.

        Returns:
            The Operation, which is in this graph.
        """
        return graph_def.create_op_from_parts(self, op_type, inputs, dtypes, name, attrs or {}, compute_device)

    def around(self, tensor: Tensor) -> Tensor | None:
        """The tensor of the graph around this one that an argument of this one stands for; a graph of its own has none.

        Args:
            tensor: of this graph.
        """
        return None

    def add_node(
        self,
        definition: OpDef,
        name: str,
        inputs: Sequence[Tensor],
        output_types: Sequence[DType],
        attrs: dict[str, Any],
        control_inputs: Sequence[Operation] | None = None,
    ) -> Operation:
        """Add a node whose name is settled and whose inputs are tensors of this graph; the innermost step of building.

        Open scopes give it control inputs (unless they are given), device, colocation and container.

        Args:
            definition: the op's declaration.
            inputs: its input tensors, those of lists one after the other.
            output_types: the type of each output.
            attrs: the values of all its attributes.
            control_inputs: operations that run before it; None for those of the open scopes.

        Returns:
            The Operation, with the output tensors that `dtypes` and shapes say.

        Raises:
            ValueError: the shapes don't fit, or the name is illegal.
            RuntimeError: the graph is finalized.
        """
        if self._finalized:
            self.check_not_finalized(f"{definition.name} {name!r}")
        state = scopes.current(self)
        is_of_program = control_inputs is None
        if control_inputs is None:
            control_inputs = self._implied_control_inputs(state, inputs)
        op = Operation(self, definition, name, inputs, control_inputs, output_types, attrs)
        op.built_from = self._place()
        self._infer_shapes(op)
        if state is not scopes.EMPTY:
            self._apply_scopes(op, state)
        if is_of_program:
            self.late_reads.renew(op)
        self._append(op)
        for frame in state.control:
            frame.inside.add(op)
        return op

    def _infer_shapes(self, op: Operation) -> None:
        try:
            shapes = _shapes_of(op)
        except ValueError as error:
            raise node_errors.shape_error(op, error) from None
        for tensor, dims in zip(op.outputs, shapes, strict=True):
            tensor.dims = dims

    def _append(self, op: Operation) -> None:
        for tensor in op.inputs:
            tensor.add_consumer(op)
        for other in op.control_inputs:
            other.control_consumers.append(op)
        op.id = next(self._changes)
        self.operations[op.name] = op
        self.node_count.total += 1
        self._version = op.id

    def remove_newest(self, ops: Sequence[Operation]) -> None:
        """Remove nodes, in the order in which they were added, that only nodes behind them use: those of a failed import.

        Args:
            ops: the nodes, the last of which is the newest of the graph.
        """
        for op in reversed(ops):
            for tensor in op.inputs:
                tensor.remove_consumer(op)
            for other in op.control_inputs:
                other.control_consumers.remove(op)
            for frame in scopes.current(self).control:
                frame.inside.discard(op)
            del self.operations[op.name]
            self.release_name(op.name)
        self.node_count.total -= len(ops)
        self.note_change()

    @property
    def last_id(self) -> int:
        """How many nodes TensorFlow would have made so far: what seeds those whose graph has a seed and they have none."""
        return self.node_count.total

    def as_default(self) -> contextlib.AbstractContextManager[Graph]:
        """Make this graph the default for the block.

        Returns:
            A context manager whose value is this graph.
        """
        return default_graphs.use(self)


_graph_numbers: Final = itertools.count(1)

# The process-wide graph, made when it is first asked for.
_global_graph: Graph | None = None


def get_default_graph() -> Graph:
    """The innermost graph of `as_default` blocks, else the process-wide one.

    >>> tf.zeros([1]).graph is tf.get_default_graph()
    True

    Returns:
        The innermost graph of this thread's `as_default` blocks, or the program's.
    """
    graph = default_graphs.get_default()
    if graph is not None:
        return graph  # type: ignore[no-any-return]
    global _global_graph
    if _global_graph is None:
        _global_graph = Graph()
    return _global_graph


def reset_default_graph() -> None:
    """Start over with an empty default graph; an AssertionError inside an `as_default` block.

    >>> with tf.Graph().as_default():
    ...     try:
    ...         tf.reset_default_graph()
    ...     except AssertionError as error:
    ...         print(str(error)[:35])
    Do not use tf.reset_default_graph()
    """
    global _global_graph
    if not default_graphs.is_cleared():
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and "
            "create a new graph."
        )
    _global_graph = Graph()


def lookup_op_def(name: str) -> OpDef:
    """The declaration of an op type; LookupError when there is none."""
    return op_registry.lookup(name)


def describe(tensor: Tensor) -> str:
    """Name, dtype and shape of a tensor for an error message."""
    return f"{tensor.name} ({tensor.dtype.name} {format_dims(tensor.dims)})"


def _shapes_of(op: Operation) -> Sequence[Dims]:
    """What the shape rule of a node's op tells; ValueError where it, or the declared ranks, refuse the inputs."""
    node = with_declared_ranks(op) if op.op_def.ranks else op
    try:
        shapes = op.op_def.infer(node)
    except (IndexError, TypeError):
        # A rule may count on the ranks.
        check_ranks(op)
        raise
    if op.op_def.ranks:
        check_ranks(op)
    return shapes
