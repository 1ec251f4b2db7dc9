"""What stands for TensorFlow's decorators and its marks of attributes."""

from __future__ import annotations

import weft as tf
from weft.framework.decorators import no_dependency


def test_an_attribute_holds_the_value_that_no_checkpoint_depends_on() -> None:
    held = {"not": "saved"}
    module = tf.Module()
    module.held = no_dependency(held)  # type: ignore[attr-defined]
    assert module.held is held  # type: ignore[attr-defined]
