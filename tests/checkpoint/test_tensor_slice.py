from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import errors
from weft.checkpoint.tensor_slice import FULL, TensorSlice, check_covers, parse_shape_and_slice, slice_key


def test_keys_are_those_that_tensorflow_writes() -> None:
    assert slice_key("p", TensorSlice((4, 0), (3, 4))) == b"\0p\0\1\1\2\x84\x83\x80\x84"
    assert slice_key("p", TensorSlice((0,), (FULL,))) == b"\0p\0\1\1\1\x80\x7f"


def test_zero_and_ff_bytes_in_a_name_are_escaped() -> None:
    assert slice_key("a\0bÿ", TensorSlice((), ())) == b"\0a\0\xffb\xc3\xbf\0\1\0"


@pytest.mark.parametrize(
    ("start", "code"),
    [(63, "bf"), (64, "c040"), (8191, "dfff"), (8192, "e02000"), (2**20, "f0100000"), (2**62, "ffc04000000000000000")],
)
def test_large_starts_take_a_byte_per_seven_bits(start: int, code: str) -> None:
    assert slice_key("", TensorSlice((start,), (0,))).hex() == f"0000010101{code}80"


@given(st.lists(st.integers(-1, 2**63 - 1), min_size=2, max_size=30))
def test_keys_sort_as_their_numbers_do(starts: list[int]) -> None:
    keys = {start: slice_key("v", TensorSlice((start,), (1,))) for start in starts}
    assert sorted(keys, key=keys.__getitem__) == sorted(keys)


def test_a_full_dimension_becomes_the_whole_of_the_shape() -> None:
    assert TensorSlice((2, 0), (2, FULL)).within((4, 7), "v") == TensorSlice((2, 0), (2, 7))


@pytest.mark.parametrize(
    ("starts", "sizes"), [((0,), (4, 7)), ((0, 0), (5, 7)), ((-1, 0), (1, 1)), ((3, 1), (1, FULL)), ((0, 0), (-2, 1))]
)
def test_a_box_outside_the_tensor_is_the_callers_mistake(starts: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=r"Tensor 'v' of shape \[4, 7\] has no slice"):
        TensorSlice(starts, sizes).within((4, 7), "v")


def test_intersections() -> None:
    box = TensorSlice((2, 0), (3, 4))
    assert box.intersect(TensorSlice((4, 1), (9, 2))) == TensorSlice((4, 1), (1, 2))
    assert box.intersect(TensorSlice((5, 0), (1, 4))) is None
    assert TensorSlice((), ()).intersect(TensorSlice((), ())) == TensorSlice((), ())
    assert TensorSlice((4, 1), (1, 2)).relative_to(box) == (slice(2, 3), slice(1, 3))


@pytest.mark.parametrize(
    ("boxes", "error"),
    [
        ([((0, 0), (2, 3)), ((2, 0), (2, 3))], None),
        ([((0, 0), (4, 1)), ((0, 1), (4, 1)), ((0, 2), (4, 1))], None),
        ([((0, 0), (2, 1)), ((2, 0), (2, 1)), ((0, 1), (4, 2))], None),
        ([((0, 0), (2, 3))], "holds 6 of its 12 elements"),
        # As many elements as the whole has, some of them twice.
        ([((0, 0), (2, 3)), ((1, 0), (2, 3))], "'v' overlap: 0,2:0,3 and 1,2:0,3"),
        ([((0, 0), (4, 2)), ((0, 1), (4, 1))], "'v' overlap: 0,4:0,2 and 0,4:1,1"),
    ],
)
def test_slices_cover_a_box_once(boxes: list[tuple[tuple[int, ...], tuple[int, ...]]], error: str | None) -> None:
    parts = [TensorSlice(*box) for box in boxes]
    if error is None:
        check_covers(parts, TensorSlice.whole((4, 3)), "v", "model")
        return
    with pytest.raises((errors.DataLossError, errors.InvalidArgumentError), match=error):
        check_covers(parts, TensorSlice.whole((4, 3)), "v", "model")


def test_two_slices_of_a_scalar_overlap() -> None:
    with pytest.raises(errors.DataLossError, match="overlap"):
        check_covers([TensorSlice((), ())] * 2, TensorSlice.whole(()), "v", "model")


def test_the_printed_form_is_that_of_slice_specifications() -> None:
    assert str(TensorSlice((0, 3), (2, FULL))) == "0,2:-"


def test_shape_and_slice_specifications_are_parsed() -> None:
    assert parse_shape_and_slice("10 6 0,4:-") == ((10, 6), TensorSlice((0, 0), (4, FULL)))
    assert parse_shape_and_slice("7 3,4") == ((7,), TensorSlice((3,), (4,)))


@pytest.mark.parametrize("spec", ["", "10", "10 6", "10 6 0,4", "10 x 0,4:-", "10 6 0,4:0", "10 6 8,4:-", "4 0,-1"])
def test_other_specifications_are_the_callers_mistake(spec: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=spec.replace(" ", " +") or "got ''"):
        parse_shape_and_slice(spec)
