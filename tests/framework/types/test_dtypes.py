"""A dtype is found by every name that programs use for it, and knows its kind and its limits."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType, as_dtype

SMALL_INTEGERS = ("int4", "uint4", "int2", "uint2")
SMALL_FLOATS = ("float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "float4_e2m1fn")
PLAIN = [dtype for dtype in vars(dtypes).values() if isinstance(dtype, DType) and not dtype.is_ref]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("float32", tf.float32), ("float", tf.float32), ("double", tf.float64), ("half", tf.float16), (1, tf.float32),
        (np.float32, tf.float32), (np.dtype("i8"), tf.int64), (np.dtype("S3"), tf.string), (np.dtype("U1"), tf.string),
        (float, tf.float32), (int, tf.int32), (bool, tf.bool), (complex, tf.complex64), (str, tf.string),
        (bytes, tf.string), (object, tf.string), (np.object_, tf.string), (ml_dtypes.bfloat16, tf.bfloat16),
        (np.array([1.0]).dtype, tf.float64), (np.ulonglong, tf.uint64), (np.dtype("q"), tf.int64),
        ("float32_ref", tf.float32._as_ref), (101, tf.float32._as_ref),
    ],
)  # fmt: skip
def test_a_dtype_is_found_by(value: Any, wanted: DType) -> None:
    assert as_dtype(value) is wanted


@pytest.mark.parametrize("value", ["foo", None, 999, [1], np.dtype("M8[D]")])
def test_what_is_no_dtype_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="Cannot convert value"):
        as_dtype(value)


@pytest.mark.parametrize("dtype", PLAIN, ids=lambda dtype: dtype.name)
def test_a_dtype_survives_its_serial_forms(dtype: DType) -> None:
    assert as_dtype(dtype.name) is dtype
    assert as_dtype(dtype.as_datatype_enum) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert dtype._as_ref.base_dtype is dtype
    assert hash(dtype) == hash(as_dtype(dtype.name))


def test_dtypes_are_printed_as_programs_write_them() -> None:
    assert str(tf.float32) == "<dtype: 'float32'>"
    assert repr(tf.float32) == "tf.float32"
    assert str(tf.float32._as_ref) == "<dtype: 'float32_ref'>"


def test_a_dtype_equals_what_stands_for_it() -> None:
    assert tf.float32 == np.float32
    assert tf.float32 == "float32"
    assert tf.float32 != tf.int32
    assert tf.float32 != None  # noqa: E711
    assert tf.float32 != "no dtype"
    assert tf.float32 != tf.float32._as_ref
    assert tf.int32 in (np.int64, np.int32)


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("is_integer", {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *SMALL_INTEGERS}),
        ("is_floating", {"float16", "bfloat16", "float32", "float64", *SMALL_FLOATS}),
        ("is_complex", {"complex64", "complex128"}),
        ("is_bool", {"bool"}),
        ("is_quantized", {"qint8", "quint8", "qint16", "quint16", "qint32"}),
        ("is_unsigned", {"uint8", "uint16", "uint32", "uint64", "uint4", "uint2"}),
    ],
)
def test_kinds_of_dtypes(kind: str, members: set[str]) -> None:
    assert {dtype.name for dtype in PLAIN if getattr(dtype, kind)} == members
    assert {dtype.name for dtype in PLAIN if getattr(dtype._as_ref, kind)} == members


@pytest.mark.parametrize(
    ("dtype", "least", "greatest", "limits"),
    [
        (tf.int8, -128, 127, (0, 127)),
        (tf.uint8, 0, 255, (0, 255)),
        (tf.float32, np.finfo(np.float32).min, np.finfo(np.float32).max, (0, 1)),
        (tf.bfloat16, ml_dtypes.finfo(ml_dtypes.bfloat16).min, ml_dtypes.finfo(ml_dtypes.bfloat16).max, (0, 1)),
    ],
    ids=str,
)
def test_limits(dtype: DType, least: Any, greatest: Any, limits: tuple[Any, Any]) -> None:
    assert (dtype.min, dtype.max, dtype.limits) == (least, greatest, limits)


@pytest.mark.parametrize(
    ("dtype", "least", "greatest"),
    [(dtypes.int4, -8, 7), (dtypes.uint2, 0, 3), (dtypes.float8_e4m3b11fnuz, -30, 30), (dtypes.float4_e2m1fn, -6, 6)],
    ids=str,
)
def test_small_types_have_a_range_and_no_intensities(dtype: DType, least: float, greatest: float) -> None:
    assert (dtype.min, dtype.max) == (least, greatest)
    with pytest.raises(ValueError, match="does not have defined limits"):
        _ = dtype.limits


@pytest.mark.parametrize("dtype", [tf.string, tf.complex64, tf.qint8], ids=str)
def test_a_dtype_without_an_order_has_no_limits(dtype: DType) -> None:
    with pytest.raises(TypeError, match="Cannot find minimum value of"):
        _ = dtype.min
    with pytest.raises(TypeError, match="Cannot find maximum value of"):
        _ = dtype.max
    with pytest.raises(ValueError, match="does not have defined limits"):
        _ = dtype.limits


def test_a_reference_may_stand_for_its_value_but_not_the_other_way_round() -> None:
    assert tf.float32.is_compatible_with(tf.float32._as_ref)
    assert not tf.float32._as_ref.is_compatible_with(tf.float32)
    assert not tf.float32.is_compatible_with("int32")


def test_the_real_part_of_a_complex_dtype() -> None:
    assert tf.complex64.real_dtype is tf.float32
    assert tf.complex128.real_dtype is tf.float64
    assert tf.int8.real_dtype is tf.int8


def test_numpy_types() -> None:
    assert tf.float32.as_numpy_dtype is np.float32
    assert tf.string.as_numpy_dtype is object
    assert tf.bool.as_numpy_dtype is np.bool_
    assert tf.float64.size == 8
