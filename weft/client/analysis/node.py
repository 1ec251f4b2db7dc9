"""GraphNode: a line of a report, with what its nodes cost and what is below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Costs(NamedTuple):
    """What nodes have and take: counts, microseconds of one step, bytes of its outputs, how often they ran and are defined."""

    parameters: int = 0
    float_ops: int = 0
    cpu_exec_micros: int = 0
    accelerator_exec_micros: int = 0
    output_bytes: int = 0
    run_count: int = 0
    definition_count: int = 0

    def plus(self, other: Costs) -> Costs:
        """Both together."""
        return Costs(*(mine + its for mine, its in zip(self, other, strict=True)))

    @property
    def exec_micros(self) -> int:
        """Microseconds on all devices."""
        return self.cpu_exec_micros + self.accelerator_exec_micros


_NOTHING = Costs()


@dataclass(repr=False)
class GraphNode:
    """A node, a name scope, a type of op or a line of the program; its attributes have the names of TensorFlow's messages.

    `own` are its costs, `total` with those below it; in the view by type with those of the types that follow.
    """

    name: str
    own: Costs = _NOTHING
    total: Costs = _NOTHING
    children: list[GraphNode] = field(default_factory=list)
    shape: str = ""
    is_counted: bool = True
    """Whether it is one of those that were asked for by type; of others there is only what is below."""

    def __repr__(self) -> str:
        """Its name, how many lines are below, and the totals that are not zero."""
        totals = "".join(f", total_{name}={value}" for name, value in self.total._asdict().items() if value)
        return f"<GraphNode {self.name!r} with {len(self.children)} below{totals}>"

    def add_up(self) -> None:
        """Sum the totals, from below."""
        for child in self.children:
            child.add_up()
        self.total = self.own
        for child in self.children:
            self.total = self.total.plus(child.total)

    def add_up_in_order(self) -> None:
        """Sum the totals of the types from the last one on; the first one's is that of all."""
        self.total = _NOTHING
        for child in reversed(self.children):
            self.total = child.total = self.total.plus(child.own)

    def walk(self) -> Iterator[GraphNode]:
        """This one and all below it."""
        for _, node in self.walk_with_depth():
            yield node

    def walk_with_depth(self, depth: int = 0) -> Iterator[tuple[int, GraphNode]]:
        """This one and all below it, each with how many are above it."""
        yield depth, self
        for child in self.children:
            yield from child.walk_with_depth(depth + 1)

    @property
    def parameters(self) -> int:
        """How many parameters its variables have."""
        return self.own.parameters

    @property
    def float_ops(self) -> int:
        """How many floating-point operations it does."""
        return self.own.float_ops

    @property
    def exec_micros(self) -> int:
        """Its microseconds on all devices."""
        return self.own.exec_micros

    @property
    def requested_bytes(self) -> int:
        """The bytes of its outputs."""
        return self.own.output_bytes

    @property
    def total_parameters(self) -> int:
        """`parameters`, with those below."""
        return self.total.parameters

    @property
    def total_float_ops(self) -> int:
        """`float_ops`, with those below."""
        return self.total.float_ops

    @property
    def total_exec_micros(self) -> int:
        """`exec_micros`, with those below."""
        return self.total.exec_micros

    @property
    def total_cpu_exec_micros(self) -> int:
        """Microseconds on CPUs, with those below."""
        return self.total.cpu_exec_micros

    @property
    def total_accelerator_exec_micros(self) -> int:
        """Microseconds on other devices, with those below."""
        return self.total.accelerator_exec_micros

    @property
    def total_requested_bytes(self) -> int:
        """`requested_bytes`, with those below."""
        return self.total.output_bytes

    @property
    def total_run_count(self) -> int:
        """How many nodes ran, with those below."""
        return self.total.run_count

    @property
    def total_definition_count(self) -> int:
        """How many nodes there are, with those below."""
        return self.total.definition_count
