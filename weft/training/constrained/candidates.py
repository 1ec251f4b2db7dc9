"""The best of several solutions of a constrained problem: a distribution over them, or one of them. SciPy computes it."""

from __future__ import annotations

import importlib

import numpy as np

from weft.framework.building.aliases import Array


def find_best_candidate_distribution(objective_vector: Array, constraints_matrix: Array, epsilon: float = 0.0) -> Array:
    """The distribution over candidates of the least expected objective that violates the constraints least.

    No more candidates have a share than there are constraints, and one. See Cotter, Jiang and Sridharan, 2018, lemma 3.

    Args:
        objective_vector: the objective of each candidate, `[n]`.
        constraints_matrix: how much each candidate violates each constraint, `[m, n]`.
        epsilon: how near the search comes to the least violation, if there must be some; as near as floats are when 0.

    Returns:
        The share of each candidate, `[n]` float64.

    Raises:
        ValueError: the shapes do not fit, or epsilon is negative.
        ModuleNotFoundError: SciPy is not installed; `pip install scipy`.
    """
    if epsilon < 0.0:
        raise ValueError(f"epsilon must be nonnegative, found {epsilon}")
    objectives, constraints = _checked(objective_vector, constraints_matrix)
    found = _within(objectives, constraints, 0.0)
    if found is not None:
        return found
    # One candidate alone violates no more than this.
    lower, upper = 0.0, float(constraints.max(axis=0).min())
    best = _within(objectives, constraints, upper)
    while True:
        middle = (lower + upper) / 2.0
        if middle - lower <= epsilon or upper - middle <= epsilon:
            assert best is not None
            return best
        found = _within(objectives, constraints, middle)
        if found is None:
            lower = middle
        else:
            best, upper = found, middle


def find_best_candidate_index(objective_vector: Array, constraints_matrix: Array, rank_objectives: bool = False) -> int | None:
    """The candidate whose worst rank among the violations of a constraint is best; of such the one of the least objective.

    Args:
        objective_vector: the objective of each candidate, `[n]`.
        constraints_matrix: how much each candidate violates each constraint, `[m, n]`; what is below zero violates nothing.
        rank_objectives: whether the rank of the objective counts as one of a constraint does.

    Returns:
        The candidate's number, the last one of equal ones; None if there are no candidates.

    Raises:
        ValueError: the shapes do not fit.
        ModuleNotFoundError: SciPy is not installed; `pip install scipy`.
    """
    objectives, constraints = _checked(objective_vector, constraints_matrix)
    ranks = importlib.import_module("scipy.stats").rankdata
    ranked = [*np.maximum(0.0, constraints), *([objectives] if rank_objectives else [])]
    worst = np.max([np.zeros(len(objectives)), *(ranks(each, method="min") for each in ranked)], axis=0)
    keys = [(rank, objective, -number) for number, (rank, objective) in enumerate(zip(worst, objectives, strict=True))]
    return -min(keys)[2] if keys else None


def _checked(objective_vector: Array, constraints_matrix: Array) -> tuple[Array, Array]:
    objectives, constraints = np.asarray(objective_vector), np.asarray(constraints_matrix)
    if constraints.ndim != 2 or objectives.shape != constraints.shape[1:]:
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the number of candidates, and m "
            f"is the number of constraints; found {objectives.shape} and {constraints.shape}"
        )
    return objectives, constraints


def _within(objectives: Array, constraints: Array, violation: float) -> Array | None:
    """The best distribution that violates no constraint by more; None if there is none."""
    optimize = importlib.import_module("scipy.optimize")
    result = optimize.linprog(
        objectives, A_ub=constraints, b_ub=np.full(len(constraints), violation), A_eq=np.ones([1, len(objectives)]),
        b_eq=[1.0], bounds=(0, None),
    )  # fmt: skip
    return np.asarray(result.x) if result.success else None
