"""Where a run asks for it, a stage that only reads variables reads all of them between the same two updates."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.runtime.conftest import MakeParts
from weft.errors import FailedPreconditionError
from weft.ops.io.checkpoint_io import save_v2
from weft.runtime.host.calls import Loads
from weft.runtime.host.frame import PLAIN
from weft.runtime.host.host_program import HostProgram
from weft.runtime.host.snapshot import Snapshot
from weft.runtime.program.program import Program
from weft.runtime.stage import Stage
from weft.runtime.stage_builder import build_stages
from weft.runtime.state.resource_manager import ResourceManager


def saved(variables: list[Any]) -> Any:
    """A node on another task that saves the variables."""
    with tf.device("/job:b"):
        return save_v2("somewhere", [v.op.name for v in variables], [""] * len(variables), variables)


def variables_of(use_resource: bool) -> list[Any]:
    with tf.device("/job:a"):
        return [tf.get_variable(name, [2], use_resource=use_resource) for name in ("v", "w")]


def reading_stage(make_parts: MakeParts, targets: list[Any]) -> Stage:
    (stage,) = build_stages(make_parts(targets=targets)["a"], ResourceManager()).stages
    return stage


class Watched:
    """A lock that tells when somebody wants it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self.is_wanted = threading.Event()

    def acquire(self) -> None:
        self.is_wanted.set()
        self._lock.acquire()

    def release(self) -> None:
        self._lock.release()


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize("use_resource", [False, True])
def test_a_save_waits_for_an_update_of_several_variables(make_parts: MakeParts, use_resource: bool, is_plain: bool) -> None:
    program = reading_stage(make_parts, [saved(variables_of(use_resource))]).program
    lock: Any = Watched()
    for slot in program.slots:
        slot.value = np.zeros(2, np.float32)
    last = max(program.slots, key=lambda slot: slot.name)
    last.lock = lock
    host = HostProgram(program, one_moment=True, is_plain=is_plain)
    found: list[Any] = []
    reader = threading.Thread(target=lambda: found.append(host.run([], PLAIN)))
    # An update has written one of them, and is to write the other one.
    next(slot for slot in program.slots if slot is not last).value = np.ones(2, np.float32)
    reader.start()
    assert lock.is_wanted.wait(10)
    last.value = np.ones(2, np.float32)
    lock.release()
    reader.join(10)
    assert [value.tolist() for value in found[0]] == [[1.0, 1.0], [1.0, 1.0]]


def test_a_stage_that_is_read_for_a_save_is_told_and_another_is_not(make_parts: MakeParts) -> None:
    variables = variables_of(use_resource=True)
    with tf.device("/job:b"):
        read = tf.add_n(variables)
    first, *_ = reading_stage(make_parts, [saved(variables)]).host.program.calls
    assert isinstance(first, Snapshot)
    (call,) = reading_stage(make_parts, [read.op]).host.program.calls
    assert isinstance(call, Loads)


def test_a_node_takes_variables_of_a_snapshot_as_it_takes_other_values(make_parts: MakeParts) -> None:
    variables = variables_of(use_resource=False)
    with tf.device("/job:a"):
        total = tf.add_n([*variables, tf.constant([1.0, 1.0])])
    (stage,) = build_stages(make_parts([total])["a"], ResourceManager()).stages
    program: Program = stage.program
    for number, slot in enumerate(program.slots):
        slot.value = np.full(2, 10.0**number, np.float32)
    assert HostProgram(program, one_moment=True).run([], PLAIN)[0].tolist() == [12.0, 12.0]


def test_a_snapshot_refuses_a_variable_without_a_value(make_parts: MakeParts) -> None:
    program = reading_stage(make_parts, [saved(variables_of(use_resource=False))]).program
    program.slots[0].value = np.zeros(2, np.float32)
    with pytest.raises(FailedPreconditionError, match=f"uninitialized value {program.slots[1].name}"):
        HostProgram(program, one_moment=True).run([], PLAIN)


def test_a_program_that_updates_variables_is_none_for_a_snapshot(make_parts: MakeParts) -> None:
    v, w = variables_of(use_resource=True)
    (stage,) = build_stages(make_parts(targets=[v.assign_add(w).op])["a"], ResourceManager()).stages
    assert not Snapshot.fits(stage.program)
