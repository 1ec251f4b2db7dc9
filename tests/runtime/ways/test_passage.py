"""What only passes through a stage is taken from where it is, and is what running the nodes gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.errors import FailedPreconditionError
from weft.passes.stage import Kind
from weft.runtime.stage import Stage
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.state import SlotState
from weft.runtime.ways.passage import Passage, passage_of


def _stage(make_parts: MakeParts, fetches: Any, feeds: Any = (), targets: Any = ()) -> Stage:
    part = make_parts(fetches, feeds, targets)["a"]
    (stage,) = build_stages(part, ResourceManager()).stages
    assert stage.kind is Kind.COMPILED
    return stage


def _passage(stage: Stage) -> Passage | None:
    return passage_of(stage.program)


@pytest.mark.parametrize("use_resource", [False, True])
def test_reads_give_what_the_variables_hold(make_parts: MakeParts, use_resource: bool) -> None:
    variables = [tf.get_variable(name, [2], use_resource=use_resource) for name in ("v", "w")]
    stage = _stage(make_parts, [tf.identity(tf.identity(variable)) for variable in variables])
    for slot in stage.program.slots:
        slot.value = np.full(2, ord(slot.name[0]), np.float32)
    passage = _passage(stage)
    assert passage is not None
    taken = passage.take([], SlotState(stage.program.slots))
    assert taken is not None
    assert [value.tolist() for value in taken] == [[118.0, 118.0], [119.0, 119.0]]


def test_inputs_and_constants_go_through(make_parts: MakeParts) -> None:
    x = tf.placeholder(tf.float32, [])
    stage = _stage(make_parts, [tf.identity(x), tf.stop_gradient(tf.constant([1, 2])), tf.identity(x)], [x])
    passage = _passage(stage)
    assert passage is not None
    first, second, third = passage.take([np.float32(3)], SlotState([])) or ()
    assert (first, third) == (3.0, 3.0)
    assert second.tolist() == [1, 2]


def test_a_variable_without_a_value_is_left_to_the_nodes(make_parts: MakeParts) -> None:
    variable = tf.get_variable("v", [2], use_resource=False)
    for fetches, targets in (([tf.identity(variable)], []), ([], [tf.identity(variable).op])):
        stage = _stage(make_parts, fetches, targets=targets)
        passage = _passage(stage)
        assert passage is not None
        assert passage.take([], SlotState(stage.program.slots)) is None
        with pytest.raises(FailedPreconditionError, match="uninitialized value v"):
            stage.run([], None, None, None)  # type: ignore[arg-type]


def test_what_assigns_or_computes_has_no_passage(make_parts: MakeParts) -> None:
    variable = tf.get_variable("v", [2], use_resource=False)
    assert _passage(_stage(make_parts, targets=[tf.assign(variable, [1.0, 2.0]).op], fetches=[])) is None
    x = tf.placeholder(tf.float32, [])
    assert _passage(_stage(make_parts, [x + 1.0], [x])) is None
