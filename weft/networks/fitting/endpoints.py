"""Endpoints: the outputs of a compiled model, each with its loss, its weight, its target and its metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.networks import loss_functions, losses
from weft.networks.engine.calls.history import mask_of
from weft.networks.losses import Loss, Reduction, compute_weighted_loss, fitted_weights
from weft.networks.metrics.catalog import metric_name, metric_object
from weft.networks.metrics.metric import Mean, Metric
from weft.ops.array.constant import constant
from weft.ops.array.placeholder import placeholder
from weft.ops.array.shape_ops import size
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.division import div_no_nan
from weft.ops.math.elementwise import mul
from weft.ops.math.reduce_functions import reduce_sum


@dataclass
class Endpoint:
    """One output of a compiled model.

    Attributes:
        name: the output's name.
        output: its tensor.
        loss: its loss, or None.
        weight: the factor of its loss in the total.
        target: what is fed with its targets; None without a loss.
        metrics: the metrics by name, and whether each takes weights.
        loss_metric: the mean of its loss, when a model has several.
    """

    name: str
    output: Tensor
    loss: Nest
    weight: Nest
    target: Tensor | None = None
    metrics: dict[str, tuple[Metric, bool]] = field(default_factory=dict)
    loss_metric: Mean | None = None

    def make_target(self, given: Tensor | None) -> None:
        """Make the placeholder of the targets, unless a tensor is given for it."""
        if self.loss is None:
            return
        rank = self.output.shape.ndims
        shape = None if rank is None else [None] * rank
        self.target = given if given is not None else placeholder(self.output.dtype, shape, name=f"{self.name}_target")

    def is_sparse(self) -> bool:
        """Whether the targets are numbers of classes."""
        return getattr(self.loss, "fn", None) is loss_functions.sparse_categorical_crossentropy

    def is_summed(self) -> bool:
        """Whether the loss is a sum over the examples, not a mean."""
        return isinstance(self.loss, Loss) and self.loss.reduction == Reduction.SUM

    def loss_tensor(self, weights: Tensor | None) -> Tensor:
        """The loss of a batch, with the weights of the examples and the mask of the output."""
        assert self.target is not None
        with get_default_graph().name_scope(f"{self.name}_loss"):
            weights = _with_mask(weights, self.output)
            if not isinstance(self.loss, Loss):
                found: Tensor = self.loss(self.target, self.output, sample_weight=weights)
                return found
            each = self.loss.call(self.target, self.output)
            weighted = compute_weighted_loss(each, weights, Reduction.NONE)
            if self.loss.reduction == Reduction.NONE:
                raise ValueError("Invalid value passed for loss reduction: the loss of a compiled model must be one "
                                 "number, but its "
                                 "reduction is none")  # fmt: skip
            total = reduce_sum(weighted)
            if self.loss.reduction == Reduction.SUM:
                return total
            count = cast(size(weighted, name="num_elements"), total.dtype)
            return div_no_nan(reduce_sum(total), count, name="value")

    def weighted_loss(self, loss: Tensor) -> Tensor:
        """The loss times its factor."""
        return mul(
            constant(self.weight, loss.dtype, name="mul/x") if not isinstance(self.weight, Tensor) else self.weight, loss
        )

    def metric_tensors(self, weights: Tensor | None) -> list[Tensor]:
        """The values of the metrics, after they have taken a batch in."""
        return [metric(*given, sample_weight=masked) for metric, given, masked in self._metric_arguments(weights)]

    def metric_updates(self, weights: Tensor | None) -> list[Operation]:
        """The operations that take a batch into the metrics."""
        return [
            group(metric.update_state(*given, sample_weight=masked))
            for metric, given, masked in self._metric_arguments(weights)
        ]

    def _metric_arguments(self, weights: Tensor | None) -> Iterator[tuple[Metric, tuple[Nest, Tensor], Tensor | None]]:
        """Each metric with its targets and predictions and their weights, in its name scope."""
        for name, (metric, is_weighted) in self.metrics.items():
            with get_default_graph().name_scope(f"metrics/{name}"):
                masked = _with_mask(weights if is_weighted else None, self.output)
                yield metric, (self.target, self.output), masked


def _with_mask(weights: Tensor | None, output: Tensor) -> Tensor | None:
    mask = mask_of(output)
    if mask is None:
        return weights
    kept = cast(mask, output.dtype)
    return kept if weights is None else kept * fitted_weights(weights, kept)


def endpoints_of(
    names: Sequence[str], outputs: Sequence[Tensor], loss: Nest, loss_weights: Nest, metrics: Nest, weighted_metrics: Nest
) -> list[Endpoint]:
    """The endpoints that the arguments of `compile` describe."""
    losses_by_output = _losses(loss, names)
    factors = _factors(loss_weights, names)
    made = [
        Endpoint(name, output, each, factor)
        for name, output, each, factor in zip(names, outputs, losses_by_output, factors, strict=True)
    ]
    for given, is_weighted in ((metrics, False), (weighted_metrics, True)):
        for endpoint, wanted in zip(made, _per_output(given, names), strict=True):
            for each in wanted:
                _add_metric(endpoint, made, each, is_weighted)
    return made


def _losses(loss: Nest, names: Sequence[str]) -> list[Nest]:
    if isinstance(loss, Mapping):
        _check_keys("loss", loss, names)
        return [losses.loss_object(loss.get(name)) for name in names]
    if isinstance(loss, list | tuple):
        if len(loss) != len(names):
            raise ValueError(
                "When passing a list as loss, it should have one entry per model outputs. "
                f"The model has {len(names)} outputs, but you passed loss={loss}"
            )
        return [losses.loss_object(each) for each in loss]
    return [losses.loss_object(loss) for _ in names]


def _factors(loss_weights: Nest, names: Sequence[str]) -> list[Nest]:
    if loss_weights is None:
        return [1.0] * len(names)
    if isinstance(loss_weights, Mapping):
        _check_keys("loss_weights", loss_weights, names)
        return [loss_weights.get(name, 1.0) for name in names]
    if isinstance(loss_weights, list):
        if len(loss_weights) != len(names):
            raise ValueError(
                "When passing a list as loss_weights, it should have one entry per model output. "
                f"The model has {len(names)} outputs, but you passed loss_weights={loss_weights}"
            )
        return loss_weights
    raise TypeError(f"Could not interpret loss_weights argument: {loss_weights} - expected a list of dicts.")


def _check_keys(what: str, given: Mapping[str, object], names: Sequence[str]) -> None:
    unknown = sorted(given.keys() - set(names))
    if unknown:
        raise ValueError(f"Unknown entries in {what} dictionary: {unknown}. Only expected following keys: {list(names)}")


def _per_output(metrics: Nest, names: Sequence[str]) -> list[list[Nest]]:
    if not metrics:
        return [[] for _ in names]
    if isinstance(metrics, Mapping):
        _check_keys("metrics", metrics, names)
        found = [metrics.get(name, []) for name in names]
        return [list(each) if isinstance(each, list | tuple) else [each] for each in found]
    if not isinstance(metrics, list | tuple):
        raise TypeError(
            f"Type of `metrics` argument not understood. Expected a list or dictionary, found: {metrics}. Of one it is "
            f"[{metrics!r}]."
        )
    if any(isinstance(each, list) for each in metrics):
        if len(metrics) != len(names):
            raise ValueError("When passing a list of lists as `metrics`, it should have one entry per model output. "
                             f"The model has {len(names)} outputs, but you passed metrics={metrics}")  # fmt: skip
        return [list(each) if isinstance(each, list | tuple) else [each] for each in metrics]
    if len(names) == 1:
        return [list(metrics)]
    return [[_copy(each) for each in metrics] for _ in names]


def _copy(metric: Nest) -> Nest:
    return type(metric).from_config(metric.get_config()) if isinstance(metric, Metric) else metric


def _add_metric(endpoint: Endpoint, endpoints: Sequence[Endpoint], given: Nest, is_weighted: bool) -> None:
    plain = metric_name(given, is_weighted)
    wanted = f"{endpoint.name}_{plain}" if len(endpoints) > 1 else plain
    taken = {name for each in endpoints for name in each.metrics}
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    endpoint.metrics[name] = (metric_object(given, is_weighted, endpoint.output, endpoint.loss), is_weighted)
