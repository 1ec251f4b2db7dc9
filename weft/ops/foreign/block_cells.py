"""Recurrent cells that are one op: LSTMBlockCell, GRUBlockCell and BlockLSTM, as TensorFlow's clients write them.

weft's own cells are made of small ops, which XLA joins; these are for graphs that come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.filling import zeros_like
from weft.ops.array.joining import concat
from weft.ops.declaration import op, rank_of
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum

TYPES: Final = {"T": (dtypes.float16, dtypes.float32)}
CELL: Final = "x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
_GATES: Final = "i: T, cs: T, f: T, o: T, ci: T, co: T"
V1: Final = (0, 1, 2, 3)
V2: Final = (0, 2, 1, 3)
"""Where the columns of the weights have input gate, new input, forget gate and output gate."""


def _sigmoid(xp: ArrayModule, x: Array) -> Array:
    return 0.5 * xp.tanh(0.5 * x) + 0.5


def lstm_step(
    xp: ArrayModule, x: Array, cs_prev: Array, h_prev: Array, weights: tuple[Array, ...], *, forget_bias: float,
    cell_clip: float, use_peephole: bool, order: tuple[int, ...] = V1,
) -> tuple[Array, ...]:  # fmt: skip
    """One step of an LSTM: input gate, state, forget gate, output gate, new input, the state's tanh, and output."""
    w, wci, wcf, wco, b = weights
    gates = xp.concatenate([x, h_prev], axis=1) @ w + b
    i, ci, f, o = (xp.split(gates, 4, axis=1)[place] for place in order)
    if use_peephole:
        i, f = i + cs_prev * wci, f + cs_prev * wcf
    i, f, ci = _sigmoid(xp, i), _sigmoid(xp, f + x.dtype.type(forget_bias)), xp.tanh(ci)
    cs = ci * i + cs_prev * f
    if cell_clip > 0:
        cs = xp.clip(cs, -cell_clip, cell_clip)
    o = _sigmoid(xp, o + cs * wco if use_peephole else o)
    co = xp.tanh(cs)
    return i, cs, f, o, ci, co, co * o


def lstm_step_back(
    xp: ArrayModule, cs_prev: Array, weights: tuple[Array, ...], made: tuple[Array, ...], cs_grad: Array, h_grad: Array, *,
    use_peephole: bool, order: tuple[int, ...] = V1,
) -> tuple[Array, ...]:  # fmt: skip
    """The gradients of a step for the state before it, for the sums of the gates, and for the three peepholes."""
    _, wci, wcf, wco, _ = weights
    i, cs, f, o, ci, co = made
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if use_peephole:
        dcs = dcs + do * wco
    dci, df, di = (1 - ci * ci) * dcs * i, f * (1 - f) * dcs * cs_prev, i * (1 - i) * dcs * ci
    before = dcs * f
    if use_peephole:
        before = before + di * wci + df * wcf
        peepholes = [xp.sum(di * cs_prev, axis=0), xp.sum(df * cs_prev, axis=0), xp.sum(do * cs, axis=0)]
    else:
        peepholes = [xp.zeros_like(each) for each in (wci, wcf, wco)]
    parts = (di, dci, df, do)
    return before, xp.concatenate([parts[order.index(place)] for place in range(4)], axis=1), *peepholes


def _state(node: Operation) -> Dims:
    for tensor, rank in zip(node.inputs[:4], (2, 2, 2, 2), strict=True):
        if rank_of(tensor) not in (None, rank):
            raise ValueError(f"Shape must be rank {rank} but is rank {rank_of(tensor)}")
    merged = merge_dims(node.inputs[1].dims, node.inputs[2].dims)
    return (None, None) if merged is None else merged


