"""Arrays in place of input functions, as contrib.learn's estimators take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.estimators.aliases import InputFn
from weft.estimators.inputs.numpy_input import numpy_input_fn
from weft.framework.nodes.operation import Tensor


def check_inputs(x: object, y: object, input_fn: InputFn | None, batch_size: int | None) -> None:
    """Raise ValueError unless there are either arrays or an input function."""
    if input_fn is None:
        if x is None:
            raise ValueError("Either x or input_fn must be provided.")
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
    elif x is not None or y is not None:
        raise ValueError("Can not provide both input_fn and x or y.")
    elif batch_size is not None:
        raise ValueError("Can not provide both input_fn and batch_size.")


def array_input_fn(x: object, y: object, batch_size: int | None, shuffle: bool, num_epochs: int | None) -> InputFn:
    """An input function of arrays or lists; batches are as large as the arrays when `batch_size` is None."""
    features = {key: _array(each) for key, each in x.items()} if isinstance(x, dict) else _array(x)
    labels = None if y is None else {key: _array(each) for key, each in y.items()} if isinstance(y, dict) else _array(y)
    length = len(next(iter(features.values())) if isinstance(features, dict) else features)
    return numpy_input_fn(
        features, labels, batch_size or length, num_epochs, shuffle, queue_capacity=max(1000, 4 * (batch_size or length))
    )


def _array(values: object) -> Any:
    array = np.asarray(values)
    return array.astype(np.float32) if array.dtype == np.float64 else array
