"""Inputs laid out for XLA, in memory that is used again only when nobody looks at it."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import weft as tf
from weft.framework.graphs.graph import Graph
from weft.platform.machine.aligned_memory import aligned_empty, is_aligned
from weft.runtime.compiled.input_memory import COPIED_HERE_BYTES, InputMemory

LARGE = COPIED_HERE_BYTES  # elements of four bytes, so four times what is copied here


def off_by_four_bytes(count: int) -> np.ndarray:
    return aligned_empty((count + 1,), np.float32)[1:]


def memory_for(*shapes: Any) -> InputMemory:
    with Graph().as_default():
        return InputMemory([tf.placeholder(tf.float32, shape) for shape in shapes])


def test_large_arrays_that_begin_anywhere_are_copied() -> None:
    value = off_by_four_bytes(LARGE)
    value[...] = np.arange(LARGE)
    assert not is_aligned(value)
    for shape in ([LARGE], [None], None):
        (copied,) = memory_for(shape).usable([value])
        assert is_aligned(copied)
        assert np.array_equal(copied, value)


def test_a_transposed_array_keeps_its_shape_and_values() -> None:
    value = np.arange(LARGE, dtype=np.float32).reshape(-1, 4).T
    (copied,) = memory_for(value.shape).usable([value])
    assert is_aligned(copied)
    assert np.array_equal(copied, value)


def test_other_inputs_are_used_as_they_are() -> None:
    inputs = [off_by_four_bytes(8), aligned_empty((LARGE,), np.float32), 7, off_by_four_bytes(8)]
    memory = memory_for([None], [LARGE], [], [8])
    assert memory.usable(inputs) is inputs
    assert memory.kept_bytes == 0


def test_memory_is_used_again_when_the_last_array_of_it_is_gone() -> None:
    memory, value = memory_for([LARGE]), off_by_four_bytes(LARGE)
    value[...] = 1
    (first,) = memory.usable([value])
    seen = first[3:5]
    del first
    value[...] = 2
    (second,) = memory.usable([value])
    assert seen.tolist() == [1, 1]
    assert memory.kept_bytes == 2 * value.nbytes
    address = second.ctypes.data
    del second
    value[...] = 3
    (third,) = memory.usable([value])
    assert third.ctypes.data == address
    assert third[0] == 3
    assert memory.kept_bytes == 2 * value.nbytes


def test_what_jax_still_looks_at_is_not_overwritten() -> None:
    memory, value = memory_for([LARGE]), off_by_four_bytes(LARGE)
    hand_on = jax.jit(lambda x: (x, x[:2]))
    kept = []
    for number in range(6):
        value[...] = number
        kept.append(hand_on(*memory.usable([value])))
    for number, (whole, part) in enumerate(kept):
        assert np.unique(np.asarray(whole)).tolist() == [number]
        assert np.asarray(part).tolist() == [number] * 2


def test_only_the_places_asked_for_are_owned() -> None:
    memory, value = memory_for([LARGE], [LARGE], [2]), aligned_empty((LARGE,), np.float32)
    value[...] = 1
    small = np.ones(2, np.float32)
    own, same, few = memory.owned([value, value, small], (0, 2))
    assert same is value
    assert is_aligned(own)
    value[...], small[...] = 2, 2
    assert own.max() == 1
    assert few.tolist() == [1, 1]


@pytest.mark.parametrize("elements", [LARGE, 3 * LARGE])
def test_an_array_that_is_changed_in_place_between_steps_is_fed_as_it_is_then(elements: int) -> None:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    value = off_by_four_bytes(elements)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        x = tf.placeholder(tf.float32, [elements])
        total = tf.Variable(tf.zeros([elements]))
        fetches = [tf.reduce_max(x), x + 0.0, tf.assign(total, x)]
        session.run(total.initializer)
        results = []
        for number in range(8):
            value[...] = number
            results.append(session.run(fetches, {x: value}))
        for number, (most, moved, assigned) in enumerate(results):
            assert most == number
            assert np.unique(moved).tolist() == np.unique(assigned).tolist() == [number]
        assert np.unique(session.run(total)).tolist() == [7]
