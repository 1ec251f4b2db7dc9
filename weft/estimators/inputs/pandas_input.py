"""pandas_input_fn: an input function over a data frame. pandas itself comes with the program's frame."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np

from weft.estimators.aliases import InputFn
from weft.estimators.inputs.feeding import enqueue_data
from weft.framework.building.aliases import Nest

# A pandas.Series or .DataFrame, which weft does not import.
_Labels: TypeAlias = Any


class _Frame(Protocol):
    """What is used of a pandas.DataFrame."""

    columns: Any
    index: Any

    def __len__(self) -> int: ...

    def __getitem__(self, column: str) -> Any: ...


def pandas_input_fn(
    x: _Frame,
    y: _Labels = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> InputFn:
    """A function that builds an input of batches of a frame's rows.

    Args:
        x: the features, a DataFrame.
        y: the labels, a Series or a DataFrame with the same index.
        batch_size: rows of a batch; of the last one, fewer if the epochs end.
        num_epochs: how often each row comes; None: without end.
        shuffle: whether rows come in random order; has to be told.
        queue_capacity: rows that are read ahead; as many as there are, or four times as many to shuffle, when None.
        num_threads: threads that read.
        target_column: a name that no feature has; kept for programs that pass it.

    Returns:
        A function that returns the columns' tensors by name, or these and the labels.

    Raises:
        TypeError: `x` is no data frame, or `target_column` no text.
        ValueError: `shuffle` is no bool, a feature is called as the target, or the indices differ.
    """
    if not all(hasattr(x, part) for part in ("columns", "index", "iloc")):
        raise TypeError(f"x must be pd.DataFrame; got {type(x).__name__}")
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training); got "
            f"{shuffle}"
        )
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    if y is not None:
        _check_labels(x, y, target_column)
    is_shuffled = shuffle
    capacity = queue_capacity or (4 * len(x) if shuffle else len(x))
    features = {f"x/{name}": _column(x[name]) for name in x.columns}
    labels = {} if y is None else {f"y/{name}": _column(each) for name, each in _label_columns(y).items()}

    def input_fn() -> Nest:
        columns = {**features, **labels}
        stay = int(max(capacity / 4, 1))
        queue = enqueue_data(columns, capacity, is_shuffled, num_threads, batch_size, num_epochs, stay)
        rows = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
        found = dict(zip(columns, rows[1:], strict=True))
        taken = {name: found[f"x/{name}"] for name in x.columns}
        if y is None:
            return taken
        wanted = {name: found[f"y/{name}"] for name in _label_columns(y)}
        return taken, wanted if hasattr(y, "columns") else wanted[""]

    return input_fn


def _check_labels(x: _Frame, y: _Labels, target_column: str) -> None:
    if target_column in x.columns:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already has a column with that name: {x.columns}"
        )
    if not np.array_equal(x.index, y.index):
        raise ValueError(f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n")


def _label_columns(y: _Labels) -> dict[str, Any]:
    return {name: y[name] for name in y.columns} if hasattr(y, "columns") else {"": y}


def _column(series: Any) -> Any:
    return np.asarray(series.values)
