"""How many nodes TensorFlow makes of an einsum: it takes the inputs two by two, to products of matrices between other forms.

weft has one node for all of it. Random nodes behind an einsum get their seeds by the count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from weft.framework.types.dims import Dims

# A diagonal, an axis and a sum.
_TRACE: Final = 3

# The size of a dimension, None where TensorFlow takes it from the tensor in the step.
_Sizes = list[int | None]


@dataclass
class _Part:
    """What was made of some of the inputs: labels, sizes, and the nodes for it."""

    labels: str
    sizes: _Sizes
    nodes: int = 0

    def order(self, labels: str) -> None:
        """Transpose to an order of the labels."""
        if labels != self.labels:
            self.sizes = [self.sizes[self.labels.index(each)] for each in labels]
            self.labels = labels
            self.nodes += 2

    def ask_sizes(self) -> None:
        """Take the sizes that the graph does not tell: one node for all of them, and a slice of four for each."""
        unknown = self.sizes.count(None)
        self.nodes += 1 + 4 * unknown if unknown else 0

    def product(self, sizes: _Sizes) -> int | None:
        """The number of elements of some dimensions: each product with a size from the graph is a node, numbers one more."""
        total: int | None = 1
        for size in sizes:
            if total is not None and size is not None:
                total *= size
                continue
            self.nodes += 1 if total is None and size is None else 2
            total = None
        return total

    def form(self, sizes: _Sizes) -> None:
        """Reshape: sizes from the graph are packed with the others, which become constants."""
        if None in sizes:
            self.nodes += len(sizes) - sizes.count(None) + 2
        elif sizes != self.sizes:
            self.nodes += 2
        self.sizes = sizes


def tensorflows_nodes(terms: Sequence[str], right: str, shapes: Sequence[Dims]) -> int | None:
    """How many nodes TensorFlow 1.15 makes; None where it makes none of such an equation, or in another way.

    Args:
        terms: the labels of each input.
        right: those of the output.
        shapes: the inputs' shapes.
    """
    if any(dims is None for dims in shapes):
        return None
    extra = [len(dims or ()) - len(term.replace("...", "")) for term, dims in zip(terms, shapes, strict=True)]
    terms = [_with_digits(term, count) for term, count in zip(terms, extra, strict=True)]
    right = _with_digits(right, max(extra))
    if any(len(set(term)) < len(term) for term in terms):
        return _TRACE if not right and len(terms) == 1 and len(terms[0]) == 2 else None
    summed = sorted(set("".join(terms)) - set(right))
    if any(sum(label in term for term in terms) > 2 for label in summed):
        return _elementwise(terms, "".join(summed) + right)
    made, *others = (_Part(term, list(dims or ())) for term, dims in zip(terms, shapes, strict=True))
    for other in others:
        made = _multiplied(made, other, right)
    left = "".join(label for label in made.labels if label in right)
    if left != made.labels:
        made = _Part(left, [0] * len(left), made.nodes + 2)
    made.order(right)
    return made.nodes


def _elementwise(terms: Sequence[str], order: str) -> int:
    """Of inputs that are brought to one order and rank, multiplied element by element, from 1 on, and summed."""
    turned = sum(list(term) != sorted(term, key=order.index) for term in terms)
    return 2 * turned + 3 * len(terms) + 3


def _with_digits(term: str, count: int) -> str:
    """A label for each of the dimensions that dots stand for; the last ones of all terms have the same."""
    return term.replace("...", "0123456789"[10 - count :])


def _multiplied(a: _Part, b: _Part, right: str) -> _Part:
    shared = set(a.labels) & set(b.labels)
    summed = sorted(shared - set(right))
    kept = sorted(shared & set(right))
    own_a, own_b = sorted(set(a.labels) - shared), sorted(set(b.labels) - shared)
    a.order("".join(kept + own_a + summed))
    b.order("".join(kept + summed + own_b))
    made = _Part("".join(kept + own_a + own_b), [])
    if summed:
        _as_matrices(a, b, made, len(kept), len(summed))
    else:
        # Each further dimension has a constant for its place.
        made.sizes = a.sizes + b.sizes[len(kept) :]
        made.nodes = 2 * (len(own_a) + len(own_b)) + 1
    made.nodes += a.nodes + b.nodes
    return made


def _as_matrices(a: _Part, b: _Part, made: _Part, kept: int, summed: int) -> None:
    outer, sizes_a, sizes_b = a.sizes[:kept], a.sizes, b.sizes
    a.ask_sizes()
    rows, inner = a.product(sizes_a[kept:-summed]), a.product(sizes_a[-summed:])
    a.form([*outer, rows, inner])
    b.ask_sizes()
    columns = b.product(sizes_b[kept + summed :])
    b.form([*sizes_b[:kept], inner, columns])
    made.sizes = [*outer, rows, columns]
    made.form([*sizes_a[:-summed], *sizes_b[kept + summed :]])
    made.nodes += 1
