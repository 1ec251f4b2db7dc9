"""Recurrent networks over columns of sequences: RNNClassifier and RNNEstimator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.class_heads import binary_or_multi_class_head
from weft.estimators.canned.dnn import check_features, input_partitioner
from weft.estimators.canned.head import Head
from weft.estimators.canned.optimizers import OptimizerLike, get_optimizer_instance
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Partitioner
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.column import FeatureColumns
from weft.models.feature_columns.input_layer import input_layer
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.feature_columns.sequence_layer import sequence_input_layer
from weft.models.layers.core import dense
from weft.models.losses import Reduction
from weft.models.rnn.cell import RNNCell
from weft.models.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell
from weft.models.rnn.dynamic import dynamic_rnn
from weft.models.rnn.wrappers import MultiRNNCell
from weft.ops.array.batch_gather import gather_nd
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims, shape
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.summary.nodes import histogram
from weft.ops.variables.initializers import GlorotUniform
from weft.ops.variables.partitioners import min_max_variable_partitioner
from weft.ops.variables.variable_scope import variable_scope
from weft.training.contributed.clipped_gradients import clip_gradients_by_norm
from weft.training.optimizers.optimizer import Optimizer

LEARNING_RATE: Final = 0.05
CLIP_NORM: Final = 5.0
_CELLS: Final[dict[str, type[RNNCell]]] = {"basic_rnn": BasicRNNCell, "lstm": BasicLSTMCell, "gru": GRUCell}
# Tells whether a program names a type of cells, which it must not beside a function that makes them.
USE_DEFAULT: Final = object()

CellFn = Callable[[str], RNNCell]


@dataclass(frozen=True)
class RecurrentNetwork:
    """The form of a recurrent network.

    Args:
        cell_fn: makes the cell, of the mode.
        sequence_columns: columns of sequences.
        context_columns: dense columns, whose values every step of a sequence gets beside its own.
        input_layer_partitioner: cuts the variables of columns.
    """

    cell_fn: CellFn
    sequence_columns: FeatureColumns
    context_columns: FeatureColumns
    input_layer_partitioner: Partitioner | None


def recurrent_logits(network: RecurrentNetwork, units: int, features: Features, mode: str) -> Tensor:
    """The network's output after the last step of each sequence, `[batch, units]`, in the variable scope of now."""
    with variable_scope("sequence_input_layer", values=tuple(features.values()), partitioner=network.input_layer_partitioner):
        inputs, lengths = sequence_input_layer(features, network.sequence_columns)
        histogram("sequence_length", lengths)
        if network.context_columns:
            inputs = with_context(inputs, input_layer(features, network.context_columns))
    outputs, _ = dynamic_rnn(network.cell_fn(mode), inputs, lengths, dtype=dtypes.float32)
    last = _last_outputs(outputs, lengths)
    with variable_scope("logits", values=(last,)):
        return dense(last, units, kernel_initializer=GlorotUniform())


def cell_function(num_units: Iterable[int] | None, cell_type: object, rnn_cell_fn: CellFn | None) -> CellFn:
    """A function from the mode to a cell.

    Args:
        num_units: the sizes of the layers.
        cell_type: a class of cells, or its name; `USE_DEFAULT` for the plain one.
        rnn_cell_fn: the function itself, in place of both.

    Raises:
        ValueError: the function is given beside them, or nothing is, or there is no such type.
    """
    if rnn_cell_fn is not None:
        if num_units or cell_type is not USE_DEFAULT:
            raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
        return rnn_cell_fn
    if num_units is None or isinstance(num_units, int):
        raise ValueError(
            f"num_units must be a list of the layers' sizes, such as [32], or rnn_cell_fn be given; got {num_units}"
        )
    sizes = list(num_units)
    kind = "basic_rnn" if cell_type is USE_DEFAULT else cell_type
    chosen = _CELLS.get(kind) if isinstance(kind, str) else kind
    if not (isinstance(chosen, type) and issubclass(chosen, RNNCell)):
        raise ValueError(f"Supported cell types are {list(_CELLS)}; got {kind}")

    def make(mode: str) -> RNNCell:
        del mode  # programs' own functions may tell modes apart, to drop outputs in training
        cells = [chosen(num_units=size) for size in sizes]
        return cells[0] if len(cells) == 1 else MultiRNNCell(cells)

    return make


