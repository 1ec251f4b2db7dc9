"""tf.contrib.training: batches of examples taken by chance, as a function says or so that classes are as frequent as told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.filling import one_hot
from weft.ops.array.gather_scatter import gather
from weft.ops.array.identity import identity
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import reshape, squeeze
from weft.ops.control_flow.assertion import assert_that, print_values
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_less, assert_less_equal, assert_non_negative
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater, less, logical_or
from weft.ops.math.reduce_functions import reduce_all, reduce_max, reduce_sum
from weft.ops.random.functions import random_uniform
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Constant
from weft.ops.variables.variable_scope import variable_scope
from weft.training.input.batching import batch, maybe_batch

# Each class counts as seen so often before the first example.
_SEEN_BEFORE = 10
# Who rejects more than this part of the examples is told.
_MUCH = 0.5


def rejection_sample(
    tensors: Sequence[TensorLike], accept_prob_fn: Callable[[list[Tensor]], TensorLike], batch_size: TensorLike,
    queue_threads: int = 1, enqueue_many: bool = False, prebatch_capacity: int = 16, prebatch_threads: int = 1,
    runtime_checks: bool = False, name: str | None = None,
) -> list[Tensor]:  # fmt: skip
    """Batches of examples each of which is taken with the probability that a function gives it.

    QueueRunners collect the examples; start them with `tf.train.start_queue_runners`.

    Args:
        tensors: the components of an example, a list of tensors.
        accept_prob_fn: takes the list of an example's components and returns the probability, a float32 scalar.
        batch_size: how many examples make a batch.
        queue_threads: how many threads collect.
        enqueue_many: whether `tensors` hold several examples, along their first dimensions.
        prebatch_capacity: how many examples wait at most before they are asked for, with `enqueue_many`.
        prebatch_threads: how many threads take them apart, with `enqueue_many`.
        runtime_checks: whether a run fails where a probability is not between 0 and 1.
        name: the scope of the names.

    Returns:
        A list of tensors `[batch_size, ...]`.

    Raises:
        ValueError: with `enqueue_many`, the components differ in the number of examples or are scalars.
    """
    given = [convert_to_tensor(each) for each in tensors]
    with variable_scope(name, "rejection_sample", given):
        if enqueue_many:
            _check_same_number(given)
            given = _singly(given, prebatch_threads, prebatch_capacity, True)
        probability = accept_prob_fn(given)
        if runtime_checks:
            checks = [assert_less_equal(0.0, probability), assert_less_equal(probability, 1.0)]
            probability = identity(with_dependencies(checks, convert_to_tensor(probability)), name="prob_with_checks")
        return _taken(given, probability, batch_size, queue_threads)


def stratified_sample(
    tensors: Sequence[TensorLike], labels: TensorLike, target_probs: TensorLike, batch_size: TensorLike,
    init_probs: TensorLike | None = None, enqueue_many: bool = False, queue_capacity: int = 16, threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor]:  # fmt: skip
    """Batches in which the classes are as frequent as told, of examples in which they are as frequent as they are.

    Examples of classes that come too often are rejected by chance. QueueRunners collect the others; start them with
    `tf.train.start_queue_runners`.

    Args:
        tensors: the components of an example, a list of tensors.
        labels: the example's class, an int32 or int64 scalar; with `enqueue_many` `[n]`.
        target_probs: `[classes]` floats: how frequent each class is to be.
        batch_size: how many examples make a batch.
        init_probs: `[classes]` floats: how frequent the classes are; when None that is counted, in the variable `class_count`.
        enqueue_many: whether `tensors` and `labels` hold several examples, along their first dimensions.
        queue_capacity: how many examples wait at most before they are chosen from.
        threads_per_queue: how many threads collect for each of both queues.
        name: the scope of the names and of the variable.

    Returns:
        A list of tensors `[batch_size, ...]`, and the labels `[batch_size]`.

    Raises:
        ValueError: the probabilities differ in length or are no vector, or the components differ in the number of examples.
        InvalidArgumentError: in a run, probabilities do not sum up to 1, a class is to come that never does, or a label is none
            of the classes.
    """
    given = [convert_to_tensor(each) for each in tensors]
    with variable_scope(name, "stratified_sample", [*given, labels]):
        classes = convert_to_tensor(labels)
        target = convert_to_tensor(target_probs, dtypes.float32)
        number = target.shape.with_rank(1)[0].value
        if enqueue_many:
            _check_same_number([*given, classes])
        if init_probs is None:
            initial = _counted(classes, int(number or 0))
        else:
            initial = convert_to_tensor(init_probs, dtypes.float32)
            if initial.shape.with_rank(1)[0].value != number:
                raise ValueError(
                    f"Probability parameters must have the same length. target_probs has {number} classes, init_probs "
                    f"{initial.shape[0].value}."
                )
        initial, target = _checked(initial), _checked(target)
        accepted = _acceptance(initial, target)
        *components, label = _singly([*given, classes], threads_per_queue, queue_capacity, enqueue_many)
        checks = [assert_non_negative(label), assert_less(label, cast(number, label.dtype))]
        label = with_dependencies(checks, label)
        *components, label = _taken([*components, label], gather(accepted, label), batch_size, threads_per_queue)
        return components, label


def _check_same_number(tensors: Sequence[Tensor]) -> None:
    """Raise ValueError unless all tensors may have as many rows."""
    first = tensors[0].shape.with_rank_at_least(1)[0]
    for each in tensors[1:]:
        first = first.merge_with(each.shape.with_rank_at_least(1)[0])


def _singly(tensors: Sequence[Tensor], threads: int, capacity: int, enqueue_many: bool) -> list[Tensor]:
    """The components of one example after the other, out of a queue."""
    given = list(tensors)
    batched = batch(given, 1, threads, capacity, enqueue_many)
    return [squeeze(each, [0]) for each in (batched if isinstance(batched, list) else [batched])]


def _taken(tensors: list[Tensor], probability: TensorLike, batch_size: TensorLike, threads: int) -> list[Tensor]:
    """Batches of the examples that chance, with this probability, takes."""
    made = maybe_batch(tensors, less(random_uniform([]), probability), batch_size, threads)
    return [made] if isinstance(made, Tensor) else list(made)


def _counted(labels: Tensor, number: int) -> Tensor:
    """How frequent each class has been so far, with this example or these."""
    seen = get_variable("class_count", [number], dtypes.int64, Constant(_SEEN_BEFORE), trainable=False)
    rows = one_hot(reshape(labels, [-1]), number, dtype=dtypes.int64)
    counts = cast(seen.assign_add(reduce_sum(rows, 0)), dtypes.float32)
    return counts / reduce_sum(counts)


def _checked(probabilities: Tensor) -> Tensor:
    """The probabilities, once they are known not to be negative and to sum up to 1."""
    near, total = 1e-6, reduce_sum(probabilities)
    checks = [assert_non_negative(probabilities), assert_less(total, 1.0 + near), assert_less(1.0 - near, total)]
    return with_dependencies(checks, probabilities)


def _acceptance(initial: Tensor, target: Tensor) -> Tensor:
    """With which probability an example of each class is accepted."""
    possible = logical_or(greater(initial, 0.0), equal(target, 0.0))
    message = "All classes with zero initial probability must also have zero target probability: "
    initial = with_dependencies([assert_that(reduce_all(possible), [message, initial, target])], initial)
    ratios = where_v2(equal(initial, 0.0), constant(0.0), target / where_v2(equal(initial, 0.0), constant(1.0), initial))
    accepted = ratios / reduce_max(ratios)
    rejected = 1.0 - reduce_sum(accepted * initial)
    text = "Proportion of examples rejected by sampler is high."
    told: Tensor = cond(
        less(rejected, _MUCH), lambda: identity(accepted), lambda: print_values(accepted, [accepted], text, first_n=10)
    )
    return told
