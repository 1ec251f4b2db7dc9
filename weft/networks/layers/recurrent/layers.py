"""SimpleRNN, GRU and LSTM: RNNs over the cells of these names."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.types.tensor_shape import TensorShape
from weft.models.layers.input_spec import InputSpec
from weft.networks.config import Named, Options
from weft.networks.layers.recurrent.cells import GRUCell, LSTMCell, SimpleRNNCell
from weft.networks.layers.recurrent.rnn import RNN
from weft.networks.objects.arguments import keeps_arguments

_OWN: Final = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll")


def over(
    cell_class: Named, what: str, doc: str, module: str = __name__, own: Sequence[str] = (*_OWN, "time_major")
) -> type[RNN]:
    """A class of RNNs over one of the cells, which take the cell's arguments and their own, in TensorFlow's order.

    Args:
        cell_class: the class of the cells.
        what: the name of the class.
        doc: its docstring.
        module: where it stands.
        own: the arguments of RNN that it takes.
    """
    signature = _signature(cell_class, own)
    names = list(signature.parameters)[1:-1]

    def __init__(self: RNN, *args: Options, **kwargs: Options) -> None:
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        length = given.pop("input_length", None)
        if "input_dim" in given:
            given["input_shape"] = (length, given.pop("input_dim"))
        cell = cell_class(**{name: given.pop(name) for name in of_cell}, dtype=given.get("dtype"))
        RNN.__init__(self, cell, **given)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{what}.__init__"

    def build(self: RNN, input_shape: Nest) -> None:
        """Make the cell's weights.

        Args:
            input_shape: the inputs' shape, or a list of that and the states'.
        """
        RNN.build(self, input_shape)
        depth = TensorShape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()[-1]
        self.input_spec = [InputSpec(shape=(None, None, depth))]

    of_cell = _parameters(cell_class)
    properties = {name: _of_cell(name) for name in of_cell if name != "units"}
    return type(
        what, (RNN,), {**properties, "__init__": keeps_arguments(__init__), "build": build, "own_arguments": own,
                       "__doc__": doc, "__module__": module},
    )  # fmt: skip


def _parameters(cell_class: Named) -> dict[str, inspect.Parameter]:
    """The cell's own arguments, by name."""
    kinds = list(inspect.signature(cell_class.__init__).parameters.values())[1:]
    return {each.name: each for each in kinds if each.kind is each.POSITIONAL_OR_KEYWORD}


def _signature(cell_class: Named, own: Sequence[str]) -> inspect.Signature:
    """The arguments of a layer over cells: the cell's, the layer's penalty behind those of the variables, its own flags."""
    made = []
    for name, each in _parameters(cell_class).items():
        made.append(each)
        if name == "bias_regularizer":
            made.append(each.replace(name="activity_regularizer"))
    flags = [inspect.Parameter(each, made[0].kind, default=False) for each in _OWN if each in own]
    # A GRU's newest argument is its last.
    newest = [each for each in made if each.name == "reset_after"]
    made = [each for each in made if each not in newest]
    itself, rest = (inspect.Parameter(name, kind) for name, kind in (("self", made[0].kind), ("kwargs", made[0].VAR_KEYWORD)))
    return inspect.Signature([itself, *made, *flags, *newest, rest])


def _of_cell(name: str) -> property:
    """An argument of the cell, as a property of the layer over it."""

    def value(layer: RNN) -> Nest:
        cell: Named = layer.cell
        return getattr(cell, name) if hasattr(cell, name) else cell.kept_arguments[name]

    return property(value, doc=f"The cell's `{name}`.")


_DOC = """{a_cell} over sequences: `[batch, steps, size] -> [batch, units]`, or `[batch, steps, units]`.

Args:
    units: the size of the outputs and the states.
    activation: a function of what is new, or its name.
{gates}    use_bias: whether there is a bias.
    kernel_initializer, recurrent_initializer, bias_initializer: what the variables begin with.
{forgets}    kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the variables.
    activity_regularizer: a penalty on the outputs.
    kernel_constraint, recurrent_constraint, bias_constraint: projections after updates.
    dropout, recurrent_dropout: the parts of inputs and states that are dropped in training.
{ways}    return_sequences, return_state, go_backwards, stateful, unroll: as of `tf.keras.layers.RNN`.
{resets}    kwargs: `time_major` of RNN; see Layer.
"""

_GATES = "    recurrent_activation: the function of the gates, or its name.\n"
_WAYS = "    implementation: kept; all of them compute the same.\n"
_FORGETS = "    unit_forget_bias: whether the forget gate's bias begins with ones.\n"
_RESETS = "    reset_after: whether the reset gate is applied to the product with the state, rather than to the state.\n"

SimpleRNN = over(
    SimpleRNNCell, "SimpleRNN", _DOC.format(a_cell="A SimpleRNNCell", gates="", forgets="", ways="", resets="")
)  # fmt: skip
GRU = over(GRUCell, "GRU", _DOC.format(a_cell="A GRUCell", gates=_GATES, forgets="", ways=_WAYS, resets=_RESETS))
LSTM = over(LSTMCell, "LSTM", _DOC.format(a_cell="An LSTMCell", gates=_GATES, forgets=_FORGETS, ways=_WAYS, resets=""))
