"""The arguments of convolutional layers, by the names of tensorflow.python.layers.utils."""

from __future__ import annotations

from typing import Final

_FIRST: Final = {3: "NCW", 4: "NCHW", 5: "NCDHW"}
_LAST: Final = {3: "NWC", 4: "NHWC", 5: "NDHWC"}


def convert_data_format(data_format: str, ndim: int) -> str:
    """The layout in the words of ops, such as `NHWC`, of one in the words of layers.

    Args:
        data_format: `channels_first` or `channels_last`.
        ndim: the rank, 3 to 5.

    Returns:
        The layout.

    Raises:
        ValueError: there is no such layout or rank.
    """
    table = {"channels_first": _FIRST, "channels_last": _LAST}.get(data_format)
    if table is None:
        raise ValueError(f"Invalid data_format: {data_format}, expected channels_first or channels_last")
    if ndim not in table:
        raise ValueError(f"Input rank not supported: {ndim}, expected 3, 4 or 5")
    return table[ndim]


def normalize_data_format(value: str) -> str:
    """The layout in small letters; ValueError for another than channels_first and channels_last."""
    data_format = value.lower()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {value}')
    return data_format


def normalize_padding(value: str) -> str:
    """The padding in small letters; ValueError for another than valid and same."""
    padding = value.lower()
    if padding not in ("valid", "same"):
        raise ValueError(f'The `padding` argument must be one of "valid", "same". Received: {padding}')
    return padding


def conv_input_length(output_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The length of a convolution's input.

    Args:
        output_length: the length of its output; None where it is not known.
        filter_size: the length of its filter.
        padding: `same`, `valid` or `full`.
        stride: the stride.

    Returns:
        The length; None where that of the output is not known.
    """
    if output_length is None:
        return None
    added = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * added + filter_size


def deconv_output_length(input_length: int | None, filter_size: int, padding: str, stride: int) -> int | None:
    """The length of a transposed convolution's output.

    Args:
        input_length: the length of its input; None where it is not known.
        filter_size: the length of its filter.
        padding: `same`, `valid` or `full`.
        stride: the stride.

    Returns:
        The length; None where that of the input is not known.
    """
    if input_length is None:
        return None
    more = {"valid": max(filter_size - stride, 0), "full": stride + filter_size - 2}.get(padding, 0)
    return input_length * stride - more if padding == "full" else input_length * stride + more
