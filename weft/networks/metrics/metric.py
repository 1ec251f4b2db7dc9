"""Metric: a value that gathers over many batches in variables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.framework.building.aliases import DTypeLike, Nest, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.models.weights_broadcast import broadcast_weights
from weft.networks.config import Config, Options
from weft.networks.engine.layer import Layer
from weft.networks.losses import fitted_weights
from weft.networks.state.defaults import floatx
from weft.networks.state.sessions import batch_set_value
from weft.ops.array.filling import ones_like
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import size, squeeze
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.division import div_no_nan
from weft.ops.math.elementwise import squared_difference
from weft.ops.math.reduce_functions import reduce_mean, reduce_sum
from weft.ops.math.unary import sqrt
from weft.ops.variables.options import VariableAggregation, VariableSynchronization


def _as_one_update(update_state: Callable[..., Any]) -> Callable[..., Any]:
    """Let an `update_state` that returns nothing return an operation that does all that it added to the graph."""

    @functools.wraps(update_state)
    def wrapper(self: Metric, *args: Options, **kwargs: Options) -> Nest:
        graph = get_default_graph()
        before, updates = len(graph.get_operations()), self._added_updates
        made = update_state(self, *args, **kwargs)
        update = group(*graph.get_operations()[before:]) if made is None else made
        # One update a call: those of a base class's update_state are part of it.
        self._added_updates = (*updates, update)
        return update

    return wrapper


def _as_one_value(result: Callable[..., Nest]) -> Callable[..., Nest]:
    """Let a `result` return a tensor of its own, and not also the `result` of a base class that it asks."""

    @functools.wraps(result)
    def wrapper(self: Metric) -> Nest:
        if self._tells_result:
            return result(self)
        self._tells_result = True
        try:
            return identity(result(self))
        finally:
            self._tells_result = False

    return wrapper


class Metric(Layer):
    """The base of metrics.

    Subclasses make variables in `__init__` with `add_weight`, change them in `update_state`, and compute the value in `result`.
    Calling a metric adds an update, and a value that is taken after it.

    Args:
        name: its name.
        dtype: the type of its variables; the default type of floats when None.
        kwargs: see Layer.
    """

    # What it gathers of a batch is no update of the layer that holds it: who evaluates runs it.
    gathers_values = True
    _tells_result = False

    __repr__ = printed("tf.keras.metrics")

    def __init__(self, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Options) -> None:
        super().__init__(name=name, dtype=dtype or floatx(), **kwargs)
        self.stateful, self.built = True, True

    def __init_subclass__(cls, **kwargs: Options) -> None:
        super().__init_subclass__(**kwargs)
        if "update_state" in cls.__dict__:
            cls.update_state = _as_one_update(cls.__dict__["update_state"])  # type: ignore[method-assign]
        if "result" in cls.__dict__:
            cls.result = _as_one_value(cls.__dict__["result"])  # type: ignore[method-assign]

    def add_weight(self, name: str | None = None, shape: Nest = (), *args: Options, **kwargs: Options) -> VariableLike:
        """Make a variable of the metric: zeros, in no collection; each replica has its own, and their sum is read.

        Args:
            args, kwargs: those of `tf.keras.layers.Layer.add_weight`.
        """
        kwargs.setdefault("initializer", "zeros")
        kwargs.setdefault("synchronization", VariableSynchronization.ON_READ)
        kwargs.setdefault("aggregation", VariableAggregation.SUM)
        with init_scope():
            return super().add_weight(name, shape, trainable=False, collections=[], **kwargs)

    def update_state(self, *args: Options, **kwargs: Options) -> Nest:
        """Add the operation that takes in a batch.

        Args:
            args, kwargs: values, or labels and predictions, and `sample_weight`.

        Returns:
            The operation, or what stands for several.
        """
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self) -> Nest:
        """The value so far."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def __call__(self, *args: Options, **kwargs: Options) -> Tensor:
        """The value after a batch was taken in."""
        update = self.update_state(*args, **kwargs)
        with get_default_graph().control_dependencies([update]):
            made: Tensor = self.result()
        return made

    def reset_states(self) -> None:
        """Begin anew."""
        batch_set_value([(each, np.zeros(each.shape.as_list())) for each in self.variables])

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        config = super().get_config()
        config.pop("trainable", None)
        config.pop("batch_input_shape", None)
        return config


def weighted(values: TensorLike, sample_weight: TensorLike | None, dtype: Any) -> tuple[Tensor, Tensor | None]:
    """Values times their weights, and the weights in the shape of the values; values of more dimensions are averaged first."""
    given = cast(convert_to_tensor(values), dtype)
    if sample_weight is None:
        return given, None
    weights = fitted_weights(cast(convert_to_tensor(sample_weight), dtype), given)
    try:
        weights = broadcast_weights(weights, given)
    except ValueError:
        given = reduce_mean(given, axis=list(range(weights.shape.ndims or 0, given.shape.ndims or 0)))
    return given * weights, weights


