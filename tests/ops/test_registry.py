"""Every op that is declared: its kernel, its shape rule, its gradient and its signature.

The cases are in the tables `cases_<family>.py` beside this file: a list `CASES`, and where needed the dicts `WITHOUT_CASE`
(op type -> why it has none) and `OWN_OPS` (op type -> why TensorFlow has no such op).
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import weft.ops
from weft.framework import op_registry
from weft.framework.op_def import REQUIRED, AttrDef, OpDef
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


# The signatures, against TensorFlow's own registry.

_DESCRIBE = """
import json, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from tensorflow.python.framework import dtypes, op_def_registry

def arg(a):
    fixed = dtypes.as_dtype(a.type).name if a.type else ""
    return [a.name, fixed, a.type_attr, a.type_list_attr, a.number_attr, a.is_ref]

def value(v):
    kind = v.WhichOneof("value")
    if kind is None:
        return None
    if kind == "type":
        return dtypes.as_dtype(v.type).name
    if kind == "list":
        return [str(x) for f, xs in v.list.ListFields() for x in xs]
    if kind == "s":
        return v.s.decode()
    if kind in ("i", "f", "b"):
        return getattr(v, kind)
    return str(getattr(v, kind))

described = {}
for name in json.load(sys.stdin):
    d = op_def_registry.get(name)
    described[name] = None if d is None else {
        "inputs": [arg(a) for a in d.input_arg],
        "outputs": [arg(a) for a in d.output_arg],
        "attrs": {a.name: [a.type, a.HasField("default_value"), value(a.default_value)] for a in d.attr},
        "stateful": d.is_stateful,
    }
print(json.dumps(described))
"""


@pytest.fixture(scope="module")
def tensorflow_ops() -> dict[str, Any]:
    interpreter = os.environ.get("WEFT_ORACLE_PYTHON")
    if not interpreter:
        pytest.skip("WEFT_ORACLE_PYTHON names no Python with TensorFlow")
    names = json.dumps([definition.name for definition in op_registry.registered()])
    found = subprocess.run([interpreter, "-c", _DESCRIBE], input=names, capture_output=True, text=True, check=True)
    return json.loads(found.stdout)  # type: ignore[no-any-return]


def _args(args: Any) -> list[list[Any]]:
    return [[a.name, a.dtype.name if a.dtype else "", a.type_attr, a.type_list_attr, a.number_attr, a.is_ref] for a in args]


def _default(attr: AttrDef) -> Any:
    if attr.default is REQUIRED:
        return None
    if attr.kind == "type":
        return attr.default.name
    if attr.kind.startswith("list("):
        return [item.name if hasattr(item, "name") else str(item) for item in attr.default]
    return pytest.approx(attr.default) if attr.kind == "float" else attr.default


@pytest.mark.oracle
def test_signatures_are_those_of_tensorflow(tensorflow_ops: dict[str, Any]) -> None:
    differences = []
    for definition in op_registry.registered():
        theirs = tensorflow_ops[definition.name]
        if theirs is None:
            continue
        for side in ("inputs", "outputs"):
            ours = _args(getattr(definition, side))
            if ours != theirs[side]:
                differences.append(f"{definition.name} {side}: {ours}, TensorFlow has {theirs[side]}")
        for name, (kind, has_default, value) in theirs["attrs"].items():
            attr = definition.attrs.get(name)
            if attr is None:
                differences.append(f"{definition.name}: TensorFlow has the attribute {name} ({kind}), default {value}")
                continue
            if attr.kind != kind or (attr.default is not REQUIRED) != has_default:
                differences.append(f"{definition.name}.{name}: {attr}, TensorFlow has {kind}, default {value}")
            elif has_default and kind in ("int", "bool", "float", "string", "type") and _default(attr) != value:
                differences.append(f"{definition.name}.{name}: default {attr.default}, TensorFlow has {value}")
        differences.extend(
            f"{definition.name}: TensorFlow has no attribute {name}" for name in set(definition.attrs) - set(theirs["attrs"])
        )
    assert not differences, "\n".join(differences)


@pytest.mark.oracle
def test_ops_that_tensorflow_lacks_are_named_as_our_own(tensorflow_ops: dict[str, Any]) -> None:
    unknown = {name for name, theirs in tensorflow_ops.items() if theirs is None}
    assert sorted(unknown - set(OWN_OPS)) == []
    assert sorted(set(OWN_OPS) - unknown) == []
