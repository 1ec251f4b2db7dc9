"""CSV files as datasets: ends of lines, quotes, and records that do not fit, as TensorFlow 1.15.5 reads them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.ops.data.csv_splitting import records_of

DEFAULTS: Any = [["NA"]] * 3


def read(path: Path, text: bytes, defaults: Any = DEFAULTS, **options: Any) -> list[Any]:
    """The records of a file with this text; the first words of an error in the place of a record."""
    (path / "file.csv").write_bytes(text)
    dataset = tf.data.experimental.CsvDataset([str(path / "file.csv")], defaults, **options)
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    found: list[Any] = []
    with tf.Session() as session:
        for _ in range(10):
            try:
                found.append([field.decode() for field in session.run(following)])
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message.partition(" in record")[0].partition("/")[0])
    raise AssertionError(found)


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_have_any_end_but_in_quotes(tmp_path: Path, end: bytes) -> None:
    assert read(tmp_path, end.join([b"a,b,c", b"0,1,2", b",,"])) == [["a", "b", "c"], ["0", "1", "2"], ["NA"] * 3]
    quoted = end.join([b'"\n\n\n","\r\r\r","abc"', b'"0","1","2"', b'"","",""', b""])
    assert read(tmp_path, quoted) == [["\n\n\n", "\r\r\r", "abc"], ["0", "1", "2"], ["NA"] * 3]
    assert read(tmp_path, end.join([b"x,y,z", b"d,e,f"]), header=True) == [["d", "e", "f"]]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_an_empty_line_has_one_empty_field(tmp_path: Path, end: bytes) -> None:
    assert read(tmp_path, end.join([b"a", b"", b"b", b""]), [["NA"]]) == [["a"], ["NA"], ["b"]]
    assert read(tmp_path, end.join([b"a,b,c", b"", b"d,e,f"])) == [
        ["a", "b", "c"],
        "Expect 3 fields but have 1",
        ["d", "e", "f"],
    ]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (b'1,2"3,4\na,b,c"d\n9,8"7,6,5\ne,f,g\n', {}, [*["Unquoted fields cannot have quotes"] * 3, ["e", "f", "g"]]),
        (b'a,"b\nc,d,e', {}, ["Reached end of file without closing quoted field"]),
        (b'a,"b""x",c\nd,e,f\n', {}, [["a", 'b"x', "c"], ["d", "e", "f"]]),
        (b"a,b,c,d\ne,f,g", {}, ["Expect 3 fields but have more", ["e", "f", "g"]]),
        (b"a,b\ne,f,g", {}, ["Expect 3 fields but have 2", ["e", "f", "g"]]),
        (b"a,b,c,d\ne,f,g", {"defaults": [["NA"]] * 2, "select_cols": [1, 3]}, [["b", "d"], "Expect 2 fields but have 1"]),
        (b'a,"b,c\nd,e"f,g\n', {"use_quote_delim": False}, [["a", '"b', "c"], ["d", 'e"f', "g"]]),
        (b'a|"b|\nb"|c\nd,|e|f', {"field_delim": "|"}, [["a", "b|\nb", "c"], ["d,", "e", "f"]]),
        (b"", {}, []),
        (b"", {"header": True}, ["Can't read header of file "]),
    ],
)
def test_records_are_what_tensorflow_takes_them_for(
    tmp_path: Path, text: bytes, options: dict[str, Any], expected: list[Any]
) -> None:
    assert read(tmp_path, text, **options) == expected


class Drip(io.BytesIO):
    """A stream of few bytes at a time."""

    def __init__(self, text: bytes, size: int) -> None:
        super().__init__(text)
        self._size = size

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._size)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_records_go_over_the_borders_of_what_is_read(size: int) -> None:
    text = b'a,"b\r\n""c"\r\nd,e\r\r\n"f",\n\n"g"'
    assert [*records_of(Drip(text, size), b",", True)] == [b'a,"b\r\n""c"', b"d,e", b"", b'"f",', b"", b'"g"']
