from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from weft.framework.graphs.graph import Graph


@pytest.fixture
def session() -> Any:
    with Graph().as_default() as graph, tf.Session(graph=graph) as session:
        yield session


def _unknown(value: Any, shape: Any = None) -> Any:
    return tf.placeholder_with_default(value, shape, name="x")


def test_assert_prints_its_data(session: Any) -> None:
    check = tf.Assert(_unknown(False, []), [tf.constant([[1, 2], [3, 4]]), "text", 0.1], summarize=3)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"assertion failed: \[\[1 2\]\[3\.\.\.\]\.\.\.\] \[text\] \[0.1\]"
    ):
        session.run(check)


def test_an_assertion_that_holds_does_nothing(session: Any) -> None:
    assert session.run(tf.Assert(_unknown(True, []), ["unused"])) is None


def test_what_is_known_to_be_wrong_raises_while_building(session: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)why\nCondition x == y did not hold.*x \(.*:0\) = \n1"):
        tf.assert_equal(1, 2, message="why")


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (tf.assert_equal, ([1, 2], [1, 2]), ([1, 2], [1, 3])),
        (tf.assert_none_equal, ([1, 2], [2, 1]), ([1, 2], [2, 2])),
        (tf.assert_less, ([1, 2], 3), ([1, 3], 3)),
        (tf.assert_less_equal, ([1, 3], 3), ([1, 4], 3)),
        (tf.assert_greater, ([4, 5], 3), ([3, 5], 3)),
        (tf.assert_greater_equal, ([3, 5], 3), ([2, 5], 3)),
        (tf.assert_positive, ([1],), ([0],)),
        (tf.assert_negative, ([-1],), ([0],)),
        (tf.assert_non_negative, ([0],), ([-1],)),
        (tf.assert_non_positive, ([0],), ([1],)),
    ],
)
def test_checks_of_values_fail_when_the_step_finds_otherwise(session: Any, check: Any, good: Any, bad: Any) -> None:
    session.run(check(_unknown(good[0]), *good[1:]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: .*did not hold element-wise"):
        session.run(check(_unknown(bad[0]), *bad[1:]))


def test_ranks_are_checked_at_once_when_they_are_known() -> None:
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [3], name="x")
        assert tf.assert_rank(x, 1).type == "NoOp"
        with pytest.raises(ValueError, match=r"why\.  Tensor x:0 must have rank 2\.  Received rank 1, shape \(3,\)"):
            tf.assert_rank(x, 2, message="why")
        with pytest.raises(ValueError, match="must have rank at least 2"):
            tf.assert_rank_at_least(x, 2)
        with pytest.raises(ValueError, match=r"must have rank in \(2, 3\)"):
            tf.assert_rank_in(x, (2, 3))


def test_unknown_ranks_are_checked_by_the_step(session: Any) -> None:
    session.run(tf.assert_rank_in(_unknown([1.0]), (1, 3)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank at least"):
        session.run(tf.assert_rank_at_least(_unknown([1.0]), 2))


def test_types_are_checked_while_building() -> None:
    with Graph().as_default():
        x = tf.constant(1.0, name="x")
        with pytest.raises(TypeError, match=r"x:0 must be of type tf\.int32; got tf\.float32"):
            tf.assert_type(x, tf.int32)
        with pytest.raises(TypeError, match='Expected "x" to be integer type'):
            tf.assert_integer(x)
        with pytest.raises(ValueError, match="Expected floating point type"):
            tf.assert_same_float_dtype([tf.constant(1)])


def test_check_numerics_names_what_it_found(session: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="loss : Tensor had Inf and NaN values"):
        session.run(tf.check_numerics([1.0, float("nan"), float("inf")], "loss"))


def test_print_passes_its_input_on_and_stops_after_first_n(session: Any, capfd: pytest.CaptureFixture[str]) -> None:
    printed = tf.Print(_unknown([1, 2, 3]), [tf.constant([1.5, 2.5])], message="seen: ", first_n=1)
    assert session.run(printed).tolist() == [1, 2, 3]
    session.run(printed)
    assert capfd.readouterr().err == "seen: [1.5 2.5]\n"


def test_print_v2_takes_tensors_and_objects(session: Any, capfd: pytest.CaptureFixture[str]) -> None:
    session.run(tf.print("step", tf.constant(3), {"loss": tf.constant([0.5, 1.5])}, sep=" | "))
    assert capfd.readouterr().err == "step | 3 | {'loss': [0.5 1.5]}\n"


def test_order_of_values_is_told(session: Any) -> None:
    assert session.run([tf.is_non_decreasing([1, 1, 2]), tf.is_strictly_increasing([1, 1, 2])]) == [True, False]


def test_a_rank_is_an_integer_scalar():
    with pytest.raises(TypeError, match="assert_rank/rank:0 must be of type <dtype: 'int32'>"):
        tf.assert_rank(tf.constant(1.0), 0.5)
    wanted, x = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    check = tf.assert_rank(x, wanted)
    with tf.Session() as session:
        session.run(check, {wanted: 1, x: [1.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Rank must be a scalar"):
            session.run(check, {wanted: [1, 2], x: [1.0]})


def test_operands_are_named_in_the_order_of_the_program():
    with pytest.raises(ValueError, match="must be equal, but are 2 and 3 for 'assert_greater/Greater'"):
        tf.assert_greater([1, 2], [1, 2, 3])


def test_a_sparse_tensor_is_named_where_types_differ():
    sparse = tf.SparseTensor([[0]], [1], [2])
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.debugging.assert_same_float_dtype([sparse, tf.constant(1.0)])
    with pytest.raises(TypeError, match="proper"):
        tf.debugging.assert_proper_iterable(sparse)


def test_print_names_its_nodes_as_tensorflow_does() -> None:
    with tf.Graph().as_default() as graph:
        assert tf.print(1, name="told").name == "told"
        assert tf.print(tf.constant(2.0)).name == "PrintV2"
        assert {"told_format", "StringFormat"} <= {op.name for op in graph.get_operations()}
