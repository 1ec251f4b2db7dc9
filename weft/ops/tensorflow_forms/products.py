"""The form of sums of products of three tensors and more: TensorFlow's op takes two, so one pair after the other is summed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping

from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.math.contraction import einsum_node, label_sizes, split_equation
from weft.ops.tensorflow_forms.form import form

_DOTS = "..."


@form(einsum_node)
def _einsum(node: Operation, inputs: list[Tensor]) -> Tensor | None:
    if len(inputs) <= 2:
        return None
    terms, right = split_equation(node.attrs["equation"], len(inputs))
    sizes, _ = label_sizes(terms, [tensor.dims for tensor in node.inputs])
    parts = list(zip(terms, inputs, strict=True))
    while len(parts) > 2:
        one, other = _next_pair([term for term, _ in parts], right, sizes)
        (last_term, last), (first_term, first) = parts.pop(other), parts.pop(one)
        kept = _kept((first_term, last_term), [right, *(term for term, _ in parts)])
        parts.append((kept, einsum_node([first, last], equation=f"{first_term},{last_term}->{kept}")))
    (first_term, first), (last_term, last) = parts
    made: Tensor = einsum_node([first, last], equation=f"{first_term},{last_term}->{right}")
    return made


def _kept(pair: Collection[str], others: Collection[str]) -> str:
    """The labels of two terms that the others ask for, further dimensions in front."""
    wanted = set("".join(others))
    letters = dict.fromkeys("".join(pair).replace(".", ""))
    dots = _DOTS if "." in wanted and any(_DOTS in term for term in pair) else ""
    return dots + "".join(letter for letter in letters if letter in wanted)


def _next_pair(terms: list[str], right: str, sizes: Mapping[str, int | None]) -> tuple[int, int]:
    """The two terms whose product has the fewest elements, as far as sizes are known; the first of equal ones."""

    def count(pair: tuple[int, int]) -> int:
        others = [right, *(term for at, term in enumerate(terms) if at not in pair)]
        return math.prod(sizes.get(letter) or 1 for letter in _kept([terms[at] for at in pair], others))

    return min(itertools.combinations(range(len(terms)), 2), key=count)
