"""Expectations over samples. The values are TensorFlow 1.15.5's, and so are the numbers of nodes."""

from __future__ import annotations

import pytest

import weft as tf

monte_carlo = tf.contrib.bayesflow.monte_carlo


def normal(loc=1.0, scale=2.0):
    return tf.contrib.distributions.Normal(loc, scale)


def value_of(tensor):
    with tf.Session() as session:
        return session.run(tensor)


def of_samples(loc, **options):
    distribution = normal(loc)
    samples = distribution.sample(100, seed=3)
    return monte_carlo.expectation(tf.square, samples, distribution.log_prob, **options)


def test_an_expectation_is_the_mean_over_samples() -> None:
    tf.set_random_seed(1)
    mean = of_samples(1.0)
    assert (mean.op.name, tf.get_seed(None)[1]) == ("expectation/Mean", 28)
    assert value_of(mean) == pytest.approx(4.7729, abs=1e-4)
    values = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert value_of(monte_carlo.expectation(tf.identity, values)).tolist() == [2.0, 3.0]
    assert value_of(monte_carlo.expectation(tf.identity, values, axis=[0, 1], keep_dims=True)).tolist() == [[2.5]]


@pytest.mark.parametrize(("through_samples", "slope"), [(True, 2.2037), (False, 1.6394)])
def test_its_gradient_is_through_the_samples_or_through_their_density(through_samples: bool, slope: float) -> None:
    tf.set_random_seed(1)
    loc = tf.constant(1.0)
    mean = of_samples(loc, use_reparametrization=through_samples)
    assert value_of(tf.gradients(mean, loc)[0]) == pytest.approx(slope, abs=1e-4)


GIVEN = [0.1, 0.5, 1.0]


def test_samples_of_another_distribution_are_weighted() -> None:
    found = monte_carlo.expectation_importance_sampler(tf.square, normal().log_prob, normal(0.0, 1.5), tf.constant(GIVEN))
    assert value_of(found) == pytest.approx(0.3785, abs=1e-4)
    signed = monte_carlo.expectation_importance_sampler(
        lambda z: z - 1.0, normal().log_prob, normal(0.0, 1.5), tf.constant([0.1, 0.5, 3.0])
    )
    assert value_of(signed) == pytest.approx(1.909, abs=1e-3)
    logarithm = monte_carlo.expectation_importance_sampler_logspace(
        lambda z: tf.log(tf.square(z) + 1.0), normal().log_prob, normal(0.0, 1.5), tf.constant(GIVEN)
    )
    assert logarithm.op.name == "expectation_importance_sampler_logspace/add_2"
    assert value_of(logarithm) == pytest.approx(0.1598, abs=1e-4)


def test_samples_are_drawn_where_a_number_is_given() -> None:
    tf.set_random_seed(1)
    found = monte_carlo.expectation_importance_sampler(tf.square, normal().log_prob, normal(0.0, 1.5), n=50, seed=4)
    assert tf.get_seed(None)[1] == 83
    assert value_of(found) == pytest.approx(2.034, abs=1e-3)


def test_what_is_no_function_and_no_choice_of_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="`f` must be a callable function"):
        monte_carlo.expectation(3, tf.ones([3]))
    with pytest.raises(ValueError, match="`log_prob` must be a callable function"):
        monte_carlo.expectation(tf.square, tf.ones([3]), use_reparametrization=False)
    for choice in ({}, {"z": tf.constant([0.1]), "n": 3}):
        with pytest.raises(ValueError, match='Must specify exactly one of arguments "n" and "z"'):
            monte_carlo.expectation_importance_sampler(tf.square, normal().log_prob, normal(), **choice)
