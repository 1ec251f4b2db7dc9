"""Classes of TensorFlow's translator of Python source (AutoGraph), which programs extend while they are loaded."""

from __future__ import annotations

from typing import NoReturn


class SourceTransformer:
    """The base of rewriters of Python source, which nothing makes: weft takes branches and loops as `tf.cond` and
    `tf.while_loop`, and does not translate Python.

    Raises:
        NotImplementedError: one is made.
    """

    def __init__(self, *args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__} rewrites Python source, which weft does not: write branches and loops as tf.cond and "
            "tf.while_loop."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
