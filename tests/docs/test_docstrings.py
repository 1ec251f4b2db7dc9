"""Each public function and class says what it does, and its Args are those of its signature."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import weft as tf

_NAMES = Path(__file__).parents[1] / "public_api.txt"
# Where the rest of the arguments is told.
_ELSEWHERE = re.compile(r"\b(?:see|other arguments|as (?:in|for|of)|those of|arguments are)\b", re.I)
# Arguments that TensorFlow has and nobody is to use, or that each layer takes.
_NOT_TOLD = frozenset(("_sentinel", "_scope", "_reuse", "dtype", "trainable", "name"))


def public_objects() -> Iterator[tuple[str, object, str]]:
    """Name, object and docstring of each function and class of weft's that is public, once."""
    seen: set[int] = set()
    for name in _NAMES.read_text(encoding="utf-8").split():
        found: object = tf
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        module = getattr(found, "__module__", None) or ""
        # What messages are is told where their fields are, in .proto files.
        is_ours = module.startswith("weft.") and not module.startswith("weft.proto.")
        if (inspect.isfunction(found) or inspect.isclass(found)) and is_ours and id(found) not in seen:
            seen.add(id(found))
            yield name, found, inspect.getdoc(found) or ""


def sections_of(doc: str) -> list[str]:
    """The headings of a docstring's sections, as they follow one another."""
    return re.findall(r"^(Args|Attributes|Returns|Yields|Raises):(?= those of|$)", doc, re.M)


def arguments_of(found: object) -> list[inspect.Parameter]:
    """The parameters of a function, or those with which a class makes its object."""
    try:
        parameters = inspect.signature(found).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
    return [each for each in parameters if each.name != "self"]


def described(doc: str) -> list[str]:
    """The names before the colons of a docstring's Args."""
    section = re.search(r"^Args:\n((?: .*\n|\n(?= ))*)", doc + "\n", re.M)
    if section is None:
        return []
    # Names that go on in the next line are indented deeper.
    text = re.sub(r",\n {5,}", ", ", section[1])
    entries = re.findall(r"^ {4}(?! )([\w*, `]+):", text, re.M)
    return [name.strip(" *`") for entry in entries for name in entry.split(",")]


def test_each_public_function_and_class_says_what_it_does_in_a_sentence() -> None:
    unsaid = [name for name, _, doc in public_objects() if not re.match(r"\S[^\n]*(?:\n[^\n]+)*?[.:]", doc)]
    assert unsaid == []


def test_sections_come_once_and_in_one_order() -> None:
    order = ["Args", "Attributes", "Returns", "Yields", "Raises"]
    wrong = {
        name: found for name, _, doc in public_objects() if (found := sections_of(doc)) != sorted(set(found), key=order.index)
    }
    assert wrong == {}


def test_no_docstring_describes_an_argument_that_there_is_not() -> None:
    wrong: dict[str, list[str]] = {}
    for name, found, doc in public_objects():
        arguments = arguments_of(found)
        if any(each.kind is each.VAR_POSITIONAL for each in arguments) and any(
            each.kind is each.VAR_KEYWORD for each in arguments
        ):
            # It hands all of them on to what has them.
            continue
        known = {each.name for each in arguments}
        unknown = [each for each in described(doc) if each not in known]
        if unknown:
            wrong[name] = unknown
    assert wrong == {}


def test_a_docstring_with_args_tells_all_of_them() -> None:
    lacking: dict[str, list[str]] = {}
    for name, found, doc in public_objects():
        if not described(doc) or _ELSEWHERE.search(doc):
            continue
        variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        words = set(re.findall(r"\w+", doc))
        untold = [
            each.name
            for each in arguments_of(found)
            if each.kind not in variable and each.name not in words and each.name not in _NOT_TOLD
        ]
        if untold:
            lacking[name] = untold
    assert lacking == {}
