"""decode_csv: fields, their types, quotes, and what is refused."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.ops.io.csv_columns import columns_of
from weft.ops.io.csv_records import fields_of


def _decode(records: Any, defaults: Any, **kwargs: Any) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        return list(session.run(tf.decode_csv(records, defaults, **kwargs)))


def test_fields_are_tensors_of_their_defaults_types() -> None:
    numbers, floats, texts = _decode(["1,2.5,x", "3,,"], [[0], [7.0], ["none"]])
    assert (numbers.dtype, floats.dtype) == (np.int32, np.float32)
    assert (numbers.tolist(), floats.tolist(), texts.tolist()) == ([1, 3], [2.5, 7.0], [b"x", b"none"])


def test_a_scalar_record_has_scalar_fields() -> None:
    with tf.Graph().as_default():
        (field,) = tf.decode_csv("5", [[0]])
        assert field.shape.as_list() == []


def test_quoted_fields_hold_delimiters_and_quotes() -> None:
    assert _decode(['"a,""b""",""'], [[""], ["d"]]) == [np.array([b'a,"b"'], object), np.array([b"d"], object)]


def test_quotes_are_letters_when_they_do_not_count() -> None:
    assert _decode(['a"b'], [[""]], use_quote_delim=False)[0].tolist() == [b'a"b']


def test_columns_are_selected_and_a_text_stands_for_missing() -> None:
    assert [field.tolist() for field in _decode(["1,2,NA"], [[0], [9]], select_cols=[0, 2], na_value="NA")] == [[1], [9]]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("1,2", "Expect 1 fields but have 2 in record 0"),
        ("", "Expect 1 fields but have 0 in record 0"),
        ("x", "Field 0 in record 0 is not a valid int32: x"),
        ("9999999999", "is not a valid int32"),
        ("1_0", "is not a valid int32"),
        ("1\n", "Unquoted fields cannot have quotes/CRLFs inside"),
        ('"1', "Quoted field has to end with quote"),
        ('"1"2', "Quote inside a string has to be escaped"),
    ],
)
def test_bad_records_are_refused(record: str, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _decode([record], [[0]])


def test_a_field_without_default_is_required() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 1 is required but missing in record 0!"):
        _decode(["1,"], [[0], np.zeros(0, np.int32)])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"select_cols": [0, 0]}, "not strictly increasing"),
        ({"select_cols": [-1, 0]}, "negative"),
        ({"select_cols": [0]}, "do not match"),
    ],
)
def test_columns_are_checked(kwargs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _decode(["1,2"], [[0], [0]], **kwargs)


def test_a_default_is_at_most_one_value() -> None:
    with pytest.raises(ValueError, match="Shape of a default"):
        _decode(["1"], [[1, 2]])


def _quoted(text: bytes) -> bytes:
    return b'"' + text.replace(b'"', b'""') + b'"'


def test_columns_of_many_records_are_those_of_each_alone() -> None:
    source = random.Random(3)
    pieces = [b"", b"7", b"NA", b"a b", _quoted(b""), _quoted(b'x "y" z'), _quoted(b"1,2\r\n3"), _quoted(b'"')]
    records = [b",".join([str(i).encode(), *source.choices(pieces, k=3)]) for i in range(200)]
    whole = columns_of(records, b",", True, 4, [])
    assert whole == list(zip(*(fields_of(record, b",", True) for record in records), strict=True))
    assert columns_of(records, b",", True, 2, [1, 3]) == [whole[1], whole[3]]


@pytest.mark.parametrize("bad", [b"", b"1", b"1,2,3", b'1,a"b', b'1,"a', b'1,"a"b', b'"1,2', b"1,\n2", b'1,"a""'])
def test_records_out_of_order_are_left_to_the_way_that_knows_errors(bad: bytes) -> None:
    assert columns_of([b"1,2", bad], b",", True, 2, []) is None


def test_a_bad_value_is_told_by_its_record_among_many() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 1 in record 2 is not a valid float: x"):
        _decode(["1,2", "3,4", "5,x", "y,6"], [[0], [0.0]])


def test_fields_may_be_missing_anywhere_in_a_column() -> None:
    numbers, texts = _decode(["1,a", ",", "NA,NA", "4,d"], [[9], ["z"]], na_value="NA")
    assert (numbers.tolist(), texts.tolist()) == ([1, 9, 9, 4], [b"a", b"z", b"z", b"d"])


@pytest.mark.parametrize(
    "record",
    ["1,2.5,x,7", ",,,", " 3 ,0x1F,y,0", "0,16777217,a b,9", "0,1.00000005960464477539062501,,1", "2,-inf,\0,3", "4,1e300,z,5"],
)
@pytest.mark.parametrize("kwargs", [{}, {"na_value": "x"}, {"use_quote_delim": False}])
def test_a_record_alone_has_the_fields_that_it_has_among_others(record: str, kwargs: Any) -> None:
    defaults = [[-1], [7.0], ["none"], [np.int64(1 << 40)]]
    alone, among = _decode(record, defaults, **kwargs), _decode([record, "1,1,1,1"], defaults, **kwargs)
    for one, both in zip(alone, among, strict=True):
        np.testing.assert_array_equal(one, both[0])
        assert isinstance(one, bytes) or one.dtype == both.dtype
    assert [each.tolist() for each in _decode([record], defaults, **kwargs)] == [both[:1].tolist() for both in among]


@pytest.mark.parametrize("record", ["", "1", "1,2,3", '1,a"b', "1,x", "1,99999999999", "1,\n2", "1,1_0"])
def test_a_bad_record_alone_is_refused_as_the_first_of_several(record: str) -> None:
    messages = []
    for records in (record, [record, "1,2"]):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            _decode(records, [[0], [0]])
        messages.append(str(caught.value.message).splitlines()[0])
    assert messages[0] == messages[1]


def test_columns_of_a_record_alone_are_selected() -> None:
    assert _decode("1,2,3,4", [[0], [""]], select_cols=[1, 3]) == [2, b"4"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have 1"):
        _decode("1,2,3", [[0], [""]], select_cols=[1, 3])
