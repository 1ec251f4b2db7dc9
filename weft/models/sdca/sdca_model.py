"""SdcaModel: a linear model that stochastic dual coordinate ascent trains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.building.tensor_conversion import convert_n_to_tensor, convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.models.sdca.example_states import ExampleStates
from weft.models.sdca.weights import Weights
from weft.ops.array.gather_scatter import gather
from weft.ops.array.sets import unique
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import add_n, square
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.segment import unsorted_segment_sum
from weft.ops.math.unary import exp, sigmoid
from weft.ops.nn.activation import relu
from weft.ops.nn.loss import log_poisson_loss, sigmoid_cross_entropy_with_logits
from weft.ops.strings.hash_buckets import sdca_fprint
from weft.ops.summary.nodes import scalar
from weft.ops.training.dual_ascent import sdca_optimizer_v2
from weft.ops.training.dual_losses import DUAL_LOSSES
from weft.ops.variables.assign import assign_add
from weft.platform.logs import tf_logging

_FEATURES: Final = ("sparse_features", "dense_features")
_WEIGHTS: Final = ("sparse_features_weights", "dense_features_weights")
_STRENGTHS: Final = ("symmetric_l1_regularization", "symmetric_l2_regularization")
_Given = Mapping[str, Nest]


class SdcaModel:
    """A linear model of sparse and dense features, with L1 and L2 regularization.

    >>> model = tf.contrib.linear_optimizer.SdcaModel(examples, variables, options)
    >>> step = model.update_weights(model.minimize())

    Args:
        examples: `sparse_features`, a list of SparseFeatureColumn; `dense_features`, a list of `[batch, width]` float32;
            `example_labels` and `example_weights`, `[batch]` float32; `example_ids`, `[batch]` strings that name the examples
            for the whole of the training.
        variables: `sparse_features_weights` and `dense_features_weights`, a list of variables `[features]` for each of the two
            lists of features.
        options: `loss_type` (logistic_loss, squared_loss, hinge_loss, smooth_hinge_loss or poisson_loss),
            `symmetric_l1_regularization` and `symmetric_l2_regularization`, the latter 1 at least; and, if need be, `adaptive`
            (whether examples that lack most come more often, True), `num_loss_partitions` (how many train at a time, 1) and
            `num_table_shards` (into how many tables the examples' state is spread, 1).

    Raises:
        ValueError: one of these is lacking, or is not what is told here.
    """

    # What the names of the slots add to those of the weights, and the least strength of L2, without which the ascent may
    # not converge.
    _SLOT: ClassVar = "_unshrinked/SDCAOptimizer"
    _LEAST_L2: ClassVar = 1.0

    def __init__(self, examples: _Given, variables: _Given, options: _Given) -> None:
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be specified.")
        if options["loss_type"] not in DUAL_LOSSES:
            raise ValueError(f"Unsupported loss_type: {options['loss_type']!r}; one of {', '.join(DUAL_LOSSES)} is expected")
        _check_given(examples, ("example_labels", "example_weights", "example_ids", *_FEATURES), _FEATURES)
        _check_given(variables, _WEIGHTS, _WEIGHTS)
        _check_given(options, ("loss_type", *_STRENGTHS), ())
        for name in _STRENGTHS:
            if options[name] < 0.0:
                raise ValueError(f"{name} should be non-negative. Found ({options[name]})")
        self._examples, self._options = examples, options
        self._sparse, self._dense = ([Weights(each, self._SLOT) for each in variables[name]] for name in _WEIGHTS)
        self._states = ExampleStates(options.get("num_table_shards") or 1)
        scalar("approximate_duality_gap", self.approximate_duality_gap())
        scalar("examples_seen", self._states.size())

    def __repr__(self) -> str:
        groups = f"{len(self._sparse)} groups of sparse and {len(self._dense)} of dense features"
        return f"<SdcaModel of {groups}, {self._options['loss_type']}>"

    def minimize(self, global_step: VariableLike | None = None, name: str | None = None) -> Operation:
        """The operation of one pass over the batch, after which `update_weights` shows the weights.

        Args:
            global_step: a variable that is raised by one afterwards.
            name: the name scope.
        """
        examples, options = self._examples, self._options
        with get_default_graph().name_scope(name or "sdca/minimize"):
            columns = examples["sparse_features"]
            keys = sdca_fprint(convert_to_tensor(examples["example_ids"]))
            features = [unique(column.feature_indices)[0] for column in columns]
            state, *deltas = _flat(sdca_optimizer_v2(
                [column.example_indices for column in columns],
                [column.feature_indices for column in columns],
                [column.feature_values for column in columns if column.feature_values is not None],
                convert_n_to_tensor(examples["dense_features"]),
                convert_to_tensor(examples["example_weights"], dtype=dtypes.float32),
                convert_to_tensor(examples["example_labels"], dtype=dtypes.float32),
                features,
                [gather(weights.unshrunk(), own) for weights, own in zip(self._sparse, features, strict=True)],
                [weights.unshrunk() for weights in self._dense],
                self._states.lookup(keys),
                loss_type=options["loss_type"], adaptive=bool(options.get("adaptive", True)),
                l1=float(options["symmetric_l1_regularization"]), l2=self._l2(),
                num_loss_partitions=options.get("num_loss_partitions", 1), num_inner_iterations=1,
            ))  # fmt: skip
            # The deltas are of the weights that were read; none is added before all are known.
            with get_default_graph().control_dependencies([state]):
                updates: list[Nest] = [self._states.insert(keys, state)]
                for weights, own, delta in zip(self._sparse, features, deltas, strict=False):
                    updates += weights.add_to(own, delta)
                for weights, delta in zip(self._dense, deltas[len(self._sparse) :], strict=True):
                    updates += weights.add(delta)
            if global_step is None:
                return group(*updates)
            with get_default_graph().control_dependencies(updates):
                raised: Operation = assign_add(global_step, 1).op
                return raised

    def update_weights(self, train_op: Operation) -> Operation:
        """The operation that gives the variables what the ascent has found; one task at least runs it after `minimize`.

        Args:
            train_op: the operation of `minimize`.
        """
        threshold = self._options["symmetric_l1_regularization"] / self._l2()
        with get_default_graph().control_dependencies([train_op]):
            return group(*(each for weights in self._all() for each in weights.shrink(threshold)))

    def predictions(self, examples: _Given) -> Tensor:
        """What the model says of examples, `[batch]`: probabilities, rates of events, or numbers, as the loss has it.

        Args:
            examples: those of the constructor; labels and ids are not needed.

        Raises:
            ValueError: something is lacking.
        """
        _check_given(examples, ("example_weights", *_FEATURES), _FEATURES)
        found = self._linear(examples)
        kind = self._options["loss_type"]
        return sigmoid(found) if kind == "logistic_loss" else exp(found) if kind == "poisson_loss" else found

    def approximate_duality_gap(self) -> Tensor:
        """How far the model is from its best, for each unit of the examples' weight; a float64."""
        with get_default_graph().name_scope("sdca/approximate_duality_gap"):
            sums: Nest = add_n([reduce_sum(cast(each, dtypes.float64), 0) for each in self._states.exported()])
            gap: Tensor = (sums[1] + sums[2] + self._l1_loss() + 2.0 * self._l2_loss(self._l2())) / sums[3]
            return gap

    def unregularized_loss(self, examples: _Given) -> Tensor:
        """The mean loss of examples; a float64.

        Args:
            examples: those of the constructor; ids are not needed.

        Raises:
            ValueError: something is lacking.
        """
        _check_given(examples, ("example_labels", "example_weights", *_FEATURES), _FEATURES)
        with get_default_graph().name_scope("sdca/unregularized_loss"):
            predictions = cast(self._linear(examples), dtypes.float64)
            labels, weights = (
                cast(convert_to_tensor(examples[name]), dtypes.float64) for name in ("example_labels", "example_weights")
            )
            kind = self._options["loss_type"]
            if kind == "logistic_loss":
                losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions)
            elif kind == "poisson_loss":
                losses = log_poisson_loss(targets=labels, log_input=predictions)
            elif kind == "squared_loss":
                losses = square(labels - predictions) / 2.0
            else:
                losses = relu(1.0 - (2.0 * labels - 1.0) * predictions)
            return reduce_sum(losses * weights) / reduce_sum(weights)

    def regularized_loss(self, examples: _Given) -> Tensor:
        """The mean loss of examples with the regularization's part; a float64.

        Args:
            examples: those of the constructor; ids are not needed.

        Raises:
            ValueError: something is lacking.
        """
        _check_given(examples, ("example_labels", "example_weights", *_FEATURES), _FEATURES)
        with get_default_graph().name_scope("sdca/regularized_loss"):
            penalty = self._l1_loss() + self._l2_loss(self._options["symmetric_l2_regularization"])
            weight = reduce_sum(cast(convert_to_tensor(examples["example_weights"]), dtypes.float64))
            return penalty / weight + self.unregularized_loss(examples)

    def _linear(self, examples: _Given) -> Tensor:
        count = shape(convert_to_tensor(examples["example_weights"]))[0]
        found: list[Tensor] = []
        for column, weights in zip(examples["sparse_features"], self._sparse, strict=True):
            parts = gather(reshape(weights.value(), [-1]), column.feature_indices)
            if column.feature_values is not None:
                parts = parts * column.feature_values
            found.append(unsorted_segment_sum(parts, column.example_indices, count))
        for table, weights in zip(examples["dense_features"], self._dense, strict=True):
            found.append(reshape(matmul(convert_to_tensor(table), reshape(weights.value(), [-1, 1])), [-1]))
        return add_n(found)

    def _all(self) -> list[Weights]:
        return [*self._sparse, *self._dense]

    def _l2(self) -> float:
        """The strength of L2."""
        return max(float(self._options["symmetric_l2_regularization"]), self._LEAST_L2)

    def _l1_loss(self) -> Tensor:
        return add_n([each.absolutes() for each in self._all()]) * float(self._options["symmetric_l1_regularization"])

    def _l2_loss(self, l2: float) -> Tensor:
        return l2 * add_n([each.squares() for each in self._all()]) / 2.0


