"""Mixtures of Gaussians have the numbers of TensorFlow 1.15.5, from the same beginning; the numbers were asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

_N = np.arange(24)
_POINTS = np.stack([np.cos(_N * 1.7) + _N % 3 * 3, np.sin(_N * 2.3) * 0.5 + _N % 3], 1).astype(np.float32)
_FACTORIZATION = tf.contrib.factorization


def _trained(rounds: int, *args: Any) -> tuple[Any, ...]:
    with tf.Graph().as_default(), tf.Session() as session:
        loss, scores, assignments, train, begin, has_begun = _FACTORIZATION.gmm(*args)
        session.run(tf.global_variables_initializer())
        assert not session.run(has_begun)
        session.run(begin)
        assert session.run(has_begun)
        for _ in range(rounds):
            session.run(train)
        variables = {each.op.name: session.run(each) for each in tf.global_variables()}
        return *session.run((loss, scores, assignments[0][0])), variables


def test_full_covariances_are_tensorflows() -> None:
    loss, scores, assignments, variables = _trained(4, _POINTS, _POINTS[:3], 3, 7)
    np.testing.assert_allclose(loss, 1.0632056, rtol=1e-4)
    assert scores.shape == (24, 1)
    np.testing.assert_allclose(scores[:3, 0], [-1.50399, -2.74419, -1.62719], rtol=1e-3)
    assert assignments.tolist() == [0, 1, 2, 1, 2, 2, 1, 2, 2, 1, 0, 2, 1, 0, 1, 0, 0, 1, 0, 2, 1, 0, 2, 2]
    np.testing.assert_allclose(
        variables["clusters"][:, 0], [[1.82454, 0.31116], [2.43247, 1.28407], [4.81873, 1.39738]], rtol=1e-3
    )
    np.testing.assert_allclose(variables["clusters_covs"][0], [[2.30536, 0.79445], [0.79445, 0.29064]], rtol=1e-3)
    np.testing.assert_allclose(variables["alphas"], [0.31697, 0.34668, 0.33635], rtol=1e-3)
    assert variables["initialized"]


def test_diagonal_covariances_are_tensorflows() -> None:
    loss, scores, _, variables = _trained(4, _POINTS, _POINTS[:3], 3, 7, "diag")
    np.testing.assert_allclose(loss, 0.80117476, rtol=1e-4)
    np.testing.assert_allclose(scores[:3, 0], [-1.98506, -2.8056, -2.93028], rtol=1e-3)
    np.testing.assert_allclose(
        variables["clusters_covs"], [[1.08859, 0.11504], [0.52403, 0.09667], [0.70275, 0.17635]], rtol=1e-3
    )


def test_a_seed_draws_the_means_that_it_draws_in_tensorflow() -> None:
    *_, variables = _trained(0, _POINTS, "random", 3, 7)
    np.testing.assert_allclose(variables["clusters"][:, 0], [[3.78607, 0.80896], [5.39799, 1.56227], [1.0, 0.0]], rtol=1e-5)


def test_points_in_two_tensors_are_fitted_together() -> None:
    whole = _trained(3, _POINTS, _POINTS[:3], 3, 7, "full", "wm")
    parts = _trained(3, [_POINTS[:16], _POINTS[16:]], _POINTS[:3], 3, 7, "full", "wm")
    # The covariances, which these rounds leave as they are, begin as that of the first tensor.
    assert parts[1].shape == whole[1].shape
    np.testing.assert_allclose(parts[3]["alphas"].sum(), 1, rtol=1e-5)


def test_a_function_makes_the_first_means() -> None:
    *_, variables = _trained(0, _POINTS, lambda points, count: points[:count] * 2.0, 3, 7)
    np.testing.assert_allclose(variables["clusters"][:, 0], _POINTS[:3] * 2)


@pytest.mark.parametrize(("params", "changed"), [("m", {"clusters"}), ("w", {"alphas"}), ("mc", {"clusters", "clusters_covs"})])
def test_training_changes_what_params_names(params: str, changed: set[str]) -> None:
    *_, before = _trained(0, _POINTS, _POINTS[:3], 3, 7, "full", params)
    *_, after = _trained(1, _POINTS, _POINTS[:3], 3, 7, "full", params)
    assert {name for name in before if not np.array_equal(before[name], after[name])} == changed


@pytest.mark.parametrize(("args", "told"), [((3, 7, "round"), "Invalid covariance type: 'round'"), ((30, 7), "x <= y")])
def test_what_does_not_fit_is_refused(args: tuple[Any, ...], told: str) -> None:
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=told):
        _trained(0, _POINTS, "random", *args)


def test_an_unknown_beginning_is_refused() -> None:
    with pytest.raises(ValueError, match="takes 'random' or the means"):
        _FACTORIZATION.gmm(tf.constant(_POINTS), "kmeans", 3, 7)


def test_the_estimator_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    def input_fn() -> Any:
        return {"y": tf.constant(_POINTS[:, 1:]), "x": tf.constant(_POINTS[:, :1])}, None

    gmm = _FACTORIZATION.GMM(3, str(tmp_path), initial_clusters=_POINTS[:3])
    gmm.fit(input_fn=input_fn, steps=2)
    gmm.fit(input_fn=input_fn, steps=2)
    np.testing.assert_allclose(gmm.clusters(), [[1.82454, 0.31116], [2.43247, 1.28407], [4.81873, 1.39738]], rtol=1e-3)
    np.testing.assert_allclose(gmm.weights(), [0.31697, 0.34668, 0.33635], rtol=1e-3)
    assert gmm.covariances().shape == (3, 2, 2)
    assert list(gmm.predict_assignments(input_fn))[:4] == [0, 1, 2, 1]
    np.testing.assert_allclose(gmm.score(input_fn, steps=1), 1.0632056, rtol=1e-4)
    found = [gmm.evaluate(input_fn=input_fn, steps=steps) for steps in (1, 3)]
    assert found[0]["scores"].shape == (24, 1)
    # The sum over the batches, as in 1.15.5.
    np.testing.assert_allclose([each["loss"] for each in found], [1.0632056, 3.1896167], rtol=1e-4)
    assert set(gmm.get_variable_names()) == {"alphas", "clusters", "clusters_covs", "global_step", "initialized"}


def test_labels_of_points_are_refused(tmp_path: Path) -> None:
    gmm = _FACTORIZATION.GMM(3, str(tmp_path))
    with pytest.raises(ValueError, match="have no labels"):
        gmm.fit(input_fn=lambda: (tf.constant(_POINTS), tf.constant(_N)), steps=1)
