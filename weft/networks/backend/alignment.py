"""tf.keras.backend's label sequences without alignment: their loss (CTC) and their decoding."""

from __future__ import annotations

from weft.framework.building.aliases import Nest
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.networks.state.defaults import epsilon
from weft.ops.array.selection import boolean_mask, where
from weft.ops.array.sequences import sequence_mask
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import transpose
from weft.ops.math.casting import cast
from weft.ops.math.unary import log
from weft.ops.nn.ctc import ctc_beam_search_decoder, ctc_greedy_decoder, ctc_loss
from weft.ops.sparse.tensors import sparse_tensor_to_dense


def ctc_label_dense_to_sparse(labels: Tensor, label_lengths: Tensor) -> SparseTensor:
    """Label sequences of some lengths as a SparseTensor.

    Args:
        labels: `[batch, longest]` numbers of classes.
        label_lengths: `[batch]` ints: how many of each row count.

    Returns:
        A SparseTensor of that shape and dtype.
    """
    size = shape_of(labels)
    kept = sequence_mask(label_lengths, size[1])
    return SparseTensor(where(kept), boolean_mask(labels, kept), cast(size, dtypes.int64))


def ctc_batch_cost(y_true: Tensor, y_pred: Tensor, input_length: Tensor, label_length: Tensor) -> Tensor:
    """The loss of label sequences whose alignment with the predictions is not known, `[batch, 1]`.

    Args:
        y_true: `[batch, longest]` numbers of classes.
        y_pred: `[batch, steps, classes]` probabilities; the last class is the blank.
        input_length: `[batch, 1]` ints: how many steps of each row of predictions count.
        label_length: `[batch, 1]` ints: how many labels of each row count.
    """
    lengths = cast(squeeze(label_length, axis=-1), dtypes.int32)
    steps = cast(squeeze(input_length, axis=-1), dtypes.int32)
    labels: Nest = ctc_label_dense_to_sparse(cast(y_true, dtypes.int32), lengths)
    return expand_dims(ctc_loss(labels, _logits(y_pred), steps), 1)


def ctc_decode(
    y_pred: Tensor, input_length: Tensor, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Tensor], Tensor]:
    """The most probable label sequences, padded by -1, and the logarithms of their probabilities.

    Args:
        y_pred: `[batch, steps, classes]` probabilities; the last class is the blank.
        input_length: `[batch]` ints: how many steps of each row count.
        greedy: whether the best class of each step is taken, rather than the best sequences that a beam finds.
        beam_width: how many candidates a beam keeps at each step.
        top_paths: how many sequences a beam gives.

    Returns:
        A list of int64 tensors, `[batch, longest]`, and `[batch, paths]` floats; greedily these are negative sums of logits.
    """
    steps = cast(input_length, dtypes.int32)
    logits = _logits(y_pred)
    if greedy:
        decoded, scores = ctc_greedy_decoder(logits, steps)
    else:
        decoded, scores = ctc_beam_search_decoder(logits, steps, beam_width, top_paths)
    return [sparse_tensor_to_dense(each, -1) for each in decoded], scores


def _logits(probabilities: Tensor) -> Tensor:
    return log(transpose(probabilities, [1, 0, 2]) + epsilon())
