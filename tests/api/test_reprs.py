"""What an object says of itself in a shell: which one it is, and what state it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _graph() -> None:
    tf.reset_default_graph()


def test_a_session_tells_its_target_its_graph_and_whether_it_is_closed() -> None:
    sess = tf.Session()
    assert repr(sess).startswith("<tf.Session in this process of graph ")
    sess.close()
    assert repr(sess).endswith(", closed>")


def test_a_server_tells_its_task_its_address_and_its_state() -> None:
    server = tf.train.Server({"ps": ["localhost:0"]})
    assert repr(server) == f"<tf.train.Server /job:ps/replica:0/task:0 at {server.target}, started>"
    server.stop()
    assert repr(server).endswith(", stopped>")


def test_a_queue_tells_its_name_and_its_elements() -> None:
    queue = tf.FIFOQueue(3, [tf.int32, tf.string], [[], [2]], name="jobs")
    assert repr(queue) == "<tf.FIFOQueue 'jobs' of int32 (), string (2,)>"


def test_an_optimizer_tells_its_rate() -> None:
    assert repr(tf.train.AdamOptimizer(0.01)) == "<tf.train.AdamOptimizer 'Adam' learning_rate=0.01>"
    assert repr(tf.train.GradientDescentOptimizer(lambda: 0.5)) == (
        "<tf.train.GradientDescentOptimizer 'GradientDescent' learning_rate=0.5>"
    )


def test_a_saver_tells_what_it_has_saved(tmp_path: Path) -> None:
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver([v], max_to_keep=3)
    assert repr(saver) == "<tf.train.Saver max_to_keep=3, saved: []>"
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "model"))
    assert repr(saver) == f"<tf.train.Saver max_to_keep=3, saved: [{path!r}]>"


def test_a_coordinator_tells_why_it_stops() -> None:
    coord = tf.train.Coordinator()
    assert repr(coord) == "<tf.train.Coordinator running, 0 registered threads>"
    coord.request_stop(ValueError("bad line"))
    assert "asked to stop by ValueError('bad line')" in repr(coord)


def test_a_hook_tells_its_settings() -> None:
    assert repr(tf.train.StopAtStepHook(last_step=5)) == "<tf.train.StopAtStepHook last_step=5>"


def test_an_estimator_tells_its_folder(tmp_path: Path) -> None:
    estimator = tf.estimator.Estimator(lambda features: None, model_dir=str(tmp_path))
    assert repr(estimator) == f"<tf.estimator.Estimator of {tmp_path}>"


def test_a_notebook_shows_a_cluster_as_a_table() -> None:
    shown = tf.train.ClusterSpec({"ps": ["a:1"], "worker": {0: "b:2", 2: "<c>:3"}})._repr_html_()
    assert "<tr><td>/job:worker/task:2</td><td>&lt;c&gt;:3</td></tr>" in shown
    assert shown.count("<tr>") == 4


_PRINTED = {
    "tf.layers.Dense(3, tf.nn.relu, name='logits')": "<tf.layers.Dense 'logits' units=3 activation=relu, not built>",
    "called(tf.layers.Dense(3, name='called'))": "<tf.layers.Dense 'called' units=3, 15 parameters>",
    "tf.layers.Conv2D(8, 3, padding='same')": (
        "<tf.layers.Conv2D 'conv2d_1' filters=8 kernel_size=(3, 3) padding='same', not built>"
    ),
    "tf.keras.layers.Dense(3, name='d')": "<tf.keras.layers.Dense 'd' units=3, not built>",
    "Own(name='own')": "<Own 'own', not built>",
    "tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(4,))], name='m')": (
        "<tf.keras.Sequential 'm', 1 layers, 10 parameters>"
    ),
    "tf.keras.metrics.Mean(name='mean')": "<tf.keras.metrics.Mean 'mean'>",
    "tf.keras.optimizers.SGD(0.1)": "<tf.keras.optimizers.SGD decay=0.0 learning_rate=0.1 momentum=0.0>",
    "tf.keras.callbacks.EarlyStopping(patience=3)": "<tf.keras.callbacks.EarlyStopping patience=3>",
    "tf.keras.regularizers.l2(0.5)": "<tf.keras.regularizers.L1L2 l1=0.0 l2=0.5>",
    "tf.nn.rnn_cell.LSTMCell(8)": "<tf.contrib.rnn.LSTMCell 'lstm_cell_1' num_units=8 activation=tanh, not built>",
    "tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), 0.5)": (
        "<tf.contrib.rnn.DropoutWrapper 'dropout_wrapper_1' cell=GRUCell 'gru_cell_1' input_keep_prob=0.5, not built>"
    ),
    "tf.zeros_initializer()": "<tf.initializers.zeros>",
    "tf.random_normal_initializer(stddev=0.1)": "<tf.initializers.random_normal stddev=0.1>",
    "tf.TextLineReader(name='lines')": "<tf.TextLineReader of 'lines'>",
    "tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name='ids')": (
        "<tf.contrib.lookup.MutableHashTable 'ids' default_value=Const:0, string -> int64>"
    ),
    "tf.get_variable_scope()": "<tf.VariableScope>",
    "scope_of('a', reuse=tf.AUTO_REUSE)": "<tf.VariableScope 'a' reuse=AUTO_REUSE>",
    "tf.estimator.RunConfig(model_dir='m', save_checkpoints_steps=10)": (
        "<tf.estimator.RunConfig model_dir='m' save_checkpoints_steps=10, task worker:0>"
    ),
    "tf.train.Checkpoint(v=tf.Variable(1.0, name='v'))": "<tf.train.Checkpoint of v=v:0>",
    "tf.train.CheckpointManager(tf.train.Checkpoint(), 'none', 3)": (
        "<tf.train.CheckpointManager checkpoint=<tf.train.Checkpoint of nothing yet> directory='none' max_to_keep=3, "
        "latest None>"
    ),
    "tf.train.Supervisor()": "<tf.train.Supervisor, chief, running>",
    "tf.train.ExponentialMovingAverage(0.99, name='ema')": "<tf.train.ExponentialMovingAverage 'ema' decay=0.99>",
    "tf.train.SecondOrStepTimer(every_steps=3)": "<tf.train.SecondOrStepTimer every_steps=3>",
    "tf.contrib.distributions.bijectors.Exp()": "<tf.contrib.distributions.bijectors.Exp 'exp'>",
    "tf.linalg.LinearOperatorIdentity(3)": "<tf.linalg.LinearOperatorIdentity 'LinearOperatorIdentity'>",
}


@pytest.mark.parametrize("made", _PRINTED)
def test_an_object_tells_what_it_was_made_with(made: str) -> None:
    class Own(tf.keras.layers.Layer):
        pass

    def called(layer: tf.layers.Layer) -> tf.layers.Layer:
        layer(tf.ones([2, 4]))
        return layer

    def scope_of(*args: object, **kwargs: object) -> tf.VariableScope:
        with tf.variable_scope(*args, **kwargs) as scope:
            return scope

    tf.keras.backend.clear_session()
    assert repr(eval(made, {"tf": tf, "Own": Own, "called": called, "scope_of": scope_of})) == _PRINTED[made]


def test_a_file_writer_tells_where_it_writes_and_that_it_is_closed(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    assert repr(writer) == f"<tf.summary.FileWriter logdir={str(tmp_path)!r}>"
    writer.close()
    assert repr(writer).endswith(", closed>")


def test_a_training_session_tells_its_hooks_and_its_end() -> None:
    with tf.train.SingularMonitoredSession() as session:
        assert repr(session) == "<tf.train.SingularMonitoredSession 0 hooks>"
    assert repr(session) == "<tf.train.SingularMonitoredSession 0 hooks, closed>"


def _public(name: str) -> object:
    found: object = tf
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


# Classes that a program prints no object of: lists of constants, decorators, contexts.
_BARE = 40


def test_objects_are_no_bare_addresses() -> None:
    names = (Path(__file__).parents[1] / "public_api.txt").read_text(encoding="utf-8").split()
    kinds = {kind for name in names if isinstance(kind := _public(name), type)}
    bare = {kind.__qualname__ for kind in kinds if kind.__module__.startswith("weft.") and kind.__repr__ is object.__repr__}
    assert len(bare) <= _BARE, sorted(bare)


def test_a_notebook_shows_a_model_as_a_table_of_layers() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, name="first"), tf.keras.layers.Dense(3, name="second")], name="m")
    assert "<td>first (Dense)</td><td></td><td>not built</td>" in model._repr_html_()
    model.build((None, 4))
    assert "<td>m</td><td></td><td>19 in all</td>" in model._repr_html_()
    assert "<td>second (Dense)</td><td>multiple</td><td>9</td>" in model._repr_html_()
