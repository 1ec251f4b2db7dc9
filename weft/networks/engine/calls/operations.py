"""The graph around layers: which operations stand between tensors and the layers before them, and what depends on what."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.engine.calls import history
from weft.ops.array.placeholder import placeholder


def placeholder_of(shape: TensorShape) -> Nest:
    """A placeholder of floats of a shape."""
    return placeholder(dtypes.float32, shape)


def operations_between(tensors: Sequence[Nest]) -> list[Operation]:
    """The operations that lead from tensors with a history to these, each after those that it uses."""
    depends: dict[str, bool] = {}
    found: list[Operation] = []
    waiting = [(op, False) for each in tensors if history.history_of(each) is None for op in _makers(each)]
    while waiting:
        op, is_expanded = waiting.pop()
        if op.name in depends:
            continue
        unknown = [each.op for each in op.inputs if history.history_of(each) is None and each.op.name not in depends]
        if unknown and not is_expanded:
            waiting.append((op, True))
            waiting.extend((each, False) for each in unknown)
            continue
        depends[op.name] = any(history.history_of(each) is not None or depends.get(each.op.name, False) for each in op.inputs)
        if depends[op.name]:
            found.append(op)
    return found


def _makers(tensor: Nest) -> list[Operation]:
    return [tensor.values.op, tensor.indices.op] if not hasattr(tensor, "op") else [tensor.op]


def depending(made: Sequence[Nest], inputs: Nest) -> list[Nest]:
    """Those operations or tensors that depend on one of the inputs; for None those that depend on no placeholder."""
    if inputs is None:
        return [each for each in made if not _sources(each, frozenset())]
    names = frozenset(history.key_of(each) for each in nest.flatten(inputs))
    return [each for each in made if _sources(each, names)]


def _sources(made: Nest, names: frozenset[str]) -> bool:
    """Whether a tensor of these names, or for no names any placeholder, is among what something was made of."""
    waiting = [made if isinstance(made, Operation) else made.op]
    seen = set()
    while waiting:
        op = waiting.pop()
        if op.name in seen:
            continue
        seen.add(op.name)
        if not names and op.type == "Placeholder":
            return True
        if any(each.name in names for each in (*op.inputs, *op.outputs)):
            return True
        waiting.extend(each.op for each in op.inputs)
        waiting.extend(op.control_inputs)
    return False
