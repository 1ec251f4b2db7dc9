"""The harness that runs ops in weft and in TensorFlow: what it makes of ops, and a part of its table."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.differential.ops import compare, generator, oracle, report
from tests.differential.ops.archive import Reader, Writer
from tests.differential.ops.campaign import Campaign, shared_ops
from tests.differential.ops.case import OpCase, record
from tests.differential.ops.known import DIFFERENCES, WITHOUT
from tests.tensorflows import interpreter
from weft.framework.op_types.op_def import to_op_def_proto
from weft.framework.registry import op_registry
from weft.framework.types.dtypes import as_dtype

_LISTS = Path(__file__).parents[3] / "tools"
# Ops of many kinds, that nearly every program has.
_SUBSET = ("Abs", "Add", "AssignAddVariableOp", "FIFOQueueV2", "LogUniformCandidateSampler", "MakeIterator", "MatMul",
           "MutableHashTableV2", "RandomUniform", "Relu", "Reshape", "Softmax", "Tanh")  # fmt: skip


@pytest.fixture(scope="module")
def own() -> dict[str, Any]:
    """weft's declarations of the ops that TensorFlow has, too."""
    listed = (_LISTS / "tensorflow_ops_2.21.txt").read_text().split()
    shared = shared_ops(dict.fromkeys(listed))
    return {name: to_op_def_proto(op_registry.lookup(name)) for name in shared}


def test_each_op_has_cases_or_a_reason_for_having_none(own: dict[str, Any]) -> None:
    seeds = generator.all_seeds(own)
    assert sorted(name for name in own if name not in seeds and name not in WITHOUT) == []
    assert sorted(name for name in WITHOUT if name in seeds) == []
    assert sorted(name for name in [*WITHOUT, *DIFFERENCES] if name not in own) == []


def test_cases_are_the_same_each_time_and_many(own: dict[str, Any]) -> None:
    seeds = generator.all_seeds(own)["MatMul"]
    first, second = (generator.cases(own["MatMul"], seeds, 30) for _ in range(2))
    records = [_record(case, own) for case in [*first, *second]]
    assert records[: len(first)] == records[len(first) :]
    assert {case.form for case in first} == {"known", "unknown", "constant"}
    assert {"seed", "type bfloat16", "special", "empty", "shape", "attribute transpose_a"} <= {case.kind for case in first}


def _record(case: OpCase, definitions: dict[str, Any]) -> str:
    return json.dumps(record(case, definitions, Writer(), False)["graph"]) + repr(
        [np.asarray(each).tolist() for each in case.values]
    )


@pytest.mark.parametrize(
    ("type_name", "array"),
    [
        ("bfloat16", np.arange(3)),
        ("string", np.array([[b"", b"a\0b"]], object)),
        ("bool", np.array(True)),
        ("float32", np.zeros((0, 2))),
    ],
)
def test_an_archive_gives_back_what_was_put_into_it(tmp_path: Path, type_name: str, array: Any) -> None:
    if type_name != "string":
        array = array.astype(as_dtype(type_name).as_numpy_dtype)
    writer = Writer()
    writer.add({"values": [writer.array("int8", np.arange(5, dtype=np.int8)), writer.array(type_name, array)]})
    writer.write(str(tmp_path / "archive.npz"))
    reader = Reader(str(tmp_path / "archive.npz"))
    found = reader.array(reader.records[0]["values"][1], lambda name: as_dtype(name).as_numpy_dtype)
    assert found.shape == array.shape
    assert found.tolist() == array.tolist()


_STATIC = {"shapes": [[2, None]], "types": ["float32"]}


@pytest.mark.parametrize(
    ("ours", "agrees"),
    [
        (_STATIC, True),
        ({"shapes": [[2, 3]], "types": ["float32"]}, True),
        ({"shapes": [[None, 3]], "types": ["float32"]}, False),
        ({"shapes": [None], "types": ["float32"]}, False),
        ({"shapes": [[2, None]], "types": ["float64"]}, False),
        ({"error": ["ValueError", "Exception"], "message": "wrong"}, False),
    ],
)
def test_static_shapes_agree_where_weft_knows_as_much(ours: Any, agrees: bool) -> None:
    assert (compare.static(ours, _STATIC) is None) == agrees


def test_errors_agree_by_their_classes() -> None:
    theirs = {"error": ["ValueError", "Exception"], "message": "rank"}
    assert compare.errors({"error": ["ShapeError", "ValueError", "Exception"], "message": "other words"}, theirs) is None
    assert compare.errors({"error": ["TypeError", "Exception"], "message": "rank"}, theirs) is not None
    assert compare.errors({"values": []}, theirs) is not None


@pytest.mark.oracle
@pytest.mark.timeout(600)
def test_ops_do_what_they_do_in_tensorflow(tmp_path: Path) -> None:
    python = interpreter("2.21")
    definitions = oracle.definitions(python)
    shared_ops(definitions)
    with contextlib.closing(Campaign(python, oracle.python_of("1.15"), count=12, every=12)) as campaign:
        findings = list(campaign.run(_SUBSET, definitions))
    assert [each.op for each in findings] == list(_SUBSET)
    assert all(each.refused < each.cases for each in findings), "TensorFlow refuses all cases of an op"
    assert [text for each in findings for text in each.differences] == []


@pytest.mark.oracle
def test_declarations_are_those_of_tensorflow() -> None:
    definitions = oracle.definitions(interpreter("2.21"))
    assert [line for name in shared_ops(definitions) for line in report.declaration_differences(definitions[name])] == []
