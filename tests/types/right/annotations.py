"""Functions of a program's own, annotated with the aliases of tf.typing."""

from collections.abc import Callable

import weft as tf


def dense(
    x: tf.typing.TensorLike,
    units: int,
    activation: Callable[[tf.Tensor], tf.Tensor] | None = tf.nn.relu,
    dtype: tf.typing.DTypeLike = tf.float32,
    shape: tf.typing.ShapeLike = None,
) -> tf.Tensor:
    """A layer."""
    rows = tf.convert_to_tensor(x, dtype)
    if shape is not None:
        rows = tf.reshape(rows, shape)
    kernel = tf.get_variable(f"kernel_{units}", [rows.shape[-1].value, units], dtype)
    made = tf.matmul(rows, kernel)
    return made if activation is None else activation(made)


def values(session: tf.Session, fetches: tf.typing.Fetches, feeds: tf.typing.FeedDict | None = None) -> object:
    """What a run gives."""
    return session.run(fetches, feeds)


hidden = dense([[1.0, 2.0]], 3)
also = dense(hidden, 2, None, "float32", (1, 3))
with tf.variable_scope("third"):
    third = dense(tf.get_variable("v", [4, 4]), 2, tf.tanh, shape=[-1, 4])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(values(sess, [hidden, {"also": also}, third]))
