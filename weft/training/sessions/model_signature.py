"""The signature of a model: its shared variables by name, and where two replicas' signatures differ.

Replicas find each other's variables by name alone. A name that only one of them has is never initialized by the chief, and one
that both have with different shapes, dtypes or tasks is not one variable: both end in waiting or in wrong numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph

_SHOWN: Final = 8


@dataclass(frozen=True)
class VariableSignature:
    """The traits that are equal in every replica: the dtype's name, the dimensions (None for unknown), the device asked for,
    whether optimizers train it."""

    dtype: str
    shape: tuple[int | None, ...] | None
    device: str
    is_trained: bool = True

    def __str__(self) -> str:
        shape = "unknown shape" if self.shape is None else str(list(self.shape))
        return f"{self.dtype} {shape}" + (f" on {self.device}" if self.device else "")

    def is_elsewhere(self, other: VariableSignature) -> bool:
        """Whether both are pinned, to different tasks: then they share nothing, whatever their names."""
        mine, theirs = DeviceSpec.from_string(self.device), DeviceSpec.from_string(other.device)
        if mine.job is None or theirs.job is None:
            return False
        return mine.job != theirs.job or (mine.task is not None and theirs.task is not None and mine.task != theirs.task)

    def is_compatible(self, other: VariableSignature) -> bool:
        """Whether both may be one variable by dtype and shape."""
        if self.dtype != other.dtype:
            return False
        if self.shape is None or other.shape is None:
            return True
        same_rank = len(self.shape) == len(other.shape)
        return same_rank and all(a is None or b is None or a == b for a, b in zip(self.shape, other.shape, strict=True))


ModelSignature = Mapping[str, VariableSignature]


def signature_of(graph: Graph) -> dict[str, VariableSignature]:
    """The signature of a graph's global variables."""
    found = {}
    trained = {variable.op.name for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
        dims = variable.shape.as_list() if variable.shape.ndims is not None else None
        shape = None if dims is None else tuple(dims)
        name = variable.op.name
        found[name] = VariableSignature(variable.dtype.base_dtype.name, shape, variable.device or "", name in trained)
    return found


def as_plain(signature: ModelSignature) -> dict[str, Any]:
    """The signature as JSON can hold it."""
    return {
        name: [v.dtype, None if v.shape is None else list(v.shape), v.device, v.is_trained] for name, v in signature.items()
    }


def from_plain(plain: Mapping[str, Any]) -> dict[str, VariableSignature]:
    """The signature that `as_plain` made plain."""
    return {
        name: VariableSignature(dtype, None if shape is None else tuple(shape), device, is_trained)
        for name, (dtype, shape, device, is_trained) in plain.items()
    }


@dataclass(frozen=True)
class SignatureDiff:
    """How a replica's signature differs from the chief's."""

    mine: ModelSignature
    chiefs: ModelSignature

    @property
    def only_here(self) -> list[str]:
        """The variables that the chief does not have."""
        return [name for name in self.mine if name not in self.chiefs]

    @property
    def only_there(self) -> list[str]:
        """The variables that only the chief has, but for copies of its own, on a task of a job where this replica has none."""
        jobs = {DeviceSpec.from_string(each.device).job for each in self.mine.values()}

        def is_own(name: str) -> bool:
            spec = DeviceSpec.from_string(self.chiefs[name].device)
            return spec.task is not None and spec.job not in jobs and None not in jobs

        return [name for name in self.chiefs if name not in self.mine and not is_own(name)]

    @property
    def is_smaller_model(self) -> bool:
        """Whether the chief trains variables that this replica has not. Averages and counts are a chief's own business."""
        return any(self.chiefs[name].is_trained for name in self.only_there)

    @property
    def elsewhere(self) -> list[str]:
        """The variables of both that are on different tasks."""
        return [n for n in self.mine if n in self.chiefs and self.mine[n].is_elsewhere(self.chiefs[n])]

    @property
    def different(self) -> list[str]:
        """The variables of both, on one task, whose dtypes or shapes differ."""
        shared = [name for name in self.mine if name in self.chiefs and not self.mine[name].is_elsewhere(self.chiefs[name])]
        return [name for name in shared if not self.mine[name].is_compatible(self.chiefs[name])]

    @property
    def is_related(self) -> bool:
        """Whether any variable is one variable for both: else the chief may be that of another job on the same servers."""
        return any(name in self.chiefs for name in self.mine)

    def never_initialized(self, missing: Collection[str]) -> list[str]:
        """Those of the variables without a value that this chief will not give one."""
        wanting = set(missing)
        return [name for name in (*self.only_here, *self.elsewhere) if name in wanting]

    def __str__(self) -> str:
        lines = []
        for told, names in (("only in this replica", self.only_here), ("only in the chief's graph", self.only_there)):
            source = self.mine if names and names[0] in self.mine else self.chiefs
            lines += _listed(told, [f"{name} ({source[name]})" for name in names])
        both = [f"{name}: {self.mine[name]} here, {self.chiefs[name]} there" for name in (*self.different, *self.elsewhere)]
        return "\n".join([*lines, *_listed("different", both)])


def _listed(told: str, items: Sequence[str]) -> list[str]:
    if not items:
        return []
    more = [f"    and {len(items) - _SHOWN} more"] if len(items) > _SHOWN else []
    return [f"  {told}:", *(f"    {item}" for item in items[:_SHOWN]), *more]
