"""How contrib.learn's linear models are trained by stochastic dual coordinate ascent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.estimators.aliases import Labels
from weft.estimators.learn.model_fn_ops import ModeKeys, ModelFnOps
from weft.estimators.learn.tasks import Classes, Numbers
from weft.framework.building.aliases import Nest
from weft.models.feature_columns.column import FeatureColumn
from weft.models.layer_columns.column import LayerColumn
from weft.models.layer_columns.layers import weighted_sum_from_feature_columns
from weft.models.layer_columns.real_valued import real_valued_column
from weft.models.sdca.sdca_optimizer import SDCAOptimizer
from weft.ops.array.filling import ones
from weft.ops.array.shape_ops import shape
from weft.ops.variables.variable_scope import variable_scope
from weft.training.training_util import get_global_step

_BIAS: Final = "tf_virtual_bias_column"


def ascended(
    task: Classes | Numbers, columns: Sequence[FeatureColumn], optimizer: SDCAOptimizer, weight_column_name: str | None,
    features: dict[str, Nest], labels: Labels, mode: str,
) -> ModelFnOps:  # fmt: skip
    """A linear model and its training.

    Args:
        task: what the model tells; it has one sum.
        columns: columns of contrib.layers.
        optimizer: the optimizer.
        weight_column_name: the feature with the weights of examples.
        features, labels: those of a batch.
        mode: one of ModeKeys.

    Raises:
        ValueError: a column is none of contrib.layers', or the task has another number of sums or no loss of the ascent.
    """
    others = [each for each in columns if not isinstance(each, LayerColumn)]
    if others:
        raise ValueError(
            f"SDCAOptimizer does not support column type {type(others[0]).__name__}; tf.contrib.layers has columns."
        )
    if task.logits_dimension != 1:
        raise ValueError("SDCA only applies to binary classification, and to regression with label_dimension=1.")
    layer_columns = [each for each in columns if isinstance(each, LayerColumn)]
    values = tuple(features.values())
    with variable_scope("linear", values=values, partitioner=optimizer.partitioner) as scope:
        logits, variables, bias = weighted_sum_from_feature_columns(features, layer_columns, 1, scope=scope)
    predictions = task.predictions(logits)
    if mode == ModeKeys.INFER:
        return ModelFnOps(mode, predictions)
    made = task.loss(features, logits, labels)
    if mode == ModeKeys.EVAL:
        return ModelFnOps(mode, predictions, made.loss, eval_metric_ops=task.metrics(predictions, made))
    # The bias is the weight of one more feature, which all examples have.
    given = {**features, _BIAS: ones([shape(logits)[0], 1])}
    weights = {**variables, real_valued_column(_BIAS): [bias]}
    step = get_global_step()
    model, train_op = optimizer.get_train_step(weights, weight_column_name, task.dual_loss, given, made.labels, step)
    return ModelFnOps(mode, predictions, made.loss, model.update_weights(train_op))
