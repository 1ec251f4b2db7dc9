"""batch_sequences_with_states: batches of segments of sequences, which a QueueRunner cuts, with states from step to step."""

from __future__ import annotations

from weft import errors
from weft.framework.building.aliases import TensorLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad as pad_node
from weft.ops.array.shape_ops import shape
from weft.ops.array.stacking import stack
from weft.ops.control_flow.assertion import assert_that
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less_equal
from weft.ops.random.functions import random_uniform
from weft.ops.strings.elementwise import as_string
from weft.ops.strings.parts import string_join
from weft.ops.summary.nodes import scalar as scalar_summary
from weft.training.input.sequence_batch import NextQueuedSequenceBatch
from weft.training.input.sequence_states import SequenceQueueingStateSaver, Tensors, checked, scalar
from weft.training.queue_runner import QueueRunner, add_queue_runner


def batch_sequences_with_states(
    input_key: TensorLike, input_sequences: Tensors, input_context: Tensors, input_length: TensorLike | None,
    initial_states: Tensors, num_unroll: int, batch_size: TensorLike, num_threads: int = 3, capacity: int = 1000,
    allow_small_batch: bool = True, pad: bool = True, make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None, name: str | None = None,
) -> NextQueuedSequenceBatch:  # fmt: skip
    """Batches of segments of `num_unroll` steps, with the states that the steps before have saved.

    A QueueRunner cuts the sequences; start it with `tf.train.start_queue_runners`, or by a MonitoredSession. Each run takes
    the oldest segments whose states are there, and has to save each state, by `save_state` or `static_state_saving_rnn`.

    Args:
        input_key: scalar string, a unique key of the sequence.
        input_sequences: tensors `[time, ...]` by name.
        input_context: tensors that belong to the whole sequence, by name.
        input_length: scalar int32, the steps of the sequence; those of the first tensor when None.
        initial_states: the first states by name, without the batch's dimension.
        num_unroll: how many steps a segment has.
        batch_size: how many segments a batch has.
        num_threads: how many threads put sequences in.
        capacity: how many sequences wait at most.
        allow_small_batch: whether what is left at the end makes smaller batches.
        pad: whether sequences are padded with zeros to a multiple of `num_unroll`.
        make_keys_unique: whether random numbers are added to the keys.
        make_keys_unique_seed: the seed of these.
        name: the name scope.

    Returns:
        The batch: its segments by `sequences`, their states by `state(name)`, and `save_state(name, value)`.

    Raises:
        TypeError: a part is no dict, or a name, the key or the length of another type.
        ValueError: shapes are not known well enough, or there is no sequence or no state.
    """
    with get_default_graph().name_scope(name or "batch_sequences_with_states"):
        sequences = checked(input_sequences, "input_sequences")
        if not sequences:
            raise ValueError("must have at least one sequence tensor")
        key = scalar(input_key, dtypes.string, "key")
        if make_keys_unique:
            drawn = random_uniform([], -(1 << 31), (1 << 31) - 1, dtypes.int32, seed=make_keys_unique_seed)
            key = string_join([key, ":", as_string(drawn)])
        time = shape(next(iter(sequences.values())))[0]
        length = time if input_length is None else scalar(input_length, dtypes.int32, "length")
        if pad:
            sequences = {each: _padded(tensor, length, num_unroll) for each, tensor in sequences.items()}
        saver = SequenceQueueingStateSaver(
            batch_size, num_unroll, length, key, sequences, input_context, initial_states, capacity, allow_small_batch
        )
        _fill(saver, num_threads)
        return saver.next_batch


def _padded(tensor: Tensor, length: Tensor, num_unroll: int) -> Tensor:
    """A sequence with zeros up to a multiple of `num_unroll`."""
    time = shape(tensor)[0]
    told = ["Input length should be <= than length from sequences:", length, " vs. ", time]
    with get_default_graph().control_dependencies([assert_that(less_equal(length, time), told)]):
        behind = (num_unroll - time % num_unroll) % num_unroll
    rest = [[0, 0]] * (len(tensor.dims or ()) - 1)
    made = pad_node(tensor, concat([stack([stack([0, behind])]), *([rest] if rest else [])], 0))
    made.set_shape([None, *tensor.shape.as_list()[1:]])
    return made


def _fill(saver: SequenceQueueingStateSaver, num_threads: int) -> None:
    barrier = saver.barrier
    add_queue_runner(
        QueueRunner(
            barrier, [saver.prefetch_op] * num_threads, saver.close(), saver.close(cancel_pending_enqueues=True),  # type: ignore[arg-type]
            queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError),
        )
    )  # fmt: skip
    scalar_summary(f"queue/{barrier.name}/ready_segment_batches_", cast(barrier.ready_size(), dtypes.float32))