class RNNEstimator(Estimator):
    """A recurrent network with any head.

        words = tf.contrib.feature_column.sequence_categorical_column_with_hash_bucket("words", 1000)
        estimator = tf.contrib.estimator.RNNEstimator(
            tf.contrib.estimator.regression_head(), [tf.feature_column.embedding_column(words, 8)], num_units=[32],
            cell_type="lstm")

    Args:
        head: the task.
        sequence_feature_columns: columns of sequences, or embeddings and indicators of such columns.
        context_feature_columns: dense columns, whose values every step of a sequence gets beside its own.
        num_units: the sizes of the recurrent layers.
        cell_type: `basic_rnn`, `lstm`, `gru`, or a class of cells.
        rnn_cell_fn: a function from the mode to a cell, in place of `num_units` and `cell_type`.
        return_sequences: whether each step has logits; only heads of sequences take them, and there is none.
        model_dir: see Estimator.
        optimizer: an Optimizer; or its name, or a function that makes it, for one that clips the norm of gradients to 5.
        input_layer_partitioner: cuts the variables of columns; parts of 64 MB for each parameter server when None.
        config: see Estimator.

    Raises:
        ValueError: cells are told twice or not at all, there is no such type, or `return_sequences` is True.
    """

    def __init__(
        self,
        head: Head,
        sequence_feature_columns: FeatureColumns | None,
        context_feature_columns: FeatureColumns | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: object = USE_DEFAULT,
        rnn_cell_fn: CellFn | None = None,
        return_sequences: bool = False,
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: OptimizerLike = "Adagrad",
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
    ) -> None:
        cell_fn = cell_function(num_units, cell_type, rnn_cell_fn)
        columns, context = tuple(sequence_feature_columns or ()), tuple(context_feature_columns or ())
        if return_sequences:
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set to True. TensorFlow has no "
                f"public one, nor has weft; got {head!r}. A model function with tf.nn.dynamic_rnn has logits of all steps."
            )

        def model_fn(features: Features, labels: Labels, mode: str, config: RunConfig) -> EstimatorSpec:
            check_features(features)
            cut = input_layer_partitioner or input_partitioner(config)
            network = RecurrentNetwork(cell_fn, columns, context, cut)
            whole = min_max_variable_partitioner(max_partitions=config.num_ps_replicas)
            with variable_scope("rnn", values=tuple(features.values()), partitioner=whole):
                logits = recurrent_logits(network, head.logits_dimension, features, mode)
                return head.create_estimator_spec(features, mode, logits, labels, _chosen(optimizer))

        super().__init__(model_fn, model_dir, config)


class RNNClassifier(RNNEstimator):
    """A recurrent network that tells classes of sequences.

        words = tf.contrib.feature_column.sequence_categorical_column_with_hash_bucket("words", 1000)
        classifier = tf.contrib.estimator.RNNClassifier(
            [tf.feature_column.embedding_column(words, 8)], num_units=[32, 16], cell_type="gru", n_classes=3)

    Args:
        sequence_feature_columns, context_feature_columns, num_units, cell_type, rnn_cell_fn, model_dir: see RNNEstimator.
        n_classes: how many classes there are; labels are their numbers.
        weight_column: the feature with the weights of examples.
        label_vocabulary: the classes' names, if labels are names.
        optimizer: see RNNEstimator.
        loss_reduction: how the losses of examples become one; their mean by default.
        input_layer_partitioner, config: see RNNEstimator.

    Raises:
        ValueError: cells are told twice or not at all, or there is no such type.
    """

    def __init__(
        self,
        sequence_feature_columns: FeatureColumns | None,
        context_feature_columns: FeatureColumns | None = None,
        num_units: Iterable[int] | None = None,
        cell_type: object = USE_DEFAULT,
        rnn_cell_fn: CellFn | None = None,
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: str | NumericColumn | None = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerLike = "Adagrad",
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
    ) -> None:
        super().__init__(
            binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction), sequence_feature_columns,
            context_feature_columns, num_units, cell_type, rnn_cell_fn, False, model_dir, optimizer, input_layer_partitioner,
            config,
        )  # fmt: skip


def _chosen(optimizer: OptimizerLike) -> Optimizer:
    made = get_optimizer_instance(optimizer, LEARNING_RATE)
    return made if isinstance(optimizer, Optimizer) else clip_gradients_by_norm(made, CLIP_NORM)


def with_context(sequence_input: Tensor, context_input: Tensor) -> Tensor:
    """Each step's inputs with what is known of the whole sequence behind them.

    Args:
        sequence_input: `[batch, steps, own]`.
        context_input: `[batch, further]`.

    Returns:
        `[batch, steps, own + further]`.
    """
    copies = tile(expand_dims(context_input, 1), stack([1, shape(sequence_input)[1], 1]))
    return concat([sequence_input, copies], 2)


def _last_outputs(outputs: Tensor, lengths: Tensor) -> Tensor:
    """The outputs after the last step of each sequence; of an empty one those of its first step, which are zeros."""
    steps = maximum(cast(lengths, dtypes.int64) - 1, 0)
    rows = range_of(cast(shape(outputs)[0], dtypes.int64))
    last = gather_nd(outputs, stack([rows, steps], 1))
    last.set_shape([outputs.shape[0], outputs.shape[2]])
    return last
