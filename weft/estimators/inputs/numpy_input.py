"""numpy_input_fn: an input function over arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from weft.estimators.aliases import InputFn
from weft.estimators.inputs.feeding import enqueue_data
from weft.framework.building.aliases import Nest

# One array, or arrays by name.
Arrays: TypeAlias = "np.ndarray[Any, Any] | Mapping[str, np.ndarray[Any, Any]]"

_DIRECT: Final = "__direct_np_input__"
_TARGET: Final = "__target_key__"


def numpy_input_fn(
    x: Arrays,
    y: Arrays | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> InputFn:
    """A function that builds an input of batches of rows.

    Args:
        x: features, an array or arrays by name.
        y: labels, likewise.
        batch_size: rows of a batch; of the last one, fewer if the epochs end.
        num_epochs: how often each row comes; None: without end.
        shuffle: whether rows come in random order; has to be told.
        queue_capacity: rows that are read ahead.
        num_threads: threads that read.

    Returns:
        A function that returns features, or features and labels.

    Raises:
        ValueError: `shuffle` is no bool. When the function is called: there are no rows, or arrays of different lengths.
        TypeError: when the function is called: `x` is neither array nor dict.
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training); got "
            f"{shuffle}"
        )
    is_shuffled = shuffle

    def input_fn() -> Nest:
        features = _named(x, "x", _DIRECT)
        labels = {} if y is None else _named_labels(y, features)
        _check_lengths(features, labels, y)
        queue = enqueue_data({**features, **labels}, queue_capacity, is_shuffled, num_threads, batch_size, num_epochs)
        rows = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
        columns = dict(zip((*features, *labels), rows[1:], strict=True))
        taken = columns[_DIRECT] if isinstance(x, np.ndarray) else {name: columns[name] for name in features}
        if y is None:
            return taken
        if isinstance(y, dict):
            return taken, {name: columns[name] for name in labels}
        return taken, columns[next(iter(labels))]

    return input_fn


def _named(arrays: Any, name: str, single: str) -> dict[str, np.ndarray[Any, Any]]:
    if isinstance(arrays, dict):
        if not arrays:
            raise ValueError(f"{name} cannot be an empty dict")
        return dict(sorted(arrays.items()))
    if not isinstance(arrays, np.ndarray):
        raise TypeError(
            f"{name} must be a dict or array; got {type(arrays).__name__}. np.array({name}) makes an array of a list, and a "
            f"dict has the arrays by their names, such as {{'{name}': np.array(...)}}."
        )
    if arrays.size == 0:
        raise ValueError(f"{name} cannot be an empty array")
    return {single: arrays}


def _named_labels(y: Any, features: Mapping[str, object]) -> dict[str, np.ndarray[Any, Any]]:
    if not isinstance(y, dict):
        key = _TARGET
        while key in features:
            key += "_n"
        return {key: y}
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    shared = features.keys() & y.keys()
    if shared:
        raise ValueError(f"{len(shared)} duplicate keys are found in both x and y: {shared}")
    return dict(sorted(y.items()))


def _check_lengths(features: Mapping[str, Any], labels: Mapping[str, Any], y: object) -> None:
    for name, each in (*features.items(), *labels.items()):
        if not hasattr(each, "shape"):
            kind = type(each).__name__
            raise AttributeError(f"{kind!r} object has no attribute 'shape': {name!r} must be a NumPy array, np.array({kind}).")
    if len({each.shape[0] for each in (*features.values(), *labels.values())}) == 1:
        return
    shapes = {name: each.shape for name, each in labels.items()}
    told = None if y is None else shapes if isinstance(y, dict) else next(iter(shapes.values()))
    raise ValueError(
        "Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
        f"Shapes in x: { {name: each.shape for name, each in features.items()} }\nShapes in y: {told}\n"
    )
