"""BlockLSTM: all steps of an LSTM as one op, in the order of gates of both of its versions, and its gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.array.filling import zeros_like
from weft.ops.declaration import op
from weft.ops.foreign.block_cells import CELL, TYPES, V1, V2, lstm_step, lstm_step_back

_ALL: Final = f"seq_len_max: int64, {CELL}"
_MADE: Final = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
_GRADIENTS: Final = "x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T"
_BACK: Final = f"{_ALL}, {_MADE}, cs_grad: T, h_grad: T -> {_GRADIENTS}"


_RANKS: Final = {
    "seq_len_max": 0,
    **dict.fromkeys(("cs_prev", "h_prev", "w"), 2),
    **dict.fromkeys(("wci", "wcf", "wco", "b"), 1),
}

_BACK_RANKS: Final = {**_RANKS, "x": 3, **dict.fromkeys(("i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"), 3)}


def _shapes(node: Operation) -> list[Dims]:
    x, b = node.inputs[1].dims, node.inputs[8].dims
    if x is not None and len(x) != 3:
        raise ValueError(f"Shape must be rank 3 but is rank {len(x)}")
    steps, batch = (None, None) if x is None else x[:2]
    if b is not None and b[0] is not None and b[0] % 4:
        raise ValueError(f"Dimension size must be evenly divisible by 4 but is {b[0]}")
    cells = None if b is None or b[0] is None else b[0] // 4
    return [(steps, batch, cells)] * 7


def _length(seq_len_max: Array, x: Array) -> int:
    length = int(seq_len_max)
    if not 0 <= length <= len(x):
        raise InvalidArgumentError.of(f"seq_len_max must be in [0, {len(x)}], the number of steps, but is {length}")
    return length


def _run(
    given: tuple[Array, ...], forget_bias: float, cell_clip: float, use_peephole: bool, order: tuple[int, ...]
) -> list[Array]:
    seq_len_max, x, cs, h, *weights = given
    for name, peephole in zip(("wci", "wcf", "wco"), weights[1:4], strict=True):
        if len(peephole) != cs.shape[1]:
            raise InvalidArgumentError.of(f"{name}.dim_size(0) != cell_size: {len(peephole)} vs. {cs.shape[1]}")
    made = [np.zeros((*x.shape[:2], cs.shape[1]), x.dtype) for _ in range(7)]
    for step in range(_length(seq_len_max, x)):
        values = lstm_step(
            np, x[step], cs, h, tuple(weights), forget_bias=forget_bias, cell_clip=cell_clip, use_peephole=use_peephole,
            order=order,
        )  # fmt: skip
        for whole, value in zip(made, values, strict=True):
            whole[step] = value
        cs, h = made[1][step], made[6][step]
    return made


def _run_back(
    given: tuple[Array, ...], made: tuple[Array, ...], cs_grad: Array, h_grad: Array, use_peephole: bool,
    order: tuple[int, ...],
) -> list[Array]:  # fmt: skip
    seq_len_max, x, cs_prev, h_prev, *weights = given
    size = x.shape[2]
    x_grad = np.zeros_like(x)
    totals = [np.zeros_like(each) for each in weights]
    cs_back, h_back = np.zeros_like(cs_prev), np.zeros_like(h_prev)
    for step in reversed(range(_length(seq_len_max, x))):
        before, output = (made[1][step - 1], made[6][step - 1]) if step else (cs_prev, h_prev)
        at_step = tuple(each[step] for each in made[:6])
        cs_back, gates, *peepholes = lstm_step_back(
            np, before, tuple(weights), at_step, cs_grad[step] + cs_back, h_grad[step] + h_back, use_peephole=use_peephole,
            order=order,
        )  # fmt: skip
        both = gates @ weights[0].T
        x_grad[step], h_back = both[:, :size], both[:, size:]
        parts = [np.concatenate([x[step], output], axis=1).T @ gates, *peepholes, gates.sum(0)]
        for total, part in zip(totals, parts, strict=True):
            total += part
    return [x_grad, cs_back, h_back, *totals]


def _gradient_of(back: Callable[..., list[Tensor]]) -> Callable[..., Gradients]:
    def gradient(node: Operation, *grads: Tensor | None) -> Gradients:
        cs_grad, h_grad = (zeros_like(node.outputs[at]) if grads[at] is None else grads[at] for at in (1, 6))
        made = back(*node.inputs, *node.outputs, cs_grad, h_grad, use_peephole=node.attrs["use_peephole"])
        return [None, *made]

    return gradient


def _back_shapes(node: Operation) -> list[Dims]:
    ranks = (3, 2, 2, 2, 1, 1, 1, 1)
    return [(None,) * rank if each.dims is None else each.dims for each, rank in zip(node.inputs[1:9], ranks, strict=True)]


@op("BlockLSTMGrad", _BACK, ranks=_BACK_RANKS, infer=_back_shapes, gradient=None, types=TYPES)
def block_lstm_grad(
    ctx: OpContext, seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array,
    b: Array, i: Array, cs: Array, f: Array, o: Array, ci: Array, co: Array, h: Array, cs_grad: Array, h_grad: Array, *,
    use_peephole: bool,
) -> list[Result]:  # fmt: skip
    """The gradients of BlockLSTM for all of its inputs but the number of steps.

    `scalar int64, [steps, batch, in], [batch, n], [batch, n], [in + n, 4 * n], [n], [n], [n], [4 * n], [steps, batch, n],
    [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n],
    [steps, batch, n], [steps, batch, n] -> [steps, batch, in], [batch, n], [batch, n], [in + n, 4 * n], [n], [n], [n],
    [4 * n]`
    """
    given = seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b
    return _run_back(given, (i, cs, f, o, ci, co, h), cs_grad, h_grad, use_peephole, V1)


@op("BlockLSTMGradV2", _BACK, ranks=_BACK_RANKS, infer=_back_shapes, gradient=None, types=TYPES)
def block_lstm_grad_v2(
    ctx: OpContext, seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array,
    b: Array, i: Array, cs: Array, f: Array, o: Array, ci: Array, co: Array, h: Array, cs_grad: Array, h_grad: Array, *,
    use_peephole: bool,
) -> list[Result]:  # fmt: skip
    """The gradients of BlockLSTMV2 for all of its inputs but the number of steps.

    `scalar int64, [steps, batch, in], [batch, n], [batch, n], [in + n, 4 * n], [n], [n], [n], [4 * n], [steps, batch, n],
    [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n],
    [steps, batch, n], [steps, batch, n] -> [steps, batch, in], [batch, n], [batch, n], [in + n, 4 * n], [n], [n], [n],
    [4 * n]`
    """
    given = seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b
    return _run_back(given, (i, cs, f, o, ci, co, h), cs_grad, h_grad, use_peephole, V2)


@op("BlockLSTM", f"{_ALL} -> {_MADE}", ranks=_RANKS, infer=_shapes, gradient=_gradient_of(block_lstm_grad),
    types=TYPES)  # fmt: skip
def block_lstm(
    ctx: OpContext, seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array,
    b: Array, *, forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = False,
) -> list[Result]:  # fmt: skip
    """The steps of an LSTM up to `seq_len_max`, with all that their gradient uses; those behind it are zero.

    `scalar int64, [steps, batch, in], [batch, n], [batch, n], [in + n, 4 * n], [n], [n], [n], [4 * n] -> [steps, batch, n],
    [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n]`
    """
    given = seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b
    return _run(given, forget_bias, cell_clip, use_peephole, V1)


@op("BlockLSTMV2", f"{_ALL} -> {_MADE}", ranks=_RANKS, infer=_shapes, gradient=_gradient_of(block_lstm_grad_v2),
    types=TYPES)  # fmt: skip
def block_lstm_v2(
    ctx: OpContext, seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array,
    b: Array, *, cell_clip: float = 0.0, use_peephole: bool = False,
) -> list[Result]:  # fmt: skip
    """BlockLSTM with its gates in the order of Keras, and without a bias of the forget gate.

    `scalar int64, [steps, batch, in], [batch, n], [batch, n], [in + n, 4 * n], [n], [n], [n], [4 * n] -> [steps, batch, n],
    [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n], [steps, batch, n]`
    """
    given = seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b
    return _run(given, 0.0, cell_clip, use_peephole, V2)