def _cell_gradient(node: Operation, *grads: Tensor | None) -> Gradients:
    x, _cs_prev, h_prev, w, _wci, _wcf, _wco, _b = node.inputs
    cs_grad, h_grad = (zeros_like(node.outputs[at]) if grads[at] is None else grads[at] for at in (1, 6))
    given: list[Array] = [*node.inputs, *node.outputs[:6], cs_grad, h_grad]
    before, gates, *peepholes = lstm_block_cell_grad(*given, use_peephole=node.attrs["use_peephole"])
    both = matmul(gates, w, transpose_b=True)
    size = x.dims[1] if x.dims is not None else None
    if size is None:
        raise ValueError(f"LSTMBlockCell {node.name!r}: the size of x's last dimension is not known, which its gradient needs")
    w_grad = matmul(concat([x, h_prev], 1), gates, transpose_a=True)
    return [both[:, :size], before, both[:, size:], w_grad, *peepholes, reduce_sum(gates, 0)]


@op("LSTMBlockCell", f"{CELL} -> {_GATES}, h: T", infer=lambda node: [_state(node)] * 7, gradient=_cell_gradient, types=TYPES)
def lstm_block_cell(
    xp: ArrayModule, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array, b: Array, *,
    forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = False,
) -> list[Result]:  # fmt: skip
    """A step of an LSTM, with all that its gradient uses: gates, states and output.

    `[batch, in], [batch, n], [batch, n], [in + n, 4 * n], [n], [n], [n], [4 * n] -> [batch, n], [batch, n], [batch, n],
    [batch, n], [batch, n], [batch, n], [batch, n]`
    """
    weights = w, wci, wcf, wco, b
    return list(
        lstm_step(
            xp, x, cs_prev, h_prev, weights, forget_bias=forget_bias, cell_clip=cell_clip, use_peephole=use_peephole
        )
    )  # fmt: skip


def _cell_gradient_shapes(node: Operation) -> list[Dims]:
    state = node.inputs[1].dims
    batch, cells = (None, None) if state is None else state
    return [
        state,
        (batch, None if cells is None else 4 * cells),
        *(each.dims for each in node.inputs[4:7]),
    ]


def _check_cell(x: Array, w: Array, cs_prev: Array, like_state: Mapping[str, Array]) -> None:
    size, cells = x.shape[1], cs_prev.shape[1]
    if w.shape[0] != size + cells:
        raise InvalidArgumentError.of(f"w.dim_size(0) != input_size + cell_size: {w.shape[0]} vs. {size + cells}")
    if w.shape[1] != 4 * cells:
        raise InvalidArgumentError.of(f"w.dim_size(1) != cell_size * 4: {w.shape[1]} vs. {4 * cells}")
    for name, each in like_state.items():
        if each.shape != cs_prev.shape:
            raise InvalidArgumentError.of(
                f"{name} must have the shape of cs_prev, {list(cs_prev.shape)}, not {list(each.shape)}"
            )


@op("LSTMBlockCellGrad",
    f"{CELL}, {_GATES}, cs_grad: T, h_grad: T -> cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T",
    infer=_cell_gradient_shapes, gradient=None, types=TYPES,
    ranks={**dict.fromkeys(("x", "cs_prev", "h_prev", "w"), 2), **dict.fromkeys(("wci", "wcf", "wco", "b"), 1)})  # fmt: skip
def lstm_block_cell_grad(
    xp: ArrayModule, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array, b: Array,
    i: Array, cs: Array, f: Array, o: Array, ci: Array, co: Array, cs_grad: Array, h_grad: Array, *, use_peephole: bool,
) -> list[Result]:  # fmt: skip
    """The gradients of LSTMBlockCell for the state before it, the sums of its gates, and the peepholes.

    `[batch, in], [batch, n], [batch, n], [in + n, 4 * n], [n], [n], [n], [4 * n], [batch, n], [batch, n], [batch, n],
    [batch, n], [batch, n], [batch, n], [batch, n], [batch, n] -> [batch, n], [batch, 4 * n], [n], [n], [n]`
    """
    made, weights = (i, cs, f, o, ci, co), (w, wci, wcf, wco, b)
    _check_cell(x, w, cs_prev, {"h_prev": h_prev, "i": i, "cs": cs, "f": f, "o": o, "ci": ci, "co": co, "cs_grad": cs_grad,
                                "h_grad": h_grad})  # fmt: skip
    return list(lstm_step_back(xp, cs_prev, weights, made, cs_grad, h_grad, use_peephole=use_peephole))


