"""Stochastic dual coordinate ascent over a batch: linear models are trained by one dual variable for each example.

Which example comes next is drawn; TensorFlow draws it from the machine's entropy, and here it comes of the examples' state. So
runs are alike, and as with TensorFlow only where the ascent ends is determined.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.ops.array.shape_ops import brackets
from weft.ops.declaration import definition_of, not_differentiable, op
from weft.ops.training.dual_losses import DUAL_LOSSES, DualLoss


class _Model:
    """The weights of all features side by side, and what this batch adds to them.

    Args:
        weights: the weights of each group of features.
        l1, l2: the strengths of the regularization.
        partitions: into how many parts the loss is cut, each of which adds as much as this one.
    """

    def __init__(self, weights: Sequence[Array], l1: float, l2: float, partitions: int) -> None:
        self._ends = np.cumsum([0, *(each.size for each in weights)])
        self.nominal = np.concatenate([np.zeros(0), *(each.ravel() for each in weights)]).astype(np.float64)
        self.delta = np.zeros_like(self.nominal)
        self.l2, self._threshold, self.partitions = l2, l1 / l2, partitions

    def begin(self, group: int) -> int:
        """Where the weights of a group begin."""
        return int(self._ends[group])

    def before(self, places: Array, values: Array) -> float:
        """The prediction of an example as the batch began."""
        return float(values @ self._shrunk(self.nominal[places]))

    def now(self, places: Array, values: Array) -> float:
        """Its prediction by now."""
        return float(values @ self._shrunk(self.nominal[places] + self.delta[places] * self.partitions))

    def deltas(self, weights: Sequence[Array]) -> list[Array]:
        """What the batch adds, for each group."""
        parts = np.split(self.delta.astype(np.float32), self._ends[1:-1])
        return [part.reshape(each.shape) for part, each in zip(parts, weights, strict=True)]

    def _shrunk(self, weights: Array) -> Array:
        return np.sign(weights) * np.maximum(np.abs(weights) - self._threshold, 0.0)


class _Examples:
    """The examples of a batch: labels, weights, and for each the places of its features' weights and the features' values.

    Args:
        labels, weights: `[batch]`.
    """

    def __init__(self, labels: Array, weights: Array) -> None:
        if weights.shape != labels.shape:
            raise InvalidArgumentError.of(
                f"Expected as many example_weights as example_labels, got {brackets(weights.shape)} and "
                f"{brackets(labels.shape)}"
            )
        self.labels, self.weights, count = labels, weights, len(labels)
        self._places: list[list[Array]] = [[] for _ in range(count)]
        self._values: list[list[Array]] = [[] for _ in range(count)]

    def add_sparse(self, owners: Array, features: Array, known: Array, values: Array | None, begin: int) -> None:
        """Take the features that few examples have.

        Args:
            owners: `[n]` the example of each.
            features: `[n]` which feature it is.
            known: `[m]` the features whose weights were given.
            values: `[n]` the feature's value; 1 when None.
            begin: where these weights begin.
        """
        count = len(self._places)
        if owners.shape != features.shape or (values is not None and values.shape != features.shape):
            raise InvalidArgumentError.of(
                f"Expected as many example_indices, feature_indices and feature_values, found {owners.size}, {features.size}"
                f"{'' if values is None else f' and {values.size}'}"
            )
        if owners.size and not 0 <= owners.min() <= owners.max() < count:
            raise InvalidArgumentError.of(
                f"Error in example_indices: they have to be within [0, {count}), found {owners.min()} and {owners.max()}"
            )
        row_of = {feature: row for row, feature in enumerate(known.tolist())}
        if not row_of.keys() >= set(features.tolist()):
            raise InvalidArgumentError.of("Found a feature index that is not among sparse_indices: it has no weight")
        rows = np.array([row_of[feature] for feature in features.tolist()], np.int64)
        pairs = np.stack([owners, features], axis=1)
        if len(np.unique(pairs, axis=0)) != len(pairs):
            raise InvalidArgumentError.of("Duplicate index in sparse vector.")
        for example in np.unique(owners):
            own = np.nonzero(owners == example)[0]
            self._places[example].append(begin + rows[own])
            self._values[example].append(np.ones(own.size) if values is None else values[own].astype(np.float64))

    def add_dense(self, features: Array, width: int, begin: int) -> None:
        """Take the features that all examples have, `[batch, width]`."""
        if features.shape != (len(self._places), width):
            raise InvalidArgumentError.of(
                f"Expected dense_features of shape [{len(self._places)},{width}], a row for each example and a column for each "
                f"weight, got {brackets(features.shape)}"
            )
        places = np.arange(begin, begin + features.shape[1])
        for own, given, row in zip(self._places, self._values, features, strict=True):
            own.append(places)
            given.append(row.astype(np.float64))

    def joined(self) -> list[tuple[Array, Array]]:
        """Places and values of each example."""
        nothing = np.zeros(0, np.int64)
        return [
            (np.concatenate([nothing, *places]), np.concatenate([np.zeros(0), *values]))
            for places, values in zip(self._places, self._values, strict=True)
        ]


def _dims(node: Operation) -> list[Dims]:
    sparse, dense = int(node.attrs["num_sparse_features"]), int(node.attrs["num_dense_features"])
    before = 2 * sparse + int(node.attrs["num_sparse_features_with_values"]) + dense + 2
    weights = [*node.inputs[before + sparse : before + 2 * sparse], *node.inputs[len(node.inputs) - 1 - dense : -1]]
    return [node.inputs[-1].dims, *(each.dims for each in weights)]


_INPUTS = (
    "sparse_example_indices: num_sparse_features*int64, sparse_feature_indices: num_sparse_features*int64, "
    "sparse_feature_values: num_sparse_features_with_values*float32, dense_features: num_dense_features*float32, "
    "example_weights: float32, example_labels: float32, sparse_indices: num_sparse_features*int64, "
    "sparse_weights: num_sparse_features*float32, dense_weights: num_dense_features*float32, example_state_data: float32 "
    "-> out_example_state_data: float32, out_delta_sparse_weights: num_sparse_features*float32, "
    "out_delta_dense_weights: num_dense_features*float32"
)
_LIMITS: dict[str, int | Sequence[str] | None] = {
    "loss_type": tuple(DUAL_LOSSES), "num_sparse_features": 0, "num_sparse_features_with_values": 0,
    "num_dense_features": 0, "num_loss_partitions": 1, "num_inner_iterations": 1,
}  # fmt: skip


def _ascend(model: _Model, examples: _Examples, given: Array, loss: DualLoss, is_adaptive: bool) -> Array:
    """One pass over a batch: the examples' state after it. The model has what is added to its weights."""
    count = len(examples.labels)
    if given.shape != (count, 4):
        raise InvalidArgumentError.of(f"Expected shape [{count},4] for example_state_data, got {brackets(given.shape)}")
    state = given.astype(np.float32)
    features = examples.joined()
    labels = [loss.label(float(label)) for label in examples.labels]
    draws = np.random.default_rng(zlib.crc32(state.tobytes()))
    order: Iterable[int] = draws.permutation(count)
    if is_adaptive:
        chances = [
            weight
            * np.sqrt(values @ values + model.l2 * loss.smoothness)
            * abs(dual + loss.slope(model.now(places, values), label))
            for (places, values), dual, label, weight in zip(features, state[:, 0], labels, examples.weights, strict=True)
        ]
        order = _by_chance(draws, np.array(chances))
    for each in order:
        (places, values), label, weight = features[each], labels[each], float(examples.weights[each])
        dual, norm = float(state[each, 0]), float(values @ values) / model.l2
        found = loss.updated(label, weight, dual, model.now(places, values), norm * model.partitions)
        model.delta[places] += values * ((found - dual) * weight / model.l2)
        primal = loss.primal(model.before(places, values), label, weight)
        state[each] = found, primal, loss.dual(dual, label, weight), weight
    return state


