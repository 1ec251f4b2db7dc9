"""Variables that a traced function makes: they and what they begin with stand in the graph around."""

from __future__ import annotations

from weft.framework.building.aliases import Nest
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.variables.resource_variable import ResourceVariable
from weft.ops.variables.variable import Creator, Variable

_TRAINABLE = "trainable_variables"


def lifted_variable(trace: FuncGraph, options: dict[str, Nest]) -> Variable:
    """A resource variable in the graph around a trace, which is in no collection of trainable ones.

    Args:
        trace: the graph that is being built.
        options: those of the variable.

    Raises:
        ValueError: its initial value depends on an argument of the function.
    """
    options = {key: value for key, value in options.items() if key not in ("use_resource", "variable_def", "import_scope")}
    initial = options.pop("initial_value")
    outer = trace.outermost
    if isinstance(initial, Tensor):
        initial = _Lift(trace, outer, str(options.get("name") or "Variable")).of(initial)
    with init_scope():
        made = ResourceVariable(initial, **options)
    trainable = get_default_graph().outermost.get_collection_ref(_TRAINABLE)
    trainable[:] = [each for each in trainable if each is not made]
    return made


class _Lift:
    """Copies of nodes of a trace in the graph around it."""

    def __init__(self, trace: FuncGraph, outer: Graph, variable: str) -> None:
        self._trace, self._outer, self._variable = trace, outer, variable
        self._made: dict[Operation, Operation] = {}

    def __repr__(self) -> str:
        return f"<initial value of {self._variable!r}>"

    def of(self, tensor: Tensor) -> Tensor:
        """The tensor's copy."""
        if tensor.op.graph is not self._trace:
            return tensor
        around = self._trace.around(tensor)
        if around is not None:
            return around
        return self._operation(tensor.op).outputs[tensor.value_index]

    def _operation(self, op: Operation) -> Operation:
        if op.op_def.role is Role.ARGUMENT:
            raise ValueError(
                f"Unable to lift the initial value of {self._variable!r} out of the function: it depends on the argument "
                f"{op.name!r}. A variable begins with a value that is known before the function is called."
            )
        if op not in self._made:
            inputs = [self.of(each) for each in op.inputs]
            name = self._outer.unique_name(op.name)
            types = [each.dtype for each in op.outputs]
            with self._outer.as_default(), self._outer.control_dependencies(None):
                self._made[op] = self._outer.add_node(op.op_def, name, inputs, types, dict(op.attrs))
        return self._made[op]


def creator_for(made: list[Variable], may_make: bool) -> Creator:
    """What makes variables in the trace that is the default graph.

    Args:
        made: takes those that are made.
        may_make: whether the function may make variables, as it may when it is called first.
    """

    def create(next_creator: Creator, **options: Nest) -> Variable:
        if not may_make:
            raise ValueError(
                "tf.function-decorated function tried to create variables on non-first call. Make a variable once and keep it: "
                "outside of the function, or in an attribute that is None at first."
            )
        trace = get_default_graph()
        assert isinstance(trace, FuncGraph)
        variable = lifted_variable(trace, options)
        made.append(variable)
        return variable

    return create
