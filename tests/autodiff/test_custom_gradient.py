"""custom_gradient: the function that a program gives is the gradient."""

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default():
        yield


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def test_the_given_gradient_is_used():
    @tf.custom_gradient
    def clipped(x):
        """Its own docstring."""
        return x * x, lambda grad: grad * 100.0

    x = tf.constant(3.0)
    y = clipped(x)
    assert clipped.__doc__ == "Its own docstring."
    assert run([y, tf.gradients(y, x)[0]]) == [9.0, 100.0]


def test_several_arguments_and_results():
    @tf.custom_gradient
    def both(a, b):
        def grad(da, db):
            return da * 2.0, db * 3.0

        return (a + b, a - b), grad

    a, b = tf.constant(5.0), tf.constant(1.0)
    total, difference = both(a, b)
    assert run([total, difference]) == [6.0, 4.0]
    assert run(tf.gradients([total, difference], [a, b])) == [2.0, 3.0]


def test_python_numbers_become_tensors():
    @tf.custom_gradient
    def doubled(x):
        return x + x, lambda grad: grad

    assert run(doubled(4.0)) == 8.0


def test_nothing_flows_through_the_functions_own_ops():
    @tf.custom_gradient
    def constant(x):
        return tf.exp(x), lambda grad: tf.zeros_like(grad)

    x = tf.constant(1.0)
    assert run(tf.gradients(constant(x) + x, x)) == [1.0]


def test_keywords_are_refused():
    @tf.custom_gradient
    def same(x):
        return x, lambda grad: grad

    with pytest.raises(ValueError, match="keywords arguments only when eager"):
        same(x=tf.constant(1.0))


def test_variables_made_inside_must_be_resource_variables():
    @tf.custom_gradient
    def scaled(x):
        scale = tf.get_variable("scale", [])
        return x * scale, lambda grad, variables=None: (grad, [grad])

    with pytest.raises(TypeError, match=r"All variables used by a function wrapped .* scaled made scale:0"):
        scaled(tf.constant(1.0))
