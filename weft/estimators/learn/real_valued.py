"""Feature columns that are told from the input."""

from __future__ import annotations

import numpy as np

from weft.estimators.aliases import InputFn
from weft.estimators.learn.frames import extract_pandas_data
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.layer_columns.layers import infer_real_valued_columns
from weft.models.layer_columns.real_valued import RealValuedColumn
from weft.ops.array.placeholder import placeholder


def infer_real_valued_columns_from_input_fn(input_fn: InputFn) -> list[RealValuedColumn]:
    """A column of numbers for each feature of an input; a single tensor has the name "".

    Args:
        input_fn: a function of nothing that returns features and labels.

    Returns:
        The columns, for the canned estimators of contrib.learn.

    Raises:
        ValueError: a feature is sparse, or has no numbers.
    """
    with Graph().as_default():
        features, _ = input_fn()
        return infer_real_valued_columns(features)


def infer_real_valued_columns_from_input(x: Nest) -> list[RealValuedColumn]:
    """A column of numbers for each feature of arrays; a single array has the name "".

    Args:
        x: an array `[n, features]`, or a dict of arrays by name.

    Returns:
        The columns, for the canned estimators of contrib.learn.

    Raises:
        ValueError: an array has no numbers.
    """
    with Graph().as_default():
        return infer_real_valued_columns({key: _fed(each) for key, each in x.items()} if isinstance(x, dict) else _fed(x))


def _fed(values: Nest) -> Tensor:
    array = np.asarray(extract_pandas_data(values))
    return placeholder(array.dtype if array.dtype.kind in "biufc" else dtypes.string, [None, *array.shape[1:]], name="input")
