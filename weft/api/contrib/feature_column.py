"""tf.contrib.feature_column: columns of sequences, and the layer that reads them. This module only re-exports."""

from __future__ import annotations

from weft.api.feature_column import (
    sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket,
)
from weft.api.feature_column import sequence_categorical_column_with_identity as sequence_categorical_column_with_identity
from weft.api.feature_column import (
    sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file,
)
from weft.api.feature_column import (
    sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list,
)
from weft.models.feature_columns.sequence_layer import sequence_input_layer as sequence_input_layer
from weft.models.feature_columns.sequence_layer import sequence_numeric_column as sequence_numeric_column
