"""Tensor protos of every form that TensorFlow makes become the arrays that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from tensorboard.compat.proto import tensor_pb2, types_pb2

from weft.framework.types import dtypes
from weft.framework.types.dimension import Dimension
from weft.framework.types.tensor_shape import TensorShape
from weft.framework.types.tensor_util import as_array, make_ndarray, make_tensor_proto


def string_proto(dims: list[int], content: bytes) -> tensor_pb2.TensorProto:
    proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, tensor_content=content)
    for size in dims:
        proto.tensor_shape.dim.add(size=size)
    return proto


def test_strings_may_come_as_lengths_and_bytes() -> None:
    long = b"\0\xff" * 100
    array = make_ndarray(string_proto([3, 1], b"\x00\x02\xc8\x01" + b"ab" + long))
    assert array.tolist() == [[b""], [b"ab"], [long]]
    assert array.dtype == object


@pytest.mark.parametrize("content", [b"\x01", b"\x01\x01ab c", b"\xff\xff", b"\x00"])
def test_a_content_that_does_not_fit_its_strings_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        make_ndarray(string_proto([2], content))


def test_a_shape_that_lies_about_the_number_of_strings_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        make_ndarray(string_proto([2**40], b"\x01a"))


def test_dimensions_among_numbers_are_their_sizes() -> None:
    assert as_array([-1, Dimension(3)]).tolist() == [-1, 3]
    assert as_array([[Dimension(2)], [3]], dtypes.int64).tolist() == [[2], [3]]
    assert as_array(TensorShape([4, 5])).tolist() == [4, 5]
    with pytest.raises(TypeError, match="unknown Dimension"):
        as_array([1, Dimension(None)])
    with pytest.raises(TypeError, match="Expected float32"):
        as_array([Dimension(3)], dtypes.float32)


def test_truth_values_may_become_numbers_but_not_the_other_way() -> None:
    assert as_array(True, dtypes.float32) == 1.0
    assert as_array([[True], [2]], dtypes.int32).tolist() == [[1], [2]]
    for value in (1, [1, True], 1.0):
        with pytest.raises(TypeError, match="Expected bool, got 1"):
            as_array(value, dtypes.bool)


@pytest.mark.parametrize("value", [2**63, 2**64 - 1, [2**63], [[2**64 - 1]]])
def test_integers_beyond_int64_are_uint64(value: object) -> None:
    array = as_array(value)
    assert array.dtype.type is np.uint64
    assert array.tolist() == value
    for outside in (2**64, -(2**63) - 1):
        with pytest.raises(TypeError, match="Failed to convert object of type <class 'int'> to Tensor"):
            as_array(outside)


@pytest.mark.parametrize(
    ("value", "dtype", "kept"),
    [
        (300, dtypes.uint8, 44), (-1, dtypes.uint8, 255), (0xFFFFFFFF, dtypes.int32, -1), (2**40, dtypes.uint32, 0),
        (-1, dtypes.uint64, 2**64 - 1), (2**63, dtypes.uint64, 2**63), ([1, 300], dtypes.uint8, [1, 44]),
        ([2**31], dtypes.int32, [-(2**31)]), ([2**63, 1], dtypes.uint64, [2**63, 1]),
    ],
)  # fmt: skip
def test_of_an_integer_that_its_type_cannot_hold_the_lowest_bits_stay(value: object, dtype: dtypes.DType, kept: object) -> None:
    made = as_array(value, dtype)
    assert (made.dtype, made.tolist()) == (dtype.as_numpy_dtype, kept)


@pytest.mark.parametrize(
    ("value", "dtype", "told"),
    [
        (300, dtypes.uint8, "uint8 cannot hold 300: its lowest 8 bits stay."),
        ([-1, -129], dtypes.int8, "int8 cannot hold -129: its lowest 8 bits stay."),
        (-1, dtypes.uint8, None),
        (0xFFFFFFFF, dtypes.int32, None),
        ([0, 255], dtypes.uint8, None),
    ],
)
def test_bits_that_are_lost_are_told_of(
    value: object, dtype: dtypes.DType, told: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    as_array(value, dtype)
    assert [record.getMessage() for record in caplog.records] == ([] if told is None else [told])


@pytest.mark.parametrize("value", [2**63, [2**63], [[1, 2**64 - 1]], -(2**63) - 1, [2**70]])
def test_an_integer_of_more_bits_than_64_is_refused_for_a_type_of_integers(value: object) -> None:
    for dtype in (dtypes.int64, dtypes.int8):
        with pytest.raises(OverflowError, match="Python int too large to convert to C long"):
            as_array(value, dtype)
    assert as_array(value, dtypes.float32).shape == np.shape(value)


def test_an_error_names_the_number_that_does_not_fit() -> None:
    with pytest.raises(TypeError, match=r"Expected int32, got 2\.5 of type 'float' instead"):
        as_array([1, 2.5], dtypes.int32)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "bool", "complex64", "uint8"])
def test_many_equal_elements_are_one_value_and_a_shape(dtype: str) -> None:
    kind = dtypes.as_dtype(dtype)
    array = np.full((100, 1000), 3, kind.as_numpy_dtype)
    proto = make_tensor_proto(array)
    assert proto.ByteSize() < 40
    back = make_ndarray(proto)
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)
    array[99, 999] = 0
    other = make_tensor_proto(array)
    assert len(other.tensor_content) == array.nbytes
    assert np.array_equal(make_ndarray(other), array)


def test_zeros_of_both_signs_are_not_equal() -> None:
    array = np.zeros(100, np.float32)
    array[50:] = -0.0
    assert np.signbit(make_ndarray(make_tensor_proto(array))).sum() == 50


def test_a_proto_of_a_value_that_fills_a_shape_has_it_once() -> None:
    proto = make_tensor_proto(1.5, shape=[2, 3])
    assert (list(proto.float_val), proto.tensor_content) == ([1.5], b"")
    assert make_ndarray(proto).tolist() == [[1.5] * 3] * 2
    assert list(make_tensor_proto([1, 2], shape=[3]).int_val) == [1, 2]
