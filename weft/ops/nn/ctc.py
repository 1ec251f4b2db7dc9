"""Connectionist temporal classification: the loss of label sequences without alignment, and its decoders.

All of it runs on the host: how long the sequences are depends on the data. The last class is the blank.
"""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np

from weft.errors import FailedPreconditionError, InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.identity import prevent_gradient
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.transposing import transpose
from weft.ops.declaration import not_differentiable, op
from weft.ops.nn.window import check_rank
from weft.ops.size_checks import check_equal
from weft.platform.logs.deprecation import deprecated_argument_lookup

_TYPES: Final = {"T": (dtypes.float32, dtypes.float64)}
_DEFAULTS: Final = {"T": dtypes.float32}
_NEVER: Final = -np.inf
_NO_SECOND: Final = "there is no second derivative of ctc_loss, whose op computes loss and first derivative together"


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError.of(message)


def _log_softmax(x: Array) -> Array:
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _batch_size(node: Operation, lengths: int) -> int | None:
    dims = node.inputs[0].dims
    check_rank(dims, 3)
    merged = merge_dims(None if dims is None else (dims[1],), node.inputs[lengths].dims)
    return None if merged is None else merged[0]


# The loss.


def loss_shapes(node: Operation) -> list[Dims]:
    """The shapes of the losses and of their gradient, of a node that has CTCLoss' inputs; ValueError where these do not fit."""
    check_equal(node.inputs[1], 0, node.inputs[2], 0)
    dims = node.inputs[0].dims
    return [(_batch_size(node, 3),), (None,) * 3 if dims is None else dims]


def _loss_gradient(node: Operation, grad: Tensor, gradient_grad: Tensor) -> Gradients:
    if grad is None:
        return [None, None, None, None]
    # The derivative comes as a value: to it, as to TensorFlow's, there is no second one, and zero would be wrong.
    derivative = prevent_gradient(node.outputs[1], message=_NO_SECOND)
    return [expand_dims(expand_dims(grad, -1), 0) * derivative, None, None, None]


def _path(labels: Array, blank: int) -> Array:
    """The labels with blanks before, between and after."""
    path = np.full(2 * len(labels) + 1, blank)
    path[1::2] = labels
    return path


def _steps(path: Array, blank: int, merge: bool) -> tuple[Array, Array]:
    """The places where a path may stay, and those where it may skip the blank before, as terms to add to logarithms."""
    is_label = path != blank
    stay = np.where(is_label & (not merge), _NEVER, 0.0)
    skip = np.full(len(path), _NEVER)
    differs = (path[2:] != path[:-2]) | (not merge)
    skip[2:] = np.where(is_label[2:] & differs, 0.0, _NEVER)
    return stay, skip


def _shifted(values: Array, count: int) -> Array:
    """The values moved on by `count` places along the path."""
    return np.concatenate([np.full(count, _NEVER), values[:-count]])[: len(values)]


def _forward(scores: Array, stay: Array, skip: Array) -> Array:
    """Per step and place, the logarithm of the probability to have come there."""
    made = np.full(scores.shape, _NEVER)
    made[0, :2] = scores[0, :2]
    for step in range(1, len(scores)):
        last = made[step - 1]
        come = np.logaddexp(np.logaddexp(last + stay, _shifted(last, 1)), _shifted(last, 2) + skip)
        made[step] = come + scores[step]
    return made


def _backward(scores: Array, stay: Array, skip: Array) -> Array:
    """Per step and place, the logarithm of the probability to go from there to the end."""
    made = np.full(scores.shape, _NEVER)
    made[-1, -2:] = 0.0
    for step in range(len(scores) - 2, -1, -1):
        ahead = made[step + 1] + scores[step + 1]
        onward = np.logaddexp(ahead + stay, _shifted(ahead[::-1], 1)[::-1])
        made[step] = np.logaddexp(onward, _shifted((ahead + skip)[::-1], 2)[::-1])
    return made


def _sequence_loss(logits: Array, labels: Array, merge: bool) -> tuple[float, Array]:
    """The loss of one sequence and its gradient for the logits."""
    blank = logits.shape[1] - 1
    log_probabilities = _log_softmax(logits.astype(np.float64))
    probabilities = np.exp(log_probabilities)
    path = _path(labels, blank)
    stay, skip = _steps(path, blank, merge)
    scores = log_probabilities[:, path]
    ways = _forward(scores, stay, skip) + _backward(scores, stay, skip)
    total = np.logaddexp.reduce(ways[0])
    if total == _NEVER:
        return np.inf, probabilities
    expected = np.zeros_like(probabilities)
    np.add.at(expected.T, path, np.exp(ways - total).T)
    return -total, probabilities - expected


