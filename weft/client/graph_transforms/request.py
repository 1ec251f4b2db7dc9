"""What a program asks for: transforms by their names, with arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tensorboard.compat.proto import graph_pb2

from weft.errors import InvalidArgumentError

_TRANSFORM: Final = re.compile(r'\s*(\w+)\s*(?:\(((?:"[^"]*"|[^)"])*)\)?)?\s*')
_ARGUMENT: Final = re.compile(r'\s*(\w+)\s*=\s*(?:"([^"]*)"|([\w./+-]+))\s*,?\s*')


@dataclass(frozen=True)
class Request:
    """One transform.

    Attributes:
        name: which.
        arguments: the values of each argument, which may be given several times.
        inputs, outputs: the names of the nodes that are fed and fetched, without a number of an output.
    """

    name: str
    arguments: Mapping[str, Sequence[str]]
    inputs: Sequence[str]
    outputs: Sequence[str]

    @property
    def kept(self) -> set[str]:
        """The nodes that no transform takes away."""
        return {*self.inputs, *self.outputs}

    def one(self, argument: str) -> str | None:
        """An argument's only value; None where it is not given."""
        values = self.arguments.get(argument, ())
        if len(values) > 1:
            raise InvalidArgumentError.of(f"{self.name}: {argument} is given {len(values)} times, and can be given once")
        return values[0] if values else None

    def needed(self, argument: str, example: str) -> str:
        """An argument's only value, which there must be."""
        value = self.one(argument)
        if value is None:
            raise InvalidArgumentError.of(f"{self.name} expects exactly one '{argument}' argument, e.g. {example}")
        return value

    def flag(self, argument: str, default: bool) -> bool:
        """A truth value."""
        value = self.one(argument)
        if value not in (None, "true", "false", "1", "0"):
            raise InvalidArgumentError.of(f"{self.name}: {argument} is true or false, not {value!r}")
        return default if value is None else value in ("true", "1")


Transform = Callable[[graph_pb2.GraphDef, Request], graph_pb2.GraphDef]


def requests(transforms: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> list[Request]:
    """The transforms that texts such as `remove_nodes(op=Identity, op=CheckNumerics)` ask for.

    Args:
        transforms: one text for each, or several of them in one, apart from each other by blanks.
        inputs, outputs: the names of the nodes that are fed and fetched.

    Raises:
        InvalidArgumentError: a text is not of this form.
    """
    text, made, at = " ".join(transforms), [], 0
    nodes = [[name.partition(":")[0] for name in names] for names in (inputs, outputs)]
    while at < len(text):
        found = _TRANSFORM.match(text, at)
        if found is None:
            raise InvalidArgumentError.of(f"Looking for a transform's name, but found {text[at:]!r}")
        made.append(Request(found[1], _arguments(found[1], found[2] or ""), *nodes))
        at = found.end()
    return made


def _arguments(name: str, text: str) -> dict[str, list[str]]:
    arguments: dict[str, list[str]] = {}
    at = 0
    while text[at:].strip():
        found = _ARGUMENT.match(text, at)
        if found is None:
            raise InvalidArgumentError.of(
                f"{name}: Looking for parameter name, but found {text[at:]!r}: arguments are name=value, and values with other "
                'signs than letters, digits, "_", ".", "/" and "-" stand between double quotes'
            )
        arguments.setdefault(found[1], []).append(found[3] if found[2] is None else found[2])
        at = found.end()
    return arguments
