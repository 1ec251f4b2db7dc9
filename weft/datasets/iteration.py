"""What a `for` loop over a dataset does: inside of `tf.py_function` it gets the elements; a graph has them in runs only."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weft.errors import OutOfRangeError
from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph


def elements_of(dataset: Nest) -> Iterator[Nest]:
    """The elements of a dataset, one after the other, where operations run when they are made.

    Raises:
        RuntimeError: a graph is being built; TensorFlow's words, and the way that works.
    """
    if get_default_graph().runs_eagerly:
        # What the functions of the dataset use is there already.
        return _taken(dataset.make_initializable_iterator().get_next)
    raise RuntimeError(
        f"__iter__() is only supported inside of tf.function or when eager execution is enabled. {dataset!r} gives its "
        "elements in runs: next_element = dataset.make_one_shot_iterator().get_next(), then session.run(next_element) until it "
        "raises tf.errors.OutOfRangeError."
    )


def _taken(take: Callable[[], Nest]) -> Iterator[Nest]:
    while True:
        try:
            element = take()
        except OutOfRangeError:
            return
        yield element
