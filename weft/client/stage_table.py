"""StageTable: what the stages of a run tell about themselves, as a table for people and as data for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, overload

from weft.runtime.choice.stage_report import StageReport

_HEADS: Final = ("task", "stage", "way", "runs", "ms a run", "compiling", "nodes", "why")
_LONGEST: Final = 40
"""Characters of a list of nodes; what is longer is cut."""


class StageTable(Sequence[StageReport]):
    """The stages of a run, by task and in the order in which they may run. Each row is a StageReport, with names for its parts.

    Printed it is a table: `way` is `host program`, `compiled`, `compiling`, `interpreted so far`, `not yet run`, or `not asked`
    where a task could not tell; a stage that ran both ways has two numbers of runs, on the host and compiled, and two times.
    """

    def __init__(self, reports: Sequence[StageReport]) -> None:
        self._rows = sorted(reports, key=lambda row: (row.task, row.number))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[StageReport]:
        return iter(self._rows)

    @overload
    def __getitem__(self, index: int) -> StageReport: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[StageReport]: ...

    def __getitem__(self, index: int | slice) -> StageReport | Sequence[StageReport]:
        return self._rows[index]

    def __repr__(self) -> str:
        lines = [_HEADS, *(_cells(row) for row in self._rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADS))]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _cells(row: StageReport) -> tuple[str, ...]:
    if row.number < 0:
        return (row.task, "", row.way, "", "", "", "", row.why)
    runs = [(row.host_runs, row.host_s), (row.compiled_runs, row.compiled_s)]
    told = [(count, seconds) for count, seconds in runs if count]
    return (
        row.task,
        str(row.number),
        row.way,
        " + ".join(str(count) for count, _ in told),
        " / ".join(f"{seconds / count * 1e3:.3f}" for count, seconds in told),
        _compiling(row) if row.compile_s else "",
        row.nodes if len(row.nodes) <= _LONGEST else row.nodes[: _LONGEST - 1] + "…",
        row.why,
    )


def _compiling(row: StageReport) -> str:
    from_folder = f", {row.cached_sizes} from cache" if row.cached_sizes else ""
    return f"{row.compile_s:.2f} s, {row.sizes} sizes{from_folder}"
