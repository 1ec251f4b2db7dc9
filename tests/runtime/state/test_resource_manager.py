"""Resources are found by container, class and name; a container is dropped as a whole."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from weft.errors import InvalidArgumentError, NotFoundError
from weft.framework.types.dtypes import float32, int32
from weft.runtime.state.resource_manager import ResourceManager


class Thing:
    def __init__(self) -> None:
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


class Other(Thing):
    pass


def test_what_one_session_owns_is_dropped_and_closed_with_it() -> None:
    manager = ResourceManager("ps")
    own = manager.find_or_create("", Thing, "x@one", Thing, "one")
    others = [manager.find_or_create("", Thing, "x@other", Thing, "other"), manager.find_or_create("", Thing, "x", Thing)]
    manager.drop_owned("one")
    assert [own.is_closed, *(each.is_closed for each in others)] == [True, False, False]
    assert [each.name for each in manager.held()] == ["x", "x@other"]


def test_a_resource_is_made_once() -> None:
    manager = ResourceManager("ps")
    thing = manager.find_or_create("", Thing, "x", Thing)
    assert manager.find_or_create("", Thing, "x", Thing) is thing
    assert manager.find("", Thing, "x") is manager.find("ps", Thing, "x") is thing


def test_threads_get_the_same_resource() -> None:
    manager, found, barrier = ResourceManager(), [], threading.Barrier(8)

    def find() -> None:
        barrier.wait()
        found.append(manager.find_or_create("", Thing, "x", Thing))

    threads = [threading.Thread(target=find) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1


def test_containers_are_apart() -> None:
    manager = ResourceManager()
    assert manager.find_or_create("a", Thing, "x", Thing) is not manager.find_or_create("b", Thing, "x", Thing)
    assert sorted({each.container for each in manager.held()}) == ["a", "b"]


def test_what_is_not_there_is_told() -> None:
    manager = ResourceManager("ps")
    with pytest.raises(NotFoundError, match="Resource ps/x/Thing does not exist"):
        manager.find("", Thing, "x")
    with pytest.raises(NotFoundError, match="does not exist"):
        manager.delete("", Thing, "x")


def test_a_variable_keeps_its_dtype() -> None:
    manager = ResourceManager()
    slot = manager.variable("", "v", float32)
    assert manager.variable("", "v", float32) is slot
    with pytest.raises(InvalidArgumentError, match=r"Variable 'v' is held as float32 .* but this graph declares it as int32"):
        manager.variable("", "v", int32)


def test_asking_for_a_variable_declares_nothing() -> None:
    manager = ResourceManager()
    asked = manager.variable("", "v", float32, (4,), declares=False)
    assert manager.variable("", "v", int32, (3,), declares=False) is asked
    declared = manager.variable("", "v", int32, (2,))
    assert declared is asked
    assert (declared.dtype, declared.dims) == (int32, (2,))
    for declares in (True, False):
        with pytest.raises(InvalidArgumentError, match="held as int32 of shape"):
            manager.variable("", "v", float32, (4,), declares=declares)


def test_what_is_dropped_is_closed() -> None:
    manager = ResourceManager()
    things = [manager.find_or_create(container, Thing, "x", Thing) for container in "abc"]
    manager.delete("a", Thing, "x")
    manager.clear(["b", "never there"])
    assert [thing.is_closed for thing in things] == [True, True, False]
    manager.clear()
    assert things[2].is_closed
    assert manager.find_or_create("c", Thing, "x", Thing) is not things[2]


def test_a_resource_variable_of_another_shape_is_made_anew_for_who_assigns_it() -> None:
    resources = ResourceManager()
    old = resources.variable("", "v", float32, (2,), renews=True)
    old.put(np.zeros(2, np.float32))
    asked = resources.variable("", "v", float32, (3,), declares=False, renews=False)
    assert asked.value is None
    with pytest.raises(InvalidArgumentError, match="two programs disagree"):
        resources.variable("", "v", float32, (3,), renews=False)
    assert resources.variable("", "v", float32, (2,), renews=True) is old
    new = resources.variable("", "v", float32, (3,), renews=True)
    assert new.value is None
    new.put(np.ones(3, np.float32))
    assert asked.value.tolist() == [1, 1, 1]
    assert old.value.tolist() == [0, 0]


def test_a_resource_variable_of_another_type_is_refused_as_in_tensorflow() -> None:
    resources = ResourceManager()
    resources.variable("", "v", float32, (2,), renews=True)
    with pytest.raises(InvalidArgumentError, match="two programs disagree"):
        resources.variable("", "v", int32, (3,), renews=True)
