"""FunctionScope: what a translated function's body stands in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

from weft.framework.building.aliases import Nest
from weft.framework.context import conversion_status
from weft.platform.imports.malt_modules import operators

# Nodes of a syntax tree and what translates them: malt publishes no types.
Untyped: TypeAlias = Nest


class MaltOptions(Protocol):
    """How malt translates a function."""

    recursive: bool
    internal_convert_user_code: bool
    optional_features: Iterable[Untyped]

    def call_options(self) -> MaltOptions:
        """The options for what the function calls."""
        ...


class FunctionScope:
    """The block around a translated function's body: names translated, and keeps the options for what it calls.

    Args:
        function_name: the function's name.
        scope_name: the name of this object in the translation.
        options: how the function was translated.
    """

    def __init__(self, function_name: str, scope_name: str, options: MaltOptions) -> None:
        self.function_name = function_name
        self.name = scope_name
        self.options = options
        self.callopts = options.call_options()
        self._blocks = contextlib.ExitStack()

    def __repr__(self) -> str:
        return f"<scope of {self.function_name!r}>"

    def __enter__(self) -> FunctionScope:
        self._blocks.enter_context(conversion_status.entered(conversion_status.Status.ENABLED))
        return self

    def __exit__(self, *error: object) -> None:
        self._blocks.close()

    def ret(self, value: Nest, did_return: Nest) -> Nest:
        """What the function returns: None where no `return` was reached."""
        return None if isinstance(value, operators.UndefinedReturnValue) else value


def with_function_scope(thunk: Callable[[FunctionScope], Nest], scope_name: str, options: MaltOptions) -> Nest:
    """The value of a translated lambda."""
    with FunctionScope("lambda", scope_name, options) as scope:
        return thunk(scope)
