"""decode_csv: lines of text with fields as one tensor per field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op
from weft.ops.io.csv_columns import columns_of, single_record, values_of
from weft.ops.io.csv_grid import read_grid
from weft.ops.strings.number_text import NumberError, numbers_of

_C_NAMES: Final = {"float32": "float", "float64": "double"}


def _one_per_field(node: Operation) -> list[Dims]:
    for index, default in enumerate(node.inputs[1:]):
        dims = default.dims
        if dims is not None and (len(dims) > 1 or (len(dims) == 1 and dims[0] not in (None, 0, 1))):
            raise ValueError(
                f"Shape of a default must be a length-0 or length-1 vector, or a scalar; that of field {index} is {list(dims)}"
            )
    return [node.inputs[0].dims] * len(node.outputs)


@op("DecodeCSV", "records: string, record_defaults: [OUT_TYPE] -> output: [OUT_TYPE]", infer=_one_per_field, gradient=None,
    types={"OUT_TYPE": (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)})  # fmt: skip
def decode_csv_node(
    ctx: OpContext,
    records: Array,
    record_defaults: Array,
    *,
    OUT_TYPE: list[DType],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: list[int] = [],  # noqa: B006 - a declaration
) -> Array:
    """One tensor for each field; a default has one element, or none where the field is required.

    `[...] string, fields*[default] -> fields*[...]`
    """
    delimiter, missing = field_delim.encode(), na_value.encode()
    types = [dtypes.as_dtype(kind) for kind in OUT_TYPE]
    chosen, lines = list(select_cols), records.ravel().tolist()
    if len(lines) == 1:
        scalars = single_record(lines[0], delimiter, use_quote_delim, missing, chosen, types, record_defaults)
        if scalars is not None:
            return tuple(each.reshape(records.shape) for each in scalars) if records.ndim else tuple(scalars)
    # A text that stands for a missing field is no plain field.
    quick = None if missing else read_grid(lines, delimiter, use_quote_delim, chosen, types, record_defaults)
    if quick is not None:
        return tuple(column.reshape(records.shape) for column in quick)
    texts = columns_of(lines, delimiter, use_quote_delim, len(types), chosen) or ()
    parts = zip(texts, types, record_defaults, strict=True) if texts else ()
    found = [values_of(column, missing, kind, default) for column, kind, default in parts]
    values = [column for column in found if column is not None]
    if len(values) != len(types):
        values = _by_record(lines, delimiter, use_quote_delim, missing, types, chosen, record_defaults)
    return tuple(column.reshape(records.shape) for column in values)


def _by_record(
    lines: Sequence[bytes], delimiter: bytes, quoted: bool, missing: bytes, types: Sequence[DType], chosen: Sequence[int],
    defaults: Sequence[Array],
) -> list[Array]:  # fmt: skip
    """The columns, found field by field; InvalidArgumentError for the first that is wrong."""
    columns: list[Array] = [np.empty(len(lines), kind.as_numpy_dtype) for kind in types]
    for row, line in enumerate(lines):
        fields = fields_of(line, delimiter, quoted)
        if chosen:
            if len(fields) <= chosen[-1]:
                raise _invalid(f"Expect {len(types)} fields but have {sum(c < len(fields) for c in chosen)} in record {row}")
            fields = [fields[column] for column in chosen]
        if len(fields) != len(types):
            raise _invalid(
                f"Expect {len(types)} fields but have {len(fields)} in record {row}\n  There is a default in record_defaults "
                "for each column of a line; select_cols takes some of them, and field_delim tells what is between them."
            )
        for index, (text, kind) in enumerate(zip(fields, types, strict=True)):
            columns[index][row] = value_of_field(text, missing, kind, defaults[index], index, row)
    return columns


def _of_header(found: str, row: int | None) -> str:
    """What to do where the line may be the one with the columns' names."""
    if row or not found.strip().isidentifier():
        return ""
    return (
        "\n  If that is a column's name, skip the first line of each file: tf.TextLineReader(skip_header_lines=1), or "
        "tf.data.TextLineDataset(file).skip(1)."
    )


