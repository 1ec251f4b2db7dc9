"""The classes of feature columns, by the names that they have in TensorFlow's modules of feature columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_PACKAGE: Final = "weft.models.feature_columns"
_CLASSES: Final = {
    "column": "FeatureColumn DenseColumn CategoricalColumn SequenceDenseColumn",
    "numeric": "NumericColumn BucketizedColumn",
    "embedding": "EmbeddingColumn SharedEmbeddingColumn",
    "indicator": "IndicatorColumn",
    "combined": "CrossedColumn WeightedCategoricalColumn",
    "categorical": "HashedCategoricalColumn IdentityCategoricalColumn",
    "vocabulary": "VocabularyListCategoricalColumn VocabularyFileCategoricalColumn",
    "sequence_ids": "SequenceCategoricalColumn",
    "transformation_cache": "FeatureTransformationCache",
}
_PLACES: Final = {name: f"{_PACKAGE}.{module}:{name}" for module, names in _CLASSES.items() for name in names.split()}

_FORMER_CLASSES: Final = "FeatureColumn DenseColumn CategoricalColumn SequenceDenseColumn"
_MAKERS: Final = {
    "numeric": "numeric_column bucketized_column",
    "embedding": "embedding_column",
    "indicator": "indicator_column",
    "combined": "crossed_column weighted_categorical_column",
    "categorical": "categorical_column_with_hash_bucket categorical_column_with_identity",
    "vocabulary": "categorical_column_with_vocabulary_file categorical_column_with_vocabulary_list",
}
_CHECKS: Final = (
    f"{_PACKAGE}.column_checks:check_batch_sizes=_verify_static_batch_size_equality "
    f"{_PACKAGE}.column_checks:column_list=_normalize_feature_columns "
    f"{_PACKAGE}.column_checks:checked_shape=_check_shape "
    f"{_PACKAGE}.transformation_cache:to_sparse=_to_sparse_input_and_drop_ignore_values"
)
_LATER: Final = (
    f"{' '.join(_PLACES.values())} {_PACKAGE}.contracts:StateManager "
    f"{_PACKAGE}.shared_tables:SharedEmbeddingColumnCreator "
    f"{_PACKAGE}.shared_tables:shared_embeddings=shared_embedding_columns_v2 "
    f"{_PACKAGE}.lazy_builder:are_later_columns=is_feature_column_v2 "
    f"{_PACKAGE}.lazy_builder:transform_features_with=_transform_features_v2 "
    f"{_PACKAGE}.column_checks:make_parse_example_spec=make_parse_example_spec_v2 "
    f"weft.networks.layers.feature_columns:LayerStateManager=_StateManagerImpl {_CHECKS}"
)


def _former() -> Iterator[str]:
    """The first module has them as its own, with an underscore in front; its abstract ones have the methods of that time."""
    abstract = _FORMER_CLASSES.split()
    yield from (f"{_PACKAGE}.former_columns:Former{name}=_{name}" for name in abstract)
    yield from (f"{place}=_{name}" for name, place in _PLACES.items() if name not in (*abstract, "FeatureTransformationCache"))
    for module, names in _MAKERS.items():
        yield from (f"{_PACKAGE}.{module}:{name}=_{name}" for name in names.split())
    yield f"{_PACKAGE}.lazy_builder:LazyBuilder=_LazyBuilder {_PACKAGE}.lazy_builder:transform_features=_transform_features"
    yield f"{_PACKAGE}.input_layer:scoped_input_layer=_internal_input_layer {_PACKAGE}.input_layer:InputLayer"
    yield _CHECKS


NAMES: Final = {
    "feature_column.feature_column": " ".join(_former()),
    "feature_column.feature_column_lib": (
        f"{_LATER} weft.networks.layers.feature_columns:DenseFeatures weft.networks.layers.feature_columns:SequenceFeatures "
        f"{_PACKAGE}.input_layer:InputLayer"
    ),
    "feature_column.feature_column_v2": _LATER,
}
