"""tf.feature_column: how named features of examples become the tensors that a model reads. This module only re-exports."""

from __future__ import annotations

from weft.models.feature_columns.categorical import categorical_column_with_hash_bucket as categorical_column_with_hash_bucket
from weft.models.feature_columns.categorical import categorical_column_with_identity as categorical_column_with_identity
from weft.models.feature_columns.column_checks import make_parse_example_spec as make_parse_example_spec
from weft.models.feature_columns.combined import crossed_column as crossed_column
from weft.models.feature_columns.combined import weighted_categorical_column as weighted_categorical_column
from weft.models.feature_columns.embedding import embedding_column as embedding_column
from weft.models.feature_columns.embedding import shared_embedding_columns as shared_embedding_columns
from weft.models.feature_columns.indicator import indicator_column as indicator_column
from weft.models.feature_columns.input_layer import input_layer as input_layer
from weft.models.feature_columns.linear_model import linear_model as linear_model
from weft.models.feature_columns.numeric import bucketized_column as bucketized_column
from weft.models.feature_columns.numeric import numeric_column as numeric_column
from weft.models.feature_columns.sequence_ids import (
    sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket,
)
from weft.models.feature_columns.sequence_ids import (
    sequence_categorical_column_with_identity as sequence_categorical_column_with_identity,
)
from weft.models.feature_columns.sequence_ids import (
    sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file,
)
from weft.models.feature_columns.sequence_ids import (
    sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list,
)
from weft.models.feature_columns.sequence_layer import sequence_numeric_column as sequence_numeric_column
from weft.models.feature_columns.vocabulary import (
    categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file,
)
from weft.models.feature_columns.vocabulary import (
    categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list,
)
