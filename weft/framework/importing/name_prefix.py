"""Names of nodes when a part of a graph moves into a name scope or out of one."""

from __future__ import annotations

import re


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """`name` without the scope in front; the marks of control inputs (`^`) and colocation (`loc:@`) stay.

    Args:
        name: the name of a node or tensor.
        export_scope: the scope, without a slash at its end; None or "" changes nothing.
    """
    if not export_scope:
        return name
    scope = export_scope.rstrip("/")
    return re.sub(rf"^([\^]|loc:@|){re.escape(scope)}[/]+(.*)", r"\1\2", name, count=1)


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """`name` with the scope in front; the marks of control inputs (`^`) and colocation (`loc:@`) stay first.

    Args:
        name: the name of a node or tensor.
        import_scope: the scope, without a slash at its end; None or "" changes nothing.
    """
    if not import_scope:
        return name
    scope = import_scope.rstrip("/")
    return re.sub(r"^([\^]|loc:@|)(.*)", rf"\g<1>{scope}/\2", name, count=1)
