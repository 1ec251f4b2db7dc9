"""The file of what came of ops, a line of JSON each: a run that was ended goes on where it stood."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from tests.differential.ops.campaign import Finding


def stored(path: Path) -> dict[str, Finding]:
    """What a file holds, by the ops' names; a line that was not written whole counts for nothing."""
    if not path.exists():
        return {}
    found = {}
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            finding = Finding(**json.loads(line))
            found[finding.op] = finding
    return found


def resumed(path: Path | None, ops: Sequence[str], run: Callable[[list[str]], Iterable[Finding]]) -> Iterator[Finding]:
    """What the file has of these ops, and then what `run` finds of the others, which the file gets as it comes."""
    if path is None:
        yield from run(list(ops))
        return
    had = stored(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(_line(finding) for finding in had.values()))
    yield from (had[name] for name in ops if name in had)
    with path.open("a") as file:
        for finding in run([name for name in ops if name not in had]):
            file.write(_line(finding))
            file.flush()
            yield finding


def _line(finding: Finding) -> str:
    return json.dumps(dataclasses.asdict(finding)) + "\n"