def _told(labels: Array) -> str:
    return ",".join(map(str, labels.tolist()))


def _own_labels(labels: Array, classes: int, batch: int, collapse: bool) -> Array:
    """The labels of a sequence up to the first that is no label, the blank or beyond: so are shorter ones filled up.

    Args:
        labels: those of the sequence, as they are given.
        classes: how many there are, the blank included.
        batch: the sequence's place, for errors.
        collapse: whether equal labels in a row count as one.

    Raises:
        InvalidArgumentError: there is none, one is negative, or one follows what is no label.
    """
    if not len(labels):
        raise _invalid(f"Labels length is zero in batch {batch}")
    kept = labels[np.append(True, labels[1:] != labels[:-1])] if collapse else labels
    is_label = kept < classes - 1
    count = len(kept) if is_label.all() else int(np.argmin(is_label))
    own = kept[:count]
    if is_label[count:].any():
        raise _invalid(
            f"Saw a non-null label (index >= num_classes - 1) following a null label, batch: {batch} num_classes: {classes} "
            f"labels: {_told(labels)} labels seen so far: {_told(own)}"
        )
    if (own < 0).any():
        raise _invalid(f"All labels must be nonnegative integers, batch: {batch} labels: {_told(own)}")
    return own


def _check_label_order(indices: Array) -> None:
    rows = indices.tolist()
    for place, (before, row) in enumerate(itertools.pairwise(rows), 1):
        if row <= before:
            what = "is repeated" if row == before else (
                "is out of order. Many sparse ops require sorted indices.\n"
                "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
            )  # fmt: skip
            raise _invalid(f"label SparseTensor is not valid: indices[{place}] = {row} {what}")


@op("CTCLoss", "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: T, gradient: T",
    ranks={"labels_indices": 2, "labels_values": 1, "sequence_length": 1},
    infer=loss_shapes, gradient=_loss_gradient, types=_TYPES, defaults=_DEFAULTS)  # fmt: skip
def ctc_loss_node(
    ctx: OpContext, inputs: Array, labels_indices: Array, labels_values: Array, sequence_length: Array, *,
    preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
) -> tuple[Result, Result]:  # fmt: skip
    """For each sequence the negative logarithm of the probability of its labels, and its derivative for the logits.

    `[steps, batch, classes], [n, 2] int64, [n] int32, [batch] int32 -> [batch], [steps, batch, classes]`
    """
    steps, batch, classes = inputs.shape
    if sequence_length.shape != (batch,):
        raise _invalid(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(sequence_length)} batch_size: {batch}"
        )
    if labels_indices.shape[1] < 1:
        raise _invalid(f"labels_indices second dimension must be >= 1. Received {labels_indices.shape[1]}")
    _check_label_order(labels_indices)
    loss, gradient = np.zeros(batch, inputs.dtype), np.zeros_like(inputs)
    for entry in range(batch):
        length = int(sequence_length[entry])
        if length > steps:
            raise _invalid(f"sequence_length({entry}) <= {steps}")
        given = labels_values[labels_indices[:, 0] == entry]
        labels = _own_labels(given, classes, entry, preprocess_collapse_repeated)
        repeats = int((labels[1:] == labels[:-1]).sum()) if ctc_merge_repeated else 0
        if length < len(labels) + repeats:
            if ignore_longer_outputs_than_inputs:
                continue
            raise _invalid(
                f"Not enough time for target transition sequence (required: {len(labels) + repeats}, available: {length})"
                f"{entry}You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs"
            )
        if length:
            loss[entry], gradient[:length, entry] = _sequence_loss(inputs[:length, entry], labels, ctc_merge_repeated)
    return loss, gradient


