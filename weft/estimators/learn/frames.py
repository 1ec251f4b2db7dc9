"""Arrays of the data frames that programs pass; pandas itself comes with the program's frame."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.framework.building.aliases import Nest

_NUMBERS: Final = "biuf"


def _is_frame(data: Nest) -> bool:
    return type(data).__name__ == "DataFrame" and hasattr(data, "columns")


def _check(data: Nest, what: str) -> None:
    wrong = [
        f"'{column}' type={data[column].dtype.name!r}"
        for column in data.columns
        if getattr(data[column].dtype, "kind", "O") not in _NUMBERS
    ]
    if wrong:
        raise ValueError(f"Data types for extracting {what} must be int, float, or bool. Found: {', '.join(wrong)}")


def extract_pandas_data(data: Nest) -> Nest:
    """The values of a DataFrame as floats; anything else comes back as it is.

    Args:
        data: a DataFrame of pandas, or anything.

    Raises:
        ValueError: a column has no numbers.
    """
    if not _is_frame(data):
        return data
    _check(data, "pandas data")
    return np.asarray(data.values, np.float64)


def extract_pandas_matrix(data: Nest) -> Nest:
    """The values of a DataFrame; anything else comes back as it is.

    Args:
        data: a DataFrame of pandas, or anything.
    """
    return data.values if _is_frame(data) else data


def extract_pandas_labels(labels: Nest) -> Nest:
    """The values of a DataFrame of one column; anything else comes back as it is.

    Args:
        labels: a DataFrame of pandas, or anything.

    Raises:
        ValueError: there are more columns, or they have no numbers.
    """
    if not _is_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _check(labels, "labels")
    return labels.values
