"""The classes of feature columns, by the names that they have in TensorFlow's modules of feature columns."""

from __future__ import annotations

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

_LATER: Final = " ".join(_PLACES.values())
# The first module has them as its own, with an underscore in front.
_FORMER: Final = {name: "_LazyBuilder" if name == "FeatureTransformationCache" else f"_{name}" for name in _PLACES}

NAMES: Final = {
    "feature_column.feature_column": " ".join(f"{place}={_FORMER[name]}" for name, place in _PLACES.items()),
    "feature_column.feature_column_lib": _LATER,
    "feature_column.feature_column_v2": _LATER,
}