def value_of_field(
    text: bytes, missing: bytes, kind: DType, default: Array, field: int, row: int | None
) -> bytes | int | float:
    """The value of a field's text, or the default where it is missing; InvalidArgumentError where it is no such value."""
    record = "record" if row is None else f"record {row}"
    if not text or text == missing:
        if default.size != 1:
            raise _invalid(f"Field {field} is required but missing in {record}!")
        filler: bytes | int | float = default.item()
        return filler
    if kind == dtypes.string:
        return text
    try:
        number: int | float = numbers_of([text], kind)[0]
    except NumberError:
        expected, found = _C_NAMES.get(kind.name, kind.name), text.decode(errors="replace")
        raise _invalid(f"Field {field} in {record} is not a valid {expected}: {found}{_of_header(found, row)}") from None
    return number


def fields_of(record: bytes, delimiter: bytes, quoted: bool) -> list[bytes]:
    """The fields of one record (RFC 4180); a quoted field may hold delimiters, and a quote written twice."""
    if not record:
        return []
    fields: list[bytes] = []
    position = 0
    while True:
        if quoted and record[position : position + 1] == b'"':
            field, position = _quoted(record, position + 1, delimiter)
        else:
            end = record.find(delimiter, position)
            end = len(record) if end < 0 else end
            field, position = record[position:end], end
            if b"\n" in field or b"\r" in field or (quoted and b'"' in field):
                raise _invalid("Unquoted fields cannot have quotes/CRLFs inside")
        fields.append(field)
        if position >= len(record):
            return fields
        position += 1


def _quoted(record: bytes, position: int, delimiter: bytes) -> tuple[bytes, int]:
    parts: list[bytes] = []
    while True:
        end = record.find(b'"', position)
        if end < 0:
            raise _invalid("Quoted field has to end with quote followed by delim or end")
        parts.append(record[position:end])
        after = record[end + 1 : end + 2]
        if after in (b"", delimiter):
            return b"".join(parts), end + 1
        if after != b'"':
            raise _invalid("Quote inside a string has to be escaped by another quote")
        parts.append(b'"')
        position = end + 2


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError.of(message)


def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[object],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """One tensor, of the shape of `records`, for each field.

    Args:
        records: strings, one record each.
        record_defaults: for each field what stands for a missing one, `[]` where it is required; gives the field's type.
        field_delim: the character between fields.
        use_quote_delim: whether quotes hold fields together.
        name: the node's name.
        na_value: a text that counts as missing.
        select_cols: the columns to take, in increasing order; all when None.

    Returns:
        A list of one tensor for each item of `record_defaults`, of its type and of the shape of `records`.

    Raises:
        InvalidArgumentError: the delimiter has more than one character.
        ValueError: the columns are not in order.
        TypeError: `record_defaults` is no list, or one of types.

    >>> sess.run(tf.decode_csv("1,2.5,x", record_defaults=[[0], [0.0], [""]]))
    [np.int32(1), np.float32(2.5), b'x']
    """
    if not isinstance(record_defaults, list | tuple):
        raise TypeError(
            f"Expected list for 'record_defaults' argument to 'DecodeCSV' Op, not {record_defaults!r}: one item for each "
            "column, such as [[0.0], ['']]."
        )
    if len(field_delim) != 1:
        raise _invalid(f"field_delim should be only 1 char, got {field_delim!r}")
    for index, default in enumerate(record_defaults):
        if isinstance(default, DType | type):
            raise TypeError(
                f"Tensors in list passed to 'record_defaults' of 'DecodeCSV' Op are invalid: record_defaults[{index}] is "
                f"{default!r}, a type. It is what stands for a field that is missing, such as [0.0] or [''], whose type is the "
                "field's; of one that may not miss it is an empty tensor, tf.constant([], tf.float32)."
            )
    columns = list(select_cols or [])
    if columns != sorted(set(columns)):
        raise ValueError("select_cols is not strictly increasing.")
    if columns and columns[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if columns and len(columns) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    result = decode_csv_node(
        records, list(record_defaults), field_delim=field_delim, use_quote_delim=use_quote_delim, na_value=na_value,
        select_cols=columns, name=name,
    )  # fmt: skip
    return list(result)
