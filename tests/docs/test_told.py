"""Each public function and class tells its arguments, what it returns and what it raises, all of them.

Arguments stand in `Args:`, each by its name (`x, y: ...` for several). A function that takes the very same arguments as another
may name that one in place of them, and nothing else: ``Args: those of `tf.nn.relu`.`` The argument `name`, which is the made
operation's in all of them, need not be told. What is returned stands in `Returns:`, or is the first sentence ("The sum of ...",
"Whether ...", or shapes: `[m] -> []`). An error that the body raises is named, in `Raises:` or in a sentence.
"""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import re
import textwrap
from collections.abc import Iterator

import weft as tf
from tests.docs.test_docstrings import arguments_of, described, public_objects

_FEWER_ALLOWED = frozenset(("name", "_sentinel", "_scope", "_reuse"))
_POINTER = re.compile(r"^Args: those of `tf\.([\w.]+)`\.$", re.M)
_VALUE_FIRST = re.compile(
    r"(?:An?|All|Any|Each|How|It|Its|Make an?|One|Some|That|The|These|This|Two|What|Where|Whether|Which|Zeros|Ones) |[`\[]"
)
_ERROR = re.compile(r"(?:Error|Exception|Interrupt|Exit|StopIteration)$")


def _has_own_arguments(found: object) -> bool:
    if not inspect.isclass(found):
        return True
    if issubclass(found, enum.Enum) or getattr(found, "_is_protocol", False):
        return False
    return "__init__" in vars(found) or "__new__" in vars(found)


def _names_of(found: object) -> list[str]:
    return [each.name for each in arguments_of(found) if each.name != "cls"]


def _hands_all_on(found: object) -> bool:
    """Whether a signature is `(*args, **kwargs)`, for another to bind: the docstring tells what that one has."""
    kinds = [each.kind for each in arguments_of(found)]
    return kinds == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD] and "Args:" in (
        inspect.getdoc(found) or ""
    )


def _pointed_at(doc: str) -> object | None:
    match = _POINTER.search(doc)
    return match and functools.reduce(getattr, match[1].split("."), tf)


def _untold_arguments(found: object, doc: str) -> Iterator[str]:
    if not _has_own_arguments(found):
        return
    other = _pointed_at(doc)
    told = set(_names_of(other) if other is not None else described(doc)) | _FEWER_ALLOWED
    if _hands_all_on(found):
        return
    yield from (each for each in _names_of(found) if each not in told)
    if other is not None and set(_names_of(other)) - set(_names_of(found)):
        yield f"the pointer is to {sorted(set(_names_of(other)) - set(_names_of(found)))} too"
    if other is not None and list(_untold_arguments(other, inspect.getdoc(other) or "")):
        yield "what is pointed at does not tell them"


def _tells_what_is_returned(found: object, doc: str) -> bool:
    if not inspect.isfunction(found) or inspect.isgeneratorfunction(inspect.unwrap(found)):
        return True
    if str(found.__annotations__.get("return", "None")) in ("None", "NoReturn", "Never"):
        return True
    return bool(_VALUE_FIRST.match(doc) or re.search(r"^Returns:$|\b[Rr]eturns?\b|\bresults?\b|`\[.*->", doc, re.M))


def _body(found: object) -> str:
    start = vars(found).get("__init__") if inspect.isclass(found) else inspect.unwrap(found)  # type: ignore[arg-type]
    try:
        return textwrap.dedent(inspect.getsource(start))  # type: ignore[arg-type]
    except (OSError, TypeError):
        return ""


def _raised(found: object) -> Iterator[str]:
    """The names of the errors that the body itself raises; functions in it are others'."""
    try:
        waiting: list[ast.AST] = [*ast.parse(_body(found)).body]
    except SyntaxError:
        return
    waiting = [each for defined in waiting for each in getattr(defined, "body", [])]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Raise) and node.exc is not None:
            made = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            name = made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "")
            if _ERROR.search(name):
                yield name
        waiting.extend(ast.iter_child_nodes(node))


def _lacks(found: object, doc: str) -> list[str]:
    """What a docstring leaves out."""
    lacks = list(_untold_arguments(found, doc))
    if not _tells_what_is_returned(found, doc):
        lacks.append("Returns")
    words = set(re.findall(r"\w+", doc))
    return lacks + sorted({f"Raises {each}" for each in _raised(found) if each not in words})


def test_each_public_function_and_class_tells_arguments_result_and_errors() -> None:
    all_of_them = {f"{found.__module__} {name}": _lacks(found, doc) for name, found, doc in public_objects()}
    assert {name: lacks for name, lacks in all_of_them.items() if lacks} == {}


def test_the_counter_sees_what_is_left_out() -> None:
    def scale(x: float, factor: float) -> float:
        """Scale it.

        Args:
            x: [] float32.
        """
        if not factor:
            raise ValueError("no factor")
        return x * factor

    assert _lacks(scale, inspect.getdoc(scale) or "") == ["factor", "Returns", "Raises ValueError"]
    assert _lacks(scale, "The product; ValueError for 0.\n\nArgs:\n    x, factor: [] float32.\n") == []
    assert "factor" in _lacks(scale, "The product; ValueError for 0.\n\nArgs: those of `tf.nn.relu`.\n")
