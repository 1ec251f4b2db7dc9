"""A graph as a notebook shows it: a row for each of its scopes, with the variables there and the devices asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Final

from weft.framework.nodes.graph_elements import Elements
from weft.framework.nodes.variable_node import declared_dims
from weft.framework.op_types.op_role import Role
from weft.framework.types.dims import brackets

_SHOWN_SCOPES: Final = 30
_SHOWN_VARIABLES: Final = 6
_TOP: Final = "(top)"


@dataclass
class _Scope:
    """What the nodes of one scope are."""

    count: int = 0
    variables: list[str] = field(default_factory=list)
    devices: dict[str, None] = field(default_factory=dict)


def table_of(graph: Elements) -> str:
    """HTML of the graph's name, and of its scopes in the order in which they were begun."""
    scopes: dict[str, _Scope] = {}
    for op in graph.get_operations():
        name, slash, _ = op.name.partition("/")
        is_variable = op.op_def.role is Role.VARIABLE
        scope = scopes.setdefault(name if slash or is_variable else _TOP, _Scope())
        scope.count += 1
        if op.device:
            scope.devices[op.device] = None
        if is_variable:
            scope.variables.append(f"{op.name} {brackets(declared_dims(op))}")
    rows = [_row(name, scope) for name, scope in list(scopes.items())[:_SHOWN_SCOPES]]
    more = len(scopes) - len(rows)
    if more:
        rows.append(f"<tr><td>... and {more} more scopes</td></tr>")
    head = "<tr><th>scope</th><th>operations</th><th>variables</th><th>devices</th></tr>"
    return f"<p>{escape(graph.label)}</p><table>{head}{''.join(rows)}</table>"


def _row(name: str, scope: _Scope) -> str:
    left_out = len(scope.variables) - _SHOWN_VARIABLES
    variables = [*scope.variables[:_SHOWN_VARIABLES], *([f"... and {left_out} more"] if left_out > 0 else [])]
    cells = (escape(name), str(scope.count), "<br>".join(map(escape, variables)), "<br>".join(map(escape, scope.devices)))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
