"""Metrics as objects, by the names of tf.contrib.eager.metrics: called on batches, they sum up in variables of their own.

In a graph a call gives what to run to take a batch in, `result` the tensor of the value, and `init_variables` the operation
that sets the sums to zero.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from typing import Final

from weft.framework.attribute_tracking import NoDependency
from weft.framework.building.aliases import DTypeLike, Initializer, Nest, ShapeLike, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.models.functional.static_choices import smart_cond
from weft.ops.array.shape_ops import shape, size
from weft.ops.control_flow.ordering import group
from weft.ops.debugging.checks import assert_equal
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater
from weft.ops.math.elementwise import add_n
from weft.ops.math.reduce_functions import argmax, reduce_sum
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.matrix_initializers import zeros_initializer
from weft.ops.variables.variable_scope import variable_scope
from weft.training.contributed.recorded_summaries import scalar
from weft.training.tracking.autotracking import AutoTrackable
from weft.translation.functions.function import defun

_NOT_IN_SCOPES: Final = re.compile("[^A-Za-z0-9.]")
_UNLIKE: Final = "Shapes of labels and predictions are unequal"


class Metric(AutoTrackable):
    """A metric: subclasses make variables in `build`, update them in `call`, and compute the value of them in `result`.

    `build` and `call` take what the metric is called on; `build` is called once, before the first `call`.

    Args:
        name: names the variables, too; the class's name when None.
        use_global_variables: whether the variables are global ones, and not local.
    """

    def __init__(self, name: str | None = None, use_global_variables: bool = False) -> None:
        self._name = name or type(self).__name__
        self._is_built = False
        # The attributes of a subclass are what a checkpoint knows the variables by.
        self._made: list[VariableLike] = NoDependency([])  # type: ignore[assignment]
        self._collection = GraphKeys.GLOBAL_VARIABLES if use_global_variables else GraphKeys.LOCAL_VARIABLES
        with variable_scope(_NOT_IN_SCOPES.sub("_", self._name), use_resource=True, reuse=False) as self._scope:
            self._graph = get_default_graph()
        self.call: Callable[..., Nest] = defun(self.call)  # type: ignore[method-assign]

    __repr__ = printed("tf.contrib.eager.metrics")

    def __call__(self, *args: Nest, **kwargs: Nest) -> Nest:
        """What to run to take a batch in, which gives what `call` returns."""
        if not self._is_built:
            with variable_scope(self._scope), self._graph.as_default():
                self.build(*args, **kwargs)
            self._is_built = True
        return self.call(*args, **kwargs)

    @property
    def name(self) -> str:
        """The metric's name."""
        return self._name

    @property
    def variables(self) -> list[VariableLike]:
        """The variables, in the order in which they were made."""
        return self._made

    def init_variables(self) -> Operation:
        """The operation that gives all variables their first values again."""
        return group(*(each.initializer for each in self._made))

    def build(self, *args: Nest, **kwargs: Nest) -> None:
        """Make the variables, by `add_variable`.

        Args:
            args, kwargs: what the metric is called on first.
        """
        raise NotImplementedError("Metrics must define a build() member function")

    def call(self, *args: Nest, **kwargs: Nest) -> Nest:
        """Update the variables; what it returns is what the update gives.

        Args:
            args, kwargs: what the metric is called on.
        """
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Tensor:
        """The value of all batches so far."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Tensor:
        """The value of all batches so far."""
        return self.result()

    def aggregate(self, metrics: Sequence[Metric]) -> None:
        """Add the sums of metrics of the same kind.

        Args:
            metrics: metrics of this class, with variables of the same names.

        Raises:
            TypeError: one is of another class. ValueError: its variables have other names.
        """
        for each in metrics:
            if type(self) is not type(each):
                raise TypeError(f"All metrics must be the same type, '{type(self)}' != '{type(each)}'.")
        for place, variable in enumerate(self._made):
            others = [each.variables[place] for each in metrics]
            if any(each.name != variable.name for each in others):
                raise ValueError("All metrics must have variables in the same order.")
            variable.assign_add(add_n([convert_to_tensor(each) for each in others]))

    def add_variable(
        self, name: str, shape: ShapeLike = None, dtype: DTypeLike | None = None, initializer: Initializer | None = None
    ) -> VariableLike:
        """Make a variable; only `build` may.

        Args:
            name: its name, below the metric's.
            shape: its shape.
            dtype: its type.
            initializer: makes its first value.

        Raises:
            RuntimeError: the metric is built.
        """
        if self._is_built:
            raise RuntimeError("Can't call add_variable() except in build().")
        made = get_variable(
            name, shape, dtype, initializer, trainable=False, collections=[self._collection, GraphKeys.METRIC_VARIABLES],
            use_resource=True,
        )  # fmt: skip
        self._made.append(made)
        return made


class Mean(Metric):
    """The weighted mean of all values so far.

    Args:
        name: names the variables, too; the class's name when None.
        dtype: the type of the sums and of the value.
        use_global_variables: whether the variables are global ones, and not local.
    """

    def __init__(self, name: str | None = None, dtype: DTypeLike = dtypes.float64, use_global_variables: bool = False) -> None:
        super().__init__(name, use_global_variables)
        self.dtype = dtype

    def build(self, *args: Nest, **kwargs: Nest) -> None:
        """Make the sums of the weighted values and of the weights.

        Args:
            args, kwargs: what the metric is called on first, which tells nothing here.
        """
        self.numer = self.add_variable("numer", (), self.dtype, zeros_initializer)
        self.denom = self.add_variable("denom", (), self.dtype, zeros_initializer)

    def call(self, values: TensorLike, weights: TensorLike | None = None) -> Nest:
        """Take values in.

        Args:
            values: `[...]` numbers.
            weights: what each counts, a tensor that broadcasts with `values`; 1 when None.

        Returns:
            The sum of the values; with weights the weighted values and the weights.
        """
        if weights is None:
            self.denom.assign_add(cast(size(values), self.dtype))
            total = reduce_sum(values)
            self.numer.assign_add(cast(total, self.dtype))
            return total
        factors = cast(weights, self.dtype)
        self.denom.assign_add(reduce_sum(factors))
        weighted = cast(values, self.dtype) * factors
        self.numer.assign_add(reduce_sum(weighted))
        return weighted, factors

    def result(self, write_summary: TensorLike | bool = True) -> Tensor:
        """The mean, NaN before anything was taken in.

        Args:
            write_summary: whether it is written to the default writer of tf.contrib.summary, if there is one.
        """
        chosen = convert_to_tensor(write_summary)
        mean: Tensor = self.numer / self.denom

        def written() -> Tensor:
            scalar(name=self.name, tensor=mean)
            return mean

        smart_cond(chosen, written, lambda: mean)
        return mean


class Accuracy(Mean):
    """The share of predictions that are their labels.

    Args:
        name: names the variables, too; the class's name when None.
        dtype: the type of the sums and of the value.
    """

    def __init__(self, name: str | None = None, dtype: DTypeLike = dtypes.float64) -> None:
        super().__init__(name, dtype)

    # A mean takes values, and this one labels.
    def call(  # type: ignore[override]
        self, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None
    ) -> Nest:
        """Take predictions in.

        Args:
            labels, predictions: `[...]` of one shape and type.
            weights: what each counts; 1 when None.

        Returns:
            The arguments.

        Raises:
            InvalidArgumentError: the shapes are not the same.
        """
        with _alike(labels, predictions):
            return self._compared(labels, predictions, weights)

    def _compared(self, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None) -> Nest:
        Mean.call(self, cast(equal(labels, predictions), self.dtype), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class CategoricalAccuracy(Accuracy):
    """How often the greatest of the classes is the same in labels and in predictions; see `Accuracy` for the arguments."""

    # A mean takes values, and this one labels.
    def call(  # type: ignore[override]
        self, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None
    ) -> Nest:
        """Take predictions in.

        Args:
            labels, predictions: `[..., classes]` of one shape.
            weights: what each row counts; 1 when None.

        Returns:
            The classes, `[...]` int64, of labels and of predictions, and the weights if there are some.
        """
        with _alike(labels, predictions):
            return self._compared(argmax(labels, axis=-1), argmax(predictions, axis=-1), weights)


class BinaryAccuracy(Accuracy):
    """How often predictions above a threshold have true labels, and others false ones.

    Args:
        threshold: what a prediction must exceed.
        name: names the variables, too; the class's name when None.
        dtype: the type of the sums and of the value.
    """

    def __init__(self, threshold: float, name: str | None = None, dtype: DTypeLike = dtypes.float64) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    # A mean takes values, and this one labels.
    def call(  # type: ignore[override]
        self, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None
    ) -> Nest:
        """Take predictions in.

        Args:
            labels: `[...]`, taken as bools.
            predictions: numbers of the labels' shape.
            weights: what each counts; 1 when None.

        Returns:
            The bools of labels and of predictions, and the weights if there are some.
        """
        with _alike(labels, predictions):
            return self._compared(cast(labels, dtypes.bool), greater(predictions, self.threshold), weights)


class SparseAccuracy(Accuracy):
    """How often the greatest of the predictions is that of the label, a class's number; see `Accuracy` for the arguments."""

    # A mean takes values, and this one labels.
    def call(  # type: ignore[override]
        self, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None
    ) -> Nest:
        """Take predictions in.

        Args:
            labels: `[...]` class numbers.
            predictions: `[..., classes]`.
            weights: what each row counts; 1 when None.

        Returns:
            The labels and the predicted classes, `[...]` int64, and the weights if there are some.
        """
        with _alike(labels, convert_to_tensor(predictions)[..., 0]):
            return self._compared(cast(labels, dtypes.int64), argmax(predictions, axis=-1), weights)


def _alike(labels: TensorLike, predictions: TensorLike) -> contextlib.AbstractContextManager[None]:
    """What is made in the block waits for labels and predictions to be of one shape."""
    check = assert_equal(shape(labels), shape(predictions), message=_UNLIKE)
    return get_default_graph().control_dependencies([check])
