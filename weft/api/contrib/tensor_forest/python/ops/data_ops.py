"""tf.contrib.tensor_forest.python.ops.data_ops: features and labels as forests take them. This module only re-exports."""

from __future__ import annotations

from weft.estimators.forest.data import DATA_CATEGORICAL as DATA_CATEGORICAL
from weft.estimators.forest.data import DATA_FLOAT as DATA_FLOAT
from weft.estimators.forest.data import DTYPE_TO_FTYPE as DTYPE_TO_FTYPE
from weft.estimators.forest.data import DataColumn as DataColumn
from weft.estimators.forest.data import DataColumnCollection as DataColumnCollection
from weft.estimators.forest.data import TensorForestDataSpec as TensorForestDataSpec
from weft.estimators.forest.data import cast_to_float as _cast_to_float
from weft.estimators.forest.data import column_name as _column_name
from weft.estimators.forest.data import parse_data as _parse_data
from weft.estimators.forest.data import parse_labels as _parse_labels

CastToFloat = _cast_to_float
GetColumnName = _column_name
ParseDataTensorOrDict = _parse_data
ParseLabelTensorOrDict = _parse_labels
