"""The models and losses of contrib.learn's first programs: a linear map with its loss, from features and labels."""

from __future__ import annotations

from weft.framework.building.aliases import Initializer, Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.logit_losses import softmax_cross_entropy
from weft.models.prediction_losses import mean_squared_error
from weft.ops.array.shape_ops import squeeze
from weft.ops.math.elementwise import mul
from weft.ops.nn.bias import xw_plus_b
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.nn.softmax import softmax
from weft.ops.summary.nodes import histogram
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.matrix_initializers import random_normal_initializer
from weft.ops.variables.variable_scope import variable_scope


def mean_squared_error_regressor(
    tensor_in: TensorLike, labels: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The predictions of a linear map, and their mean squared error.

    Args:
        tensor_in: [batch, features].
        labels: [batch] or [batch, outputs].
        weights: [features, outputs].
        biases: [outputs].
        name: the name scope.

    Returns:
        The predictions, in the labels' shape where there is one output, and the loss.
    """
    with get_default_graph().name_scope(name or "mean_squared_error_regressor"):
        predictions = xw_plus_b(tensor_in, weights, biases)
        target = convert_to_tensor(labels)
        if target.shape.ndims == 1 and predictions.shape.ndims == 2:
            predictions = squeeze(predictions, axis=[1])
        return predictions, mean_squared_error(target, predictions)


def softmax_classifier(
    tensor_in: TensorLike, labels: TensorLike, weights: TensorLike, biases: TensorLike,
    class_weight: TensorLike | None = None, name: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The probabilities of classes by a linear map, and their cross entropy.

    Args:
        tensor_in: [batch, features].
        labels: [batch, classes], the probabilities of the classes.
        weights: [features, classes].
        biases: [classes].
        class_weight: [classes], what the logits are multiplied by; nothing when None.
        name: the name scope.

    Returns:
        The probabilities and the loss.
    """
    with get_default_graph().name_scope(name or "softmax_classifier"):
        logits = xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = mul(logits, class_weight)
        return softmax(logits), softmax_cross_entropy(labels, logits)


def linear_regression(x: Tensor, y: Tensor, init_mean: float | None = None, init_stddev: float = 1.0) -> tuple[Tensor, Tensor]:
    """A linear regression, with variables of its own.

    Args:
        x: [batch, features].
        y: [batch] or [batch, outputs].
        init_mean: the mean of the weights' first values; those of `tf.get_variable` when None.
        init_stddev: their deviation.

    Returns:
        The predictions and the loss.
    """
    with variable_scope("linear_regression"):
        outputs = 1 if y.shape.ndims == 1 else y.shape[1]
        weights, bias = _variables("linear_regression", x, y, outputs, init_mean, init_stddev)
        return mean_squared_error_regressor(x, y, weights, bias)


def logistic_regression(
    x: Tensor, y: Tensor, class_weight: TensorLike | None = None, init_mean: float | None = None, init_stddev: float = 1.0
) -> tuple[Tensor, Tensor]:
    """A logistic regression over classes, with variables of its own.

    Args:
        x: [batch, features].
        y: [batch, classes], the probabilities of the classes.
        class_weight: [classes], what the logits are multiplied by; what the graph has as `class_weight:0` when None, if
            anything.
        init_mean: the mean of the weights' first values; those of `tf.get_variable` when None.
        init_stddev: their deviation.

    Returns:
        The probabilities and the loss.
    """
    with variable_scope("logistic_regression"):
        weights, bias = _variables("logistic_regression", x, y, y.shape[-1], init_mean, init_stddev)
        if class_weight is None:
            class_weight = _class_weight_of_graph()
        return softmax_classifier(x, y, weights, bias, class_weight)


def linear_regression_zero_init(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """`linear_regression` with weights that start at zero.

    Args:
        x: [batch, features].
        y: [batch] or [batch, outputs].

    Returns:
        The predictions and the loss.
    """
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression_zero_init(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """`logistic_regression` with weights that start at zero.

    Args:
        x: [batch, features].
        y: [batch, classes], the probabilities of the classes.

    Returns:
        The probabilities and the loss.
    """
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def categorical_variable(tensor_in: TensorLike, n_classes: int, embedding_size: int, name: str) -> Tensor:
    """The embeddings of categories, from a table of the model's own.

    Args:
        tensor_in: the categories' numbers, of any shape.
        n_classes: how many categories there are.
        embedding_size: the size of each embedding.
        name: the variable scope.

    Returns:
        The embeddings, `[*shape of tensor_in, embedding_size]`.
    """
    with variable_scope(name):
        embeddings = get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, convert_to_tensor(tensor_in))


def _variables(
    name: str, x: Tensor, y: Tensor, outputs: Nest, init_mean: float | None, init_stddev: float
) -> tuple[Nest, Nest]:
    """Weights and bias; with histograms of what goes in and of them."""
    histogram(f"{name}.x", x)
    histogram(f"{name}.y", y)
    dtype = x.dtype.base_dtype if x.dtype.is_floating else dtypes.float32
    initializer: Initializer | None = None if init_mean is None else random_normal_initializer(init_mean, init_stddev)
    weights = get_variable("weights", [x.shape[1], outputs], dtype=dtype, initializer=initializer)
    bias = get_variable("bias", [outputs], dtype=dtype, initializer=initializer)
    histogram(f"{name}.weights", weights)
    histogram(f"{name}.bias", bias)
    return weights, bias


def _class_weight_of_graph() -> Tensor | None:
    try:
        return get_default_graph().get_tensor_by_name("class_weight:0")
    except KeyError:
        return None
