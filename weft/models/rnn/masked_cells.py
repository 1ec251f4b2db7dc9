"""The LSTM cells that pruning takes weights out of."""

from __future__ import annotations

from weft.framework.building.aliases import Activation, Initializer, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.masks import mask_of, masked, threshold_of
from weft.models.rnn.cell import RNNCell
from weft.models.rnn.cells import BasicLSTMCell, LSTMCell


class MaskedBasicLSTMCell(BasicLSTMCell):
    """`BasicLSTMCell` whose kernel has a mask.

    Args:
        num_units: the size of memory and output.
        forget_bias: added to the forget gate, so that little is forgotten at first.
        state_is_tuple: whether the state is an LSTMStateTuple; else `c` and `h` are one tensor, side by side.
        activation: tanh when None.
        reuse: whether the variables exist already.
        name: the name of the variable scope.
    """

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Activation | None = None,
        reuse: bool | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        super()._make_variables(inputs_shape)
        self._kernel = _masked_kernel(self, self._kernel)


class MaskedLSTMCell(LSTMCell):
    """`LSTMCell` whose kernel has a mask; its projection has none.

    Args:
        num_units: the size of the memory.
        use_peepholes: whether the gates see the memory, each element its own.
        cell_clip: limits the memory to plus or minus this.
        initializer: of kernels and peepholes.
        num_proj: the size that the output is projected to; no projection when None.
        proj_clip: limits the projected output to plus or minus this.
        num_unit_shards, num_proj_shards: how many parts the kernels are kept in; a partitioner of the scope does the same.
        forget_bias: added to the forget gate, so that little is forgotten at first.
        state_is_tuple: whether the state is an LSTMStateTuple; else `c` and `h` are one tensor, side by side.
        activation: tanh when None.
        reuse: whether the variables exist already.
    """

    def __init__(
        self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None,
        initializer: Initializer | None = None, num_proj: int | None = None, proj_clip: float | None = None,
        num_unit_shards: int | None = None, num_proj_shards: int | None = None, forget_bias: float = 1.0,
        state_is_tuple: bool = True, activation: Activation | None = None, reuse: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, num_unit_shards, num_proj_shards,
            forget_bias, state_is_tuple, activation, reuse,
        )  # fmt: skip

    def _make_variables(self, inputs_shape: TensorShape) -> None:
        super()._make_variables(inputs_shape)
        self._kernel = _masked_kernel(self, self._kernel)


def _masked_kernel(cell: RNNCell, kernel: VariableLike) -> Tensor:
    mask = mask_of(cell, kernel.get_shape().as_list())
    return masked(kernel, mask, threshold_of(cell))