def ctc_loss(
    labels: TensorLike, inputs: TensorLike | None = None, sequence_length: TensorLike | None = None,
    preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False, time_major: bool = True, logits: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """The loss of label sequences whose alignment with the inputs is not known, one number per sequence.

    Args:
        labels: a SparseTensor of int32, `[batch, longest]`.
        inputs: logits, `[steps, batch, classes]`, or with `time_major` False `[batch, steps, classes]`.
        sequence_length: how many steps each sequence has.
        preprocess_collapse_repeated: whether equal labels in a row count as one.
        ctc_merge_repeated: whether equal classes in a row stand for one label.
        ignore_longer_outputs_than_inputs: whether sequences too short for their labels have loss zero, not an error.
        time_major: whether steps come first.
        logits: another name of `inputs`.

    Returns:
        [batch] tensor of float32.

    Raises:
        TypeError: the labels are not sparse.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError(
            f"Expected labels (first argument) to be a SparseTensor. Got {labels!r}: tf.sparse_placeholder is fed one, and "
            "tf.contrib.layers.dense_to_sparse(labels) makes one of a dense tensor."
        )
    inputs = _time_major(deprecated_argument_lookup("logits", logits, "inputs", inputs), time_major)
    loss, _ = ctc_loss_node(
        inputs, labels.indices, labels.values, sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated, ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )  # fmt: skip
    return loss


def _time_major(inputs: Tensor, is_time_major: bool) -> Tensor:
    return inputs if is_time_major else transpose(convert_to_tensor(inputs), [1, 0, 2])


# Decoders.


def _as_sparse(sequences: list[Array]) -> tuple[Array, Array, Array]:
    """Indices, values and shape of label sequences of several lengths."""
    indices = [(row, column) for row, sequence in enumerate(sequences) for column in range(len(sequence))]
    values = [label for sequence in sequences for label in sequence]
    longest = max((len(sequence) for sequence in sequences), default=0)
    return (
        np.array(indices, np.int64).reshape(-1, 2), np.array(values, np.int64), np.array([len(sequences), longest], np.int64),
    )  # fmt: skip


def check_lengths(sequence_length: Array, steps: int) -> None:
    """Raise FailedPreconditionError where a sequence is longer than there are steps."""
    wrong = sequence_length > steps
    if wrong.any():
        raise FailedPreconditionError.of(f"sequence_length({int(np.argmax(wrong))}) <= {steps}")


def _check_sizes(steps: int, classes: int) -> None:
    # A batch of none has no sequences, and that is all right.
    if not steps or not classes:
        raise _invalid(f"max_time is {steps}, num_classes is {classes}: inputs need steps and classes")


def _greedy_shapes(node: Operation) -> list[Dims]:
    return [(None, 2), (None,), (2,), (_batch_size(node, 1), 1)]


@op("CTCGreedyDecoder", "inputs: T, sequence_length: int32 -> decoded_indices: int64, decoded_values: int64, "
    "decoded_shape: int64, log_probability: T",
    ranks={"sequence_length": 1}, infer=_greedy_shapes, gradient=not_differentiable, types=_TYPES,
    defaults=_DEFAULTS)  # fmt: skip
def ctc_greedy_decoder_node(
    ctx: OpContext, inputs: Array, sequence_length: Array, *, merge_repeated: bool = False, blank_index: int = -1
) -> tuple[Result, Result, Result, Result]:
    """The most probable class of each step, without blanks and, if asked for, without repetitions.

    `[steps, batch, classes], [batch] int32 -> [n, 2] int64, [n] int64, [2] int64, [batch, 1]`
    """
    steps, batch, classes = inputs.shape
    _check_sizes(steps, classes)
    check_lengths(sequence_length, steps)
    blank = blank_index % classes
    sequences, scores = [], np.zeros((batch, 1), inputs.dtype)
    for entry in range(batch):
        scored = inputs[: max(sequence_length[entry], 0), entry]
        best = scored.argmax(-1)
        scores[entry] = -scored.max(-1).sum()
        is_kept = best != blank
        if merge_repeated and len(best):
            is_kept &= np.append(True, best[1:] != best[:-1])
        sequences.append(best[is_kept].tolist())
    return (*_as_sparse(sequences), scores)


def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """The most probable class of each step, as label sequences, and the negative sum of their logits.

    Args:
        inputs: [steps, batch, classes] float32: the logits; the last class is the blank.
        sequence_length: [batch] int32: how many steps each has.
        merge_repeated: whether labels that repeat without a blank between them count once.

    Returns:
        A list of one SparseTensor of int64, [batch, longest], and [batch, 1] float32.
    """
    indices, values, shape, scores = ctc_greedy_decoder_node(inputs, sequence_length, merge_repeated=merge_repeated)
    return [SparseTensor(indices, values, shape)], scores


def _beam_shapes(node: Operation) -> list[Dims]:
    paths: int = node.attrs["top_paths"]
    parts: list[Dims] = [*([(None, 2)] * paths), *([(None,)] * paths), *([(2,)] * paths)]
    return [*parts, (_batch_size(node, 1), paths)]


# For each sequence of labels the logarithms of two probabilities.
_Beams = dict[tuple[int, ...], tuple[float, float]]


def _beams(log_probabilities: Array, width: int) -> list[tuple[tuple[int, ...], float]]:
    """The most probable label sequences and the logarithms of their probabilities, the best first."""
    blank = log_probabilities.shape[1] - 1
    # Per sequence, the logarithms of the probabilities that it ends in a blank and in its last label.
    beams: _Beams = {(): (0.0, _NEVER)}
    for scores in log_probabilities:
        made: _Beams = {}

        def add(labels: tuple[int, ...], in_blank: float, in_label: float, made: _Beams = made) -> None:
            old = made.get(labels, (_NEVER, _NEVER))
            made[labels] = (float(np.logaddexp(old[0], in_blank)), float(np.logaddexp(old[1], in_label)))

        for labels, (in_blank, in_label) in beams.items():
            total = np.logaddexp(in_blank, in_label)
            add(labels, total + scores[blank], in_label + scores[labels[-1]] if labels else _NEVER)
            for label in range(blank):
                start = in_blank if labels and labels[-1] == label else total
                add((*labels, label), _NEVER, start + scores[label])
        # What is not a number is no candidate.
        likely = [item for item in made.items() if not np.isnan(np.logaddexp(*item[1]))]
        ranked = sorted(likely, key=lambda item: -np.logaddexp(*item[1]))
        beams = dict(ranked[:width])
    return [(labels, float(np.logaddexp(*parts))) for labels, parts in beams.items()]


@op("CTCBeamSearchDecoder", "inputs: T, sequence_length: int32 -> decoded_indices: top_paths*int64, "
    "decoded_values: top_paths*int64, decoded_shape: top_paths*int64, log_probability: T",
    ranks={"sequence_length": 1}, infer=_beam_shapes,
    gradient=not_differentiable, types=_TYPES, defaults=_DEFAULTS)  # fmt: skip
def ctc_beam_search_decoder_node(
    ctx: OpContext, inputs: Array, sequence_length: Array, *, beam_width: int, top_paths: int, merge_repeated: bool = True
) -> Array:
    """The most probable label sequences, searched with a beam, and the logarithms of their probabilities.

    `[steps, batch, classes], [batch] int32 -> top_paths*[n, 2] int64, top_paths*[n] int64, top_paths*[2] int64,
    [batch, top_paths]`
    """
    if top_paths > beam_width:
        raise _invalid(f"requested more paths than the beam search will return: beam_width {beam_width}, top_paths {top_paths}")
    _check_sizes(inputs.shape[0], inputs.shape[2])
    check_lengths(sequence_length, inputs.shape[0])
    batch = inputs.shape[1]
    scores = np.zeros((batch, top_paths), inputs.dtype)
    sequences: list[list[Array]] = [[] for _ in range(top_paths)]
    for entry in range(batch):
        steps = _log_softmax(inputs[: max(sequence_length[entry], 0), entry].astype(np.float64))
        found = _beams(steps, beam_width)
        if len(found) < top_paths:
            raise _invalid("Less leaves in the beam search than requested.")
        for path, (labels, score) in enumerate(found[:top_paths]):
            if merge_repeated:
                labels = tuple(label for at, label in enumerate(labels) if at == 0 or label != labels[at - 1])
            sequences[path].append(labels)
            scores[entry, path] = score
    parts = [_as_sparse(each) for each in sequences]
    return (*(part[0] for part in parts), *(part[1] for part in parts), *(part[2] for part in parts), scores)


def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1, merge_repeated: bool = True
) -> tuple[list[SparseTensor], Tensor]:
    """The most probable label sequences, searched with a beam, and the logarithms of their probabilities.

    Args:
        inputs: [steps, batch, classes] float32: the logits; the last class is the blank.
        sequence_length: [batch] int32: how many steps each has.
        beam_width: how many candidates are kept at each step.
        top_paths: how many sequences to return.
        merge_repeated: whether labels that repeat in the output count once.

    Returns:
        A list of `top_paths` SparseTensors of int64, [batch, longest] each, and [batch, top_paths] float32.
    """
    *parts, scores = ctc_beam_search_decoder_node(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    return [SparseTensor(*part) for part in zip(*parts, strict=True)], scores


def ctc_beam_search_decoder_v2(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """`ctc_beam_search_decoder` that keeps labels that repeat.

    Args:
        inputs: [steps, batch, classes] float32: the logits; the last class is the blank.
        sequence_length: [batch] int32: how many steps each has.
        beam_width: how many candidates are kept at each step.
        top_paths: how many sequences to return.

    Returns:
        A list of `top_paths` SparseTensors of int64, [batch, longest] each, and [batch, top_paths] float32.
    """
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, False)
