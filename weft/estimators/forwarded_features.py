"""forward_features: an estimator like another one, that hands features on as predictions, such as the examples' keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.estimators.aliases import Features, Labels
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import PredictOutput
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Nest
from weft.framework.composites.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.sparse.tensors import sparse_tensor_to_dense


def forward_features(
    estimator: Estimator, keys: str | Sequence[str] | None = None, sparse_default_values: Mapping[str, Nest] | None = None
) -> Estimator:
    """Make an estimator that has another one's model, directory and RunConfig, and hands features on as predictions.

    Args:
        estimator: the other one; its predictions must be a dict.
        keys: the names of the features; all when None.
        sparse_default_values: for sparse features what their empty places get; they are handed on as dense tensors.

    Raises:
        TypeError: a name is no text.
        ValueError: when the model is built: there is no such feature, or a prediction of that name, or a feature is sparse.
    """
    wanted = [keys] if isinstance(keys, str) else keys
    if wanted is not None and (others := [key for key in wanted if not isinstance(key, str)]):
        raise TypeError(f"forward_features: keys must be names of features, got {others}")

    def model_fn(features: Features, labels: Labels, mode: str, config: RunConfig) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if not spec.predictions:
            return spec
        added = _chosen(features, list(features) if wanted is None else wanted, spec.predictions, sparse_default_values or {})
        outputs = {name: _with_features(output, added) for name, output in (spec.export_outputs or {}).items()}
        return spec._replace(predictions={**spec.predictions, **added}, export_outputs=outputs or None)

    return Estimator(
        model_fn, model_dir=estimator.model_dir, config=estimator.config, warm_start_from=estimator.warm_start_settings
    )


def _chosen(features: Features, keys: Sequence[str], predictions: Nest, defaults: Mapping[str, Nest]) -> dict[str, Tensor]:
    if not isinstance(predictions, dict):
        raise ValueError(f"Predictions should be a dict to be able to forward features. Given: {type(predictions)}")
    found = {}
    for key in keys:
        if key not in features:
            raise ValueError(
                f'keys should be exist in features. Key "{key}" is not in features dict, which has: {sorted(features)}'
            )
        if key in predictions:
            raise ValueError(
                f"Cannot forward feature key ({key}). Since it does exist in predictions, which are: {sorted(predictions)}. "
                "Give `keys` without it"
            )
        found[key] = _dense(key, features[key], defaults)
    return found


def _dense(key: str, feature: Nest, defaults: Mapping[str, Nest]) -> Tensor:
    value = convert_to_tensor_or_sparse_tensor(feature)
    if key in defaults:
        if not isinstance(value, SparseTensor):
            raise ValueError(
                f"Feature ({key}) is expected to be a `SparseTensor`, for sparse_default_values has a value for it"
            )
        value = sparse_tensor_to_dense(value, default_value=defaults[key])
    if not isinstance(value, Tensor):
        raise ValueError(
            f"Feature ({key}) should be a Tensor. Please use `keys` argument of forward_features to filter unwanted features, "
            f"or add key to argument `sparse_default_values`. Type of features[{key}] is {type(value)}."
        )
    return value


def _with_features(output: Nest, added: Mapping[str, Tensor]) -> Nest:
    return PredictOutput({**output.outputs, **added}) if isinstance(output, PredictOutput) else output
