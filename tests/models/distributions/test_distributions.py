"""Distributions have SciPy's densities, tails and moments, TensorFlow's scopes and checks, and gradients through samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import weft as tf
from weft.models.distributions.extremes import Gumbel

ds, contrib = tf.distributions, tf.contrib.distributions
_Make = Callable[[], "tf.distributions.Distribution"]

# A distribution, SciPy's of the same parameters, and values in its support that broadcast with the batch.
CONTINUOUS: dict[str, tuple[_Make, object, list[object]]] = {
    "normal": (
        lambda: ds.Normal([0.5, -1.0], [1.0, 2.0]),
        stats.norm([0.5, -1.0], [1.0, 2.0]),
        [0.3, [-2.0, 1.0], [[0.0], [3.0]]],
    ),
    "uniform": (lambda: ds.Uniform([0.0, 1.0], 3.0), stats.uniform([0.0, 1.0], [3.0, 2.0]), [1.5, [0.5, 2.5]]),
    "gamma": (lambda: ds.Gamma([0.5, 2.0], [1.0, 3.0]), stats.gamma([0.5, 2.0], scale=[1.0, 1 / 3]), [0.7, [0.2, 1.5]]),
    "exponential": (lambda: ds.Exponential([1.0, 3.0]), stats.expon(scale=[1.0, 1 / 3]), [0.7, [0.2, 1.5]]),
    "beta": (lambda: ds.Beta([0.5, 2.0], 3.0), stats.beta([0.5, 2.0], 3.0), [0.3, [0.2, 0.7]]),
    "laplace": (lambda: ds.Laplace([0.5, 1.0], 2.0), stats.laplace([0.5, 1.0], 2.0), [0.3, [-9.0, 9.0]]),
    "gumbel": (lambda: Gumbel([0.5, 1.0], 2.0), stats.gumbel_r([0.5, 1.0], 2.0), [0.3, [-3.0, 9.0]]),
    "half normal": (lambda: contrib.HalfNormal([0.5, 2.0]), stats.halfnorm(scale=[0.5, 2.0]), [0.3, [0.1, 1.0]]),
    "inverse gamma": (
        lambda: contrib.InverseGamma([8.0, 9.0], [1.0, 2.0]),
        stats.invgamma([8.0, 9.0], scale=[1.0, 2.0]),
        [0.2, [0.1, 0.3]],
    ),
    "logistic": (lambda: contrib.Logistic([0.5, 1.0], 2.0), stats.logistic([0.5, 1.0], 2.0), [0.3, [-9.0, 9.0]]),
}
DISCRETE: dict[str, tuple[_Make, object, list[object]]] = {
    "bernoulli": (lambda: ds.Bernoulli(probs=[0.3, 0.6]), stats.bernoulli([0.3, 0.6]), [1, [0, 1], [[1.0], [0.0]]]),
    "geometric, counted from 0": (
        lambda: contrib.Geometric(probs=[0.3, 0.6]),
        stats.geom([0.3, 0.6], loc=-1),
        [1.0, [0.0, 5.0]],
    ),
    "negative binomial": (
        lambda: contrib.NegativeBinomial([3.0, 5.0], probs=[0.3, 0.6]),
        stats.nbinom([3.0, 5.0], [0.7, 0.4]),
        [1.0, [0.0, 5.0]],
    ),
    "poisson": (lambda: contrib.Poisson([0.7, 4.0]), stats.poisson([0.7, 4.0]), [1.0, [0.0, 5.0]]),
}
_FUNCTIONS = {"cdf": "cdf", "log_cdf": "logcdf", "survival_function": "sf", "log_survival_function": "logsf"}
_STATISTICS = {"mean": "mean", "variance": "var", "stddev": "std", "entropy": "entropy"}


def _run(fetches: object) -> object:
    with tf.Session() as session:
        return session.run(fetches)


def _same(found: dict[str, object], expected: dict[str, object]) -> None:
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=2e-5, atol=1e-6, err_msg=key)
        assert np.shape(found[key]) == np.shape(value), key


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_continuous_distribution_has_the_densities_tails_and_moments_of_scipy(name):
    make, reference, values = CONTINUOUS[name]
    made, fetches, expected = make(), {}, {}
    for at, value in enumerate(values):
        for ours, theirs in {"prob": "pdf", "log_prob": "logpdf", **_FUNCTIONS}.items():
            fetches[f"{ours} {at}"] = getattr(made, ours)(value)
            expected[f"{ours} {at}"] = getattr(reference, theirs)(value)
    for ours, theirs in _STATISTICS.items():
        fetches[ours], expected[ours] = getattr(made, ours)(), getattr(reference, theirs)()
    _same(_run(fetches), expected)


@pytest.mark.parametrize("name", DISCRETE)
def test_a_discrete_distribution_has_the_probabilities_and_moments_of_scipy(name):
    make, reference, values = DISCRETE[name]
    made, fetches, expected = make(), {}, {}
    for at, value in enumerate(values):
        for ours, theirs in {"prob": "pmf", "log_prob": "logpmf"}.items():
            fetches[f"{ours} {at}"] = getattr(made, ours)(value)
            expected[f"{ours} {at}"] = getattr(reference, theirs)(value)
    for ours in ("mean", "variance", "stddev"):
        fetches[ours], expected[ours] = getattr(made, ours)(), getattr(reference, _STATISTICS[ours])()
    _same(_run(fetches), expected)


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_samples_have_the_mean_and_the_spread_of_the_distribution(name):
    make, reference, _ = {**CONTINUOUS, **DISCRETE}[name]
    tf.set_random_seed(1)
    samples = make().sample(20000, seed=3)
    assert samples.shape == (20000, 2)
    drawn = _run(samples)
    std = reference.std()
    np.testing.assert_allclose(drawn.mean(0), reference.mean(), atol=0.05 * std.max())
    np.testing.assert_allclose(drawn.std(0), std, rtol=0.05)


def test_the_normal_tails_keep_their_digits_far_out_and_so_do_their_gradients():
    x = tf.constant([-40.0, -12.0, -3.0, 0.0, 2.0, 7.0])
    log_cdf = ds.Normal(0.0, 1.0).log_cdf(x)
    found, slope = _run([log_cdf, tf.gradients(log_cdf, x)[0]])
    points = np.array([-40.0, -12.0, -3.0, 0.0, 2.0, 7.0])
    np.testing.assert_allclose(found, stats.norm.logcdf(points), rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(slope, np.exp(stats.norm.logpdf(points) - stats.norm.logcdf(points)), rtol=1e-3, atol=1e-9)


def test_quantiles_at_the_ends_are_infinite_and_their_gradient_is_zero():
    p = tf.constant([-1.0, 0.0, 0.5, 1.0, 2.0, np.nan], tf.float64)
    found = ds.Normal(np.float64(0), np.float64(1)).quantile(p)
    values, slopes = _run([found, tf.gradients(found, p)[0]])
    np.testing.assert_array_equal(values, [-np.inf, -np.inf, 0, np.inf, np.inf, np.nan])
    np.testing.assert_allclose(slopes[:5], [0, 0, np.sqrt(2 * np.pi), 0, 0])


def test_quantiles_of_the_normal_invert_its_distribution_function():
    p = np.array([0.0, 0.001, 0.5, 0.9, 1.0], np.float32)
    np.testing.assert_allclose(_run(ds.Normal(1.0, 2.0).quantile(p)), stats.norm(1.0, 2.0).ppf(p), rtol=1e-5)


def test_a_categorical_distribution_knows_its_class_numbers():
    probs = np.array([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25]], np.float32)
    made = ds.Categorical(probs=probs)
    found = _run(
        {
            "of one": made.prob(1),
            "of each": made.log_prob([2, 0]),
            "of many": made.prob([[0, 1], [2, 2], [1, 0]]),
            "cdf": made.cdf([1, 2]),
            "entropy": made.entropy(),
            "mode": made.mode(),
            "classes": made.event_size,
            "sample": made.sample([4, 5], seed=2),
        }
    )
    expected = {
        "of one": probs[:, 1],
        "of each": np.log([0.3, 0.5]),
        "of many": [[0.1, 0.25], [0.3, 0.25], [0.6, 0.5]],
        # TensorFlow sums the classes before the value.
        "cdf": [0.1, 0.75],
        "entropy": stats.entropy(probs, axis=1),
        "mode": [1, 0],
        "classes": 3,
    }
    _same(found, expected)
    assert found["sample"].shape == (4, 5, 2)
    assert found["sample"].dtype == np.int32
    assert set(found["sample"].ravel()) <= {0, 1, 2}


def test_one_hot_vectors_have_the_probabilities_of_their_classes():
    probs = np.array([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25]], np.float32)
    made = contrib.OneHotCategorical(probs=probs)
    samples = made.sample(50, seed=1)
    drawn, of_second, mode, back = _run([samples, made.prob([0, 1, 0]), made.mode(), made.log_prob(samples)])
    assert drawn.shape == (50, 2, 3)
    np.testing.assert_array_equal(drawn.sum(-1), np.ones((50, 2)))
    np.testing.assert_allclose(of_second, probs[:, 1], rtol=1e-6)
    np.testing.assert_array_equal(mode, [[0, 1, 0], [1, 0, 0]])
    np.testing.assert_allclose(back, np.log((drawn * probs).sum(-1)), rtol=1e-5)


def test_a_policy_gradient_flows_through_log_prob_and_none_through_the_sampled_action():
    logits = tf.constant([[0.0, 1.0, 2.0]])
    policy = ds.Categorical(logits=logits)
    action = policy.sample(seed=1)
    gradient = tf.gradients(policy.log_prob(action), logits)[0]
    assert tf.gradients(tf.cast(action, tf.float32), logits) == [None]
    assert policy.reparameterization_type is ds.NOT_REPARAMETERIZED
    chosen, slope = _run([action, gradient])
    softmax = np.exp([0.0, 1.0, 2.0]) / np.exp([0.0, 1.0, 2.0]).sum()
    np.testing.assert_allclose(slope[0], np.eye(3)[chosen[0]] - softmax, rtol=1e-5)


def test_gradients_flow_through_reparameterized_samples():
    loc, scale = tf.constant([1.0, 2.0]), tf.constant([0.5, 3.0])
    normal = ds.Normal(loc, scale)
    sample = normal.sample(seed=4)
    by_loc, by_scale = tf.gradients(sample, [loc, scale])
    assert normal.reparameterization_type is ds.FULLY_REPARAMETERIZED
    drawn, loc_slope, scale_slope = _run([sample, by_loc, by_scale])
    np.testing.assert_allclose(loc_slope, [1.0, 1.0])
    np.testing.assert_allclose(scale_slope, (drawn - [1.0, 2.0]) / [0.5, 3.0], rtol=1e-4)


DIVERGENCES: dict[str, tuple[_Make, _Make, object]] = {
    "normal": (
        lambda: ds.Normal([0.0, 1.0], 1.0),
        lambda: ds.Normal(1.0, 2.0),
        [np.log(2.0) + 2.0 / 8.0 - 0.5, np.log(2.0) + 1.0 / 8.0 - 0.5],
    ),
    "categorical": (
        lambda: ds.Categorical(probs=[0.2, 0.8]),
        lambda: ds.Categorical(probs=[0.5, 0.5]),
        stats.entropy([0.2, 0.8], [0.5, 0.5]),
    ),
    "bernoulli": (lambda: ds.Bernoulli(probs=0.8), lambda: ds.Bernoulli(probs=0.5), stats.entropy([0.2, 0.8], [0.5, 0.5])),
}


_GAMMA_TO = np.log(3.0) - (1.0 - 1.0 / 3.0)
DIVERGENCES |= {
    # Exponential distributions, which are gamma distributions: log(a / b) + b / a - 1.
    "exponential": (lambda: ds.Exponential(3.0), lambda: ds.Gamma(1.0, 1.0), _GAMMA_TO),
    # Beta(2, 1) has the density 2 x: the mean of log(2 x) is log(2) - 1/2.
    "beta": (lambda: ds.Beta(2.0, 1.0), lambda: ds.Beta(1.0, 1.0), np.log(2.0) - 0.5),
    "dirichlet": (lambda: ds.Dirichlet([2.0, 1.0]), lambda: ds.Dirichlet([1.0, 1.0]), np.log(2.0) - 0.5),
    "vectors": (
        lambda: contrib.MultivariateNormalDiag([0.0, 1.0], [1.0, 1.0]),
        lambda: contrib.MultivariateNormalDiag([1.0, 1.0], [2.0, 2.0]),
        2.0 * np.log(2.0) + 3.0 / 8.0 - 1.0,
    ),
}


@pytest.mark.parametrize("name", DIVERGENCES)
def test_divergences_are_the_closed_forms_and_cross_entropy_adds_the_entropy(name):
    first, second, expected = DIVERGENCES[name]
    a, b = first(), second()
    by_method, by_function, itself, crossed, entropy = _run(
        [a.kl_divergence(b), ds.kl_divergence(a, b), a.kl_divergence(a), a.cross_entropy(b), a.entropy()]
    )
    np.testing.assert_allclose(by_method, expected, rtol=1e-5)
    np.testing.assert_array_equal(by_function, by_method)
    np.testing.assert_allclose(itself, np.zeros_like(by_method), atol=1e-6)
    np.testing.assert_allclose(crossed, entropy + by_method, rtol=1e-6)


def test_a_divergence_of_ones_own_serves_subclasses_and_is_registered_once():
    class Mine(ds.Normal):
        pass

    class Other(Mine):
        pass

    made = Mine(0.0, 1.0), Other(0.0, 1.0)
    assert _run(ds.kl_divergence(*made)) == 0.0

    @ds.RegisterKL(Mine, Mine)
    def fixed(a, b, name=None):
        return tf.constant(7.0, name=name)

    assert _run(ds.kl_divergence(*made)) == 7.0
    with pytest.raises(ValueError, match=r"KL\(Mine \|\| Mine\) has already been registered"):
        ds.RegisterKL(Mine, Mine)(fixed)
    with pytest.raises(TypeError, match="kl_fn must be callable"):
        ds.RegisterKL(Other, Mine)("no function")
    with pytest.raises(NotImplementedError, match="type Mine and distribution_b type Uniform"):
        ds.kl_divergence(made[0], ds.Uniform())


def test_a_divergence_that_is_nan_fails_where_nan_is_not_allowed():
    a, b = ds.Normal(0.0, 1.0, allow_nan_stats=False), ds.Normal(float("nan"), 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="returned NaN values"):
        _run(a.kl_divergence(b))


def test_vectors_have_the_densities_and_moments_of_scipy():
    weights, scale, means = np.array([1.0, 2.0, 3.5]), np.array([2.0, 1.0]), np.array([0.5, 1.0])
    proportions, at = [0.2, 0.3, 0.5], [0.3, 0.4]
    dirichlet, normal = ds.Dirichlet(np.float32(weights)), contrib.MultivariateNormalDiag(np.float32(means), np.float32(scale))
    dirichlet_of_scipy, normal_of_scipy = stats.dirichlet(weights), stats.multivariate_normal(means, np.diag(scale**2))
    whole = contrib.MultivariateNormalDiag(np.float32(means), scale_identity_multiplier=2.0)
    found = _run(
        [
            [made.log_prob(x), made.entropy(), made.mean(), made.variance(), made.covariance()]
            for made, x in ((dirichlet, proportions), (normal, at))
        ]
        + [[whole.log_prob(at)], [dirichlet.sample([4], seed=1), normal.sample([5, 4], seed=1)]]
    )
    expected = [
        [dirichlet_of_scipy.logpdf(proportions), dirichlet_of_scipy.entropy(), dirichlet_of_scipy.mean()],
        [normal_of_scipy.logpdf(at), normal_of_scipy.entropy(), means],
        [stats.multivariate_normal(means, 4.0 * np.eye(2)).logpdf(at)],
    ]
    expected[0] += [dirichlet_of_scipy.var(), dirichlet_of_scipy.cov()]
    expected[1] += [scale**2, np.diag(scale**2)]
    for ours, theirs in zip(found, expected, strict=False):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[3][0].sum(-1), np.ones(4), rtol=1e-6)
    assert found[3][1].shape == (5, 4, 2)
    with pytest.raises(ValueError, match="both are None"):
        contrib.MultivariateNormalDiag()


def test_a_mode_that_is_not_there_is_nan_or_an_error():
    np.testing.assert_allclose(_run(ds.Gamma([0.5, 3.0], 2.0).mode()), [np.nan, 1.0])
    np.testing.assert_allclose(_run(ds.Beta([0.5, 3.0], 2.0).mode()), [np.nan, 2.0 / 3.0], rtol=1e-6)
    np.testing.assert_allclose(_run(ds.Dirichlet([2.0, 3.0]).mode()), [1.0 / 3.0, 2.0 / 3.0], rtol=1e-6)
    # Its shape is behind an Identity, whose value TensorFlow does not tell while the graph is built.
    mode = ds.Gamma(0.5, 2.0, allow_nan_stats=False).mode()
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode not defined when any concentration <= 1"):
        _run(mode)


def test_gradients_flow_through_samples_of_the_gamma_distribution_to_its_shape():
    tf.set_random_seed(1)
    shape = tf.constant(2.0)
    # The mean of a gamma distribution of rate 1 is its shape, so the slope of the sample mean is near 1.
    slope = tf.gradients(tf.reduce_mean(ds.Gamma(shape, 1.0).sample(4000, seed=2)), shape)[0]
    np.testing.assert_allclose(_run(slope), 1.0, atol=0.05)


def test_names_shapes_and_parameters_are_those_of_tensorflow():
    made = ds.Normal([[0.0], [1.0]], [1.0, 2.0], name="policy")
    assert made.name == "policy/"
    assert made.dtype is tf.float32
    assert made.batch_shape == (2, 2)
    assert made.event_shape == ()
    assert repr(made) == "<tfp.distributions.Normal 'policy/' batch_shape=(2, 2) event_shape=() dtype=float32>"
    assert str(made) == 'tfp.distributions.Normal("policy/", batch_shape=(2, 2), event_shape=(), dtype=float32)'
    assert sorted(made.parameters) == ["allow_nan_stats", "loc", "name", "scale", "validate_args"]
    assert made.sample().name.startswith("policy/sample/")
    assert made.log_prob(0.0).name == "policy/log_prob/sub:0"
    assert ds.Normal(0.0, 1.0, name="policy").name == "policy_1/"
    other = made.copy(scale=3.0)
    assert type(other) is ds.Normal
    assert other.batch_shape == (2, 1)
    assert ds.Normal.param_static_shapes([2, 3]) == {"loc": tf.TensorShape([2, 3]), "scale": tf.TensorShape([2, 3])}
    found = _run([made.batch_shape_tensor(), made.event_shape_tensor(), made.is_scalar_batch(), made.is_scalar_event()])
    assert [part.tolist() for part in found] == [[2, 2], [], False, True]


def test_shapes_that_only_the_run_knows_work_the_same():
    loc, logits = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32)
    count = tf.placeholder(tf.int32, [])
    normal, categorical = ds.Normal(loc, 1.0), ds.Categorical(logits=logits)
    samples = normal.sample([3, 2])
    assert samples.shape.as_list() == [3, 2, None]
    fetches = [samples, normal.sample(count), normal.batch_shape_tensor(), categorical.log_prob(1), categorical.sample(count)]
    with tf.Session() as session:
        found = session.run(fetches, {loc: np.zeros(4), logits: np.zeros((2, 5)), count: 6})
    assert [part.shape for part in found] == [(3, 2, 4), (6, 4), (1,), (2,), (6, 2)]
    assert found[2].tolist() == [4]


MISTAKES: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "both": (lambda: ds.Categorical(logits=[1.0], probs=[1.0]), ValueError, "Must pass probs or logits, but not both."),
    "whole": (lambda: ds.Bernoulli(probs=1), TypeError, "probs must having floating type."),
    "one class": (lambda: ds.Categorical(logits=[1.0], validate_args=True), ValueError, "at least 2 events"),
    "scale": (lambda: ds.Normal(0.0, -1.0, validate_args=True), tf.errors.InvalidArgumentError, "x > 0"),
    "types": (lambda: ds.Normal(0.0, tf.constant(1.0, tf.float64)), ValueError, "must be of the same type"),
    "bounds": (lambda: ds.Uniform(1.0, 0.0, validate_args=True), tf.errors.InvalidArgumentError, "low >= high"),
    "sum": (
        lambda: _run(ds.Categorical(probs=[0.5, 0.6], validate_args=True).entropy()),
        tf.errors.InvalidArgumentError,
        "probs does not sum to 1.",
    ),
    "outcome": (
        lambda: ds.Bernoulli(probs=0.5, validate_args=True).log_prob(2),
        tf.errors.InvalidArgumentError,
        "Elements cannot exceed 1.",
    ),
    "mean": (lambda: ds.Categorical(logits=[0.0, 1.0]).mean(), NotImplementedError, "mean is not implemented: Categorical"),
    "samples": (lambda: ds.Normal(0.0, 1.0).sample([[1]]), ValueError, "Input is neither scalar nor vector."),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told(name):
    mistake, error, text = MISTAKES[name]
    with pytest.raises(error, match=text):
        mistake()


def test_a_distribution_of_ones_own_needs_only_its_parts():
    class Die(tf.distributions.Distribution):
        def __init__(self, sides: int, name: str = "Die") -> None:
            super().__init__(tf.float32, ds.NOT_REPARAMETERIZED, False, True, {"sides": sides}, [], name)
            self.sides = sides

        def _batch_shape(self) -> tf.TensorShape:
            return tf.TensorShape([])

        def _event_shape(self) -> tf.TensorShape:
            return tf.TensorShape([])

        def _sample_n(self, n, seed=None):
            return tf.floor(tf.random_uniform([n], 1.0, self.sides + 1.0, seed=seed))

        def _prob(self, value):
            return tf.ones_like(value) / self.sides

        def _cdf(self, value):
            return tf.floor(value) / self.sides

        def _variance(self):
            return tf.constant((self.sides**2 - 1.0) / 12.0)

    die = Die(6)
    rolls, log_prob, survival, stddev = _run([die.sample([2, 50]), die.log_prob(3.0), die.survival_function(2.0), die.stddev()])
    assert rolls.shape == (2, 50)
    assert set(rolls.ravel()) <= set(range(1, 7))
    np.testing.assert_allclose([log_prob, survival, stddev], [-np.log(6.0), 2.0 / 3.0, np.sqrt(35.0 / 12.0)], rtol=1e-6)
    assert die.copy(sides=4).sides == 4
    with pytest.raises(NotImplementedError, match="mode is not implemented: Die"):
        die.mode()
