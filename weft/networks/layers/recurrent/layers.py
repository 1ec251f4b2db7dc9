"""SimpleRNN, GRU and LSTM: RNNs over the cells of these names."""

from __future__ import annotations

import inspect

from weft.framework.aliases import Nest
from weft.framework.tensor_shape import TensorShape
from weft.models.layers.input_spec import InputSpec
from weft.networks.config import Named, Options
from weft.networks.layers.recurrent.cells import GRUCell, LSTMCell, SimpleRNNCell
from weft.networks.layers.recurrent.rnn import RNN


def over(cell_class: Named, what: str, doc: str, module: str = __name__) -> type[RNN]:
    """A class of RNNs over one of the cells, which take the cell's arguments and their own."""
    own = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")
    rest = ("name", "trainable", "input_shape", "batch_input_shape", "input_dim", "batch_size", "weights", "dynamic")

    def __init__(self: RNN, units: int, *args: Options, activity_regularizer: Nest = None, **kwargs: Options) -> None:
        of_layer = {name: kwargs.pop(name) for name in (*own, *rest) if name in kwargs}
        length = kwargs.pop("input_length", None)
        if "input_dim" in of_layer:
            of_layer["input_shape"] = (length, of_layer.pop("input_dim"))
        dtype = kwargs.pop("dtype", None)
        cell = cell_class(units, *args, dtype=dtype, **kwargs)
        RNN.__init__(self, cell, dtype=dtype, activity_regularizer=activity_regularizer, **of_layer)
        object.__setattr__(
            self, "kept_arguments", {**cell.kept_arguments, "activity_regularizer": activity_regularizer,
                                     **{name: getattr(self, name) for name in own}},
        )  # fmt: skip
        self.units = units

    def build(self: RNN, input_shape: Nest) -> None:
        """Make the cell's weights.

        Args:
            input_shape: the inputs' shape, or a list of that and the states'.
        """
        RNN.build(self, input_shape)
        depth = TensorShape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()[-1]
        self.input_spec = [InputSpec(shape=(None, None, depth))]

    of_cell = {name: _of_cell(name) for name in _names(cell_class) if name != "units"}
    return type(what, (RNN,), {**of_cell, "__init__": __init__, "build": build, "__doc__": doc, "__module__": module})


def _names(cell_class: Named) -> list[str]:
    """The names of a cell's own arguments."""
    kinds = list(inspect.signature(cell_class.__init__).parameters.values())[1:]
    return [each.name for each in kinds if each.kind is each.POSITIONAL_OR_KEYWORD]


def _of_cell(name: str) -> property:
    """An argument of the cell, as a property of the layer over it."""

    def value(layer: RNN) -> Nest:
        cell: Named = layer.cell
        return getattr(cell, name) if hasattr(cell, name) else cell.kept_arguments[name]

    return property(value, doc=f"The cell's `{name}`.")


_DOC = """{a_cell} over sequences: `[batch, steps, size] -> [batch, units]`, or `[batch, steps, units]`.

Args:
    units: the size of the outputs and the states.
    args: further arguments of the cell, in its order.
    activity_regularizer: a penalty on the outputs.
    kwargs: those of the cell by name, and `return_sequences`, `return_state`, `go_backwards`, `stateful`, `unroll` and
        `time_major` of `tf.keras.layers.RNN`.
"""

SimpleRNN = over(SimpleRNNCell, "SimpleRNN", _DOC.format(a_cell="A SimpleRNNCell"))
GRU = over(GRUCell, "GRU", _DOC.format(a_cell="A GRUCell"))
LSTM = over(LSTMCell, "LSTM", _DOC.format(a_cell="An LSTMCell"))
