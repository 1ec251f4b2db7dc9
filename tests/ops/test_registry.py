"""Every op that is declared: its kernel, its shape rule and its gradient.

The cases are in the tables `cases_<family>.py` beside this file: a list `CASES`, and where needed the dicts `WITHOUT_CASE`
(op type -> why it has none) and `OWN_OPS` (op type -> why TensorFlow has no such op).
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

import weft.ops
from weft.framework.op_types.op_def import OpDef
from weft.framework.registry import op_registry
from weft.testing import op_checks
from weft.testing.op_checks import Case

for _module in pkgutil.walk_packages(weft.ops.__path__, "weft.ops."):
    importlib.import_module(_module.name)

TABLES = [importlib.import_module(f"tests.ops.{path.stem}") for path in sorted(Path(__file__).parent.glob("cases_*.py"))]
CASES: list[Case] = [case for table in TABLES for case in table.CASES]
WITHOUT_CASE: dict[str, str] = {k: v for table in TABLES for k, v in getattr(table, "WITHOUT_CASE", {}).items()}
OWN_OPS: dict[str, str] = {k: v for table in TABLES for k, v in getattr(table, "OWN_OPS", {}).items()}

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)


def _needs_case(definition: OpDef) -> bool:
    return not definition.stateful and not definition.is_random


def test_every_pure_op_has_a_case_or_a_reason_for_having_none() -> None:
    covered = {case.op for case in CASES} | set(WITHOUT_CASE)
    missing = [definition.name for definition in op_registry.registered() if _needs_case(definition)]
    assert sorted(set(missing) - covered) == []


def test_cases_are_of_declared_ops() -> None:
    assert sorted(case.op for case in CASES if not op_registry.is_registered(case.op)) == []


def test_no_op_has_both_a_case_and_a_reason_for_having_none() -> None:
    assert sorted({case.op for case in CASES} & set(WITHOUT_CASE)) == []


@each_case
def test_kernel_agrees_with_the_reference(case: Case) -> None:
    op_checks.check_reference(case)


@each_case
def test_compiled_kernel_agrees_with_the_interpreted_one(case: Case) -> None:
    op_checks.check_compiled(case)


@each_case
def test_inferred_shapes_agree_with_computed_ones(case: Case) -> None:
    op_checks.check_shapes(case)


@each_case
def test_gradient_agrees_with_finite_differences(case: Case) -> None:
    op_checks.check_gradient(case)


@pytest.mark.parametrize("case", [case for case in CASES if case.sweep], ids=lambda case: case.label)
def test_all_types_allowed_agree_interpreted_and_compiled(case: Case) -> None:
    op_checks.check_types(case)
