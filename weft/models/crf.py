"""Linear-chain conditional random fields: the scores of tags of sequences, their likelihood, and the likeliest tags.

Lafferty, McCallum and Pereira, "Conditional Random Fields" (ICML 2001). A tagging's score is the sum of a potential for each
step's tag, and of one for each tag and the next. Potentials of steps are `[batch, steps, tags]`, of transitions `[tags, tags]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import SupportsIndex, TypeVar

import numpy as np

from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.rnn.cell import RNNCell
from weft.models.rnn.dynamic import dynamic_rnn
from weft.ops.array.batch_gather import gather_nd
from weft.ops.array.filling import fill, zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where
from weft.ops.array.sequences import reverse_sequence, sequence_mask
from weft.ops.array.shape_ops import expand_dims, reshape, shape, squeeze
from weft.ops.array.stacking import stack
from weft.ops.control_flow.cond import cond
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, less_equal, maximum
from weft.ops.math.elementwise import add, mul, sub
from weft.ops.math.reduce_functions import argmax, reduce_logsumexp, reduce_max, reduce_sum
from weft.ops.variables.get_variable import get_variable

_Made = TypeVar("_Made", Tensor, tuple[Tensor, Tensor])


def crf_sequence_score(
    inputs: Tensor, tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> Tensor:
    """The scores of taggings: `[batch]`.

    Args:
        inputs: `[batch, steps, tags]`, the potentials of the steps.
        tag_indices: `[batch, steps]`, the tags.
        sequence_lengths: `[batch]`, how many steps count.
        transition_params: `[tags, tags]`, the potentials of a tag and the next.
    """
    inputs, tags, lengths = (convert_to_tensor(each) for each in (inputs, tag_indices, sequence_lengths))

    def single() -> Tensor:
        batch = range_of(0, shape(inputs)[0], 1)
        indices = concat([cast(reshape(batch, [-1, 1]), tags.dtype), tags], 1)
        return _unless_empty(gather_nd(squeeze(inputs, [1]), indices), lengths)

    def several() -> Tensor:
        return add(crf_unary_score(tags, lengths, inputs), crf_binary_score(tags, lengths, transition_params))

    return _by_steps(inputs, single, several)


def crf_multitag_sequence_score(
    inputs: Tensor, tag_bitmap: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
) -> Tensor:
    """The logarithm of the sum of the exponentials of the scores of all taggings that are allowed: `[batch]`.

    Args:
        inputs: `[batch, steps, tags]`, the potentials of the steps.
        tag_bitmap: `[batch, steps, tags]` booleans, which tags each step may have.
        sequence_lengths: `[batch]`, how many steps count.
        transition_params: `[tags, tags]`, the potentials of a tag and the next.
    """
    inputs = convert_to_tensor(inputs)

    def allowed() -> Tensor:
        never = fill(shape(inputs), convert_to_tensor(float("-inf"), dtype=inputs.dtype))
        made = where(tag_bitmap, inputs, never)
        made.set_shape(inputs.shape)
        return made

    return _by_steps(
        inputs,
        lambda: reduce_logsumexp(allowed(), [1, 2]),
        lambda: crf_log_norm(allowed(), sequence_lengths, transition_params),
    )


def crf_log_norm(inputs: Tensor, sequence_lengths: TensorLike, transition_params: TensorLike) -> Tensor:
    """The logarithm of the sum of the exponentials of the scores of all taggings: `[batch]`; zero for no steps.

    Args:
        inputs: `[batch, steps, tags]`, the potentials of the steps.
        sequence_lengths: `[batch]`, how many steps count.
        transition_params: `[tags, tags]`, the potentials of a tag and the next.
    """
    inputs, lengths = convert_to_tensor(inputs), convert_to_tensor(sequence_lengths)
    first = inputs[:, 0]

    def several() -> Tensor:
        _, alphas = dynamic_rnn(
            CrfForwardRnnCell(transition_params), inputs[:, 1:], sequence_length=_one_less(lengths), initial_state=first,
            dtype=inputs.dtype,
        )  # fmt: skip
        _count(-1)
        return _unless_empty(reduce_logsumexp(alphas, [1]), lengths)

    return _by_steps(inputs, lambda: _unless_empty(reduce_logsumexp(first, [1]), lengths), several)


def crf_log_likelihood(
    inputs: Tensor, tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: VariableLike | None = None
) -> tuple[Tensor, VariableLike]:
    """The logarithms of the likelihoods of taggings, `[batch]`, and the potentials of transitions.

    Args:
        inputs: `[batch, steps, tags]`, the potentials of the steps.
        tag_indices: `[batch, steps]`, the tags.
        sequence_lengths: `[batch]`, how many steps count.
        transition_params: `[tags, tags]`; the variable "transitions" when None.
    """
    inputs = convert_to_tensor(inputs)
    if transition_params is None:
        tags = inputs.shape[2].value
        transition_params = get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return sub(score, crf_log_norm(inputs, sequence_lengths, transition_params)), transition_params


def crf_unary_score(tag_indices: TensorLike, sequence_lengths: TensorLike, inputs: Tensor) -> Tensor:
    """The sums of the potentials of the steps' tags: `[batch]`.

    Args:
        tag_indices: `[batch, steps]`, the tags.
        sequence_lengths: `[batch]`, how many steps count.
        inputs: `[batch, steps, tags]`, the potentials of the steps.
    """
    tags, inputs = convert_to_tensor(tag_indices), convert_to_tensor(inputs)
    sizes = shape(inputs)
    firsts = reshape(mul(range_of(0, mul(sizes[0], sizes[1]), 1), sizes[2]), [sizes[0], sizes[1]])
    flat = reshape(add(cast(firsts, tags.dtype), tags), [-1])
    potentials = reshape(gather(reshape(inputs, [-1]), flat), [sizes[0], sizes[1]])
    _count(-7)
    return reduce_sum(mul(potentials, sequence_mask(sequence_lengths, shape(tags)[1], inputs.dtype)), 1)


def crf_binary_score(tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike) -> Tensor:
    """The sums of the potentials of the tags and the next: `[batch]`.

    Args:
        tag_indices: `[batch, steps]`, the tags.
        sequence_lengths: `[batch]`, how many steps count.
        transition_params: `[tags, tags]`, the potentials of a tag and the next.
    """
    tags, transitions = convert_to_tensor(tag_indices), convert_to_tensor(transition_params)
    count = convert_to_tensor(transitions.shape[0].value, dtype=tags.dtype)
    potentials = gather(reshape(transitions, [-1]), add(mul(tags[:, :-1], count), tags[:, 1:]))
    _count(6)
    mask = sequence_mask(sequence_lengths, shape(tags)[1], transitions.dtype.base_dtype)
    return reduce_sum(mul(potentials, mask[:, 1:]), 1)


class _TagCell(RNNCell):
    """A cell whose state has a number for each tag.

    Args:
        transition_params: `[tags, tags]`, the potentials of a tag and the next.
    """

    def __init__(self, transition_params: TensorLike) -> None:
        super().__init__()
        transitions = convert_to_tensor(transition_params)
        self._transitions = expand_dims(transitions, 0)
        self._tags = transitions.shape[0].value

    @property
    def state_size(self) -> Nest:
        """How many tags there are."""
        return self._tags

    output_size = state_size

    def _scores(self, state: Tensor) -> Tensor:
        """`[batch, tags, tags]`: the scores of the tags before with each next one."""
        return add(expand_dims(state, 2), self._transitions)


class CrfForwardRnnCell(_TagCell):
    """The forward recursion: of each tag, the logarithm of the sum of the exponentials of the scores that end with it.

    Inputs, state and output are `[batch, tags]`.

    Args:
        transition_params: `[tags, tags]`, the potentials of a tag and the next.
    """

    def __call__(self, inputs: Nest, state: Nest, scope: object = None) -> Nest:
        """One step."""
        alphas = add(inputs, reduce_logsumexp(self._scores(state), [1]))
        return alphas, alphas


class CrfDecodeForwardRnnCell(_TagCell):
    """Viterbi's recursion: of each tag, the best score that ends with it, and as output the tag before it there.

    Inputs, state and output are `[batch, tags]`, the output int32.

    Args:
        transition_params: `[tags, tags]`, the potentials of a tag and the next.
    """

    def __call__(self, inputs: Nest, state: Nest, scope: object = None) -> Nest:
        """One step."""
        scores = self._scores(state)
        return cast(argmax(scores, 1), dtypes.int32), add(inputs, reduce_max(scores, [1]))


class CrfDecodeBackwardRnnCell(RNNCell):
    """The way back: of a step's tag, `[batch, 1]`, and the tags before, `[batch, tags]`, the tag of the step before.

    Args:
        num_tags: how many tags there are.
    """

    def __init__(self, num_tags: int) -> None:
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> Nest:
        """One: the tag."""
        return 1

    output_size = state_size

    def __call__(self, inputs: Nest, state: Nest, scope: object = None) -> Nest:
        """One step."""
        tags = squeeze(state, [1])
        before = expand_dims(gather_nd(inputs, stack([range_of(0, shape(inputs)[0], 1), tags], axis=1)), -1)
        return before, before


def crf_decode(potentials: Tensor, transition_params: TensorLike, sequence_length: TensorLike) -> tuple[Tensor, Tensor]:
    """The likeliest taggings, `[batch, steps]` int32, and their scores, `[batch]`.

    Args:
        potentials: `[batch, steps, tags]`, the potentials of the steps.
        transition_params: `[tags, tags]`, the potentials of a tag and the next.
        sequence_length: `[batch]`, how many steps count; tags past them are zero.
    """
    potentials, lengths = convert_to_tensor(potentials), convert_to_tensor(sequence_length)

    def single() -> tuple[Tensor, Tensor]:
        only = squeeze(potentials, [1])
        return cast(expand_dims(argmax(only, 1), 1), dtypes.int32), reduce_max(only, 1)

    def several() -> tuple[Tensor, Tensor]:
        links = _one_less(lengths)
        before, scores = dynamic_rnn(
            CrfDecodeForwardRnnCell(transition_params), potentials[:, 1:], sequence_length=links,
            initial_state=potentials[:, 0], dtype=dtypes.int32,
        )  # fmt: skip
        last = expand_dims(cast(argmax(scores, 1), dtypes.int32), -1)
        back = CrfDecodeBackwardRnnCell(potentials.shape[2].value)
        _count(-1)
        turned = reverse_sequence(before, links, seq_dim=1)
        tags, _ = dynamic_rnn(back, turned, sequence_length=links, initial_state=last, dtype=dtypes.int32)
        return reverse_sequence(concat([last, squeeze(tags, [2])], 1), lengths, seq_dim=1), reduce_max(scores, 1)

    return _by_steps(potentials, single, several)


def viterbi_decode(
    score: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    transition_params: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> tuple[Sequence[SupportsIndex], float]:
    """The likeliest tags of one sequence, and their score; of NumPy arrays, outside of graphs.

    Args:
        score: `[steps, tags]`, the potentials of the steps.
        transition_params: `[tags, tags]`, the potentials of a tag and the next.
    """
    best = score[0]
    before = []
    for potentials in score[1:]:
        reached = best[:, np.newaxis] + transition_params
        before.append(np.argmax(reached, 0))
        best = (potentials + np.max(reached, 0)).astype(score.dtype)
    tags = [np.argmax(best)]
    for links in reversed(before):
        tags.append(links[tags[-1]])
    return tags[::-1], np.max(best)


def _count(nodes: int) -> None:
    """Count what TensorFlow has more, or less, of nodes: later random nodes get their seeds by the count."""
    get_default_graph().node_count.total += nodes


def _one_less(lengths: Tensor) -> Tensor:
    """How many transitions sequences have."""
    return maximum(convert_to_tensor(0, dtype=lengths.dtype), sub(lengths, 1))


def _unless_empty(values: Tensor, lengths: Tensor) -> Tensor:
    return where(less_equal(lengths, 0), zeros_like(values), values)


def _by_steps(inputs: Tensor, single: Callable[[], _Made], several: Callable[[], _Made]) -> _Made:
    """What is made for sequences of one step, or of several; as the run shows where the graph does not know."""
    steps = inputs.shape[1].value
    if steps:
        _count(3)  # of the condition
        return single() if steps == 1 else several()
    made: _Made = cond(equal(shape(inputs)[1], 1), single, several)
    return made
