"""contrib.framework's small functions of graphs, devices and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weft.framework.building.aliases import Array, DTypeLike, Nest, ShapeLike, TensorLike, VariableLike
from weft.framework.building.graph_functions import control_dependencies
from weft.framework.building.op_builder import graph_of
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.array.filling import zeros
from weft.ops.control_flow.assertion import assert_that
from weft.ops.debugging.rank_checks import assert_scalar
from weft.ops.math.comparison import logical_not
from weft.ops.process.script import py_func as flat_py_func
from weft.ops.variables.assign import assign, is_variable_initialized


def assert_scalar_int(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Check that a value is one int; ValueError where it is not.

    Args:
        tensor: the value.
        name: the name scope.

    Returns:
        It, as a tensor.
    """
    given = convert_to_tensor(tensor)
    if not given.dtype.base_dtype.is_integer:
        raise ValueError(f"Expected integer type for {given.name}, received type: {given.dtype.base_dtype}.")
    return assert_scalar(given, name=name)


def get_graph_from_inputs(op_input_list: Sequence[TensorLike], graph: Graph | None = None) -> Graph:
    """The graph that tensors are of; the default one where none is given.

    Args:
        op_input_list: the tensors.
        graph: the graph that they must be of.

    Raises:
        ValueError: they are of several.
    """
    for each in op_input_list if graph is not None else ():
        if isinstance(each, Tensor | Operation) and each.graph is not graph:
            raise ValueError(f"{each} is not from the passed-in graph.")
    return graph or graph_of(list(op_input_list))


def get_name_scope() -> str:
    """The name scope that is open; empty outside of any."""
    return get_default_graph().get_name_scope()


def get_placeholders(graph: Graph) -> list[Tensor]:
    """The placeholders of a graph.

    Args:
        graph: the graph.
    """
    return [op.outputs[0] for op in graph.get_operations() if op.op_def.role is Role.PLACEHOLDER]


def zero_initializer(ref: VariableLike, use_locking: bool = True, name: str = "zero_initializer") -> Tensor:
    """The operation that sets a variable without a value to zeros; InvalidArgumentError in the run where it has one.

    Args:
        ref: the variable, of known shape.
        use_locking: whether the update takes the variable's lock.

    Returns:
        The variable's value after it.
    """
    is_new = assert_that(logical_not(is_variable_initialized(ref)), [f"{ref.op.name}: input is already initialized"])
    with control_dependencies([is_new]):
        made: Tensor = assign(ref, zeros(ref.shape.as_list(), ref.dtype.base_dtype), use_locking=use_locking, name=name)
    return made


def py_func(
    func: Callable[..., Nest], args: Sequence[Nest] = (), kwargs: Mapping[str, Nest] | None = None,
    output_types: Nest = None, output_shapes: Nest = None, stateful: bool = True, name: str | None = None,
) -> Nest:  # fmt: skip
    """Call a Python function on the arrays that are the values of tensors, in whatever structure it takes and returns them.

    Args:
        func: the function.
        args, kwargs: its arguments: structures of tensors, and other values, which it gets as they are.
        output_types: the dtypes of what it returns, in its structure; None where that is nothing.
        output_shapes: the shapes, in the same structure; any when None.
        stateful: whether equal inputs may give other results.
        name: the node's name.

    Returns:
        The structure of `output_types`, of tensors; an Operation where there is none.
    """
    structure = (list(args), dict(kwargs or {}))
    flat = nest.flatten(structure)
    places = [index for index, each in enumerate(flat) if isinstance(each, Tensor)]
    wanted: list[DTypeLike] = [] if output_types is None else nest.flatten(output_types)

    def call(*arrays: Array) -> list[Nest]:
        values = list(flat)
        for index, array in zip(places, arrays, strict=True):
            values[index] = array
        own_args, own_kwargs = nest.pack_sequence_as(structure, values)
        result = func(*own_args, **own_kwargs)
        if output_types is None:
            return []
        nest.assert_same_structure(output_types, result)
        return [dtypes.as_dtype(kind).as_numpy_dtype(each) if not hasattr(each, "dtype") else each
                for kind, each in zip(wanted, nest.flatten(result), strict=True)]  # fmt: skip

    made = flat_py_func(call, [flat[each] for each in places], wanted, stateful, name)
    if output_types is None:
        return made
    tensors: list[Tensor] = made if isinstance(made, list) else [made]
    if output_shapes is not None:
        shapes: list[ShapeLike] = nest.flatten_up_to(output_types, output_shapes)
        for tensor, shape in zip(tensors, shapes, strict=True):
            tensor.set_shape(shape)
    return nest.pack_sequence_as(output_types, tensors)


class VariableDeviceChooser:
    """A device function that deals variables to parameter servers in turn.

    Args:
        num_tasks: how many servers; without any the variables stay on this task.
        job_name: the servers' job.
        device_type, device_index: the device of a server.
        replica: the replica of a server; none when None.
    """

    __repr__ = printed("tf.contrib.framework", lambda chooser: f"{chooser._num_tasks} tasks of {chooser._job_name!r}")

    def __init__(
        self, num_tasks: int = 0, job_name: str = "ps", device_type: str = "CPU", device_index: int = 0,
        replica: int | None = None,
    ) -> None:  # fmt: skip
        self._num_tasks, self._job_name, self._replica = num_tasks, job_name, replica
        self._device_type, self._device_index = device_type, device_index
        self._next = 0

    def __call__(self, op: Operation) -> str:
        """The device of the next variable.

        Args:
            op: the variable's operation.
        """
        spec = DeviceSpec(replica=self._replica, device_type=self._device_type, device_index=self._device_index)
        if self._num_tasks > 0:
            spec = DeviceSpec(
                job=self._job_name, replica=self._replica, task=self._next, device_type=self._device_type,
                device_index=self._device_index,
            )  # fmt: skip
            self._next = (self._next + 1) % self._num_tasks
        return spec.to_string()
