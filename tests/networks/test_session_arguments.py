"""What functions of the backend and compiled models hand to each run: asked of TensorFlow 1.15, which does the same."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

keras = tf.keras
X, Y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield
    keras.backend.clear_session()


def _model(**kwargs: object):
    made = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
    made.compile("sgd", "mse", **kwargs)
    return made


def test_runs_of_a_compiled_model_are_traced_where_their_options_say_so() -> None:
    metadata = tf.RunMetadata()
    model = _model(options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    for run in (lambda: model.fit(X, Y, verbose=0), lambda: model.evaluate(X, Y, verbose=0), lambda: model.predict(X)):
        metadata.Clear()
        run()
        assert metadata.step_stats.dev_stats


def test_further_fetches_run_once_with_each_batch() -> None:
    count = tf.Variable(0.0, trainable=False)
    added = tf.assign_add(count, 1.0)
    model = _model(fetches=[added])
    session = keras.backend.get_session()
    for run, expected in [
        (lambda: model.fit(X, Y, 2, verbose=0), 2), (lambda: model.evaluate(X, Y, 2, 0), 2), (lambda: model.predict(X, 2), 2),
        (lambda: model.train_on_batch(X, Y), 1),
    ]:  # fmt: skip
        session.run(count.initializer)
        run()
        assert session.run(count) == expected


def test_a_function_feeds_and_fetches_what_it_was_made_with() -> None:
    x, factor = tf.placeholder(tf.float32, [None]), tf.placeholder_with_default(2.0, [])
    (made,) = keras.backend.function([x], [x * factor], feed_dict={factor: 5.0})([np.ones(2)])
    np.testing.assert_array_equal(made, [5.0, 5.0])


def test_other_arguments_are_refused() -> None:
    x = tf.placeholder(tf.float32)
    with pytest.raises(ValueError, match=r'Invalid argument "foo" passed to K\.function with TensorFlow backend'):
        keras.backend.function([x], [x], foo=3)
    with pytest.raises(TypeError, match="`updates` in a Keras backend function should be a list or tuple"):
        keras.backend.function([x], [x], updates=3)
    # TensorFlow refuses it in the first `fit`.
    with pytest.raises(ValueError, match=r'Invalid argument "foo" passed to K\.function .* by `compile` of .*: it takes'):
        _model(foo=3)
