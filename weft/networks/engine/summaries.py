"""The printed summary of a network, in TensorFlow's form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from html import escape

from weft.framework.building.aliases import VariableLike
from weft.networks.config import KerasObject


def print_summary(
    network: KerasObject, line_length: int | None, positions: Sequence[float] | None, print_fn: Callable[[str], object]
) -> None:
    """Print a network's layers, line by line; see `Network.summary`."""
    is_chain = _is_chain(network)
    columns = ["Layer (type)", "Output Shape", "Param #"] + ([] if is_chain else ["Connected to"])
    length = line_length or (65 if is_chain else 98)
    places = list(positions or ([0.45, 0.85, 1.0] if is_chain else [0.33, 0.55, 0.67, 1.0]))
    ends = [int(length * each) for each in places] if places[-1] <= 1 else [int(each) for each in places]
    print_fn(f'Model: "{network.name}"')
    print_fn("_" * length)
    print_fn(_row(columns, ends))
    print_fn("=" * length)
    for layer in network.layers:
        for fields in _rows_of(layer, network, is_chain):
            print_fn(_row(fields, ends))
        print_fn(("=" if layer is network.layers[-1] else "_") * length)
    trained, frozen = _count(network.trainable_weights), _count(network.non_trainable_weights)
    print_fn(f"Total params: {trained + frozen:,}")
    print_fn(f"Trainable params: {trained:,}")
    print_fn(f"Non-trainable params: {frozen:,}")
    print_fn("_" * length)


def table_of(network: KerasObject) -> str:
    """HTML of a network's layers: what each gives, how many numbers it learns, and what it is called on."""
    lines: list[list[object]] = [
        [network.name, "", f"{_count(network.weights):,} in all" if network.built else "not built", ""]
    ]
    for layer in network.layers:
        # A layer that no call has given its variables cannot count them.
        lines += _rows_of(layer, network, network.topology is None) if layer.built else [[_title(layer), "", "not built", ""]]
    rows = "".join(f"<tr>{''.join(f'<td>{escape(str(field))}</td>' for field in fields)}</tr>" for fields in lines)
    heads = "".join(f"<th>{head}</th>" for head in ("layer (type)", "output shape", "parameters", "connected to"))
    return f"<table><tr>{heads}</tr>{rows}</table>"


def _row(fields: Sequence[object], ends: Sequence[int]) -> str:
    line = ""
    for index, (field, end) in enumerate(zip(fields, ends, strict=False)):
        if index:
            line = line[:-1] + " "
        line = (line + str(field))[:end].ljust(end)
    return line


def _count(variables: Sequence[VariableLike]) -> int:
    distinct = {id(each): each for each in variables}
    return sum(int(each.shape.num_elements() or 0) for each in distinct.values())


def _is_chain(network: KerasObject) -> bool:
    """Whether each layer is called once, on the one before it."""
    if type(network).__name__ == "Sequential" or network.topology is None:
        return True
    nodes = network.topology.nodes
    depths = Counter(len(node.inputs()) for node in nodes)
    has_forks = any(count > 1 for count in depths) or depths[0] > 1
    users = Counter(id(history.layer) for node in nodes for history in node.histories())
    calls = Counter(id(node.outbound_layer) for node in nodes)
    return not has_forks and all(count == 1 for count in (*users.values(), *calls.values()))


def _title(layer: KerasObject) -> str:
    return f"{layer.name} ({type(layer).__name__})"


def _rows_of(layer: KerasObject, network: KerasObject, is_chain: bool) -> list[list[object]]:
    try:
        shape = layer.output_shape
    except AttributeError:
        shape = "multiple"
    parameters = layer.count_params() if hasattr(layer, "count_params") else _count(layer.weights)
    fields: list[object] = [_title(layer), shape, parameters]
    if is_chain:
        return [fields]
    own = {id(node) for node in network.topology.nodes}
    sources = [
        f"{each.layer.name}[{each.node_index}][{each.tensor_index}]"
        for node in layer.inbound_nodes
        if id(node) in own
        for each in node.histories()
    ]
    rows: list[list[object]] = [[*fields, sources[0] if sources else ""]]
    rows += [["", "", "", each] for each in sources[1:]]
    return rows
