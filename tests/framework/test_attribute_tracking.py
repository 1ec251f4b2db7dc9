"""Marks of attributes that are no parts of their object."""

from __future__ import annotations

import weft as tf
from weft.framework.attribute_tracking import (
    NoDependency,
    no_automatic_dependency_tracking,
    no_automatic_dependency_tracking_scope,
    tracks_attributes,
)


class _Plain:
    @no_automatic_dependency_tracking
    def look(self, more: int, *, by: int) -> tuple[bool, int]:
        return tracks_attributes(self), more + by


def test_a_module_holds_the_value_that_no_checkpoint_depends_on() -> None:
    held = {"not": "saved"}
    module = tf.Module()
    module.held = NoDependency(held)  # type: ignore[attr-defined]
    assert module.held is held  # type: ignore[attr-defined]


def test_blocks_and_methods_set_attributes_that_are_no_parts() -> None:
    plain = _Plain()
    assert tracks_attributes(plain)
    with no_automatic_dependency_tracking_scope(plain):
        assert not tracks_attributes(plain)
        assert plain.look(1, by=2) == (False, 3)
        assert not tracks_attributes(plain)
    assert plain.look(1, by=2) == (False, 3)
    assert tracks_attributes(plain)
