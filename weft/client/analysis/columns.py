"""The columns of a report: their heads, what they show of a line, and what they are sorted by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from weft.client.analysis.node import Costs, GraphNode


def short(count: int) -> str:
    """A number of things: 12, 2.88k, 6.55m."""
    for limit, letter in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if count >= limit:
            return f"{count / limit:.2f}{letter}"
    return str(count)


def _time(micros: int) -> str:
    for limit, unit in ((10**6, "sec"), (10**3, "ms")):
        if micros >= limit:
            return f"{micros / limit:.2f}{unit}"
    return f"{micros}us"


def _bytes(count: int) -> str:
    for limit, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "KB")):
        if count >= limit:
            return f"{count / limit:.2f}{unit}"
    return f"{count}B"


class Column(NamedTuple):
    """One figure of each line: its head, the figure of some costs, how it is written, the words behind it in each view."""

    head: str
    figure: Callable[[Costs], int]
    text: Callable[[int], str]
    unit: str = ""
    unit_by_type: str = ""
    width: int = 30

    def of_scope(self, node: GraphNode) -> str:
        """The figure of a line itself, and with all below: `2.88k/3.00k flops`."""
        text = self.text(self.figure(node.own)) if node.is_counted else "--"
        if self is _PARAMETERS and node.shape:
            text = f"{node.shape}, {text}"
        return f"{text}/{self.text(self.figure(node.total))}{self.unit}"

    def of_type(self, node: GraphNode, whole: Costs) -> str:
        """The figure of a type of op, and the shares of all from it on, and of it: `38us (100.00%, 62.30%)`."""
        own, all_of_them = self.figure(node.own), self.figure(whole)
        first, second = (100.0 * each / all_of_them if all_of_them else 0.0 for each in (self.figure(node.total), own))
        return f"{self.text(own)}{self.unit_by_type} ({first:.2f}%, {second:.2f}%)".rjust(self.width)


class Occurrence(Column):
    """How many nodes ran, and how many there are: `2|3`."""

    def of_scope(self, node: GraphNode) -> str:
        """The numbers of a line itself, and with all below: `0/2|1/3`."""
        ran, defined = ((str(own) if node.is_counted else "--") for own in (node.own.run_count, node.own.definition_count))
        return f"{ran}/{node.total.run_count}|{defined}/{node.total.definition_count}"

    def of_type(self, node: GraphNode, whole: Costs) -> str:
        """The numbers of a type of op."""
        return f"{node.own.run_count}|{node.own.definition_count}".rjust(self.width)


_PARAMETERS: Final = Column("# parameters", lambda costs: costs.parameters, short, " params", " params", 0)
_FLOAT_OPS: Final = Column("# float_ops", lambda costs: costs.float_ops, short, " flops", " float_ops", 0)
_BYTES: Final = Column("requested bytes", lambda costs: costs.output_bytes, _bytes)
_OUTPUT_BYTES: Final = Column("output bytes", lambda costs: costs.output_bytes, _bytes)
_MICROS: Final = Column("total execution time", lambda costs: costs.exec_micros, _time)
_ACCELERATOR: Final = Column("accelerator execution time", lambda costs: costs.accelerator_exec_micros, _time)
_CPU: Final = Column("cpu execution time", lambda costs: costs.cpu_exec_micros, _time)
_OCCURRENCE: Final = Occurrence("op occurrence (run|defined)", lambda costs: costs.definition_count, str, width=10)

# By the words that options select and sort by, in the order in which a report has them.
COLUMNS: Final[dict[str, Column]] = {
    "params": _PARAMETERS,
    "float_ops": _FLOAT_OPS,
    "bytes": _BYTES,
    "output_bytes": _OUTPUT_BYTES,
    "micros": _MICROS,
    "accelerator_micros": _ACCELERATOR,
    "cpu_micros": _CPU,
    "occurrence": _OCCURRENCE,
}


def selected_columns(selected: Sequence[str]) -> list[Column]:
    """The columns of a report that shows these; the time of all devices comes with its parts.

    Raises:
        ValueError: weft counts none of that name.
    """
    if unknown := [each for each in selected if each not in COLUMNS]:
        raise ValueError(f"Model analysis counts {', '.join(COLUMNS)}, not {unknown}")
    wanted = {*selected, *(("accelerator_micros", "cpu_micros") if "micros" in selected else ())}
    return [column for name, column in COLUMNS.items() if name in wanted]
