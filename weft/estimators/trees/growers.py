"""Growers: what a step of training does with a batch's statistics: grow the ensemble at once, or when enough batches came."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from weft.estimators.trees.columns import FeatureGroup
from weft.estimators.trees.resources import QuantileAccumulator, TreeEnsemble
from weft.framework.building.aliases import VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.stacking import stack, unstack
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.data_flow.conditional_accumulator import ConditionalAccumulator
from weft.ops.math.comparison import greater_equal
from weft.ops.math.reduce_functions import reduce_mean, reduce_min
from weft.ops.trees.ensemble import Pruning
from weft.ops.trees.ensemble_nodes import boosted_trees_center_bias, boosted_trees_update_ensemble
from weft.ops.trees.splits import boosted_trees_calculate_best_gains_per_feature
from weft.ops.variables.assign import assign

_PRUNING: Final = {"none": Pruning.NONE, "pre": Pruning.PRE, "post": Pruning.POST}


@dataclass(frozen=True)
class TreeParams:
    """How trees grow; the estimators' docstrings say what each means.

    Raises:
        ValueError: the way of pruning is none, or does not go with the complexity.
    """

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float

    @property
    def pruning(self) -> Pruning:
        """When splits are left out."""
        found = _PRUNING.get(self.pruning_mode)
        if found is None:
            raise ValueError(f"pruning_mode mode must be one of: {', '.join(sorted(_PRUNING))}; got {self.pruning_mode!r}")
        if self.tree_complexity > 0 and found == Pruning.NONE:
            raise ValueError(
                f"Tree complexity have no effect unless pruning mode is chosen: tree_complexity is {self.tree_complexity}, "
                "pruning_mode 'none'; 'pre' or 'post' prune"
            )
        if self.tree_complexity <= 0 and found != Pruning.NONE:
            raise ValueError(
                f"For pruning, tree_complexity must be positive: it is {self.tree_complexity}, and pruning_mode "
                f"{self.pruning_mode!r}"
            )
        return found

    @property
    def max_splits(self) -> int:
        """The most nodes that a tree may split."""
        return (1 << self.max_depth) - 1

    @property
    def num_quantiles(self) -> int:
        """About how many buckets numeric columns get."""
        return int(1.0 / self.quantile_sketch_epsilon)


class Growth:
    """How an ensemble changes by statistics.

    Args:
        ensemble: what grows.
        params: how.
        groups: the features, by how many buckets they have.
    """

    def __init__(self, ensemble: TreeEnsemble, params: TreeParams, groups: Sequence[FeatureGroup]) -> None:
        self.ensemble, self.params, self.groups = ensemble, params, groups

    def layer(self, summaries: Sequence[Sequence[Tensor]], last_layer: Tensor) -> Operation:
        """An operation that splits the last layer's nodes.

        Args:
            summaries: for each group those of its features, `[max_splits, buckets, 2]`.
            last_layer: the range of nodes, `[2] int32`.
        """
        params = self.params
        nodes: list[Tensor] = []
        gains: list[Tensor] = []
        thresholds: list[Tensor] = []
        lefts: list[Tensor] = []
        rights: list[Tensor] = []
        for each in summaries:
            found = boosted_trees_calculate_best_gains_per_feature(
                last_layer, list(each), params.l1, params.l2, params.tree_complexity, params.min_node_weight,
                max_splits=params.max_splits,
            )  # fmt: skip
            for kept, part in zip((nodes, gains, thresholds, lefts, rights), found, strict=True):
                kept.extend(part)
        ids = [number for each in self.groups for number in each.feature_ids]
        return boosted_trees_update_ensemble(
            self.ensemble.resource_handle, constant(ids, dtypes.int32), nodes, gains, thresholds, lefts, rights,
            params.max_depth, params.learning_rate, pruning_mode=int(params.pruning),
        )  # fmt: skip

    def bias(self, is_needed: VariableLike, gradients: Tensor, hessians: Tensor) -> Tensor:
        """An update of the ensemble's bias by means, `[1, 1]`, and of the variable that tells whether that goes on."""
        goes_on = boosted_trees_center_bias(self.ensemble.resource_handle, gradients, hessians, self.params.l1, self.params.l2)
        assigned: Tensor = assign(is_needed, goes_on)
        return assigned


class Grower(Protocol):
    """What a step does with the statistics of its batch."""

    def accumulate_quantiles(self, features: Sequence[Tensor], weights: Tensor, are_ready: VariableLike) -> Operation:
        """An operation that takes numeric features in, and cuts their buckets when there is enough.

        Args:
            features: `[batch] float32` each.
            weights: those of examples, `[batch]` or `[1]`.
            are_ready: is set to True with that.
        """
        ...

    def center_bias(self, is_needed: VariableLike, gradients: Tensor, hessians: Tensor) -> Operation:
        """An operation that moves the bias when there is enough.

        Args:
            is_needed: is set to False when the bias is found.
            gradients, hessians: those of examples, `[batch, 1] float32`.
        """
        ...

    def grow(self, summaries: Sequence[Sequence[Tensor]], last_layer: Tensor) -> Operation:
        """An operation that grows a layer when there is enough.

        Args:
            summaries: for each group of features those of its features, `[max_splits, buckets, 2] float32`.
            last_layer: the range of nodes to split, `[2] int32`.
        """
        ...

    def chief_init(self) -> Operation:
        """An operation that the chief runs in each new session."""
        ...


