"""Translating a function by malt: the source's branches and loops become calls of this package's functions."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from types import FunctionType, SimpleNamespace
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.nodes import built_at
from weft.platform.imports.malt_modules import converter, function_api, operators, origin_info, parser
from weft.translation import builtin_functions, conditionals, loops, scope
from weft.translation.options import Feature, Options
from weft.translation.scope import MaltOptions, Untyped


def set_converted_call(function: Callable[..., Nest]) -> None:
    """Let translated functions call others by `function`, which translates them in turn."""
    _NAMES.converted_call = function


def translated(function: FunctionType, options: Options) -> Callable[..., Nest]:
    """A function with the same arguments and the same variables around it, whose branches and loops may become nodes.

    Args:
        function: the function; its source must be to be had.
        options: what the translation does.

    Raises:
        ValueError, OSError, NotImplementedError and others: the source is not to be had, or has something in it that cannot
            be translated.
    """
    context = converter.ProgramContext(options=_of_malt(options))
    made, _, source_map = _transpiler().transform(function, context)
    for place, origin in source_map.items():
        built_at.note_origin(place.filename, place.lineno, (origin.loc.filename, origin.loc.lineno, origin.function_name))
    result: Callable[..., Nest] = made
    result.__wrapped__ = function  # type: ignore[attr-defined]
    return result


def source_of(function: FunctionType, options: Options) -> str:
    """The translation's source."""
    nodes, _ = _transpiler().translated_nodes(function, converter.ProgramContext(options=_of_malt(options)))
    return str(parser.unparse(nodes, include_encoding_marker=False)).strip() + "\n"


def _of_malt(options: Options) -> MaltOptions:
    return _malt_options(options, True)


@functools.cache
def _malt_options(options: Options, is_asked_for: bool) -> MaltOptions:
    features = tuple(converter.Feature[each.value] for each in Feature if each in options.features)
    made: MaltOptions = converter.ConversionOptions(
        recursive=options.recursive, user_requested=is_asked_for, internal_convert_user_code=True, optional_features=features
    )
    return made


def options_in(malt_options: MaltOptions) -> Options:
    """The options that a translation was made with, out of its scope."""
    features = frozenset(Feature[each.name] for each in malt_options.optional_features)
    return Options(malt_options.recursive, features)


@functools.cache
def _transpiler() -> Untyped:
    class Transpiler(function_api.PyToPy):  # type: ignore[misc]
        """malt's translator with the functions of this package behind the names that translations call."""

        def get_transformed_name(self, node: Untyped) -> str:
            return "tf__" + str(super(function_api.PyToPy, self).get_transformed_name(node))

        def get_extra_locals(self) -> dict[str, object]:
            return {"ag__": _NAMES}

        def transform_ast(self, node: Untyped, context: Untyped) -> Untyped:
            return super().transform_ast(_Simpler().visit(node), context)

        def translated_nodes(self, function: FunctionType, context: Untyped) -> Untyped:
            return super(function_api.transpiler.PyToPy, self).transform_function(function, context)

    _fill_names()
    return Transpiler()


class _Simpler(ast.NodeTransformer):
    """Statements without what malt cannot read: names of errors, and types of variables."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None or not isinstance(node.target, ast.Name):
            return ast.copy_location(ast.Pass(), node) if node.value is None else node
        plain = ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)
        origin_info.copy_origin(node, plain)
        return plain

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        self.generic_visit(node)
        if node.name is None:
            return node
        # malt takes the name for a node.
        caught = ast.parse(f"{node.name} = ag__.caught()").body[0]
        for part in ast.walk(caught):
            ast.copy_location(part, node)
        origin_info.copy_origin(node, caught)
        node.name, node.body = None, [caught, *node.body]
        return node


def _artifact(entity: Untyped) -> Untyped:
    """Mark a function inside of a translated one, whose source is translated with it."""
    target: Untyped = entity.__func__ if inspect.ismethod(entity) else entity
    target.autograph_info__ = None
    return entity


def _list_append(list_: list[Nest], x: Nest) -> list[Nest]:
    list_.append(x)
    return list_


_NAMES: Final = SimpleNamespace()
_OWN: Final[Sequence[Callable[..., object]]] = (
    conditionals.if_stmt, conditionals.if_exp, conditionals.and_, conditionals.or_, conditionals.not_, conditionals.eq,
    conditionals.not_eq, loops.while_stmt, loops.for_stmt, builtin_functions.assert_stmt, scope.FunctionScope,
    scope.with_function_scope,
)  # fmt: skip


def _fill_names() -> None:
    """Give translations the names that they call: malt's for values and attributes, this package's for the rest."""
    for function in _OWN:
        setattr(_NAMES, function.__name__, function)
    for name in ("ld", "ldu", "Undefined", "UndefinedReturnValue"):
        setattr(_NAMES, name, getattr(operators, name))
    _NAMES.autograph_artifact = _artifact
    _NAMES.ConversionOptions = converter.ConversionOptions
    _NAMES.STD = converter.STANDARD_OPTIONS
    _NAMES.Feature = converter.Feature
    _NAMES.list_append = _list_append
    _NAMES.caught = sys.exception
