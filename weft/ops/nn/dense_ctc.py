"""The CTC loss of dense labels, and of any class as the blank; which labels repeat and which are unique."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.batch_gather import batch_gather, gather_nd
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.gather_scatter import gather, scatter_nd
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where
from weft.ops.array.sequences import sequence_mask
from weft.ops.array.shape_ops import expand_dims, shape
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import transpose
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater, logical_and, maximum, not_equal
from weft.ops.math.reduce_functions import argmax, reduce_max, reduce_sum
from weft.ops.math.scans import cumsum
from weft.ops.nn.ctc import ctc_loss
from weft.ops.nn.softmax import log_softmax


def _packed(values: Tensor, kept: Tensor, width: Tensor) -> Tensor:
    """The kept values of each row, moved to its begin, and zeros behind them."""
    places = where(kept)
    columns = gather_nd(cumsum(cast(kept, dtypes.int32), 1) - 1, places)
    to = stack([cast(places[:, 0], dtypes.int32), columns], 1)
    return scatter_nd(to, gather_nd(values, places), stack([shape(values)[0], width]))


def collapse_repeated(labels: TensorLike, seq_length: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Label sequences without labels that repeat the one before, and their lengths.

    Args:
        labels: `[batch, longest]`.
        seq_length: `[batch]`, how many labels of each row count.
        name: the name scope.

    Returns:
        `[batch, longest left]`, zeros behind what is left, and `[batch]` int32.
    """
    with input_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        given = convert_to_tensor(labels, name="labels")
        lengths = convert_to_tensor(seq_length, name="seq_length")
        differs = concat([ones_like(given[:, :1], dtypes.bool), not_equal(given[:, 1:], given[:, :-1])], 1)
        kept = logical_and(differs, sequence_mask(lengths, shape(given)[1]))
        left = reduce_sum(cast(kept, dtypes.int32), 1)
        made = _packed(given, kept, reduce_max(left))
        made.set_shape([given.shape[0], None])
        return made, cast(left, lengths.dtype)


def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The unique labels of each row in the order in which they come, and of each label which one it is.

    Args:
        labels: `[batch, longest]`.
        name: the name scope.

    Returns:
        `[batch, longest]` int64, zeros behind what is unique, and `[batch, longest]` int32.
    """
    with input_scope(name, "ctc_unique_labels", [labels]):
        given = cast(convert_to_tensor(labels, name="labels"), dtypes.int64)
        same = equal(expand_dims(given, 2), expand_dims(given, 1))
        first = argmax(cast(same, dtypes.int32), 2, output_type=dtypes.int32)
        is_first = equal(first, range_of(shape(given)[1]))
        order = cumsum(cast(is_first, dtypes.int32), 1) - 1
        unique = _packed(given, is_first, shape(given)[1])
        unique.set_shape(given.shape)
        return unique, batch_gather(order, first)


def ctc_loss_v2(
    labels: TensorLike | SparseTensor, logits: TensorLike, label_length: TensorLike | None, logit_length: TensorLike,
    logits_time_major: bool = True, unique: tuple[Tensor, Tensor] | None = None, blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The loss of label sequences whose alignment with the logits is not known, one number per sequence.

    Runs raise InvalidArgumentError for a sequence that has too few steps for its labels.

    Args:
        labels: `[batch, longest]`, or a SparseTensor of int32.
        logits: `[steps, batch, classes]`, or with `logits_time_major` False `[batch, steps, classes]`.
        label_length: `[batch]`, how many labels of each row count; not used for sparse labels.
        logit_length: `[batch]`, how many steps each sequence has.
        logits_time_major: whether steps come first.
        unique: what `ctc_unique_labels` gave, which TensorFlow needs on TPUs; not used.
        blank_index: the class that stands for no label; a negative one counts from the last. 0 when None.
        name: the name scope.

    Raises:
        ValueError: the labels are sparse and no blank is given, or there is no class of that number.
    """
    with input_scope(name, "ctc_loss", [logits]):
        given = convert_to_tensor(logits, name="logits")
        if isinstance(labels, SparseTensor):
            if blank_index is None:
                raise ValueError("blank_index must be given when using SparseTensor labels.")
            sparse, empty = labels, None
        else:
            dense, lengths = convert_to_tensor(labels, name="labels"), _lengths(label_length)
            known = constant_value(lengths)
            empty = None if known is not None and known.all() else equal(lengths, 0)
            sparse = _sparse(dense, lengths, empty)
        blank = _blank(given, 0 if blank_index is None else blank_index)
        values = cast(sparse.values, dtypes.int32)
        if blank is not None:
            # The node's blank is the last class.
            values = values - cast(greater(values, blank), dtypes.int32)
            dims = given.dims
            given = concat([given[..., :blank], given[..., blank + 1 :], given[..., blank : blank + 1]], 2)
            given.set_shape(dims)
        if empty is None:
            moved: TensorLike = SparseTensor(sparse.indices, values, sparse.dense_shape)  # type: ignore[assignment]
            return ctc_loss(moved, given, logit_length, time_major=logits_time_major)
        # The node refuses sequences without labels: it gets one of class 0, in a step at least, and its loss is not used.
        values = where(gather(empty, sparse.indices[:, 0]), zeros_like(values), values)
        filled: TensorLike = SparseTensor(sparse.indices, values, sparse.dense_shape)  # type: ignore[assignment]
        steps = convert_to_tensor(logit_length, dtypes.int32)
        losses = ctc_loss(filled, given, maximum(steps, cast(empty, dtypes.int32)), time_major=logits_time_major)
        return where(empty, _loss_of_blanks(given, steps, logits_time_major), losses)


def _loss_of_blanks(logits: Tensor, lengths: Tensor, is_time_major: bool) -> Tensor:
    """`[batch]`: the loss of sequences in which all steps are the blank, the last class."""
    scores = log_softmax(logits)[..., -1]
    rows = transpose(scores) if is_time_major else scores
    counts = sequence_mask(lengths, shape(rows)[1])
    return -reduce_sum(where(counts, rows, zeros_like(rows)), 1)


def _lengths(label_length: TensorLike | None) -> Tensor:
    if label_length is None:
        raise ValueError("ctc_loss: label_length must be given when the labels are dense.")
    return convert_to_tensor(label_length)


def _sparse(labels: Tensor, lengths: Tensor, empty: Tensor | None) -> SparseTensor:
    """The labels that count, and one of each row that is empty."""
    if empty is not None:
        labels = pad(labels, [[0, 0], [0, 1]])
        lengths = lengths + cast(empty, lengths.dtype)
    indices = where(sequence_mask(lengths, shape(labels)[1]))
    return SparseTensor(indices, gather_nd(labels, indices), shape(labels, out_type=dtypes.int64))


def _blank(logits: Tensor, index: int) -> int | Tensor | None:
    """The blank's class; None where it is the last one."""
    classes = None if logits.dims is None else logits.dims[-1]
    if classes is None:
        if index < -1:
            return shape(logits)[-1] + index
        return None if index == -1 else index
    if not -classes <= index < classes:
        raise ValueError(f"blank_index must be one of the {classes} classes, got {index}")
    found = index % classes
    return None if found == classes - 1 else found