def _by_chance(draws: np.random.Generator, chances: Array) -> Iterable[int]:
    """Which examples come next, those more often whose dual variable is far from its best (Csiba, Qu and Richtarik 2015).

    Each time that an example comes makes its next time ten times less likely.
    """
    count, total = len(chances), chances.sum()
    if not 0 < total < np.inf:
        return range(count)
    drawn: list[int] = []
    times = np.zeros(count, np.int64)
    for each, luck in zip(draws.choice(count, 2 * count, p=chances / total), draws.random(2 * count), strict=True):
        if len(drawn) < count and luck <= 0.1 ** times[each]:
            times[each] += 1
            drawn.append(int(each))
    unseen = [int(each) for each in np.argsort(-chances, kind="stable") if not times[each]]
    return [*drawn, *unseen[: count - len(drawn)]]


@op("SdcaOptimizerV2", _INPUTS, infer=_dims, gradient=not_differentiable, limits=_LIMITS)
def sdca_optimizer_v2(
    ctx: OpContext, sparse_example_indices: list[Array], sparse_feature_indices: list[Array],
    sparse_feature_values: list[Array], dense_features: list[Array], example_weights: Array, example_labels: Array,
    sparse_indices: list[Array], sparse_weights: list[Array], dense_weights: list[Array], example_state_data: Array, *,
    loss_type: str, adaptive: bool = False, l1: float, l2: float, num_loss_partitions: int, num_inner_iterations: int,
) -> tuple[Array, ...]:  # fmt: skip
    """The examples' state after one pass over a batch, and what is added to the weights.

    The state of an example is its dual variable, what it adds to the primal and to the dual loss, and its weight.

    `num_sparse_features*[n], num_sparse_features*[n], num_sparse_features_with_values*[n], num_dense_features*[batch, d],
    [batch], [batch], num_sparse_features*[m], num_sparse_features*[m], num_dense_features*[d], [batch, 4] -> [batch, 4],
    num_sparse_features*[m], num_dense_features*[d]`
    """
    model = _Model([*sparse_weights, *dense_weights], l1, l2, num_loss_partitions)
    examples = _Examples(example_labels, example_weights)
    for group, part in enumerate(zip(sparse_example_indices, sparse_feature_indices, sparse_indices, strict=True)):
        values = sparse_feature_values[group] if group < len(sparse_feature_values) else None
        examples.add_sparse(*part, values, model.begin(group))
    for group, (features, weights) in enumerate(zip(dense_features, dense_weights, strict=True), len(sparse_weights)):
        examples.add_dense(features, weights.size, model.begin(group))
    state = _ascend(model, examples, example_state_data, DUAL_LOSSES[loss_type], adaptive)
    return state, *model.deltas([*sparse_weights, *dense_weights])


