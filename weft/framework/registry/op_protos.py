"""What is declared of each op type, as the public protos."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tensorboard.compat.proto import op_def_pb2

from weft.framework.op_types.op_def import to_op_def_proto
from weft.framework.registry import op_registry


class _Protos(Mapping[str, op_def_pb2.OpDef]):
    """The protos by the op types' names, each made when it is asked for."""

    def __init__(self) -> None:
        self._names = [each.name for each in op_registry.registered()]

    def __getitem__(self, name: str) -> op_def_pb2.OpDef:
        if not op_registry.is_registered(name):
            raise KeyError(name)
        return to_op_def_proto(op_registry.lookup(name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and op_registry.is_registered(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<the protos of {len(self)} op types>"


def get_registered_ops() -> Mapping[str, op_def_pb2.OpDef]:
    """The op types that there are, by name."""
    return _Protos()


def register_op_list(op_list: op_def_pb2.OpList) -> None:
    """Check that op types are there: those of a library that a program has loaded.

    Args:
        op_list: the op types.

    Raises:
        ValueError: weft has no op type of a name.
    """
    for each in op_list.op:
        if not op_registry.is_registered(each.name):
            raise ValueError(f"weft has no op type {each.name!r}, and cannot load kernels of TensorFlow's libraries.")
