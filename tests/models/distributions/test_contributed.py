"""Further distributions of tf.contrib, and functions beside them. Expected values are TensorFlow 1.15.5's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

d = tf.contrib.distributions


def _run(value: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(value)


def _kumaraswamy() -> Any:
    return d.Kumaraswamy([2.0, 3.0], [1.5, 2.5])


def _bent() -> Any:
    return d.SinhArcsinh([0.0, 1.0], [1.0, 2.0], skewness=0.3, tailweight=1.2)


_DIAG = [[1.0, 2.0], [2.0, 0.5]]
_VECTORS = [[1.0, 3.0], [2.0, 1.5]]


def _exponential() -> Any:
    return d.VectorExponentialDiag(loc=[0.0, 1.0], scale_diag=_DIAG)


def _laplace() -> Any:
    return d.VectorLaplaceDiag(loc=[0.0, 1.0], scale_diag=_DIAG)


def _laplace_alike() -> Any:
    return d.VectorLaplaceDiag(loc=[0.0, 1.0], scale_identity_multiplier=[1.0, 2.0])


def _bent_vectors() -> Any:
    return d.VectorSinhArcsinhDiag(loc=[0.0, 1.0], scale_diag=_DIAG, skewness=0.2, tailweight=1.1)


def _low_rank() -> Any:
    return d.MultivariateNormalDiagPlusLowRank(
        loc=[1.0, 2.0, 3.0], scale_diag=[1.0, 2.0, 1.5], scale_perturb_factor=[[1.0], [0.5], [0.2]], scale_perturb_diag=[0.7]
    )


def _low_rank_alike() -> Any:
    return d.MultivariateNormalDiagPlusLowRank(
        loc=[1.0, 2.0, 3.0], scale_identity_multiplier=1.5, scale_perturb_factor=[[1.0, 0.1], [0.5, 0.3], [0.2, 0.3]]
    )


def _wishart() -> Any:
    return d.WishartCholesky(df=5.0, scale=[[2.0, 0.0], [0.5, 1.0]], cholesky_input_output_matrices=True)


def _one_vector() -> Any:
    return d.VectorDeterministic([1.0, 2.0])


def _quantized() -> Any:
    return d.QuantizedDistribution(d.Normal([0.0, 1.0], [1.0, 2.0]), low=-2.0, high=3.0)


def _quantized_freely() -> Any:
    return d.QuantizedDistribution(d.Normal([0.0, 1.0], [1.0, 2.0]))


@pytest.mark.parametrize(
    ("make", "value", "expected"),
    [
        (_kumaraswamy, [0.3, 0.6], {
            "log_prob": [-0.15252, 0.62823], "prob": [0.85855, 1.87429], "cdf": [0.13192, 0.45576], "mean": [0.58905, 0.60736],
            "log_cdf": [-2.02559, -0.78579], "variance": [0.05302, 0.03511], "mode": [0.70711, 0.67511],
            "entropy": [2.0254, 3.68979],
        }),
        (_bent, [0.3, 0.6], {
            "log_prob": [-0.86494, -1.53538], "cdf": [0.51331, 0.29117], "survival_function": [0.48669, 0.70883],
        }),
        (_exponential, _VECTORS, {
            "log_prob": [-2.69315, -2.0], "mean": [[1.0, 3.0], [2.0, 1.5]], "mode": [[0.0, 1.0], [0.0, 1.0]],
            "stddev": [[1.0, 2.0], [2.0, 0.5]], "entropy": [2.69315, 2.0],
            "covariance": [[[1.0, 0.0], [0.0, 4.0]], [[4.0, 0.0], [0.0, 0.25]]],
        }),
        (_laplace, _VECTORS, {
            "log_prob": [-4.07944, -3.38629], "mean": [[0.0, 1.0], [0.0, 1.0]], "variance": [[2.0, 8.0], [8.0, 0.5]],
            "stddev": [[1.41421, 2.82843], [2.82843, 0.70711]], "entropy": [4.07944, 3.38629],
        }),
        (_laplace_alike, _VECTORS, {"log_prob": [-4.38629, -4.02259], "entropy": [3.38629, 4.77259]}),
        (_bent_vectors, _VECTORS, {"log_prob": [-3.3945, -2.70135], "prob": [0.03356, 0.06711]}),
        (_low_rank, [[1.0, 3.0, 2.0], [2.0, 1.5, 0.0]], {
            "log_prob": [-4.79333, -6.87269], "variance": [3.0321, 4.85803, 2.35928], "stddev": [1.74129, 2.20409, 1.536],
            "covariance": [[3.0321, 1.36605, 0.47642], [1.36605, 4.85803, 0.30821], [0.47642, 0.30821, 2.35928]],
            "entropy": 5.94663, "mode": [1.0, 2.0, 3.0],
        }),
        (_low_rank_alike, [1.0, 3.0, 2.0], {"log_prob": -5.12544, "entropy": 6.19246}),
        (_wishart, [[3.0, 0.0], [1.0, 2.0]], {
            "log_prob": -7.36125, "mean": [[4.47214, 0.0], [1.11803, 2.23607]], "entropy": 8.88999,
            "variance": [[12.64911, 0.0], [2.37171, 3.16228]], "mode": [[2.82843, 0.0], [0.70711, 1.41421]],
        }),
        (_one_vector, [[1.0, 2.0], [1.0, 3.0]], {
            "prob": [1.0, 0.0], "mean": [1.0, 2.0], "variance": [0.0, 0.0], "entropy": 0.0,
        }),
        (_quantized, [-2.0, 1.0], {
            "log_prob": [-3.78318, -1.65306], "prob": [0.02275, 0.19146], "cdf": [0.02275, 0.5],
            "log_cdf": [-3.78318, -0.69315], "survival_function": [0.97725, 0.5],
        }),
        (_quantized_freely, [-2.0, 1.0], {"log_prob": [-3.84435, -1.65306], "prob": [0.0214, 0.19146]}),
    ],
)  # fmt: skip
def test_values_are_tensorflow_s(make: Callable[[], Any], value: Any, expected: dict[str, Any]) -> None:
    made = make()
    of_values = ("log_prob", "prob", "cdf", "log_cdf", "survival_function")
    found = _run({name: getattr(made, name)(value) if name in of_values else getattr(made, name)() for name in expected})
    for name, each in expected.items():
        np.testing.assert_allclose(found[name], each, rtol=2e-4, atol=2e-5, err_msg=name)


@pytest.mark.parametrize(
    ("make", "mean", "shape"),
    [
        (_kumaraswamy, [0.58905, 0.60736], [2]), (_bent, [0.4, 1.8], [2]), (_exponential, [[1.0, 3.0], [2.0, 1.5]], [2, 2]),
        (_laplace, [[0.0, 1.0], [0.0, 1.0]], [2, 2]), (_bent_vectors, [[0.3, 1.6], [0.5, 1.1]], [2, 2]),
        (_low_rank, [1.0, 2.0, 3.0], [3]), (_wishart, [[4.3, 0.0], [1.1, 1.9]], [2, 2]), (_one_vector, [1.0, 2.0], [2]),
        (_quantized, [0.5, 1.3], [2]),
    ],
)  # fmt: skip
def test_samples_have_the_shape_and_the_mean(make: Callable[[], Any], mean: Any, shape: list[int]) -> None:
    made = make()
    assert (made.batch_shape.concatenate(made.event_shape)).as_list() == shape
    drawn = made.sample([100, 200], seed=1)
    assert drawn.shape.as_list() == [100, 200, *shape]
    np.testing.assert_allclose(_run(tf.reduce_mean(drawn, [0, 1])), mean, atol=0.08)


@pytest.mark.parametrize("size", [30, 100])
def test_densities_of_many_elements_of_low_rank_stay_finite(size: int) -> None:
    factor = np.full([size, 1], 0.001, np.float32)
    made = d.MultivariateNormalDiagPlusLowRank(scale_diag=np.full(size, 0.01, np.float32), scale_perturb_factor=factor)
    expected = {30: [95.67355, -95.583954], 100: [319.5985, -318.61328]}[size]
    np.testing.assert_allclose(_run([made.log_prob(np.full(size, 0.01, np.float32)), made.entropy()]), expected, rtol=1e-5)


def test_factors_of_a_batch_share_a_diagonal() -> None:
    made = d.MultivariateNormalDiagPlusLowRank(scale_diag=[1.0, 2.0], scale_perturb_factor=[[[1.0], [0.5]], [[0.0], [0.0]]])
    assert made.batch_shape.as_list() == made.event_shape.as_list() == [2]
    plain = d.MultivariateNormalDiag(scale_diag=[1.0, 2.0])
    value = [[0.5, 1.0], [0.5, 1.0]]
    found, entropy, expected, usual = _run([made.log_prob(value), made.entropy(), plain.log_prob(value[0]), plain.entropy()])
    np.testing.assert_allclose([found[1], entropy[1]], [expected, usual], rtol=1e-6)
    assert found[0] != found[1]
    assert _run(made.sample([3, 4], seed=1)).shape == (3, 4, 2, 2)


def test_divergences_of_scales_of_low_rank() -> None:
    low = d.MultivariateNormalDiagPlusLowRank(loc=[0.0, 0.0], scale_diag=[1.0, 2.0], scale_perturb_factor=[[1.0], [0.0]])
    plain = d.MultivariateNormalDiag([0.0, 1.0], [1.0, 1.0])
    same = d.MultivariateNormalDiag([0.0, 0.0], [2.0, 2.0])
    found = _run([d.kl_divergence(low, plain), d.kl_divergence(low, same), d.kl_divergence(same, low), low.cross_entropy(low)])
    np.testing.assert_allclose(found[:3], [2.1137056, 0.0, 0.0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[3], _run(low.entropy()), rtol=1e-5)


def test_wisharts_of_a_batch_of_degrees_stand_for_themselves() -> None:
    made = d.WishartFull(df=[4.0, 6.0], scale=[[2.0, 0.5], [0.5, 1.0]])
    logs, determinants, scale, likely = _run(
        [made.log_normalization(), made.mean_log_det(), made.scale(), made.log_prob([[3.0, 1.0], [1.0, 2.0]])]
    )
    np.testing.assert_allclose(logs, [4.3434, 7.38793], rtol=1e-4)
    np.testing.assert_allclose(determinants, [2.40518, 3.57185], rtol=1e-4)
    np.testing.assert_allclose(scale, [[2.0, 0.5], [0.5, 1.0]], rtol=1e-5)
    one = [_run(d.WishartFull(df, [[2.0, 0.5], [0.5, 1.0]]).log_prob([[3.0, 1.0], [1.0, 2.0]])) for df in (4.0, 6.0)]
    np.testing.assert_allclose(likely, one, rtol=1e-5)
    with pytest.raises(ValueError, match=r"Computing std. dev. when is cholesky_input_output_matrices=True does not make"):
        _wishart().stddev()


def test_the_deviation_of_wisharts_is_the_factor_of_the_variance_as_in_tensorflow() -> None:
    made = d.WishartFull(3.0, [[2.0, 0.5], [0.5, 1.0]])
    deviation, variance = _run([made.stddev(), made.variance()])
    np.testing.assert_allclose(variance, [[24.0, 6.75], [6.75, 6.0]], rtol=1e-5)
    np.testing.assert_allclose(deviation, [[4.898979, 0.0], [1.377838, 2.025231]], rtol=1e-5)


def test_wrong_arguments_of_wisharts_are_told() -> None:
    scale = [[2.0, 0.5], [0.5, 1.0]]
    for df in (1.0, [3.0, 1.0]):
        with pytest.raises(ValueError, match=r"\(df = .*1\.?.*\) cannot be less than dimension of scale matrix"):
            d.WishartFull(df, scale)
    few = tf.placeholder_with_default(1.0, [])
    made = [
        (d.WishartFull(few, scale, validate_args=True), "Degrees of freedom"),
        (d.WishartFull(3.0, [[2.0, 0.7], [0.5, 1.0]], validate_args=True), "Matrix was not symmetric"),
        (d.WishartCholesky(3.0, [[-1.0, 0.0], [0.5, 1.0]], validate_args=True), "scale must be positive definite"),
    ]
    for each, message in made:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            _run(each.log_normalization())


def test_whole_numbers_far_out_have_logarithms() -> None:
    normal = d.Normal(0.0, 1.0)
    free, bound = d.QuantizedDistribution(normal), d.QuantizedDistribution(normal, low=-2.0, high=2.0)
    found = _run(
        [free.log_prob([10.0, 20.0, -10.0, -20.0]), free.log_survival_function([10.0, 20.0]), bound.log_prob([-3.0, 3.0])]
    )
    np.testing.assert_allclose(found[0], [-43.62822, -184.36613, -53.23131, -203.91718], rtol=1e-4)
    np.testing.assert_allclose(found[1], [-53.23129, -203.91716], rtol=1e-4)
    assert found[2].tolist() == [-np.inf, -np.inf]


def test_wrong_bounds_of_whole_numbers_are_told() -> None:
    normal = d.Normal(0.0, 1.0)
    for low, high, message in ((3.0, 1.0, "low must be strictly less than high"), (0.5, None, "non-integer components")):
        for ask in (lambda made: made.cdf(0.0), lambda made: made.sample()):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                _run(ask(d.QuantizedDistribution(normal, tf.placeholder_with_default(low, []), high, validate_args=True)))


def test_what_tells_no_size_is_refused() -> None:
    for kind in (d.VectorExponentialDiag, d.VectorLaplaceDiag, d.VectorSinhArcsinhDiag, d.MultivariateNormalDiagPlusLowRank):
        with pytest.raises(ValueError, match=f"{kind.__name__} needs loc"):
            kind()
    with pytest.raises(TypeError, match="takes a distribution"):
        d.QuantizedDistribution(3)  # type: ignore[arg-type]


def test_gradients_go_through_densities_and_samples() -> None:
    diag = tf.constant([1.0, 2.0])
    made = d.VectorLaplaceDiag(loc=[0.0, 1.0], scale_diag=diag)
    assert np.isfinite(_run(tf.gradients([made.log_prob([1.0, 3.0]), tf.reduce_sum(made.sample(seed=1))], diag)[0])).all()
    scale = tf.constant([[2.0, 0.5], [0.5, 1.0]])
    wishart = d.WishartFull(df=4.0, scale=scale)
    of_scale = _run(tf.gradients(wishart.log_prob([[3.0, 1.0], [1.0, 2.0]]), scale)[0])
    assert np.isfinite(of_scale).all()


def test_matrices_of_diagonals() -> None:
    made = _run([d.tridiag([1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0]), d.tridiag(above=[1.0, 2.0]), d.tridiag(diag=[1.0])])
    assert made[0].tolist() == [[3.0, 6.0, 0.0], [1.0, 4.0, 7.0], [0.0, 2.0, 5.0]]
    assert made[1].tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    assert made[2].tolist() == [[1.0]]
    with pytest.raises(ValueError, match="Must specify at least one of `below`, `diag`, `above`"):
        d.tridiag()
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        d.tridiag([1.0], [3.0, 4.0, 5.0])
    plus = _run(d.matrix_diag_transform([[1.0, 2.0], [3.0, 4.0]], tf.nn.softplus))
    np.testing.assert_allclose(plus, [[1.31326, 2.0], [3.0, 4.01815]], rtol=1e-5)
    assert _run(d.matrix_diag_transform([[1.0]])).tolist() == [[1.0]]


def test_sums_of_weighted_exponentials() -> None:
    logs = [[0.0, -1.0, 2.0], [3.0, 4.0, -2.0]]
    whole = d.reduce_weighted_logsumexp(logs, [[-1.0, 1.0, 1.0], [1.0, 1.0, -1.0]])
    plain = d.reduce_weighted_logsumexp(logs[:1], axis=1)
    both = d.reduce_weighted_logsumexp(logs, [[-1.0, 1.0, -1.0], [1.0, 1.0, -1.0]], axis=1, keep_dims=True, return_sign=True)
    found = _run([whole, plain, *both])
    np.testing.assert_allclose(found[0], 4.398211, rtol=1e-5)
    np.testing.assert_allclose(found[1], [2.16985], rtol=1e-5)
    np.testing.assert_allclose(found[2], [[2.08209], [4.31145]], rtol=1e-5)
    assert found[3].tolist() == [[-1.0], [1.0]]


def test_normal_means_after_observations() -> None:
    prior = d.Normal([1.0, 2.0], [0.5, 1.0])
    after = d.normal_conjugates_known_scale_posterior(prior, 2.0, [3.0, 4.0], 5)
    following = d.normal_conjugates_known_scale_predictive(prior, 2.0, [3.0, 4.0], 5)
    found = _run([after.loc, after.scale, following.loc, following.scale])
    expected = [[0.904762, 1.333333], [0.436436, 0.666667], [0.904762, 1.333333], [2.047066, 2.108185]]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    with pytest.raises(TypeError, match="Expected prior to be an instance of type Normal"):
        d.normal_conjugates_known_scale_posterior(3.0, 2.0, 1.0, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("use_resource", [False, True])
def test_moving_means_and_variances(use_resource: bool) -> None:
    mean, variance, log_mean = (tf.Variable(each, use_resource=use_resource) for each in (0.0, 1.0, 0.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(
            [*d.assign_moving_mean_variance(mean, variance, 3.0, 0.9), d.assign_log_moving_mean_exp(log_mean, 3.0, 0.9)]
        )
        np.testing.assert_allclose(found, [0.3, 1.71, 1.067656], rtol=1e-5)
        np.testing.assert_allclose(session.run([mean, variance, log_mean]), found)
    with pytest.raises(TypeError, match="does not have float type"):
        d.assign_moving_mean_variance(tf.Variable(1), variance, 3.0, 0.9)


@pytest.mark.parametrize(("start", "decay", "expected"), [(0.0, 0.0, 1.0), (-np.inf, 0.5, 0.306853), (0.0, 1.0, 0.0)])
def test_moving_means_of_exponentials_begin_and_end_with_nothing(start: float, decay: float, expected: float) -> None:
    variable = tf.Variable(start, dtype=tf.float32)
    np.testing.assert_allclose(_run(d.assign_log_moving_mean_exp(variable, 1.0, decay)), expected, rtol=1e-5)


def test_moving_statistics_in_variables_of_their_own() -> None:
    found = d.moving_mean_variance(tf.constant([3.0, 4.0]), 0.9)
    names = ["moving_mean_variance/moving_variance:0", "moving_mean_variance/moving_mean:0"]
    assert [each.name for each in tf.global_variables()] == names
    assert tf.trainable_variables() == []
    np.testing.assert_allclose(_run(list(found)), [[0.3, 0.4], [0.81, 1.44]], rtol=1e-5)


def test_seeds_of_a_stream() -> None:
    stream = d.SeedStream(3, "salt")
    assert [str(stream())[:9] for _ in range(3)] == ["826595247", "602479564", "111202662"]
    assert (stream.original_seed, stream.salt) == (3, "salt")
    assert str(d.SeedStream(stream, "x")())[:9] == "696618686"
    assert d.SeedStream(None, "x")() is None


def test_correlation_of_a_series_with_itself() -> None:
    series = [1.0, 2.0, 4.0, 1.0, 0.0]
    found = _run([
        d.auto_correlation(series), d.auto_correlation([series], max_lags=2, center=False),
        d.auto_correlation([series], normalize=False),
    ])  # fmt: skip
    np.testing.assert_allclose(found[0], [1.0, 0.03261, -1.0, -0.07609, 0.52174], atol=1e-4)
    np.testing.assert_allclose(found[1], [[1.0, 0.79545, 0.45455]], atol=1e-4)
    np.testing.assert_allclose(found[2], [[1.84, 0.06, -1.84, -0.14, 0.96]], atol=1e-4)
    with pytest.raises(TypeError, match="must have either float or complex dtype"):
        d.auto_correlation([1, 2])
    for placeholder, axis in ((tf.placeholder(tf.float32), -1), (tf.placeholder(tf.float32, [2, 3]), 2)):
        with pytest.raises(ValueError, match="its rank must be known"):
            d.auto_correlation(placeholder, axis)


def test_correlations_of_unknown_lengths_and_of_complex_numbers_are_tensorflow_s() -> None:
    x = np.sin(np.arange(10.0)).astype(np.float32)
    given = tf.placeholder(tf.float32, [None])
    several = tf.placeholder(tf.float64, [None, 3])
    made = [
        d.auto_correlation(given, max_lags=2), d.auto_correlation(several, axis=0, max_lags=1),
        d.auto_correlation((x + 1j * x[::-1]).astype(np.complex64), max_lags=30)[:3], d.auto_correlation(given),
    ]  # fmt: skip
    with tf.Session() as session:
        found = session.run(made, {given: x, several: np.stack([x, x * 2, x * x], axis=-1)})
    expected = [1.0, 0.594865, -0.332265]
    np.testing.assert_allclose(found[0], expected, rtol=1e-4)
    np.testing.assert_allclose(found[1], [[1.0, 1.0, 1.0], [0.5948652, 0.5948652, -0.4375201]], rtol=1e-4)
    np.testing.assert_allclose(found[2], [1.0, 0.594865 - 0.380367j, -0.332265 - 0.401746j], rtol=1e-4, atol=1e-6)
    assert found[3].shape == (10,)


def test_a_long_series_takes_no_more_nodes_than_a_short_one() -> None:
    counts = []
    for length in (10, 1000):
        with tf.Graph().as_default() as graph:
            assert d.auto_correlation(tf.placeholder(tf.float32, [length]), max_lags=5).shape.as_list() == [6]
            counts.append(len(graph.get_operations()))
    assert counts[0] == counts[1]
