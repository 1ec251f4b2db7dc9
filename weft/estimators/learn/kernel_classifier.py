"""contrib.kernel_methods' estimator: a linear classifier of features that kernel mappers have mapped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weft.estimators.aliases import Features, InputFn, Labels
from weft.estimators.canned.optimizers import OptimizerLike
from weft.estimators.learn.canned import LinearClassifier
from weft.estimators.learn.estimator import BaseEstimator
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Nest
from weft.models.feature_columns.column import FeatureColumn
from weft.models.kernel_methods.random_fourier_features import DenseKernelMapper
from weft.models.layer_columns.real_valued import RealValuedColumn, real_valued_column
from weft.ops.array.joining import concat
from weft.platform.logs import tf_logging

_KernelMappers = Mapping[FeatureColumn, Sequence[DenseKernelMapper]]


class KernelLinearClassifier(LinearClassifier):
    """A linear classifier of columns, and of what mappers make of columns.

    Args:
        feature_columns: the columns that are taken as they are.
        model_dir, n_classes, weight_column_name, config: see LinearClassifier.
        optimizer: see LinearClassifier; Ftrl when None.
        kernel_mappers: for each real valued column that is mapped, its mappers; what they give stands side by side.

    Raises:
        ValueError: there are neither columns nor mappers, or a mapper is none.
    """

    def __init__(
        self, feature_columns: Iterable[FeatureColumn] | None = None, model_dir: str | None = None, n_classes: int = 2,
        weight_column_name: str | None = None, optimizer: OptimizerLike | None = None,
        kernel_mappers: _KernelMappers | None = None, config: RunConfig | None = None,
    ) -> None:  # fmt: skip
        columns = tuple(feature_columns or ())
        if not columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        self._mappers = _checked(kernel_mappers or {})
        mapped = [
            real_valued_column(_mapped(column), sum(mapper.output_dim for mapper in mappers))
            for column, mappers in self._mappers.items()
        ]
        super().__init__(
            (*columns, *mapped), model_dir, n_classes, weight_column_name, optimizer, config=config,
            feature_engineering_fn=self._map,
        )  # fmt: skip

    def _map(self, features: Features, labels: Labels) -> tuple[Features, Labels]:
        if not self._mappers:
            return features, labels
        if not isinstance(features, dict):
            raise ValueError(f"features must be a dict by columns' names where kernel mappers map columns, got {features!r}")
        given = dict(features)
        for column, mappers in self._mappers.items():
            given[_mapped(column)] = concat([mapper.map(features[column.name]) for mapper in mappers], 1)
        return given, labels

    def predict(
        self, x: Nest = None, input_fn: InputFn | None = None, batch_size: int | None = None,
        outputs: Sequence[str] | None = None, as_iterable: bool = True, iterate_batches: bool = False,
    ) -> Nest:  # fmt: skip
        """All outputs by their names, or those that are asked for; see `BaseEstimator.predict`."""
        return BaseEstimator.predict(self, x, input_fn, batch_size, outputs, as_iterable, iterate_batches)


def _checked(kernel_mappers: _KernelMappers) -> dict[RealValuedColumn, Sequence[DenseKernelMapper]]:
    found = {}
    for column, mappers in kernel_mappers.items():
        strange = [each for each in mappers if not isinstance(each, DenseKernelMapper)]
        if strange:
            raise ValueError(
                f"Invalid kernel mappers. Those of column {column.name!r} have {strange[0]!r}, no DenseKernelMapper"
            )
        if isinstance(column, RealValuedColumn):
            found[column] = mappers
        else:
            tf_logging.warning(
                "Updates are currently supported on RealValuedColumns only. Metadata for FeatureColumn %s will not be updated.",
                column.name,
            )
    return found


def _mapped(column: FeatureColumn) -> str:
    return f"{column.name}_MAPPED"
