"""Regular expressions on strings."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Tensor
from weft.ops.declaration import not_differentiable, op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.strings.elementwise import _encoded, each
from weft.ops.strings.expressions import compiled, rewrite_of


def _replace(input: Array, pattern: bytes, rewrite: bytes, replace_global: bool) -> Array:
    expression, written = compiled(pattern), rewrite_of(rewrite)
    return each(input, lambda text: expression.replace(text, written, replace_global))


@op("RegexReplace", "input: string, pattern: string, rewrite: string -> output: string",
    ranks={"pattern": 0, "rewrite": 0}, infer=same_as_input,
    gradient=not_differentiable)  # fmt: skip
def regex_replace_node(ctx: OpContext, input: Array, pattern: Array, rewrite: Array, *, replace_global: bool = True) -> Result:
    """Each string with the matches of the pattern replaced: `[...], scalar, scalar -> [...]`."""
    return _replace(input, pattern.item(), rewrite.item(), replace_global)


@op("StaticRegexReplace", "input: string -> output: string", infer=same_as_input, gradient=None)
def static_regex_replace(ctx: OpContext, input: Array, *, pattern: str, rewrite: str, replace_global: bool = True) -> Result:
    """RegexReplace with a fixed pattern: `[...] -> [...]`."""
    return _replace(input, _encoded(pattern), _encoded(rewrite), replace_global)


@dispatchable
def regex_replace(
    input: TensorLike, pattern: TensorLike, rewrite: TensorLike, replace_global: bool = True, name: str | None = None
) -> Tensor:
    """Replace what a regular expression matches; `\\1` ... in `rewrite` stand for its groups, `\\0` for all of it.

    Expressions are those of RE2, on texts in UTF-8.

    Args:
        input: [...] tensor of strings.
        pattern, rewrite: scalar strings.
        replace_global: whether all matches are replaced, rather than the first.

    Returns:
        [...] tensor of strings.
    """
    if isinstance(pattern, str | bytes) and isinstance(rewrite, str | bytes):
        return static_regex_replace(input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)
    return regex_replace_node(input, pattern, rewrite, replace_global=replace_global, name=name)


@op(
    "RegexFullMatch", "input: string, pattern: string -> output: bool", ranks={"pattern": 0}, infer=same_as_input, gradient=None
)
def regex_full_match_node(ctx: OpContext, input: Array, pattern: Array) -> Result:
    """Whether the pattern matches the whole of each string: `[...], scalar -> [...] bool`."""
    return each(input, compiled(pattern.item()).matches_whole, np.bool_)


@op("StaticRegexFullMatch", "input: string -> output: bool", infer=same_as_input, gradient=None)
def static_regex_full_match(ctx: OpContext, input: Array, *, pattern: str) -> Result:
    """RegexFullMatch with a fixed pattern: `[...] -> [...] bool`."""
    return each(input, compiled(_encoded(pattern)).matches_whole, np.bool_)


@dispatchable
def regex_full_match(input: TensorLike, pattern: TensorLike, name: str | None = None) -> Tensor:
    """Whether a regular expression matches the whole of each string.

    Args:
        input: [...] tensor of strings.
        pattern: scalar string.

    Returns:
        [...] bool tensor.
    """
    if isinstance(pattern, str | bytes):
        return static_regex_full_match(input, pattern=pattern, name=name)
    return regex_full_match_node(input, pattern, name=name)
