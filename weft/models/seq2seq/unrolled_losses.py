"""The losses of sequences that are lists of steps, and models for several lengths of sequences: contrib.legacy_seq2seq's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.division import truediv
from weft.ops.math.elementwise import add, add_n, mul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable_scope import variable_scope

# Keeps a sequence whose weights are all zero from dividing by zero.
_LITTLE = 1e-12


def sequence_loss_by_example(
    logits: Sequence[Tensor], targets: Sequence[TensorLike], weights: Sequence[TensorLike],
    average_across_timesteps: bool = True, softmax_loss_function: Callable[..., Tensor] | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The weighted cross-entropy of each sequence: `[batch]`.

    Args:
        logits: `[batch, classes]` for each step.
        targets: `[batch]` class numbers for each step.
        weights: `[batch]` for each step.
        average_across_timesteps: whether the sum is divided by that of the weights.
        softmax_loss_function: a function `(labels=, logits=)` in place of sparse softmax cross-entropy.
        name: the name scope.

    Raises:
        ValueError: the lists differ in length.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, {len(targets)}."
        )
    with input_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for scores, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                loss = sparse_softmax_cross_entropy_with_logits(labels=reshape(target, [-1]), logits=scores)
            else:
                loss = softmax_loss_function(labels=target, logits=scores)
            losses.append(mul(loss, weight))
        total = add_n(losses)
        return truediv(total, add(add_n(weights), _LITTLE)) if average_across_timesteps else total


def sequence_loss(
    logits: Sequence[Tensor], targets: Sequence[TensorLike], weights: Sequence[TensorLike],
    average_across_timesteps: bool = True, average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Tensor] | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The weighted cross-entropy of all sequences: a scalar.

    Args:
        logits, targets, weights, average_across_timesteps, softmax_loss_function: as in `sequence_loss_by_example`.
        average_across_batch: whether the sum is divided by the number of sequences.
        name: the name scope.
    """
    with input_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        losses = sequence_loss_by_example(
            logits, targets, weights, average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function,
        )  # fmt: skip
        cost = reduce_sum(losses)
        return truediv(cost, cast(shape(targets[0])[0], cost.dtype)) if average_across_batch else cost


def model_with_buckets(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], targets: Sequence[Tensor], weights: Sequence[Tensor],
    buckets: Sequence[tuple[int, int]], seq2seq: Callable[..., tuple[list[Tensor], Nest]],
    softmax_loss_function: Callable[..., Tensor] | None = None, per_example_loss: bool = False, name: str | None = None,
) -> tuple[list[list[Tensor]], list[Tensor]]:  # fmt: skip
    """A model for each of some lengths of sequences, all on the same variables.

    Args:
        encoder_inputs, decoder_inputs: a tensor for each step.
        targets, weights: `[batch]` class numbers and weights for each step.
        buckets: of each model, how many steps encoder and decoder have; the last pair is the longest.
        seq2seq: of an encoder's and a decoder's inputs, the outputs and the state.
        softmax_loss_function: a function `(labels=, logits=)` in place of sparse softmax cross-entropy.
        per_example_loss: whether losses are `[batch]`; scalars otherwise.
        name: the name scope.

    Returns:
        The outputs and the losses of the models.

    Raises:
        ValueError: the last bucket is longer than inputs, targets or weights are.
    """
    longest = buckets[-1]
    for what, steps, needed in (
        ("encoder_inputs", encoder_inputs, longest[0]), ("targets", targets, longest[1]), ("weights", weights, longest[1]),
    ):  # fmt: skip
        if len(steps) < needed:
            raise ValueError(f"Length of {what} ({len(steps)}) must be at least that of last bucket ({needed}).")
    outputs, losses = [], []
    with input_scope(name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]):
        for index, (source, target) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if index else None):
                made, _ = seq2seq(encoder_inputs[:source], decoder_inputs[:target])
                loss = sequence_loss_by_example if per_example_loss else sequence_loss
                losses.append(loss(made, targets[:target], weights[:target], softmax_loss_function=softmax_loss_function))
                outputs.append(made)
    return outputs, losses