class InMemoryGrower:
    """Grows by each batch, which has all examples.

    Args:
        growth: how the ensemble changes.
        quantiles: the streams of numeric columns; None without any.
    """

    def __init__(self, growth: Growth, quantiles: QuantileAccumulator | None) -> None:
        self._growth, self._quantiles = growth, quantiles

    def accumulate_quantiles(self, features: Sequence[Tensor], weights: Tensor, are_ready: VariableLike) -> Operation:
        """See Grower."""
        return _flushed_after(self._quantiles, are_ready, [_quantiles(self._quantiles).add_summaries(features, weights)])

    def center_bias(self, is_needed: VariableLike, gradients: Tensor, hessians: Tensor) -> Operation:
        """See Grower."""
        means = (expand_dims(reduce_mean(each, 0), 0) for each in (gradients, hessians))
        return group(self._growth.bias(is_needed, *means))

    def grow(self, summaries: Sequence[Sequence[Tensor]], last_layer: Tensor) -> Operation:
        """See Grower."""
        return self._growth.layer(summaries, last_layer)

    def chief_init(self) -> Operation:
        """See Grower."""
        return no_op()


class AccumulatorGrower:
    """Grows when the batches of a layer have come, from all workers; the chief does it.

    Args:
        growth: how the ensemble changes.
        quantiles: the streams of numeric columns; None without any.
        stamp: the stamp of the ensemble that the batch was computed with: statistics of earlier ones do not count.
        n_batches_per_layer: how many batches there are for a layer.
        is_chief: whether this task is the chief.
    """

    def __init__(
        self, growth: Growth, quantiles: QuantileAccumulator | None, stamp: Tensor, n_batches_per_layer: int, is_chief: bool
    ) -> None:
        self._growth, self._quantiles, self._stamp = growth, quantiles, stamp
        self._needed, self._is_chief = n_batches_per_layer, is_chief
        splits = growth.params.max_splits
        with growth.ensemble.beside():
            self._statistics = [
                ConditionalAccumulator(
                    dtypes.float32,
                    [len(each.feature_ids), splits, each.num_buckets, 2],
                    f"numeric_stats_summary_accumulator_{number}",
                )
                for number, each in enumerate(growth.groups)
            ]
            self._bias = (
                ConditionalAccumulator(dtypes.float32, [2, 1], "bias_accumulator") if growth.params.center_bias else None
            )
        accumulators = [*self._statistics, *([] if self._bias is None else [self._bias])]
        self._init = group(*(each.set_global_step(stamp) for each in accumulators))

    def accumulate_quantiles(self, features: Sequence[Tensor], weights: Tensor, are_ready: VariableLike) -> Operation:
        """See Grower."""
        counter = ConditionalAccumulator(dtypes.float32, [], "quantile_summary_accum")
        taken_in = [
            _quantiles(self._quantiles).add_summaries(features, weights),
            counter.set_global_step(self._stamp),
            counter.apply_grad(constant(0.0), self._stamp),
        ]

        def flush() -> Operation:
            return _flushed_after(self._quantiles, are_ready, [counter.take_grad(1)])

        return self._when_enough(taken_in, [counter], flush, "wait_until_quaniles_accumulated")

    def center_bias(self, is_needed: VariableLike, gradients: Tensor, hessians: Tensor) -> Operation:
        """See Grower."""
        bias = self._bias
        assert bias is not None
        means = reduce_mean(stack([gradients, hessians]), axis=1)

        def center() -> Operation:
            gradient, hessian = unstack(bias.take_grad(1), num=2)
            goes_on = self._growth.bias(is_needed, expand_dims(gradient, 0), expand_dims(hessian, 0))

            def begin() -> Operation:
                # The statistics of trees begin with the first batch that sees the bias.
                return group(*(each.set_global_step(self._stamp + 1) for each in self._statistics))

            return group(cond(goes_on, no_op, begin))

        return self._when_enough(
            [bias.apply_grad(means, self._stamp)], [bias], center, "wait_until_n_batches_for_bias_accumulated"
        )

    def grow(self, summaries: Sequence[Sequence[Tensor]], last_layer: Tensor) -> Operation:
        """See Grower."""
        given = [each.apply_grad(stack(list(own)), self._stamp) for each, own in zip(self._statistics, summaries, strict=True)]

        def grow_layer() -> Operation:
            means = [
                list(unstack(each.take_grad(1), num=len(own.feature_ids)))
                for each, own in zip(self._statistics, self._growth.groups, strict=True)
            ]
            return self._growth.layer(means, last_layer)

        return self._when_enough(given, self._statistics, grow_layer, "wait_until_n_batches_accumulated")

    def chief_init(self) -> Operation:
        """See Grower."""
        return self._init

    def _when_enough(
        self, given: Sequence[Operation], accumulators: Sequence[ConditionalAccumulator], change: Callable[[], Operation],
        name: str,
    ) -> Operation:  # fmt: skip
        """After something was given to accumulators, the chief makes a change if they have enough; others go on."""
        if not self._is_chief:
            return group(*given)
        with get_default_graph().control_dependencies(list(given)):
            counts = [each.num_accumulated() for each in accumulators]
            return group(cond(greater_equal(reduce_min(stack(counts)), self._needed), change, no_op, name=name))


def _quantiles(quantiles: QuantileAccumulator | None) -> QuantileAccumulator:
    assert quantiles is not None, "only a model with numeric columns accumulates quantiles"
    return quantiles


def _flushed_after(
    quantiles: QuantileAccumulator | None, are_ready: VariableLike, before: Sequence[Operation | Tensor]
) -> Operation:
    graph = get_default_graph()
    with graph.control_dependencies(list(before)), graph.control_dependencies([_quantiles(quantiles).flush()]):
        return group(assign(are_ready, True))
