"""Grids of one to three dimensions, with inputs and outputs in the first one."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Activation
from weft.models.grid_rnn.network import GridRNNCell
from weft.models.rnn.cell import RNNCell
from weft.models.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell


class _Grid(GridRNNCell):
    """A grid whose first dimension has priority, inputs and outputs; it is dense where there is an activation for that."""

    dimensions = 1

    def _make(
        self, num_units: int, cell_fn: Callable[[int], RNNCell], tied: bool, non_recurrent_fn: Activation | None,
        are_tuples: tuple[bool, bool],
    ) -> None:  # fmt: skip
        dense = None if non_recurrent_fn is None else 0
        super().__init__(num_units, self.dimensions, 0, 0, 0, dense, tied, cell_fn, non_recurrent_fn, *are_tuples)


class Grid1BasicRNNCell(_Grid):
    """A grid of one dimension, of BasicRNNCell.

    Args:
        num_units: the size of the output.
        state_is_tuple, output_is_tuple: see GridRNNCell.
    """

    def __init__(self, num_units: int, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        self._make(num_units, BasicRNNCell, False, None, (state_is_tuple, output_is_tuple))


class Grid2BasicRNNCell(_Grid):
    """A grid of two dimensions, of BasicRNNCell.

    Args:
        num_units: the size of the output.
        tied: whether both dimensions share their weights.
        non_recurrent_fn: the activation of the first dimension, which is dense then; recurrent when None.
        state_is_tuple, output_is_tuple: see GridRNNCell.
    """

    dimensions = 2

    def __init__(
        self, num_units: int, tied: bool = False, non_recurrent_fn: Activation | None = None, state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:  # fmt: skip
        self._make(num_units, BasicRNNCell, tied, non_recurrent_fn, (state_is_tuple, output_is_tuple))


class Grid1BasicLSTMCell(_Grid):
    """A grid of one dimension, of BasicLSTMCell.

    Args:
        num_units: the size of the output.
        forget_bias: what is added to the forget gate.
        state_is_tuple, output_is_tuple: see GridRNNCell.
    """

    def __init__(
        self, num_units: int, forget_bias: float = 1, state_is_tuple: bool = True, output_is_tuple: bool = True
    ) -> None:
        def cell(units: int) -> RNNCell:
            return BasicLSTMCell(units, forget_bias=forget_bias)

        self._make(num_units, cell, False, None, (state_is_tuple, output_is_tuple))


class Grid2BasicLSTMCell(_Grid):
    """A grid of two dimensions, of BasicLSTMCell.

    Args:
        num_units: the size of the output.
        tied, non_recurrent_fn: see Grid2BasicRNNCell.
        forget_bias: what is added to the forget gates.
        state_is_tuple, output_is_tuple: see GridRNNCell.
    """

    dimensions = 2

    def __init__(
        self, num_units: int, tied: bool = False, non_recurrent_fn: Activation | None = None, forget_bias: float = 1,
        state_is_tuple: bool = True, output_is_tuple: bool = True,
    ) -> None:  # fmt: skip
        def cell(units: int) -> RNNCell:
            return BasicLSTMCell(units, forget_bias=forget_bias)

        self._make(num_units, cell, tied, non_recurrent_fn, (state_is_tuple, output_is_tuple))


class Grid1LSTMCell(_Grid):
    """A grid of one dimension, of LSTMCell.

    Args:
        num_units: the size of the output.
        use_peepholes: whether the gates see the memory.
        forget_bias: what is added to the forget gate.
        state_is_tuple, output_is_tuple: see GridRNNCell.
    """

    def __init__(
        self, num_units: int, use_peepholes: bool = False, forget_bias: float = 1.0, state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:  # fmt: skip
        def cell(units: int) -> RNNCell:
            return LSTMCell(units, use_peepholes, forget_bias=forget_bias)

        self._make(num_units, cell, False, None, (state_is_tuple, output_is_tuple))


class Grid2LSTMCell(_Grid):
    """A grid of two dimensions, of LSTMCell.

    Args:
        num_units: the size of the output.
        tied, non_recurrent_fn: see Grid2BasicRNNCell.
        use_peepholes: whether the gates see the memories.
        forget_bias: what is added to the forget gates.
        state_is_tuple, output_is_tuple: see GridRNNCell.
    """

    dimensions = 2

    def __init__(
        self, num_units: int, tied: bool = False, non_recurrent_fn: Activation | None = None, use_peepholes: bool = False,
        forget_bias: float = 1.0, state_is_tuple: bool = True, output_is_tuple: bool = True,
    ) -> None:  # fmt: skip
        def cell(units: int) -> RNNCell:
            return LSTMCell(units, use_peepholes, forget_bias=forget_bias)

        self._make(num_units, cell, tied, non_recurrent_fn, (state_is_tuple, output_is_tuple))


class Grid3LSTMCell(Grid2LSTMCell):
    """A grid of three dimensions, of LSTMCell; arguments as of Grid2LSTMCell."""

    dimensions = 3


class Grid2GRUCell(_Grid):
    """A grid of two dimensions, of GRUCell.

    Args:
        num_units: the size of the output.
        tied, non_recurrent_fn: see Grid2BasicRNNCell.
        state_is_tuple, output_is_tuple: see GridRNNCell.
    """

    dimensions = 2

    def __init__(
        self, num_units: int, tied: bool = False, non_recurrent_fn: Activation | None = None, state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:  # fmt: skip
        self._make(num_units, GRUCell, tied, non_recurrent_fn, (state_is_tuple, output_is_tuple))
