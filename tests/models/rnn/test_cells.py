"""Recurrent cells against their equations in NumPy, their variables' names, and the wrappers around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf

BATCH, SIZE, UNITS = 3, 4, 2


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        yield


def _inputs(steps: int = 1) -> Any:
    return np.random.RandomState(0).randn(steps, BATCH, SIZE).astype(np.float32)


def _run(*fetches: Any) -> tuple[list[Any], dict[str, Any]]:
    variables = tf.global_variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values, held = session.run([list(fetches), variables])
    return values, {variable.op.name: value for variable, value in zip(variables, held, strict=True)}


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def test_the_plain_cell_is_its_equation() -> None:
    x = _inputs()[0]
    cell = tf.nn.rnn_cell.BasicRNNCell(UNITS)
    state = tf.ones([BATCH, UNITS])
    (output, new_state), held = _run(*cell(tf.constant(x), state))
    expected = np.tanh(np.hstack([x, np.ones((BATCH, UNITS))]) @ held["basic_rnn_cell/kernel"] + held["basic_rnn_cell/bias"])
    np.testing.assert_allclose(output, expected, rtol=1e-5)
    np.testing.assert_array_equal(output, new_state)


def test_a_gru_is_its_equations() -> None:
    x, h = _inputs()[0], np.full((BATCH, UNITS), 0.5, np.float32)
    cell = tf.nn.rnn_cell.GRUCell(UNITS)
    (output, _), held = _run(*cell(tf.constant(x), tf.constant(h)))
    assert held["gru_cell/gates/bias"].tolist() == [1.0] * 4
    assert held["gru_cell/candidate/bias"].tolist() == [0.0] * 2
    reset, update = np.split(_sigmoid(np.hstack([x, h]) @ held["gru_cell/gates/kernel"] + 1), 2, axis=1)
    candidate = np.tanh(np.hstack([x, reset * h]) @ held["gru_cell/candidate/kernel"])
    np.testing.assert_allclose(output, update * h + (1 - update) * candidate, rtol=1e-5)


@pytest.mark.parametrize("kind", ["BasicLSTMCell", "LSTMCell"])
def test_an_lstm_is_its_equations(kind: str) -> None:
    x = _inputs()[0]
    c, h = np.full((BATCH, UNITS), 0.3, np.float32), np.full((BATCH, UNITS), -0.2, np.float32)
    cell = getattr(tf.nn.rnn_cell, kind)(UNITS, forget_bias=0.7)
    state = tf.nn.rnn_cell.LSTMStateTuple(tf.constant(c), tf.constant(h))
    (output, new_state), held = _run(*cell(tf.constant(x), state))
    scope = "basic_lstm_cell" if kind == "BasicLSTMCell" else "lstm_cell"
    i, j, f, o = np.split(np.hstack([x, h]) @ held[f"{scope}/kernel"] + held[f"{scope}/bias"], 4, axis=1)
    expected = c * _sigmoid(f + 0.7) + _sigmoid(i) * np.tanh(j)
    np.testing.assert_allclose(new_state.c, expected, rtol=1e-5)
    np.testing.assert_allclose(output, np.tanh(expected) * _sigmoid(o), rtol=1e-5)
    np.testing.assert_array_equal(new_state.h, output)


def test_an_lstm_has_peepholes_projection_and_limits() -> None:
    x = _inputs()[0]
    cell = tf.nn.rnn_cell.LSTMCell(UNITS, use_peepholes=True, num_proj=5, cell_clip=0.1, proj_clip=0.01)
    assert cell.state_size == (UNITS, 5)
    (output, state), held = _run(*cell(tf.constant(x), cell.zero_state(BATCH, tf.float32)))
    names = ["bias", "kernel", "projection/kernel", "w_f_diag", "w_i_diag", "w_o_diag"]
    assert sorted(held) == [f"lstm_cell/{name}" for name in names]
    i, j, _, o = np.split(np.hstack([x, np.zeros((BATCH, 5))]) @ held["lstm_cell/kernel"], 4, axis=1)
    c = np.clip(_sigmoid(i) * np.tanh(j), -0.1, 0.1)
    h = _sigmoid(o + held["lstm_cell/w_o_diag"] * c) * np.tanh(c)
    np.testing.assert_allclose(state.c, c, rtol=1e-5)
    np.testing.assert_allclose(output, np.clip(h @ held["lstm_cell/projection/kernel"], -0.01, 0.01), rtol=1e-5)


def test_a_state_may_be_one_tensor() -> None:
    cell = tf.nn.rnn_cell.BasicLSTMCell(UNITS, state_is_tuple=False)
    assert cell.state_size == 2 * UNITS
    _, state = cell(tf.constant(_inputs()[0]), cell.zero_state(BATCH, tf.float32))
    assert state.shape.as_list() == [BATCH, 2 * UNITS]


def test_a_second_call_uses_the_same_variables_and_another_cell_has_its_own() -> None:
    x = tf.constant(_inputs()[0])
    first, second = tf.nn.rnn_cell.BasicRNNCell(UNITS), tf.nn.rnn_cell.BasicRNNCell(UNITS)
    _, state = first(x, first.zero_state(BATCH, tf.float32))
    first(x, state)
    second(x, state)
    names = [variable.op.name for variable in tf.trainable_variables()]
    assert names == ["basic_rnn_cell/kernel", "basic_rnn_cell/bias", "basic_rnn_cell_1/kernel", "basic_rnn_cell_1/bias"]
    assert [variable.op.name for variable in first.variables] == names[:2]


def test_cells_on_top_of_each_other_are_numbered() -> None:
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(UNITS), tf.nn.rnn_cell.GRUCell(3)])
    assert cell.output_size == 3
    inputs = tf.unstack(tf.constant(_inputs(2)))
    outputs, state = tf.nn.static_rnn(cell, inputs, dtype=tf.float32)
    assert len(outputs) == 2
    assert isinstance(state[0], tf.nn.rnn_cell.LSTMStateTuple)
    assert [variable.op.name for variable in tf.trainable_variables()] == [
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel",
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/bias",
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel",
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/bias",
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel",
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/bias",
    ]


def test_the_zero_state_of_a_batch_of_unknown_size_has_it_open() -> None:
    x = tf.placeholder(tf.float32, [None, SIZE])
    state = tf.nn.rnn_cell.BasicLSTMCell(UNITS).zero_state(tf.shape(x)[0], tf.float32)
    assert state.c.shape.as_list() == [None, UNITS]
    with tf.Session() as session:
        assert session.run(state, {x: np.zeros((7, SIZE))}).h.shape == (7, UNITS)


def test_dropout_drops_outputs_alone_when_asked_to_and_nothing_at_one() -> None:
    x = tf.ones([100, SIZE])
    cell = tf.nn.rnn_cell.BasicRNNCell(UNITS)
    plain, _ = cell(x, cell.zero_state(100, tf.float32))
    same, _ = tf.nn.rnn_cell.DropoutWrapper(cell)(x, cell.zero_state(100, tf.float32))
    half, state = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=0.5, seed=3)(x, cell.zero_state(100, tf.float32))
    (a, b, c, s), _ = _run(plain, same, half, state)
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(s, a)
    assert 0.3 < np.mean(c == 0) < 0.7
    np.testing.assert_allclose(c[c != 0], (2 * a)[c != 0], rtol=1e-6)


def test_the_memory_of_an_lstm_is_not_dropped() -> None:
    cell = tf.nn.rnn_cell.BasicLSTMCell(20)
    x = tf.ones([50, SIZE])
    _, state = tf.nn.rnn_cell.DropoutWrapper(cell, state_keep_prob=0.5)(x, cell.zero_state(50, tf.float32))
    (value,), _ = _run(state)
    assert np.all(value.c != 0)
    assert np.any(value.h == 0)


def test_variational_dropout_drops_the_same_at_every_step() -> None:
    cell = tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.BasicRNNCell(30), output_keep_prob=0.5, variational_recurrent=True, dtype=tf.float32
    )
    outputs, _ = tf.nn.static_rnn(cell, tf.unstack(tf.constant(_inputs(3))), dtype=tf.float32)
    (values,), _ = _run(outputs)
    dropped = [value == 0 for value in values]
    assert dropped[0].any()
    np.testing.assert_array_equal(dropped[0], dropped[2])


def test_a_keep_probability_is_one() -> None:
    with pytest.raises(ValueError, match="output_keep_prob must be between 0 and 1"):
        tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicRNNCell(2), output_keep_prob=1.5)


def test_a_residual_cell_adds_its_inputs() -> None:
    cell = tf.nn.rnn_cell.BasicRNNCell(SIZE)
    x = tf.constant(_inputs()[0])
    plain, _ = cell(x, cell.zero_state(BATCH, tf.float32))
    added, _ = tf.nn.rnn_cell.ResidualWrapper(cell)(x, cell.zero_state(BATCH, tf.float32))
    (a, b), _ = _run(plain, added)
    np.testing.assert_allclose(b, a + _inputs()[0], rtol=1e-5)


def test_a_device_cell_is_placed() -> None:
    cell = tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.BasicRNNCell(2), "/job:worker/task:1")
    output, _ = cell(tf.constant(_inputs()[0]), cell.zero_state(BATCH, tf.float32))
    assert output.device == "/job:worker/task:1"


def test_sequences_end_where_their_lengths_say() -> None:
    cell = tf.nn.rnn_cell.BasicRNNCell(UNITS)
    inputs = tf.unstack(tf.constant(_inputs(3)))
    outputs, state = tf.nn.static_rnn(cell, inputs, dtype=tf.float32, sequence_length=[0, 1, 3])
    (values, last), _ = _run(outputs, state)
    assert not values[0][0].any()
    assert not last[0].any()
    assert not values[1][1].any()
    np.testing.assert_array_equal(last[1], values[0][1])
    np.testing.assert_array_equal(last[2], values[2][2])


def test_two_directions_are_side_by_side() -> None:
    forward, backward = tf.nn.rnn_cell.BasicRNNCell(UNITS), tf.nn.rnn_cell.BasicRNNCell(UNITS)
    inputs = tf.unstack(tf.constant(_inputs(3)))
    outputs, state, state_bw = tf.nn.static_bidirectional_rnn(forward, backward, inputs, dtype=tf.float32)
    (values, last, first), held = _run(outputs, state, state_bw)
    assert values[0].shape == (BATCH, 2 * UNITS)
    np.testing.assert_array_equal(values[2][:, :UNITS], last)
    np.testing.assert_array_equal(values[0][:, UNITS:], first)
    assert "bidirectional_rnn/bw/basic_rnn_cell/kernel" in held


def test_cells_of_older_programs_are_their_call() -> None:
    class Doubling(tf.nn.rnn_cell.RNNCell):  # type: ignore[misc]
        state_size = output_size = SIZE

        def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
            return 2 * inputs, state + 1

    outputs, state = tf.contrib.rnn.static_rnn(Doubling(), tf.unstack(tf.constant(_inputs(2))), dtype=tf.float32)
    (values, last), _ = _run(outputs, state)
    np.testing.assert_array_equal(values[1], 2 * _inputs(2)[1])
    assert (last == 2).all()


def test_gradients_reach_the_variables_through_all_steps() -> None:
    cell = tf.nn.rnn_cell.BasicLSTMCell(UNITS)
    outputs, _ = tf.nn.static_rnn(cell, tf.unstack(tf.constant(_inputs(3))), dtype=tf.float32)
    gradients = tf.gradients(tf.reduce_sum(outputs[-1]), tf.trainable_variables())
    values, _ = _run(*gradients)
    assert all(np.abs(value).sum() > 0 for value in values)


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [([], ValueError, "must not be empty"), (3, TypeError, "must be a sequence")],
)
def test_inputs_are_checked(inputs: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tf.nn.static_rnn(tf.nn.rnn_cell.BasicRNNCell(2), inputs, dtype=tf.float32)


def test_a_cell_is_needed_and_a_type_or_a_state() -> None:
    inputs = tf.unstack(tf.constant(_inputs(2)))
    with pytest.raises(TypeError, match="is not an RNNCell"):
        tf.nn.static_rnn(lambda x, s: (x, s), inputs, dtype=tf.float32)
    with pytest.raises(ValueError, match="dtype must be specified"):
        tf.nn.static_rnn(tf.nn.rnn_cell.BasicRNNCell(2), inputs)


class _Scaling(tf.nn.rnn_cell.RNNCell):
    """Its variables are made with the arguments of layers' ones, by position as TensorFlow's come."""

    state_size = output_size = 2

    def build(self, inputs_shape: Any) -> None:
        self.scale = self.add_weight("scale", [2], tf.float64, tf.ones_initializer(), tf.reduce_sum)
        self.offset = self.add_variable("offset", [2], trainable=False, use_resource=True, constraint=tf.abs)

    def call(self, inputs: Any, state: Any) -> Any:
        self.add_loss(tf.reduce_sum(inputs))
        self.add_update(self.offset.assign_add([1.0, 1.0]))
        return inputs * tf.cast(self.scale, tf.float32) + self.offset, state


def test_variables_of_a_cell_are_made_as_those_of_layers() -> None:
    cell, x = _Scaling(name="scaling"), tf.ones([3, 2])
    cell(x, tf.zeros([3, 2]))
    assert cell.scale.dtype.base_dtype == tf.float64
    assert cell.trainable_variables == [cell.scale] == tf.trainable_variables()
    assert cell.non_trainable_variables == [cell.offset]
    assert cell.offset.op.type == "VarHandleOp"
    # The names and their order are those of TensorFlow 1.15.5.
    losses = tf.losses.get_regularization_losses()
    assert [each.op.name for each in losses] == ["scaling/scale/Regularizer/Sum", "scaling/Sum"]
    assert set(cell.losses) == set(losses)
    assert cell.get_losses_for(x) == [losses[1]]
    assert len(cell.updates) == 1


def test_a_cell_that_was_built_is_not_built_again() -> None:
    cells = (tf.nn.rnn_cell.LSTMCell(3), tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.BasicRNNCell(3))
    for cell, scope in zip(cells, ("lstm_cell", "gru_cell", "basic_rnn_cell"), strict=True):
        cell.build([2, 4])
        names = [each.op.name for each in cell.variables]
        assert names
        assert all(name.startswith(f"{scope}/") for name in names)
        cell(tf.ones([2, 4]), cell.zero_state(2, tf.float32))
        assert [each.op.name for each in cell.variables] == names
    several = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3)])
    several.build(tf.TensorShape([2, 4]))
    several(tf.ones([2, 4]), several.zero_state(2, tf.float32))
    assert several.variables[0].op.name == "multi_rnn_cell/cell_0/gru_cell/gates/kernel"


@pytest.mark.parametrize(
    ("batch", "dtype", "text"),
    [
        (50, None, "batch size from input tensor is different from the input param"),
        ("constant", None, "batch size from input tensor is different from the input param"),
        (None, tf.int16, "dtype from input tensor is different from the input param"),
    ],
)
def test_the_first_state_is_of_the_inputs_batch_and_type(batch: int | str | None, dtype: tf.DType | None, text: str) -> None:
    cell, inputs = tf.nn.rnn_cell.BasicRNNCell(5), tf.placeholder(tf.float32, [None, 4])
    with pytest.raises(ValueError, match=text):
        cell.get_initial_state(inputs, tf.constant(50) if batch == "constant" else batch, dtype)
    assert cell.get_initial_state(inputs, tf.shape(inputs)[0], tf.float32).shape == [None, 5]


def test_a_getter_that_makes_no_trained_variables_leaves_a_cell_with_none() -> None:
    def fixed(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return getter(*args, **{**kwargs, "trainable": False})

    with tf.variable_scope("root", custom_getter=fixed):
        cell = tf.nn.rnn_cell.BasicRNNCell(2)
        cell(tf.zeros([1, 2]), tf.zeros([1, 2]))
    assert cell.trainable_variables == []
    assert [each.op.name for each in cell.non_trainable_variables] == ["root/basic_rnn_cell/kernel", "root/basic_rnn_cell/bias"]
