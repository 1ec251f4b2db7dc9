"""The cases of an op: its seeds, and what mutations make of them.

Seeds are the uses of the op in `tests/ops/cases_*.py` and those of `seeds.py`; variables and their updates have seeds by the
names of their inputs (`updates.py`), what needs other nodes has programs (`*programs.py`).
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from tensorboard.compat.proto import op_def_pb2

from tests.differential.ops import data_programs, pictures, programs, seeds, state_programs, updates
from tests.differential.ops.case import OpCase
from tests.differential.ops.known import DEPENDENT, NO_MUTATION
from tests.differential.ops.mutations import Mutator
from weft.testing.op_checks import arrays_of

_TABLES = sorted(Path(__file__).parents[2].glob("ops/cases_*.py"))
_FORMS = ("known", "unknown", "constant")


def _of_tables(definitions: Mapping[str, op_def_pb2.OpDef]) -> dict[str, list[OpCase]]:
    found: dict[str, list[OpCase]] = {}
    for path in _TABLES:
        for case in importlib.import_module(f"tests.ops.{path.stem}").CASES:
            if case.op in definitions:
                found.setdefault(case.op, []).append(OpCase(case.op, arrays_of(case), dict(case.attrs)))
    return found


def all_seeds(definitions: Mapping[str, op_def_pb2.OpDef]) -> dict[str, list[OpCase]]:
    """The seeds of all ops that have some."""
    found = _of_tables(definitions)
    made = [*programs.programs(), *data_programs.programs(), *state_programs.programs()]
    for case in [*seeds.SEEDS, *pictures.PICTURES, *updates.seeds(definitions), *made]:
        found.setdefault(case.op, []).append(case)
    return found


def cases(definition: op_def_pb2.OpDef, of: Iterable[OpCase], count: int, draw: int = 0) -> list[OpCase]:
    """The seeds of an op and about `count` mutations; the same for the same op, count and draw."""
    own = list(of)
    generator = np.random.RandomState((zlib.crc32(definition.name.encode()) + draw) % 2**32)
    mutator = Mutator(definition, generator)
    found = [seed.but(form=form) for seed in own for form in (_FORMS if seed.inputs is not None else ("known",))]
    plain = [seed for seed in own if seed.inputs is not None]
    if not plain or definition.name in NO_MUTATION:
        return found
    for attr, dtype in mutator.types():
        # The first seed of all, since its values suit the op best.
        found.append(mutator.retyped(plain[0], attr, dtype).but(form=_FORMS[generator.randint(2)]))
    ways = (mutator.redrawn, mutator.special, mutator.emptied, mutator.reshaped, mutator.renumbered, mutator.reattributed)
    typed = list(found)
    for number in range(count):
        source = typed[generator.randint(len(typed))] if number % 2 else plain[generator.randint(len(plain))]
        if definition.name in DEPENDENT and number % len(ways) < 4:
            continue
        made = ways[number % len(ways)](source)
        if made is not None and generator.rand() < 0.2:
            made = ways[generator.randint(len(ways))](made) or made
        if made is not None and not _names_a_row_twice(made):
            found.append(made.but(form=_FORMS[generator.randint(len(_FORMS))]))
    return found


def _names_a_row_twice(case: OpCase) -> bool:
    if not updates.is_sparse_update(case.op):
        return False
    return any(value.dtype.kind == "i" and value.ndim and len(np.unique(value)) < value.size for value in case.values
               if isinstance(value, np.ndarray))  # fmt: skip
