"""Makes the cases of some ops, runs them in weft and in TensorFlow, and tells the differences."""

from __future__ import annotations

import importlib
import pkgutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensorboard.compat.proto import op_def_pb2

import weft.ops
from tests.differential.ops import compare, generator, meant, oracle, undefined
from tests.differential.ops.archive import Reader, Writer
from tests.differential.ops.case import OpCase, arrays_of, record
from tests.differential.ops.compare import Slack
from tests.differential.ops.known import UNWRITTEN
from tests.differential.ops.oracle import Results
from weft.framework.registry import op_registry

_AHEAD = 4
_WAYS = ("cold", "cold gradient", "compiled", "compiled gradient")


@dataclass
class Finding:
    """What came of an op's cases: how many there were, were compared and refused by TensorFlow, what differs, and how many
    differ as they are meant to."""

    op: str
    cases: int = 0
    compared: int = 0
    refused: int = 0
    differences: list[str] = field(default_factory=list)
    meant: int = 0

    @property
    def agrees(self) -> bool:
        """Whether all cases agree, of which there is at least one."""
        return self.compared > 0 and not self.differences and not self.meant


def shared_ops(definitions: Mapping[str, op_def_pb2.OpDef]) -> list[str]:
    """The ops that both register."""
    for module in pkgutil.walk_packages(weft.ops.__path__, "weft.ops."):
        importlib.import_module(module.name)
    return [own.name for own in op_registry.registered() if own.name in definitions]


class Campaign:
    """Asks weft and the TensorFlows.

    Args:
        python: the Python with TensorFlow 2.21.
        older: the one with 1.15, whose answers count as well; None for none.
        count: how many mutations an op has.
        every: each how manieth case is compiled, too.
        kept: a folder to keep TensorFlow's answers in.
        limit_s: the time that the cases of an op may take in each library; those behind that are left out.
        draw: which of the draws of mutations is run.
    """

    def __init__(
        self,
        python: str,
        older: str | None,
        count: int,
        every: int,
        kept: Path | None = None,
        limit_s: float = 600,
        draw: int = 0,
    ) -> None:
        self._count, self._every, self._draw = count, every, draw
        self._theirs = oracle.tensorflow(python, kept, limit_s)
        self._older = None if older is None else oracle.tensorflow(older, None, limit_s)
        self._ours = oracle.weft("cold,compiled", limit_s)

    def close(self) -> None:
        """End the processes."""
        for library in (self._theirs, self._older, self._ours):
            if library is not None:
                library.close()

    def run(self, ops: Sequence[str], definitions: Mapping[str, op_def_pb2.OpDef]) -> Iterator[Finding]:
        """Run the cases of some ops; yields what came of each."""
        seeds = generator.all_seeds(definitions)
        with tempfile.TemporaryDirectory() as directory:
            begun: list[Any] = []
            for name in ops:
                archive = Path(directory) / f"{name}.npz"
                cases = generator.cases(definitions[name], seeds.get(name, []), self._count, self._draw)
                kept = self._write(archive, cases, definitions)
                begun.append((name, kept, archive, self._theirs.start(archive), self._ours.start(archive)))
                # A few ahead, so that the libraries do not wait for each other.
                if len(begun) > _AHEAD:
                    yield self._judged(*begun.pop(0))
            for each in begun:
                yield self._judged(*each)

    def _write(self, archive: Path, cases: Sequence[OpCase], definitions: Mapping[str, op_def_pb2.OpDef]) -> list[OpCase]:
        writer = Writer()
        kept = []
        for number, case in enumerate(cases):
            if undefined.is_undefined(case):
                continue
            entry = _record(case, definitions, writer, number % self._every == 0)
            if entry is not None and undefined.has_undefined_gradient(case):
                entry["gradient"] = None
            if entry is not None:
                writer.add(entry)
                kept.append(case)
        writer.write(str(archive))
        return kept

    def _judged(self, op: str, cases: Sequence[OpCase], archive: Path, their_future: Any, our_future: Any) -> Finding:
        labels = [f"{case.kind}, {case.form} #{number}" for number, case in enumerate(cases)]
        slacks = [compare.slack_of(case) for case in cases]
        theirs, ours = their_future.result(), our_future.result()
        ran = [number for number in range(len(labels)) if number in ours.of and number in theirs.of]
        if op in UNWRITTEN:
            ran = [number for number in ran if all(array.size for array in arrays_of(cases[number]))]
        differing = dict(differences(op, ours, theirs, ran, slacks))
        if self._older and differing:
            older = self._older.start(archive, list(differing)).result()
            still = dict(differences(op, ours, older, [number for number in differing if number in older.of], slacks))
            differing = {
                number: text
                for number, text in differing.items()
                if number not in older.of or _is_out(older.of[number]) or number in still
            }
        compared = sum(not _is_out(theirs.of[number]) for number in ran)
        refused = sum(any("error" in part for part in each.values() if isinstance(part, dict)) for each in theirs.of.values())
        others = {number: text for number, text in differing.items() if not meant.is_meant(cases[number], text)}
        texts = [f"{labels[number]}: {text}" for number, text in others.items()]
        return Finding(op, len(labels), compared, refused, texts, len(differing) - len(others))


def _record(case: OpCase, definitions: Mapping[str, op_def_pb2.OpDef], writer: Writer, is_compiled: bool) -> Any:
    try:
        return record(case, definitions, writer, is_compiled)
    except (TypeError, ValueError, KeyError, OverflowError):
        return None  # A mutation that no graph can hold, such as an attribute of the wrong kind.


def _is_out(found: Any) -> bool:
    """Whether TensorFlow cannot do the case at all."""
    return "died" in found or compare.is_lacking(found["static"]) or compare.is_lacking(found["cold"])


def differences(
    op: str, ours: Results, theirs: Results, of: Iterable[int], slacks: Sequence[Slack]
) -> Iterator[tuple[int, str]]:
    """The numbers of the cases of an op in which two libraries differ, and how; `slacks` has what each case leaves open."""
    for number in of:
        want, have = theirs.of[number], ours.of[number]
        if _is_out(want):
            continue
        text = "weft died" if "died" in have else _difference(op, have, want, (ours.reader, theirs.reader), slacks[number])
        if text:
            yield number, text


def _difference(op: str, have: Any, want: Any, readers: tuple[Reader, Reader], slack: Slack) -> str | None:
    if compare.refuses_earlier(have["static"], want["static"], want["cold"]):
        return None
    text = compare.static(have["static"], want["static"])
    if text:
        return f"static: {text}"
    for way in _WAYS:
        wanted = want.get(way.replace("compiled", "cold"))
        if way not in have or wanted is None or compare.is_lacking(wanted) or ("gradient" in way and "error" in wanted):
            # A gradient graph of TensorFlow's that fails itself, where the op did not, says nothing.
            continue
        text = compare.results(op, have[way], wanted, readers, way, slack)
        if text:
            return f"{way}: {text}"
    return None