class Sum(Metric):
    """The sum of all values.

    Args:
        name: the name of the metric and the prefix of its variables.
        dtype: the dtype of values and variables; `floatx()` when None.
    """

    def __init__(self, name: str | None = "sum", dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_weight("total")

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> Nest:
        """Add the values of a batch.

        Args:
            values: a tensor.
            sample_weight: a weight for each value, or what can be broadcast to that.
        """
        kept, _ = weighted(values, sample_weight, self._dtype)
        return self.total.assign_add(reduce_sum(kept)).op

    def result(self) -> Nest:
        """The sum."""
        return identity(self.total)


class Mean(Metric):
    """The mean of all values, or their weighted mean.

    Args:
        name: the name of the metric and the prefix of its variables.
        dtype: the dtype of values and variables; `floatx()` when None.
    """

    def __init__(self, name: str | None = "mean", dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_weight("total")
        self.count = self.add_weight("count")

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> Nest:
        """Take in the values of a batch.

        Args:
            values: a tensor.
            sample_weight: a weight for each value, or what can be broadcast to that.
        """
        kept, weights = weighted(values, sample_weight, self._dtype)
        added = self.total.assign_add(reduce_sum(kept))
        with get_default_graph().control_dependencies([added]):
            count = cast(size(kept), self._dtype) if weights is None else reduce_sum(weights)
            return self.count.assign_add(count).op

    def result(self) -> Nest:
        """The mean; 0 of nothing."""
        return div_no_nan(self.total, self.count)


class RootMeanSquaredError(Mean):
    """The square root of the mean of squared differences.

    Args:
        name: the name of the metric and the prefix of its variables.
        dtype: the dtype of values and variables; `floatx()` when None.
    """

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: DTypeLike | None = None) -> None:
        super().__init__(name, dtype)

    def update_state(self, y_true: Nest, y_pred: Nest, sample_weight: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """Take in a batch.

        Args:
            y_true: `[batch, ...]`, what is right.
            y_pred: what the model says, of the same shape.
        """
        wanted, predicted = paired(y_true, y_pred, self._dtype)
        return super().update_state(squared_difference(predicted, wanted), sample_weight)

    def result(self) -> Nest:
        """The error so far."""
        return sqrt(div_no_nan(self.total, self.count))


class MeanRelativeError(Mean):
    """The mean of the magnitudes of differences by a normalizer.

    Args:
        normalizer: what differences are divided by, of the predictions' shape; 0 makes them 0.
        name: the name of the metric and the prefix of its variables.
        dtype: the dtype of values and variables; `floatx()` when None.
    """

    def __init__(self, normalizer: TensorLike, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name, dtype)
        self.normalizer = normalizer

    def update_state(self, y_true: Nest, y_pred: Nest, sample_weight: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """Take in a batch.

        Args:
            y_true: `[batch, ...]`, what is right.
            y_pred: what the model says, of the same shape.
        """
        wanted, predicted = paired(y_true, y_pred, self._dtype)
        by = cast(convert_to_tensor(self.normalizer), self._dtype)
        return super().update_state(div_no_nan(abs(wanted - predicted), by), sample_weight)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {**super().get_config(), "normalizer": self.normalizer}


class MeanMetricWrapper(Mean):
    """The mean of a function of targets and predictions."""

    def __init__(
        self, fn: Callable[..., Tensor], name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Options
    ) -> None:
        super().__init__(name or getattr(fn, "__name__", None), dtype)
        self.fn, self.options = fn, kwargs

    def update_state(self, y_true: Nest, y_pred: Nest, sample_weight: TensorLike | None = None) -> Nest:  # type: ignore[override]
        """Take in a batch.

        Args:
            y_true, y_pred: labels and predictions.
            sample_weight: a weight for each example.
        """
        wanted, predicted = paired(y_true, y_pred, self._dtype)
        return super().update_state(self.fn(wanted, predicted, **self.options), sample_weight)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {**super().get_config(), **self.options}


class MeanTensor(Metric):
    """The mean of tensors, element by element.

    Args:
        name: the name of the metric and the prefix of its variables.
        dtype: the dtype of values and variables; `floatx()` when None.
    """

    def __init__(self, name: str | None = "mean_tensor", dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total: VariableLike = None
        self.count: VariableLike = None

    def update_state(self, values: TensorLike, sample_weight: TensorLike | None = None) -> Nest:
        """Take in a tensor, which has the same shape each time.

        Args:
            values: a tensor, always of one shape.
            sample_weight: a weight for each value, or what can be broadcast to that.
        """
        given = cast(convert_to_tensor(values), self._dtype)
        if self.total is None:
            self.total = self.add_weight("total", given.shape)
            self.count = self.add_weight("count", given.shape)
            get_default_graph().node_count.total += 3  # TensorFlow initializes them here.
        elif given.shape != self.total.shape:
            raise ValueError("MeanTensor input values must always have the same shape. Expected shape (set during the first "
                             f"call): {self.total.shape}. Got: {given.shape}")  # fmt: skip
        kept, weights = weighted(given, sample_weight, self._dtype)
        counted = ones_like(given) if weights is None else weights
        added = self.total.assign_add(kept)
        with get_default_graph().control_dependencies([added]):
            return self.count.assign_add(counted).op

    def result(self) -> Nest:
        """The means; ValueError before the first tensor."""
        if self.total is None:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or use `.update_state(value)` "
                "before retrieving the result."
            )
        return div_no_nan(self.total, self.count)


def paired(y_true: Nest, y_pred: Nest, dtype: Any) -> tuple[Tensor, Tensor]:
    """Targets and predictions as floats, one without a last size of 1 that the other lacks."""
    wanted, predicted = (cast(convert_to_tensor(each), dtype) for each in (y_true, y_pred))
    if wanted.shape.ndims is not None and predicted.shape.ndims is not None:
        difference = predicted.shape.ndims - wanted.shape.ndims
        if difference == -1 and wanted.shape.as_list()[-1] in (1, None) and predicted.shape.ndims:
            wanted = squeeze(wanted, [-1])
        elif difference == 1 and predicted.shape.as_list()[-1] == 1:
            predicted = squeeze(predicted, [-1])
    return wanted, predicted