# The gated recurrent unit.


_GRU_RANKS: Final = {"x": 2, "h_prev": 2, "w_ru": 2, "w_c": 2, "b_ru": 1, "b_c": 1}


def _gru_gradient(node: Operation, *grads: Tensor | None) -> Gradients:
    x, h_prev = node.inputs[:2]
    r = node.outputs[0]
    d_h = zeros_like(node.outputs[3]) if grads[3] is None else grads[3]
    d_x, d_h_prev, d_c_bar, d_gates = gru_block_cell_grad(*node.inputs, *node.outputs[:3], d_h)
    w_gates = matmul(concat([x, h_prev], 1), d_gates, transpose_a=True)
    w_c = matmul(concat([x, h_prev * r], 1), d_c_bar, transpose_a=True)
    return [d_x, d_h_prev, w_gates, w_c, reduce_sum(d_gates, 0), reduce_sum(d_c_bar, 0)]


@op("GRUBlockCell", "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T -> r: T, u: T, c: T, h: T",
    infer=lambda node: [node.inputs[1].dims or (None, None)] * 4, gradient=_gru_gradient, ranks=_GRU_RANKS,
    types={"T": (dtypes.float32,)})  # fmt: skip
def gru_block_cell(
    xp: ArrayModule, x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array
) -> tuple[Result, Result, Result, Result]:
    """A step of a gated recurrent unit: its reset and update gates, the new content, and the state.

    `[batch, in], [batch, n], [in + n, 2 * n], [in + n, n], [2 * n], [n] -> [batch, n], [batch, n], [batch, n], [batch, n]`
    """
    gates = _sigmoid(xp, xp.concatenate([x, h_prev], axis=1) @ w_ru + b_ru)
    r, u = xp.split(gates, 2, axis=1)
    c = xp.tanh(xp.concatenate([x, h_prev * r], axis=1) @ w_c + b_c)
    return r, u, c, u * h_prev + (1 - u) * c


def _gru_gradient_shapes(node: Operation) -> list[Dims]:
    x, state, gates = node.inputs[:3]
    batch = None if state.dims is None else state.dims[0]
    cells = state.dims or (None, None)
    return [x.dims or (None, None), cells, cells, (batch, None if gates.dims is None else gates.dims[1])]


@op("GRUBlockCellGrad", "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T -> "
    "d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T",
    infer=_gru_gradient_shapes, gradient=None, types={"T": (dtypes.float32,)})  # fmt: skip
def gru_block_cell_grad(
    xp: ArrayModule, x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array, r: Array, u: Array, c: Array,
    d_h: Array,
) -> tuple[Result, Result, Result, Result]:  # fmt: skip
    """The gradients of GRUBlockCell for input, state before it, content's sum and the sums of both gates.

    `[batch, in], [batch, n], [in + n, 2 * n], [in + n, n], [2 * n], [n], [batch, n], [batch, n], [batch, n], [batch, n] ->
    [batch, in], [batch, n], [batch, n], [batch, 2 * n]`
    """
    size = x.shape[1]
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    through_c = d_c_bar @ w_c.T
    d_reset = through_c[:, size:]
    d_gates = xp.concatenate([d_reset * h_prev * r * (1 - r), d_u_bar], axis=1)
    through_gates = d_gates @ w_ru.T
    d_h_prev = through_gates[:, size:] + d_reset * r + d_h * u
    return through_gates[:, :size] + through_c[:, :size], d_h_prev, d_c_bar, d_gates
