"""replicate_model_fn: a model function that builds one tower for each device."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from weft.estimators.aliases import Features, Labels, ModelFn, Params
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.mode_keys import ModeKeys
from weft.estimators.run_config import RunConfig
from weft.estimators.towers.aggregation import evaluated, predicted, trained
from weft.estimators.towers.shards import shards
from weft.estimators.towers.state import Towers, building
from weft.framework.building.aliases import Nest
from weft.framework.building.graph_functions import device
from weft.framework.compat.function_signatures import fn_args
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.graphs.graph import get_default_graph
from weft.models.losses import Reduction
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable_scope import variable_scope
from weft.runtime.xla.device import local_device_names
from weft.training.device_setter import replica_device_setter


def replicate_model_fn(
    model_fn: ModelFn,
    loss_reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Sequence[str] | None = None,
) -> ModelFn:
    """Make a model function that builds the model once for each device; each copy, a tower, takes its part of the batch.

    The towers share their variables, which are on the CPU where there are several. Where the model trains, its optimizer is
    wrapped: `tf.contrib.estimator.TowerOptimizer(optimizer)`.

    Args:
        model_fn: the model function.
        loss_reduction: how the towers' losses and gradients become one: `tf.losses.Reduction.SUM`, or a mean.
        devices: the devices; the GPUs of this process when None, and the CPU where there are none.

    Returns:
        The function, for `tf.estimator.Estimator`.

    Raises:
        ValueError: the losses are to stay apart.
    """
    if loss_reduction == Reduction.NONE:
        raise ValueError("Tower losses need to be reduced in some way, yet none reduction is specified.")
    places = [DeviceSpec.from_string(each).to_string() for each in devices or _devices_here()]
    variables = places[0] if len(places) == 1 else "/device:CPU:0"

    def replicated_model_fn(
        features: Features, labels: Labels, mode: str, params: Params = None, config: RunConfig | None = None
    ) -> EstimatorSpec:
        offered = {"mode": mode, "params": params, "config": config}
        taken = fn_args(model_fn)
        given = {name: value for name, value in offered.items() if name in taken}
        towers = Towers(len(places), loss_reduction)
        parts = shards(features, labels, len(places))
        graph = get_default_graph()
        with building(graph, towers) if len(places) > 1 else nullcontext():
            specs = [
                _tower(model_fn, index, places[index], variables, towers, part, given, "labels" in taken)
                for index, part in enumerate(parts)
            ]
        return _together(specs, mode, loss_reduction)

    return replicated_model_fn


def _tower(
    model_fn: ModelFn, index: int, place: str, variables: str, towers: Towers, part: tuple[Features, Labels],
    given: Nest, takes_labels: bool,
) -> EstimatorSpec:  # fmt: skip
    """Build one tower; all but the first take the variables of the first.

    Raises:
        ValueError: it trains, there are several, and its optimizer is no TowerOptimizer.
    """
    features, labels = part
    towers.begin(index)
    names = get_default_graph().name_scope(f"tower_{index}") if index else nullcontext()
    setter = replica_device_setter(ps_tasks=1, ps_device=variables, worker_device=place)
    with variable_scope(get_variable_scope(), reuse=True if index else None), names, device(setter):
        spec: EstimatorSpec = model_fn(features=features, **({"labels": labels} if takes_labels else {}), **given)
    # What is no spec has no `train_op`: the caller's checks of it come after this.
    if towers.count > 1 and spec.train_op is not None and not towers.has_optimizer and given.get("mode") == ModeKeys.TRAIN:
        raise ValueError(
            "Please wrap optimizers with TowerOptimizer in order to use replicate_model_fn with multiple `devices`."
        )
    return spec


def _together(specs: Sequence[EstimatorSpec], mode: str, loss_reduction: str) -> EstimatorSpec:
    if len(specs) == 1:
        return specs[0]
    if mode == ModeKeys.TRAIN:
        return trained(specs, loss_reduction)
    if mode == ModeKeys.EVAL:
        return evaluated(specs, loss_reduction)
    return predicted(specs)


def _devices_here() -> list[str]:
    specs = [DeviceSpec.from_string(name) for name in local_device_names("localhost", 0)]
    return [f"/device:GPU:{each.device_index}" for each in specs if each.device_type == "GPU"] or ["/device:CPU:0"]
