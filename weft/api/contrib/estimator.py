"""tf.contrib.estimator: heads for canned estimators, and what else tf.estimator did not have. Thin adaptors and re-exports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weft.estimators.added_metrics import add_metrics as add_metrics
from weft.estimators.canned.class_heads import BinaryClassHead, MultiClassHead
from weft.estimators.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from weft.estimators.canned.head_inputs import LossFn
from weft.estimators.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from weft.estimators.canned.multi_head import MultiHead as _MultiHead
from weft.estimators.canned.multi_label_head import MultiLabelHead as _MultiLabelHead
from weft.estimators.canned.regression_head import RegressionHead
from weft.estimators.canned.regression_head import logistic_regression_head as _logistic_regression_head
from weft.estimators.canned.regression_head import poisson_regression_head as _poisson_regression_head
from weft.estimators.canned.rnn import RNNClassifier as RNNClassifier
from weft.estimators.canned.rnn import RNNEstimator as RNNEstimator
from weft.estimators.estimator import Estimator
from weft.estimators.export.input_receiver import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
)
from weft.estimators.export.input_receiver import (
    build_supervised_input_receiver_fn_from_input_fn as build_supervised_input_receiver_fn_from_input_fn,
)
from weft.estimators.export.saved_model_export import ReceiverFn
from weft.estimators.forwarded_features import forward_features as forward_features
from weft.estimators.hooks.early_stopping import make_early_stopping_hook as make_early_stopping_hook
from weft.estimators.hooks.early_stopping import stop_if_higher_hook as stop_if_higher_hook
from weft.estimators.hooks.early_stopping import stop_if_lower_hook as stop_if_lower_hook
from weft.estimators.hooks.early_stopping import stop_if_no_decrease_hook as stop_if_no_decrease_hook
from weft.estimators.hooks.early_stopping import stop_if_no_increase_hook as stop_if_no_increase_hook
from weft.estimators.hooks.in_memory_evaluator import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from weft.estimators.hooks.stop_at_checkpoint import make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook
from weft.estimators.logit_functions import call_logit_fn as call_logit_fn
from weft.estimators.towers.optimizer import TowerOptimizer as TowerOptimizer
from weft.estimators.towers.replicate import replicate_model_fn as replicate_model_fn
from weft.estimators.trees.in_memory import (
    boosted_trees_classifier_train_in_memory as boosted_trees_classifier_train_in_memory,
)
from weft.estimators.trees.in_memory import (
    boosted_trees_regressor_train_in_memory as boosted_trees_regressor_train_in_memory,
)
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.losses import Reduction
from weft.training.contributed.clipped_gradients import clip_gradients_by_norm as clip_gradients_by_norm

# Under a name of its own: type checkers take a renamed import for the module's private business.
multi_label_head = _MultiLabelHead
multi_head = _MultiHead


def binary_classification_head(
    weight_column: str | NumericColumn | None = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: LossFn | None = None,
    name: str | None = None,
) -> BinaryClassHead:
    """One of two classes, by a single logit; the loss is the mean over the batch.

    Args:
        weight_column: the feature, or its numeric column, with each example's weight; all count once when None.
        thresholds: the probabilities at which accuracy, precision and recall are told too; none when None.
        label_vocabulary: the two labels where they are strings; 0 and 1 when None.
        loss_reduction: how the losses of examples become one, of `tf.losses.Reduction`; the mean by default.
        loss_fn: a function of labels and logits that gives each example's loss, `[batch, 1]`; the head's own when None.
        name: the head's name, which goes before those of metrics and outputs; none when None.
    """
    return BinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def multi_class_head(
    n_classes: int,
    weight_column: str | NumericColumn | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: LossFn | None = None,
    name: str | None = None,
) -> MultiClassHead:
    """One of more than two classes; the loss is the mean over the batch.

    Args:
        n_classes: the number of classes, more than 2.
        weight_column: the feature, or its numeric column, with each example's weight; all count once when None.
        label_vocabulary: the labels where they are strings; numbers from 0 on when None.
        loss_reduction: how the losses of examples become one, of `tf.losses.Reduction`; the mean by default.
        loss_fn: a function of labels and logits that gives each example's loss, `[batch, 1]`; the head's own when None.
        name: the head's name, which goes before those of metrics and outputs; none when None.
    """
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def regression_head(
    weight_column: str | NumericColumn | None = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: LossFn | None = None,
    inverse_link_fn: Callable[[Tensor], Tensor] | None = None,
    name: str | None = None,
) -> RegressionHead:
    """A head for numbers, by squared error; the loss is the mean over the batch.

    Args:
        weight_column: the feature, or its numeric column, with each example's weight; all count once when None.
        label_dimension: how many numbers an example's label has.
        loss_reduction: how the losses of examples become one, of `tf.losses.Reduction`; the mean by default.
        loss_fn: a function of labels and logits that gives the losses, `[batch, label_dimension]`; the head's own when None.
        inverse_link_fn: a function from logits to predictions; none when None.
        name: the head's name, which goes before those of metrics and outputs; none when None.
    """
    return RegressionHead(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)


def poisson_regression_head(
    weight_column: str | NumericColumn | None = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> RegressionHead:
    """A head for counts, by `tf.nn.log_poisson_loss`; the predictions are `exp(logits)`, the loss is the mean over the batch.

    Args:
        weight_column: the feature, or its numeric column, with each example's weight; all count once when None.
        label_dimension: how many numbers an example's label has.
        loss_reduction: how the losses of examples become one, of `tf.losses.Reduction`; the mean by default.
        compute_full_loss: whether the loss has Stirling's approximation of the term of the labels alone.
        name: the head's name, which goes before those of metrics and outputs; none when None.

    Returns:
        The head.
    """
    return _poisson_regression_head(weight_column, label_dimension, loss_reduction, compute_full_loss, name)


def logistic_regression_head(
    weight_column: str | NumericColumn | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    name: str | None = None,
) -> RegressionHead:
    """A head for probabilities, whose labels are numbers in [0, 1], by sigmoid cross entropy; the loss is the mean over the
    batch.

    Args:
        weight_column: the feature, or its numeric column, with each example's weight; all count once when None.
        loss_reduction: how the losses of examples become one, of `tf.losses.Reduction`; the mean by default.
        name: the head's name, which goes before those of metrics and outputs; none when None.

    Returns:
        The head.
    """
    return _logistic_regression_head(weight_column, loss_reduction, name)


def export_saved_model_for_mode(
    estimator: Estimator,
    export_dir_base: str,
    input_receiver_fn: ReceiverFn,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    strip_default_attrs: bool = True,
    mode: str = "infer",
) -> bytes:
    """Write the graph of one mode as a SavedModel; see `Estimator.export_saved_model`.

    Args:
        estimator: the estimator.
        export_dir_base: the folder, below which one with the time as its name is made.
        input_receiver_fn: a function of nothing that gives the inputs.
        assets_extra: files to copy, by their paths below `assets.extra`.
        as_text: whether the SavedModel is written as text.
        checkpoint_path: the checkpoint; the latest when None.
        strip_default_attrs: whether attributes that have their defaults are left out.
        mode: the mode, of `tf.estimator.ModeKeys`.

    Returns:
        The path of the SavedModel, as bytes.
    """
    return estimator.export_saved_model(export_dir_base, input_receiver_fn, assets_extra, as_text, checkpoint_path, mode)


def export_all_saved_models(
    estimator: Estimator,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, ReceiverFn],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    strip_default_attrs: bool = True,
) -> bytes:
    """Write the graphs of several modes as one SavedModel; see `Estimator.experimental_export_all_saved_models`.

    Args:
        estimator: the estimator.
        export_dir_base: the folder, below which one with the time as its name is made.
        input_receiver_fn_map: functions of nothing that give the inputs, by mode.
        assets_extra: files to copy, by their paths below `assets.extra`.
        as_text: whether the SavedModel is written as text.
        checkpoint_path: the checkpoint; the latest when None.
        strip_default_attrs: whether attributes that have their defaults are left out.

    Returns:
        The path of the SavedModel, as bytes.
    """
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
    )
