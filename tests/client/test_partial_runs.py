"""A step in pieces keeps what it computed, and says exactly what a piece may not do; the same on every kind of session."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.client.conftest import OpenSession


@pytest.fixture
def session(open_session: OpenSession) -> tf.Session:
    return open_session()


def placeholders() -> tuple[tf.Tensor, ...]:
    return tuple(tf.placeholder(tf.float32, [], name=name) for name in "abc")


def test_a_later_piece_uses_what_an_earlier_one_computed(session: tf.Session) -> None:
    a, b, c = placeholders()
    total = a + b
    product = total * c
    handle = session.partial_run_setup([total, product], [a, b, c])
    result = session.partial_run(handle, total, {a: 1, b: 2})
    assert result == 3
    assert session.partial_run(handle, product, {c: result * 17}) == 153


def test_an_operation_runs_once_however_many_pieces_need_it(session: tf.Session) -> None:
    a, b, _ = placeholders()
    counter = tf.Variable(0.0, use_resource=False)
    session.run(counter.initializer)
    step = tf.identity(counter.assign_add(a))
    first, second = step + 0.0, step + b
    with tf.control_dependencies([step]):
        third = b * 2.0
    handle = session.partial_run_setup([first, second, third], [a, b])
    assert session.partial_run(handle, first, {a: 1.0}) == 1.0
    assert session.partial_run(handle, [second], {b: 10.0}) == [11.0]
    assert session.partial_run(handle, third) == 20.0
    assert session.run(counter) == 1.0


def test_random_values_are_drawn_once(session: tf.Session) -> None:
    a, _, _ = placeholders()
    noise = tf.random_uniform([4], seed=1)
    moved = noise + a
    handle = session.partial_run_setup([noise, moved], [a])
    drawn = session.partial_run(handle, noise)
    np.testing.assert_array_equal(session.partial_run(handle, moved, {a: 1.0}), drawn + np.float32(1))


def test_a_piece_may_feed_without_fetching(session: tf.Session) -> None:
    a, b, _ = placeholders()
    total = a + b
    handle = session.partial_run_setup(total, [a, b])
    assert session.partial_run(handle, [], {a: 1}) == []
    assert session.partial_run(handle, {"total": total}, {b: 1}) == {"total": 2.0}


def test_two_runs_in_pieces_do_not_disturb_each_other(session: tf.Session) -> None:
    a, b, _ = placeholders()
    total = a + b
    one, other = (session.partial_run_setup([total], [a, b]) for _ in range(2))
    session.partial_run(one, [], {a: 1})
    session.partial_run(other, [], {a: 10})
    assert session.partial_run(one, total, {b: 1}) == 2
    assert session.partial_run(other, total, {b: 1}) == 11


def test_the_same_pieces_may_be_run_many_times(session: tf.Session) -> None:
    a, b, _ = placeholders()
    double = a * 2
    total = double + b
    for number in range(12):
        handle = session.partial_run_setup([double, total], [a, b])
        assert session.partial_run(handle, double, {a: number}) == 2 * number
        assert session.partial_run(handle, total, {b: 1}) == 2 * number + 1


def test_strings_are_kept_whole(session: tf.Session) -> None:
    text = tf.placeholder(tf.string, [])
    joined = tf.string_join([text, "\0end"])
    again = tf.string_join([joined, joined])
    handle = session.partial_run_setup([joined, again], [text])
    assert session.partial_run(handle, joined, {text: b"\xff\0"}) == b"\xff\0\0end"
    assert session.partial_run(handle, again) == b"\xff\0\0end" * 2


def test_what_was_not_announced_is_refused(session: tf.Session) -> None:
    a, b, c = placeholders()
    total, other = a + b, a * 2
    handle = session.partial_run_setup([total], [a, b])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"The fetch mul:0 was not specified in partial_run_setup\."):
        session.partial_run(handle, other, {a: 1})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"The feed c:0 was not specified in partial_run_setup\."):
        session.partial_run(handle, total, {a: 1, c: 1})


def test_nothing_is_fed_or_fetched_twice(session: tf.Session) -> None:
    a, b, c = placeholders()
    total = a + b
    product = total * c
    handle = session.partial_run_setup([total, product], [a, b, c])
    session.partial_run(handle, total, {a: 1, b: 2})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"The feed a:0 has already been fed\."):
        session.partial_run(handle, product, {a: 3})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"The fetch add:0 has already been fetched\."):
        session.partial_run(handle, total, {c: 3})


def test_a_fetch_whose_feeds_are_to_come_is_refused(session: tf.Session) -> None:
    a, b, _ = placeholders()
    total = a + b
    handle = session.partial_run_setup([total], [a, b])
    with pytest.raises(tf.errors.InvalidArgumentError, match="can't be computed from the feeds that have been fed so far"):
        session.partial_run(handle, total, {a: 1})


def test_a_placeholder_that_was_not_announced_must_be_fed(session: tf.Session) -> None:
    a, b, _ = placeholders()
    total = a + b
    handle = session.partial_run_setup([total], [a])
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder"):
        session.partial_run(handle, total, {a: 1})


def test_a_run_that_is_over_needs_a_new_setup(session: tf.Session) -> None:
    a, b, _ = placeholders()
    total = a + b
    handle = session.partial_run_setup([total], [a, b])
    session.partial_run(handle, total, {a: 1, b: 1})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup' before performing partial runs!"):
        session.partial_run(handle, total)


def test_a_failed_piece_names_its_node(session: tf.Session) -> None:
    a = tf.placeholder(tf.float32, name="a")
    checked = tf.check_numerics(a, "bad news", name="checked")
    handle = session.partial_run_setup([checked], [a])
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad news") as caught:
        session.partial_run(handle, checked, {a: np.nan})
    assert caught.value.op is checked.op


def test_operations_are_no_pieces(session: tf.Session) -> None:
    a, b, _ = placeholders()
    total = a + b
    handle = session.partial_run_setup([total.op, total], [a, b])
    with pytest.raises(RuntimeError, match="requires empty target_list"):
        session.partial_run(handle, total.op, {a: 1, b: 1})


def test_what_is_no_tensor_cannot_be_announced(session: tf.Session) -> None:
    a, _, _ = placeholders()
    with pytest.raises(TypeError, match="Cannot interpret feed_list key as Tensor"):
        session.partial_run_setup([a + 1], [3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Must specify at least one target"):
        session.partial_run_setup([], [a])


def test_a_closed_session_has_no_partial_runs(session: tf.Session) -> None:
    a, _, _ = placeholders()
    handle = session.partial_run_setup([a + 1], [a])
    session.close()
    with pytest.raises(RuntimeError, match=r"Attempted to use a closed Session\."):
        session.partial_run(handle, a, {a: 1})
    with pytest.raises(RuntimeError, match=r"Attempted to use a closed Session\."):
        session.partial_run_setup([a + 1], [a])
