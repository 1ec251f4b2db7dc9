"""TPUEstimator: an Estimator that tells its functions the size of a batch, and whose model function is written for TPUs."""

from __future__ import annotations

import os
from typing import Final

from weft.estimators.aliases import Features, Labels, ModelFn, Params, Settings
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.mode_keys import ModeKeys
from weft.estimators.model_function import verify_model_fn_args
from weft.estimators.run_config import RunConfig
from weft.estimators.tpu.config import TPURunConfig
from weft.estimators.tpu.spec import TPUEstimatorSpec
from weft.estimators.warm_start_settings import WarmStartSettings
from weft.framework.compat.function_signatures import fn_args
from weft.framework.graphs.graph import Graph
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_scope import variable_scope
from weft.platform.logs import tf_logging

_RESERVED: Final = ("batch_size", "context")


class TPUEstimator(Estimator):
    """An Estimator for programs that run on TPUs elsewhere: here it trains on CPUs and GPUs.

    `params["batch_size"]` tells input functions and model functions the size of a batch of the mode, if there is one.

    Args:
        model_fn: as an Estimator's; returns a TPUEstimatorSpec or an EstimatorSpec.
        model_dir: the directory; the RunConfig's when None.
        config: a `tf.estimator.tpu.RunConfig`.
        params: as an Estimator's, without `batch_size` and `context`.
        use_tpu: False; weft has no TPUs.
        train_batch_size, eval_batch_size, predict_batch_size: how many examples a batch of each mode has.
        warm_start_from: as an Estimator's.
        batch_axis, eval_on_tpu, export_to_tpu, export_to_cpu, embedding_config_spec, export_saved_model_api_version: of TPUs
            alone; no effect.

    Raises:
        ValueError: `config` is another one, or `params` has a reserved key.
        NotImplementedError: `use_tpu` is true.
    """

    def __init__(
        self, model_fn: ModelFn | None = None, model_dir: str | os.PathLike[str] | None = None,
        config: TPURunConfig | None = None, params: Params = None, use_tpu: bool = True,
        train_batch_size: int | None = None, eval_batch_size: int | None = None, predict_batch_size: int | None = None,
        batch_axis: object = None, eval_on_tpu: bool = True, export_to_tpu: bool = True, export_to_cpu: bool = True,
        warm_start_from: str | WarmStartSettings | None = None, embedding_config_spec: object = None,
        export_saved_model_api_version: object = None,
    ) -> None:  # fmt: skip
        if not isinstance(config, TPURunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`: a tf.estimator.tpu.RunConfig")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{list(_RESERVED)} are reserved keys but existed in params {params}.")
        if use_tpu:
            raise NotImplementedError("TPUEstimator: weft runs on CPUs and NVIDIA GPUs; pass use_tpu=False")
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        tells = params is not None or "params" in fn_args(model_fn)
        if tells:
            verify_model_fn_args(model_fn, params or {})
        super().__init__(_converted(model_fn), model_dir, config, params or {}, warm_start_from)

    def _create_and_assert_global_step(self, graph: Graph) -> Variable:
        # TensorFlow's is a resource variable whatever the program's others are: seeds go by its nodes.
        with graph.as_default(), variable_scope(get_variable_scope(), use_resource=True, auxiliary_name_scope=False):
            return super()._create_and_assert_global_step(graph)

    def _params_of(self, mode: str) -> Params:
        size = self._batch_sizes.get(mode)
        return {**self.params, **({} if size is None else {"batch_size": size})}


def _converted(model_fn: ModelFn) -> ModelFn:
    """The model function, whose specification is one of CPUs and GPUs."""
    taken = fn_args(model_fn)

    def call(features: Features, labels: Labels, mode: str, params: Params, config: RunConfig) -> EstimatorSpec:
        tf_logging.info("Running %s on CPU/GPU", mode)
        offered: Settings = {"labels": labels, "mode": mode, "params": params, "config": config}
        if "labels" not in taken and labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        spec = model_fn(features=features, **{name: value for name, value in offered.items() if name in taken})
        return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

    return call
