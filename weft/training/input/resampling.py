"""tf.contrib.training: examples of a batch, taken as often as rates or weights say."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.gather_scatter import gather
from weft.ops.array.ranges import range_of
from weft.ops.array.sequences import repeat
from weft.ops.array.shape_ops import shape
from weft.ops.input_scope import input_scope
from weft.ops.math.reduce_functions import reduce_mean
from weft.ops.random.functions import random_poisson
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.moving_average import assign_moving_average
from weft.ops.variables.variable_scope import variable_scope


def resample_at_rate(
    inputs: Sequence[TensorLike], rates: TensorLike, scope: str | None = None, seed: int | None = None, back_prop: bool = False
) -> list[Tensor]:
    """Each example as often as a Poisson distribution with its rate says, in the order of the batch.

    Args:
        inputs: tensors `[batch, ...]`.
        rates: `[batch]` floats: how often each example comes on average.
        scope: the name scope.
        seed: the seed of the random numbers.
        back_prop: accepted; gradients go through what was chosen in any case.

    Returns:
        A list of tensors `[number of examples, ...]`; that number differs from run to run.

    Raises:
        ValueError: the rates are no vector.

    >>> x = tf.constant([1.0, 2.0])
    >>> sess.run(tf.contrib.training.resample_at_rate([x], tf.constant([0.0, 0.0])))
    [array([], dtype=float32)]
    """
    tensors = [convert_to_tensor(each) for each in inputs]
    given = convert_to_tensor(rates, dtypes.float32)
    given.shape.assert_has_rank(1)
    with input_scope(scope, "resample_at_rate", [*tensors, given]):
        return _chosen(tensors, given, seed)


def weighted_resample(
    inputs: Sequence[TensorLike], weights: TensorLike, overall_rate: TensorLike, scope: str | None = None,
    mean_decay: float = 0.999, seed: int | None = None,
) -> tuple[list[Tensor], Tensor]:  # fmt: skip
    """Each example as often, on average, as its weight says beside the mean of all weights so far.

    The mean is a moving average, a variable; each run takes the batch's weights in.

    Args:
        inputs: tensors `[batch, ...]`.
        weights: `[batch]` floats.
        overall_rate: how often an example of mean weight comes on average.
        scope: the scope of the names and of the variable.
        mean_decay: the decay of the moving average.
        seed: the seed of the random numbers.

    Returns:
        A list of tensors `[number of examples, ...]`, whose number differs from run to run, and the rates of these examples.

    Raises:
        ValueError: the weights are no vector.
    """
    tensors = [convert_to_tensor(each) for each in inputs]
    given = convert_to_tensor(weights, dtypes.float32)
    given.shape.assert_has_rank(1)
    with input_scope(scope, "weighted_resample", [*tensors, given]):
        with variable_scope(scope, "estimate_mean", [given]):
            average = get_variable("estimated_mean", [], given.dtype, Zeros(), trainable=False)
            mean = convert_to_tensor(assign_moving_average(average, reduce_mean(given), mean_decay))
        rates = given * overall_rate / mean
        frequencies, *chosen = _chosen([rates, *tensors], rates, seed)
        return chosen, frequencies


def _chosen(tensors: Sequence[Tensor], rates: Tensor, seed: int | None) -> list[Tensor]:
    counts = random_poisson(rates, [], dtypes.int32, seed)
    rows = repeat(range_of(shape(counts)[0]), counts)
    return [gather(each, rows) for each in tensors]