@op("SdcaOptimizer", _INPUTS, infer=_dims, gradient=not_differentiable, limits=_LIMITS)
def sdca_optimizer(
    ctx: OpContext, sparse_example_indices: list[Array], sparse_feature_indices: list[Array],
    sparse_feature_values: list[Array], dense_features: list[Array], example_weights: Array, example_labels: Array,
    sparse_indices: list[Array], sparse_weights: list[Array], dense_weights: list[Array], example_state_data: Array, *,
    loss_type: str, adaptative: bool = False, l1: float, l2: float, num_loss_partitions: int, num_inner_iterations: int,
) -> tuple[Array, ...]:  # fmt: skip
    """The examples' state after one pass over a batch, and what is added to the weights; SdcaOptimizerV2 says `adaptive`.

    Args:
        sparse_example_indices: for each group of sparse features [n] int64, the example of each feature.
        sparse_feature_indices: for each [n] int64, which feature it is.
        sparse_feature_values: for the first groups [n] float32, the features' values; those of the others are 1.
        dense_features: for each group of dense features [batch, d] float32.
        example_weights, example_labels: [batch] float32.
        sparse_indices: for each sparse group [m] int64, the features whose weights follow, in any order.
        sparse_weights: for each [m] float32, their weights.
        dense_weights: for each dense group [d] float32.
        example_state_data: [batch, 4] float32: the dual variable, what the example adds to the primal and to the dual loss,
            its weight.
        loss_type: 'logistic_loss', 'squared_loss', 'hinge_loss', 'smooth_hinge_loss' or 'poisson_loss'.
        l1, l2: the strengths of the regularization, floats.
        num_loss_partitions: how many processes train at a time.
        num_inner_iterations: takes part in nothing; a batch is passed once.
        adaptative: whether examples of which more is to be gained come more often.

    Returns:
        A tuple of the state, the lists of what is added to the sparse and to the dense weights.

    Raises:
        InvalidArgumentError: in a run, shapes or indices do not fit each other.

    `num_sparse_features*[n], num_sparse_features*[n], num_sparse_features_with_values*[n], num_dense_features*[batch, d],
    [batch], [batch], num_sparse_features*[m], num_sparse_features*[m], num_dense_features*[d], [batch, 4] -> [batch, 4],
    num_sparse_features*[m], num_dense_features*[d]`
    """
    made: tuple[Array, ...] = definition_of(sdca_optimizer_v2).kernel(
        ctx, sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features, example_weights,
        example_labels, sparse_indices, sparse_weights, dense_weights, example_state_data, loss_type=loss_type,
        adaptive=adaptative, l1=l1, l2=l2, num_loss_partitions=num_loss_partitions, num_inner_iterations=num_inner_iterations,
    )  # fmt: skip
    return made
