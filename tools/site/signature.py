"""The signatures of functions and classes, in the words that Sphinx reads."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from weft.framework.types.dtypes import DType

_Kind = inspect.Parameter


def signature_of(callable_: Any, *, is_method: bool = False) -> str:
    """Its parameters with types and defaults, and what it returns; empty where Python does not tell."""
    try:
        signature = inspect.signature(callable_)
    except (TypeError, ValueError):
        return ""
    parameters = list(signature.parameters.values())[1 if is_method else 0 :]
    shown, was_starred = list[str](), False
    for index, parameter in enumerate(parameters):
        if parameter.kind is _Kind.KEYWORD_ONLY and not was_starred:
            shown.append("*")
        was_starred = was_starred or parameter.kind in (_Kind.KEYWORD_ONLY, _Kind.VAR_POSITIONAL)
        shown.append(_parameter(parameter))
        following = parameters[index + 1].kind if index + 1 < len(parameters) else None
        if parameter.kind is _Kind.POSITIONAL_ONLY and following is not _Kind.POSITIONAL_ONLY:
            shown.append("/")
    returned = "" if inspect.isclass(callable_) else _annotation(signature.return_annotation, " -> ")
    return f"({', '.join(shown)}){returned}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {_Kind.VAR_POSITIONAL: "*", _Kind.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    annotation = _annotation(parameter.annotation, ": ")
    if parameter.default is _Kind.empty:
        return f"{stars}{parameter.name}{annotation}"
    equals = " = " if annotation else "="
    return f"{stars}{parameter.name}{annotation}{equals}{_default(parameter.default)}"


def _annotation(annotation: Any, before: str) -> str:
    if annotation is inspect.Signature.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return before + text.strip("'\"") if _is_expression(text) else ""


def _default(value: Any) -> str:
    if isinstance(value, DType):
        return f"tf.{value.name}"
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__) if value.__name__.isidentifier() else "..."
    text = repr(value)
    return text if _is_expression(text) else "..."


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