class LinearSdcaModel(SdcaModel):
    """What the linear estimators of `tf.estimator` train: it takes any strength of L2 above zero.

    Args:
        examples, variables, options: see SdcaModel.

    Raises:
        ValueError: a strength is out of its range, or SdcaModel raises it.
    """

    # By these names TensorFlow's checkpoints hold them.
    _SLOT = "_unshrunk"
    _LEAST_L2 = 0.0

    def __init__(self, examples: _Given, variables: _Given, options: _Given) -> None:
        l2 = options["symmetric_l2_regularization"]
        if l2 <= 0.0:
            raise ValueError(f"symmetric_l2_regularization should be positive. Found ({l2})")
        if l2 <= 1.0:
            tf_logging.warn(
                "symmetric_l2_regularization is %s: SDCA wants more than other optimizers do, about the mean L2 norm of the "
                "training examples.",
                l2,
            )
        super().__init__(examples, variables, options)


def _check_given(given: _Given, names: tuple[str, ...], lists: tuple[str, ...]) -> None:
    for name in names:
        if given.get(name) is None:
            raise ValueError(f"{name} must be specified.")
    for name in lists:
        if not isinstance(given[name], list):
            raise ValueError(f"{name} must be a list.")


def _flat(outputs: Nest) -> list[Tensor]:
    state, sparse, dense = outputs
    return [state, *sparse, *dense]
