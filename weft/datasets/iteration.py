"""What a `for` loop over a dataset is told: a dataset is a node of the graph, and its elements come in runs."""

from __future__ import annotations

from typing import NoReturn


def no_iterator(self: object) -> NoReturn:
    """Refuse to iterate, with TensorFlow's words and the way that works."""
    raise RuntimeError(
        f"__iter__() is only supported inside of tf.function or when eager execution is enabled. {self!r} gives its "
        "elements in runs: next_element = dataset.make_one_shot_iterator().get_next(), then session.run(next_element) until it "
        "raises tf.errors.OutOfRangeError."
    )
