"""tf.contrib.training: loops, buckets, hyperparameters, strategies that choose a parameter server."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import TensorShape
from weft.training.hooks.summary_hooks import SummaryAtEndHook as SummaryAtEndHook
from weft.training.hparams import HParams as HParams
from weft.training.hparams import parse_values as parse_values
from weft.training.input.buckets import bucket as bucket
from weft.training.input.buckets import bucket_by_sequence_length as bucket_by_sequence_length
from weft.training.input.resampling import resample_at_rate as resample_at_rate
from weft.training.input.resampling import weighted_resample as weighted_resample
from weft.training.input.sampling import rejection_sample as rejection_sample
from weft.training.input.sampling import stratified_sample as stratified_sample
from weft.training.input.sequence_batch import NextQueuedSequenceBatch as NextQueuedSequenceBatch
from weft.training.input.sequence_batches import batch_sequences_with_states as batch_sequences_with_states
from weft.training.input.sequence_states import SequenceQueueingStateSaver as SequenceQueueingStateSaver
from weft.training.loops.monitored_training import train as train
from weft.training.loops.train_op import add_gradients_summaries as add_gradients_summaries
from weft.training.loops.train_op import clip_gradient_norms as clip_gradient_norms
from weft.training.loops.train_op import clip_gradient_norms_fn as clip_gradient_norms_fn
from weft.training.loops.train_op import create_train_op as create_train_op
from weft.training.loops.train_op import multiply_gradients as multiply_gradients
from weft.training.saving.checkpoint_wait import checkpoints_iterator as checkpoints_iterator
from weft.training.saving.checkpoint_wait import wait_for_new_checkpoint as wait_for_new_checkpoint
from weft.training.sessions.evaluation import StopAfterNEvalsHook as StopAfterNEvalsHook
from weft.training.sessions.evaluation import evaluate_once as evaluate_once
from weft.training.sessions.evaluation import evaluate_repeatedly as evaluate_repeatedly
from weft.training.sessions.evaluation import get_or_create_eval_step as get_or_create_eval_step


class GreedyLoadBalancingStrategy:
    """Gives each op the task with the least load so far, the lowest index among equals.

        tf.train.replica_device_setter(cluster=cluster, ps_strategy=GreedyLoadBalancingStrategy(2, byte_size_load_fn))

    Args:
        num_tasks: how many parameter servers there are.
        load_fn: the load of an op, such as `byte_size_load_fn`.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]) -> None:
        self._num_tasks = num_tasks
        self._load_fn = load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op: object) -> int:
        task, load = int(np.argmin(self._ps_loads)), self._load_fn(op)
        if not isinstance(load, numbers.Real):
            raise TypeError(
                f"load_fn of GreedyLoadBalancingStrategy must give the load of an op, a number, as byte_size_load_fn does; it "
                f"gave {load!r} for {op!r}"
            )
        self._ps_loads[task] += load
        return task


class RandomStrategy:
    """Gives each op a random task; the same sequence for the same seed.

    Args:
        num_ps_tasks: the number of tasks.
        seed: the seed.
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks = num_ps_tasks
        self._random = np.random.RandomState(seed)

    def __call__(self, op: object) -> int:
        return int(self._random.randint(self._num_tasks))


def byte_size_load_fn(op: Operation) -> float:
    """The size in bytes of what an op, such as a variable, holds or makes.

    Args:
        op: the op.

    Returns:
        An int.

    Raises:
        ValueError: it has not exactly one output, or one of unknown shape.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op.name!r} ({op.type}) must have a single output to have a size, it has {len(op.outputs)}")
    output = op.outputs[0]
    shape, dtype = output.get_shape(), output.dtype
    if not shape.is_fully_defined() or op.op_def.role is Role.VARIABLE:
        # A variable tells the shape of its value in an attribute.
        declared = op.attrs.get("shape")
        shape, dtype = TensorShape(declared), as_dtype(op.attrs.get("dtype", dtype))
    if not shape.is_fully_defined():
        raise ValueError(f"Op {op.name!r} ({op.type}): its size is not known, its shape is {shape}")
    return float((shape.num_elements() or 0) * dtype.base_dtype.size)
