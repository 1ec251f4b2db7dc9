"""A stage of rows takes and updates them in place, with the results and errors of nodes that run one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.errors import FailedPreconditionError, InvalidArgumentError, OpError
from weft.passes.stage import Kind
from weft.runtime.host.host_program import HostProgram
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_state import SessionState

SHAPE = [4096, 64]  # 1 MB


class Rows:
    """The one stage of rows among those of some fetches."""

    def __init__(self, parts: Any) -> None:
        resources = ResourceManager("a")
        stages = build_stages(parts["a"], resources).stages
        (self.stage,) = [stage for stage in stages if stage.kind is Kind.ROWS]
        self._session = SessionState(resources, None)

    def set_values(self, *values: float) -> None:
        for slot, value in zip(self.stage.program.slots, values, strict=True):
            slot.put(np.full(SHAPE, value, np.float32))

    def run(self, *inputs: Any) -> Any:
        return self.stage.run([np.asarray(value) for value in inputs], self._session, None, None)

    def one_by_one(self) -> None:
        """Have each node of the stage take its locks and copy what it changes."""
        self.stage.host.program = HostProgram(self.stage.program, is_plain=True)

    def error(self, *inputs: Any) -> OpError:
        with pytest.raises(OpError) as caught:
            self.run(*inputs)
        return caught.value


def a_table(name: str, use_resource: bool = False) -> Any:
    return tf.get_variable(name, SHAPE, use_resource=use_resource)


@pytest.fixture(params=[False, True], ids=["ref", "resource"])
def gather(make_parts: MakeParts, request: pytest.FixtureRequest) -> Rows:
    ids = tf.placeholder(tf.int32, [None])
    return Rows(make_parts([tf.gather(a_table("taken", request.param), ids)], [ids]))


@pytest.fixture
def update(make_parts: MakeParts) -> Rows:
    ids, weights = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, SHAPE[1]])
    applied = tf.train.AdagradOptimizer(0.5).apply_gradients([(tf.IndexedSlices(weights, ids), a_table("updated"))])
    return Rows(make_parts([], [weights, ids], [applied]))


def test_rows_are_taken(gather: Rows) -> None:
    gather.set_values(3.0)
    (taken,) = gather.run([5, 5, 0])
    assert taken.shape == (3, SHAPE[1])
    assert (taken == 3.0).all()


def test_rows_are_updated_in_place(update: Rows) -> None:
    update.set_values(1.0, 3.0)
    update.run(
        np.zeros((1, SHAPE[1]), np.float32), [0]
    )  # takes the values, which come from elsewhere, into the slots' own memory
    before = [slot.value.__array_interface__["data"] for slot in update.stage.program.slots]
    update.run(np.ones((2, SHAPE[1]), np.float32), [7, 9])
    table, accumulator = (slot.value for slot in update.stage.program.slots)
    assert [slot.value.__array_interface__["data"][0] for slot in update.stage.program.slots] == [
        address for address, _ in before
    ]
    assert table[7, 0] == table[9, -1] == 0.75
    assert accumulator[7, 0] == 4.0
    assert (np.delete(table, [7, 9], axis=0) == 1.0).all()


@pytest.mark.parametrize("wrong", [-1, SHAPE[0]])
def test_errors_are_those_of_nodes_that_run_one_by_one(gather: Rows, update: Rows, wrong: int) -> None:
    gather.set_values(1.0)
    update.set_values(1.0, 1.0)
    for rows, inputs in ((gather, ([0, wrong],)), (update, (np.ones((2, SHAPE[1]), np.float32), [0, wrong]))):
        found = rows.error(*inputs)
        rows.one_by_one()
        expected = rows.error(*inputs)
        assert type(found) is type(expected) is InvalidArgumentError
        assert (found.message, found.op) == (expected.message, expected.op)
        assert found.op is not None


def test_a_table_without_a_value_is_named_either_way(gather: Rows, update: Rows) -> None:
    for rows, inputs in ((gather, ([0],)), (update, (np.ones((1, SHAPE[1]), np.float32), [0]))):
        found = rows.error(*inputs)
        rows.one_by_one()
        expected = rows.error(*inputs)
        assert type(found) is type(expected) is FailedPreconditionError
        assert (found.message, found.op) == (expected.message, expected.op)


def test_an_update_that_fails_leaves_the_table_as_it_was(update: Rows) -> None:
    update.set_values(1.0, 1.0)
    update.error(np.ones((1, SHAPE[1]), np.float32), [SHAPE[0]])
    assert all((slot.value == 1.0).all() for slot in update.stage.program.slots)
    update.run(np.ones((1, SHAPE[1]), np.float32), [0])


@pytest.mark.parametrize("ids", [[7, 9], [7, 7], [0, 1, 1, 2, 0, 0], [5] * 12, [*range(60), 3]])
def test_repeated_rows_are_summed_before_the_tables_are_locked(update: Rows, ids: list[int]) -> None:
    gradients = np.random.default_rng(0).random((len(ids), SHAPE[1]), np.float32)
    found = []
    for _ in range(2):
        update.set_values(1.0, 3.0)
        update.run(gradients, np.array(ids, np.int32))
        found.append([slot.value.copy() for slot in update.stage.program.slots])
        update.one_by_one()
    for ahead, otherwise in zip(*found, strict=True):
        np.testing.assert_array_equal(ahead, otherwise)


def test_rows_that_are_taken_and_put_in_one_stage_are_not_looked_at_before(make_parts: MakeParts) -> None:
    ids, table = tf.placeholder(tf.int32, [None]), a_table("both")
    rows = tf.gather(table, ids)
    applied = tf.train.AdagradOptimizer(0.5).apply_gradients([(tf.IndexedSlices(rows, ids), table)])
    both = Rows(make_parts([], [ids], [applied]))
    both.set_values(2.0, 12.0)
    both.run([3, 3])
    table_now, accumulator = (slot.value for slot in both.stage.program.slots)
    assert accumulator[3, 0] == 12.0 + 4.0**2
    assert table_now[3, 0] == np.float32(2.0 - 0.5 * 4.0 / np.sqrt(np.float32(28.0)))
