"""What programs mark to be compiled by XLA: weft compiles the stages of every step, so the marks ask for nothing more."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation
from weft.ops.array.identity import identity
from weft.ops.control_flow.ordering import no_op


@contextlib.contextmanager
def jit_scope(compile_ops: object = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """A block whose operations XLA compiles, as it does all others.

    Args:
        compile_ops: not used: whether, or which, operations are compiled is chosen by how often a stage runs.
        separate_compiled_gradients: not used.
    """
    yield


def compile(computation: Callable[..., Nest], inputs: Sequence[Nest] | None = None) -> Nest:
    """The results of a function of tensors, which XLA compiles, as it does all other operations.

    Args:
        computation: a function of tensors that returns a tensor, an operation, or a flat list of these.
        inputs: its arguments, tensors or what becomes one; none when None.

    Returns:
        The tensors; they wait for the operations that the function returned. An operation where there is no tensor.

    Raises:
        TypeError: `inputs` is no list.
    """
    if inputs is not None and not isinstance(inputs, list | tuple):
        raise TypeError("inputs must be a list")
    outputs = computation(
        *(convert_to_tensor(each) if not isinstance(each, list | tuple | dict) else each for each in inputs or ())
    )
    many = list(outputs) if isinstance(outputs, list | tuple) else [] if outputs is None else [outputs]
    operations = [each for each in many if isinstance(each, Operation)]
    tensors = [convert_to_tensor(each) for each in many if not isinstance(each, Operation)]
    with get_default_graph().control_dependencies(operations):
        made: list[Nest] = [identity(each) for each in tensors]
        return made if made else no_op()
