"""The rules that leave cases out, or parts of what they give: each is as narrow as its reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.differential.ops.archive import Reader, Writer
from tests.differential.ops.case import OpCase, Variable
from tests.differential.ops.compare import STRICT, Slack, results, same, slack_of
from tests.differential.ops.meant import is_meant
from tests.differential.ops.undefined import has_undefined_gradient, is_undefined

_ONES = np.ones(3, np.float32)
_NAN = np.full(3, np.nan, np.float32)


@pytest.mark.parametrize("op", ["SqrtGrad", "FusedBatchNormGradV3", "Conv2D", "Cholesky"])
def test_only_a_case_with_such_inputs_may_give_what_is_not_finite(op: str) -> None:
    for dtype in (np.float32, np.complex64):
        ones, nan = _ONES.astype(dtype), _NAN.astype(dtype)
        assert not same(op, nan, ones, "cold")
        assert not same(op, nan, ones, "cold", slack_of(OpCase(op, [ones])))
    assert same(op, nan, ones, "cold", slack_of(OpCase(op, [nan])))


def test_a_complex_number_over_zero_is_left_open_and_a_real_one_is_not() -> None:
    slack = slack_of(OpCase("SqrtGrad", [np.zeros(3, np.complex64)]))
    assert same("SqrtGrad", _NAN.astype(np.complex64), _ONES.astype(np.complex64), "cold", slack)
    assert not same("SqrtGrad", _NAN, _ONES, "cold", slack)


def test_cases_differ_as_meant_by_what_they_are() -> None:
    indices, updates = np.array([[0]]), _ONES[:1]
    short = OpCase("ScatterNd", [indices.astype(np.int16), updates, np.array([3], np.int16)])
    assert is_meant(short.but(form="constant"), "static: ...")
    assert not is_meant(short.but(form="known"), "static: ...")
    assert not is_meant(OpCase("ScatterNd", [indices, updates, np.array([3])], form="constant"), "static: ...")
    assert is_meant(OpCase("AssignVariableOp", [Variable(_ONES), _ONES[:2]]), "cold: ...")
    assert not is_meant(OpCase("AssignVariableOp", [Variable(_ONES), _ONES]), "cold: ...")
    assert is_meant(OpCase("Xlogy", [_ONES.astype(np.complex64)] * 2), "cold gradient: ...")
    assert not is_meant(OpCase("Xlogy", [_ONES.astype(np.complex64)] * 2), "cold: value 0 is 1")


_IMAGE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
_POOLED = np.array([5, 7, 13, 15], np.float32).reshape(1, 2, 2, 1)


@pytest.mark.parametrize(
    ("pooled", "attrs", "out"),
    [
        (_POOLED, {}, False),
        (_POOLED + 1, {}, True),
        (_POOLED[:, :1], {}, False),
        (_POOLED[0], {}, False),
        (_POOLED + 1, {"strides": [1, 0, 2, 1]}, False),
        (_IMAGE, {"ksize": [1, 1, 1, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}, False),
        (np.array([10, 11, 14, 15], np.float32).reshape(1, 2, 2, 1), {"ksize": [1, 3, 3, 1], "padding": "SAME"}, False),
    ],
)
def test_gradients_of_pooling_are_left_out_for_other_values_of_the_right_shape(pooled: Any, attrs: Any, out: bool) -> None:
    assert is_undefined(OpCase("MaxPoolGrad", [_IMAGE, pooled, pooled], _POOL | attrs)) == out


_BIG = np.full((4, 2), 50, np.int8)


@pytest.mark.parametrize(
    ("case", "out"),
    [
        (OpCase("Mean", [_BIG, np.array([1], np.int32)]), False),
        (OpCase("Mean", [_BIG, np.array(-2, np.int32)]), True),
        (OpCase("RGBToHSV", [np.full((1, 3), 255, np.float32)]), False),
        (OpCase("Qr", [np.full((2, 2), 1e12)]), False),
        (OpCase("Qr", [np.full((2, 2), 1e154)]), True),
        (OpCase("Qr", [np.full((2, 2), 1e12, np.float32)]), False),
        (OpCase("Qr", [np.full((2, 2), 1e30, np.float32)]), True),
        (OpCase("TopKV2", [_ONES, np.array(2, np.int32)], {"sorted": False}), False),
        (OpCase("ApplyFtrl", [Variable(_NAN)]), False),
        (OpCase("SparseApplyFtrl", [Variable(_NAN)]), True),
    ],
)
def test_a_case_is_left_out_for_its_reason_alone(case: OpCase, out: bool) -> None:
    assert is_undefined(case) == out


def _answer(writer: Writer, arrays: list[Any]) -> Any:
    return {"values": [writer.array(each.dtype.name, each) | {"type": each.dtype.name} for each in arrays]}


def _compared(op: str, ours: list[Any], theirs: list[Any], tmp_path: Any, slack: Slack) -> str | None:
    answers, readers = [], []
    for name, arrays in (("ours", ours), ("theirs", theirs)):
        writer = Writer()
        answers.append(_answer(writer, [np.asarray(each, np.float32) for each in arrays]))
        writer.write(str(tmp_path / f"{name}.npz"))
        readers.append(Reader(str(tmp_path / f"{name}.npz")))
    return results(op, answers[0], answers[1], (readers[0], readers[1]), "cold", slack)


def test_what_is_asked_for_unsorted_is_compared_in_order(tmp_path: Any) -> None:
    slack = slack_of(OpCase("TopKV2", [_ONES], {"sorted": False}))
    assert _compared("TopKV2", [[3, 5]], [[5, 3]], tmp_path, slack) is None
    assert _compared("TopKV2", [[3, 4]], [[5, 3]], tmp_path, slack) is not None
    assert _compared("TopKV2", [[3, 5]], [[5, 3]], tmp_path, STRICT) is not None


def test_of_equally_probable_sequences_the_probabilities_are_compared(tmp_path: Any) -> None:
    def found(first: int, scores: list[float]) -> list[Any]:
        return [[first], [1], [2], [3], [4], [5], [scores]]

    op = "CTCBeamSearchDecoder"
    assert _compared(op, found(7, [-1, -1]), found(8, [-1, -1]), tmp_path, STRICT) is None
    assert _compared(op, found(7, [-1, -2]), found(8, [-1, -2]), tmp_path, STRICT) is not None
    assert _compared(op, found(7, [-1, -3]), found(7, [-1, -1]), tmp_path, STRICT) is not None


def test_the_gradient_alone_is_left_open_where_a_segment_sum_has_no_indices() -> None:
    data, some, none = np.ones((3, 2), np.float32), np.array([0, 2]), np.array([], np.int64)
    case = OpCase("SparseSegmentSqrtN", [data, some, np.array([0, 0])])
    assert not has_undefined_gradient(case)
    assert has_undefined_gradient(case.but(inputs=[data, none, none]))
    assert not is_undefined(case.but(inputs=[data, none, none]))
    assert not has_undefined_gradient(OpCase("SegmentSum", [data[:0], none]))
