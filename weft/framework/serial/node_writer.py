"""NodeWriter: operations as NodeDefs, in a graph or a function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from tensorboard.compat.proto import node_def_pb2, types_pb2

from weft.framework.lowered.lowering import keep_random_order
from weft.framework.lowered.written_bodies import BodyNodes, takes_references
from weft.framework.lowered.written_branches import write_branches
from weft.framework.lowered.written_loops import write_loop
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.registry import later_attrs, op_registry
from weft.framework.registry.tensorflow_form import Lists
from weft.framework.serial.graph_def import node_def_without_inputs
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType, variant


def graph_reference(tensor: Tensor, node: str) -> str:
    """A tensor as a GraphDef names it; `node` is the name of the node that makes it."""
    return f"{node}:{tensor.value_index}" if tensor.value_index else node


class NodeWriter:
    """Writes nodes as they are. `refer` names a tensor, given the name of its node, in the way of a graph or a function."""

    def __init__(self, refer: Callable[[Tensor, str], str], add_shapes: bool = False) -> None:
        self._refer = refer
        self._add_shapes = add_shapes

    def __call__(self, op: Operation) -> list[node_def_pb2.NodeDef]:
        """What stands for an operation; those whose outputs it takes were written before."""
        return [self._node_def(op)]

    def reference(self, tensor: Tensor) -> str:
        """The name of a tensor among the nodes written."""
        return self._refer(tensor, tensor.op.name)

    def type_and_dims(self, tensor: Tensor) -> tuple[DType, Dims]:
        """The type and the shape of a tensor as it is written."""
        return tensor.dtype, tensor.dims

    def _node_def(self, op: Operation) -> node_def_pb2.NodeDef:
        node = node_def_without_inputs(op, self._add_shapes)
        node.input.extend(self.reference(tensor) for tensor in op.inputs)
        node.input.extend(f"^{other.name}" for other in op.control_inputs)
        return node


class TensorFlowWriter(NodeWriter):
    """Writes what TensorFlow reads: each node of an op of weft's own as the nodes of TensorFlow's that do the same.

    The last of these has the name of the node, the others names below it that are not in `taken`. `lists` are the tensors that
    are TensorLists in what is written.
    """

    def __init__(
        self,
        refer: Callable[[Tensor, str], str],
        taken: Collection[str],
        lists: Lists,
        add_shapes: bool = False,
        is_function: bool = False,
    ) -> None:
        super().__init__(refer, add_shapes)
        self._taken = set(taken)
        self._lists = lists
        self._is_function = is_function
        self._references: dict[Tensor, str] = {}
        # The functions of the branches and loops that were written as nodes.
        self.opened: set[str] = set()
        self._stand_ins: dict[Tensor, Tensor] = {}
        self._names: dict[Operation, str] = {}

    def __call__(self, op: Operation) -> list[node_def_pb2.NodeDef]:
        """What stands for an operation; those whose outputs it takes were written before."""
        written = self._written(op)
        if op.op_def.bodies:
            keep_random_order(op, written)
        return written

    def _written(self, op: Operation) -> list[node_def_pb2.NodeDef]:
        form = op_registry.form_of(op.type)
        made = None if form is None else form(op, self._lists)
        if made is None:
            return self._opened(op) if takes_references(op) and not self._is_function else [self._node_def(op)]
        self._stand_ins.update(zip(made.arguments, op.inputs, strict=True))
        *inner, last = made.nodes
        name = self._names.get(op, op.name)
        for each in inner:
            self._names[each] = self._new_name(f"{name}/{each.name}")
        self._names[last] = name
        written = [node for each in made.nodes for node in self._written(each)]
        self._stand_ins.update(zip(op.outputs, last.outputs, strict=True))
        self._hand_on(op, made.nodes, written)
        return written

    def reference(self, tensor: Tensor) -> str:
        """The name of a tensor among the nodes written."""
        tensor = self._stood_for(tensor)
        return self._references.get(tensor) or self._refer(tensor, self._names.get(tensor.op, tensor.op.name))

    def type_and_dims(self, tensor: Tensor) -> tuple[DType, Dims]:
        """The type and the shape of a tensor as it is written."""
        return (variant, ()) if tensor in self._lists else (tensor.dtype, tensor.dims)

    def _stood_for(self, tensor: Tensor) -> Tensor:
        while tensor in self._stand_ins:
            tensor = self._stand_ins[tensor]
        return tensor

    def _opened(self, op: Operation) -> list[node_def_pb2.NodeDef]:
        def write(inner: Operation) -> list[node_def_pb2.NodeDef]:
            self._names[inner] = self._new_name(inner.name)
            return self(inner)

        self.opened.update(str(op.attrs[attr]) for attr in op.op_def.bodies)
        waits = [f"^{self._names.get(other, other.name)}" for other in op.control_inputs]
        name = self._names.get(op, op.name)
        nodes = BodyNodes(op, name, waits, self.reference, self._references.__setitem__, write)
        (write_branches if op.op_def.role is Role.BRANCH else write_loop)(nodes)
        return nodes.nodes

    def _new_name(self, wanted: str) -> str:
        name, number = wanted, 0
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name

    def _node_def(self, op: Operation) -> node_def_pb2.NodeDef:
        node = node_def_without_inputs(op, self._add_shapes)
        node.name = self._names.get(op, op.name)
        node.input.extend(self.reference(tensor) for tensor in op.inputs)
        awaited = dict.fromkeys(op.control_inputs)
        for tensor in op.inputs:
            awaited.update(self._awaited_by_read(tensor))
        node.input.extend(f"^{self._names.get(other, other.name)}" for other in awaited)
        later_attrs.strip(node)
        if op.op_def.bodies and any(tensor in self._lists for tensor in (*op.inputs, *op.outputs)):
            self._pass_lists(op, node)
        return node

    def _awaited_by_read(self, tensor: Tensor) -> dict[Operation, None]:
        """What a read of a variable's reference waits for, when a tensor is one: what takes it waits for that too.

        TensorFlow's optimizer has a cast change places with such a read, and the read then takes its order with it: the cast
        would see the variable before an update. In TensorFlow's own graphs users of `name/read` wait themselves.
        """
        source = self._stood_for(tensor)
        op = source.op
        is_read = op.op_def.role is Role.ALIAS and op.inputs[0].dtype.is_ref and not source.dtype.is_ref
        return dict.fromkeys(op.control_inputs) if is_read else {}

    def _pass_lists(self, op: Operation, node: node_def_pb2.NodeDef) -> None:
        """Let an If or a While take and return lists."""
        taken, returned = op.op_def.inputs[-1], op.op_def.outputs[0]
        first = len(op.op_def.inputs) - 1
        for tensors, attr in ((op.inputs[first:], taken.type_list_attr), (op.outputs, returned.type_list_attr)):
            types = node.attr[attr].list.type
            types[:] = [
                types_pb2.DT_VARIANT if tensor in self._lists else dtype for tensor, dtype in zip(tensors, types, strict=True)
            ]
        for attr in ("output_shapes", "_output_shapes"):
            for tensor, shape in zip(op.outputs, node.attr[attr].list.shape if attr in node.attr else (), strict=False):
                if tensor in self._lists:
                    shape.Clear()

    def _hand_on(self, op: Operation, nodes: Iterable[Operation], written: Iterable[node_def_pb2.NodeDef]) -> None:
        """Give what stands for a node its device and colocation, and what it waits for to those of them that run first."""
        inside = {self._names.get(each, each.name) for each in nodes if each.inputs}
        waits = [f"^{self._names.get(other, other.name)}" for other in op.control_inputs]
        colocation = op.node_def.attr["_class"] if op.attrs.get("_class") else None
        for node in written:
            node.device = op.device
            node.attr.pop("_class", None)
            if colocation is not None:
                node.attr["_class"].CopyFrom(colocation)
            if waits and not any(each.split(":")[0] in inside for each in node.input):
                node.input.extend(each for each in waits if each not in node.input)
