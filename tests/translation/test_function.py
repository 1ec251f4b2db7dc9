"""tf.function in graphs. Expected values and messages are TensorFlow 1.15.5's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


def _run(value: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(value)


def test_a_function_is_traced_once_for_each_kind_of_arguments() -> None:
    seen: list[Any] = []

    @tf.function
    def f(x: Any, t: bool = True) -> Any:
        seen.append((x, t))
        return 1

    for x in (1, 1, 2, [1, 2], [1, 2], "a", None, np.ones(3), np.zeros(3), np.ones(2), np.float32(1), 1.0):
        f(x)
    f(1, False)
    f(1, t=False)
    kinds = [type(x).__name__ for x, _ in seen]
    assert kinds == ["int", "int", "list", "str", "NoneType", "Tensor", "Tensor", "int"]
    with tf.Graph().as_default():
        f(1)
    assert len(seen) == 9


def test_a_call_is_a_node_of_the_graph_and_keeps_what_it_was_traced_with() -> None:
    factor = [2]

    @tf.function
    def f(x: Any) -> Any:
        return x * factor[0]

    first = f(tf.constant(1))
    factor[0] = 3
    second = f(tf.constant(1))
    assert (first.name, second.name) == ("PartitionedCall:0", "PartitionedCall_1:0")
    assert _run([first, second]) == [2, 2]


def test_a_call_leaves_no_copy_of_the_function_in_the_library() -> None:
    f = tf.function(lambda x: x * 2 + tf.switch_case(tf.constant(1), [lambda: x, lambda: x + 1]))
    x = f(tf.constant(1))
    name = f.get_concrete_function(tf.constant(1)).name
    for _ in range(3):
        x = f(x)
    library = [each.signature.name for each in tf.get_default_graph().as_graph_def().library.function]
    assert [each for each in library if each.startswith(name)] == [name]
    assert _run(x) == 121


def test_a_call_takes_one_of_the_numbers_that_the_graphs_seed_counts() -> None:
    tf.set_random_seed(1)
    f = tf.function(lambda x: x * 2.0 + 1.0)
    outer = tf.function(lambda x: f(f(x)) + tf.random_uniform([]))
    result = outer(tf.constant(1.0))
    assert _run([result, tf.random_uniform([])]) == pytest.approx([7.521116, 0.195606])


def test_a_node_of_a_call_is_told_by_the_line_of_the_function_and_that_of_the_call() -> None:
    def inverse(x: Any) -> Any:
        return tf.linalg.inv(x)

    result = tf.function(inverse)(tf.zeros([2, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        _run(result)
    first = inverse.__code__.co_firstlineno
    for line, text in ((first + 1, "return tf.linalg.inv(x)"), (first + 3, "result = tf.function(inverse)(tf.zeros([2, 2]))")):
        assert f'{__file__}", line {line}' in str(caught.value)
        assert text in str(caught.value)


def test_functions_of_datasets_stand_in_the_library_once_and_go_along_into_another_graph() -> None:
    def total() -> Any:
        return tf.data.Dataset.range(3).map(lambda x: x + 1).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    trace = tf.function(total).get_concrete_function()
    with tf.Graph().as_default() as graph:
        assert _run([trace(), trace()]) == [6, 6]
        assert len(graph.as_graph_def().library.function) == 2


def test_structures_go_in_and_out() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return {"a": x["q"], "b": [x["r"], None, 3]}, tf.SparseTensor([[0]], [x["q"]], [2])

    made, sparse = f({"q": tf.constant(1), "r": np.ones(2)})
    assert made["b"][1] is None
    values = _run([made["a"], made["b"][0], made["b"][2], sparse])
    assert values[:1] + values[2:3] == [1, 3]
    assert list(values[1]) == [1.0, 1.0]
    assert list(values[3].values) == [1]
    with pytest.raises(TypeError, match=r"must return zero or more Tensors; in compilation of .*which is not a Tensor"):
        tf.function(lambda: object())()


def test_state_changes_in_the_order_of_the_lines() -> None:
    v = tf.Variable(1.0, use_resource=True)

    @tf.function
    def f() -> Any:
        v.assign_add(1.0)
        v.assign(v * 10.0)
        return v.read_value()

    assert _run(f()) == 20.0


def test_what_branches_and_loops_change_outside_is_changed() -> None:
    v, w = (tf.Variable(0.0, use_resource=True) for _ in range(2))
    x = tf.placeholder(tf.float32, [])

    @tf.function
    def f(x: Any) -> Any:
        if x > 0:
            v.assign_add(1.0)
        else:
            w.assign_add(5.0)
        for i in tf.range(3):
            if i > 0:
                v.assign_add(10.0)
        while v < 100.0:
            v.assign_add(30.0)
        return x

    @tf.function
    def outer(x: Any) -> Any:
        return f(x) + 1.0

    result = outer(x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(result, {x: 1.0}) == 2.0
        assert session.run([v, w]) == [111.0, 0.0]
        session.run(result, {x: -1.0})
        assert session.run([v, w]) == [131.0, 5.0]


def test_variables_are_made_once() -> None:
    class Holder:
        v: Any = None

    @tf.function
    def f(x: Any) -> Any:
        if Holder.v is None:
            Holder.v = tf.Variable(tf.random_normal([2, 2]))
        return tf.reduce_sum(Holder.v * x)

    first, second = f(tf.constant(2.0)), f(tf.constant(2.0))
    assert len(tf.global_variables()) == 1
    assert tf.trainable_variables() == []
    values = _run([first, second, tf.gradients(first, Holder.v)[0]])
    assert values[0] == values[1]
    assert values[2].tolist() == [[2.0, 2.0], [2.0, 2.0]]

    @tf.function
    def again(x: Any) -> Any:
        return tf.Variable(2.0) * x

    with pytest.raises(ValueError, match=r"tf\.function-decorated function tried to create variables on non-first call"):
        again(tf.constant(1.0))

    @tf.function
    def of_argument(x: Any) -> Any:
        return tf.Variable(x) * x

    with pytest.raises(ValueError, match="Unable to lift the initial value of 'Variable' out of the function"):
        of_argument(tf.constant(1.0))


def test_gradients_go_through_calls() -> None:
    @tf.custom_gradient
    def hundredfold(x: Any) -> Any:
        return x * 2, lambda dy: dy * 100

    @tf.function
    def f(x: Any, y: Any) -> Any:
        for row in x:
            y = y * row
        return hundredfold(y)

    x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)
    of_x, of_y = _run(tf.gradients(f(x, y), [x, y]))
    assert (of_x.tolist(), of_y) == ([1200.0, 600.0, 400.0], 600.0)


def test_signatures_admit_what_fits_and_refuse_the_rest() -> None:
    shapes: list[Any] = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x: Any) -> Any:
        shapes.append(x.shape.as_list())
        return x * 2

    made = f(tf.ones([2])), f([1.0, 2.0, 3.0]), f(x=tf.ones([2]))
    assert [each.shape.as_list() for each in made] == [[2], [3], [2]]
    assert shapes == [[None]]
    assert f.input_signature == (tf.TensorSpec([None], tf.float32),)
    for wrong in (tf.ones([2, 2]), tf.ones([2], tf.int32)):
        with pytest.raises(ValueError, match="Python inputs incompatible with input_signature:\n  inputs"):
            f(wrong)
    with pytest.raises(TypeError, match=r"only pass arguments covered by it. Received 2 argument\(s\)."):
        f(tf.ones([2]), tf.ones([2]))
    with pytest.raises(TypeError, match="must be a possibly nested sequence of TensorSpec objects"):
        tf.function(lambda x: x, input_signature=[3])
    with pytest.raises(TypeError, match="input_signature must be either a tuple or a list"):
        tf.function(lambda x: x, input_signature=tf.TensorSpec([None]))
    with pytest.raises(TypeError, match="unsupported callable"):
        tf.function(3)


def test_nested_signatures_and_traces_of_their_own() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), {"a": tf.TensorSpec([], tf.int32)}])
    def f(x: Any, d: Any) -> Any:
        return x * tf.cast(d["a"], tf.float32)

    assert _run(f([1.0, 2.0], {"a": 3})).tolist() == [3.0, 6.0]
    trace = f.get_concrete_function()
    assert _run(trace(tf.constant([2.0]), tf.constant(2))).tolist() == [4.0]


def test_a_concrete_function_is_one_trace() -> None:
    @tf.function
    def f(x: Any, k: int = 2) -> Any:
        return x * k, {"a": x}

    trace = f.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert [each.name for each in trace.inputs] == ["x:0"]
    assert trace.output_dtypes == (tf.float32, {"a": tf.float32})
    assert _run(trace(tf.constant(2.0))) == (4.0, {"a": 2.0})
    assert _run(trace(x=tf.constant(2.0)))[0] == 4.0
    with pytest.raises(TypeError, match=r"Expected at most 1 positional arguments \(and the rest keywords, of \['x'\]\)"):
        trace(tf.constant(1.0), tf.constant(1.0))
    with pytest.raises(TypeError, match="Missing"):
        trace()
    with pytest.raises(TypeError, match="unexpected keyword"):
        trace(z=tf.constant(1.0))


def test_shapes_are_relaxed_on_demand() -> None:
    shapes: list[Any] = []

    @tf.function(experimental_relax_shapes=True)
    def f(x: Any) -> Any:
        shapes.append(x.shape.as_list())
        return tf.reduce_sum(x)

    for size in range(1, 6):
        f(tf.ones([size]))
    assert shapes == [[1], [2], [None]]


def test_without_autograph_a_condition_is_refused() -> None:
    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        return x if x > 0 else -x

    with pytest.raises(TypeError, match="is not allowed: AutoGraph is disabled in this function"):
        f(tf.constant(1))


def test_loops_over_datasets_reduce_them() -> None:
    @tf.function
    def total() -> Any:
        s = tf.constant(0, tf.int64)
        for i, (a, b) in enumerate(zip(tf.data.Dataset.range(5), tf.data.Dataset.range(5), strict=False)):
            s += a * b + i
        return s

    @tf.function
    def until() -> Any:
        s = tf.constant(0, tf.int64)
        for a in tf.data.Dataset.range(5).repeat():
            if a > 2:
                break
            s += a
        return s

    assert _run([total(), until()]) == [40, 3]


def test_methods_keep_their_object() -> None:
    class Scale:
        def __init__(self, k: int) -> None:
            self.k = k

        @tf.function
        def by(self, x: Any) -> Any:
            if x > 0:
                return x * self.k
            return x

    two, three = Scale(2), Scale(3)
    assert _run([two.by(tf.constant(2)), three.by(tf.constant(2)), two.by(tf.constant(-2))]) == [4, 6, -2]


def test_calls_stand_in_bodies_and_datasets() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x > 1:
            return x
        return -x

    made = tf.data.Dataset.range(3).map(f).batch(3)
    chosen = tf.cond(tf.constant(True), lambda: f(tf.constant(5)), lambda: tf.constant(0))
    looped = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + f(i)), [0, 0])[1]
    assert _run(tf.data.make_one_shot_iterator(made).get_next()).tolist() == [0, -1, 2]
    assert _run([chosen, looped]) == [5, 1]


def test_former_names() -> None:
    assert tf.contrib.eager.function is tf.function

    @tf.contrib.eager.defun
    def f(x: Any) -> Any:
        if x > 0:
            return x
        return -x

    assert _run(f(tf.constant(-1))) == 1
    assert f.get_initialization_function(tf.constant(2))() is None


def _summed(numbers: Any) -> Any:
    total = tf.constant(0)
    for number in numbers:
        total = total + number
    return total


class Summing(tf.Module):
    @tf.function
    def total(self, numbers: Any) -> Any:
        return _summed(numbers)

    @tf.function(autograph=False)
    def __call__(self, numbers: Any) -> Any:
        return self.total(numbers)


def test_a_function_is_translated_that_one_without_translation_calls() -> None:
    summed = tf.function(_summed)
    callers = [
        tf.function(lambda numbers: summed(numbers), autograph=False),
        tf.autograph.experimental.do_not_convert(lambda numbers: summed(numbers)),
        Summing(),
    ]
    numbers = tf.constant([1, 2, 3])
    with tf.Session() as session:
        assert session.run([caller(numbers) for caller in callers]) == [6, 6, 6]
