"""Optimizers outside of the graph, SciPy's among them: they call the loss and its gradient as functions of a vector."""

from __future__ import annotations

import importlib
import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from weft.autodiff.gradients import gradients
from weft.framework.building.aliases import Array, Feeds, Fetches, Nest, SessionLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.context.default_stack import default_sessions
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.ops.array.filling import zeros_like
from weft.ops.array.joining import concat
from weft.ops.array.placeholder import placeholder
from weft.ops.array.shape_ops import reshape
from weft.ops.variables.collections import trainable_variables

_logger: Final = logging.getLogger("weft")

Evaluate = Callable[[Array], list[Array]]


class ExternalOptimizerInterface:
    """Minimizes a loss by an algorithm outside of the graph, which a subclass has as `_minimize`.

    Args:
        loss: a scalar.
        var_list: the variables to change; by default the trainable ones.
        equalities: scalars that are to become 0.
        inequalities: scalars that are to become at least 0.
        var_to_bounds: for some variables the pair of a lower and an upper bound, numbers or arrays that broadcast to them.
        **optimizer_kwargs: for the algorithm.
    """

    __repr__ = printed("tf.contrib.opt")

    def __init__(
        self,
        loss: Tensor,
        var_list: Sequence[VariableLike] | None = None,
        equalities: Sequence[Tensor] | None = None,
        inequalities: Sequence[Tensor] | None = None,
        var_to_bounds: Mapping[VariableLike, tuple[Array, Array]] | None = None,
        **optimizer_kwargs: Nest,
    ) -> None:
        self._loss = loss
        self._vars = list(trainable_variables() if var_list is None else var_list)
        self._equalities, self._inequalities = list(equalities or []), list(inequalities or [])
        self._shapes = [tuple(var.get_shape().as_list()) for var in self._vars]
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self._placeholders = [placeholder(var.dtype.base_dtype) for var in self._vars]
        self._updates = [
            var.assign(reshape(value, shape))
            for var, value, shape in zip(self._vars, self._placeholders, self._shapes, strict=True)
        ]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = _packed([convert_to_tensor(var) for var in self._vars])
        self._packed_loss_grad = self._gradient(loss)
        self._packed_equality_grads = [self._gradient(each) for each in self._equalities]
        self._packed_inequality_grads = [self._gradient(each) for each in self._inequalities]
        ends = [0, *itertools.accumulate(int(np.prod(shape)) for shape in self._shapes)]
        self._slices = [slice(*pair) for pair in itertools.pairwise(ends)]

    def _bounds(self, var_to_bounds: Mapping[VariableLike, tuple[Array, Array]]) -> list[tuple[float, float]]:
        given = {id(var): bounds for var, bounds in var_to_bounds.items()}
        packed: list[tuple[float, float]] = []
        for var, shape in zip(self._vars, self._shapes, strict=True):
            sides = given.get(id(var), (-np.inf, np.inf))
            low, high = (np.broadcast_to(side, shape).ravel().tolist() for side in sides)
            packed += zip(low, high, strict=True)
        return packed

    def _gradient(self, tensor: Tensor) -> Tensor:
        found = gradients(tensor, self._vars)
        return _packed(
            [
                zeros_like(convert_to_tensor(var)) if grad is None else convert_to_tensor(grad)
                for var, grad in zip(self._vars, found, strict=True)
            ]
        )

    def minimize(
        self,
        session: SessionLike | None = None,
        feed_dict: Feeds | None = None,
        fetches: Sequence[Fetches] | None = None,
        step_callback: Callable[[Array], None] | None = None,
        loss_callback: Callable[..., None] | None = None,
        **run_kwargs: Nest,
    ) -> None:
        """Minimize the loss, and assign the variables the values that were found; blocks until that is done.

        Args:
            session: the session; the default one if None.
            feed_dict: fed in each evaluation.
            fetches: fetched in each evaluation of the loss, for `loss_callback`.
            step_callback: called after each step of the algorithm with all variables as one vector.
            loss_callback: called after each evaluation of the loss with what was fetched.
            **run_kwargs: for the run that assigns the variables.

        Raises:
            ValueError: there is no session.
        """
        session = default_sessions.get_default() if session is None else session
        if session is None:
            raise ValueError("minimize: pass a session, or open one with `with session.as_default()`")
        feeds, wanted = dict(feed_dict or {}), list(fetches or [])

        def function(tensors: list[Tensor], callback: Callable[..., None] | None = None) -> Evaluate:
            return self._function(session, tensors, feeds, wanted, callback)

        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=function([self._loss, self._packed_loss_grad], loss_callback),
            equality_funcs=[function([each]) for each in self._equalities],
            equality_grad_funcs=[function([each]) for each in self._packed_equality_grads],
            inequality_funcs=[function([each]) for each in self._inequalities],
            inequality_grad_funcs=[function([each]) for each in self._packed_inequality_grads],
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda vector: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = {
            each: found[part].astype(each.dtype.as_numpy_dtype)
            for each, part in zip(self._placeholders, self._slices, strict=True)
        }
        session.run(self._updates, values, **run_kwargs)

    def _function(
        self,
        session: SessionLike,
        tensors: list[Tensor],
        feeds: dict[Nest, object],
        fetches: list[Fetches],
        callback: Callable[..., None] | None,
    ) -> Evaluate:
        """The values of tensors as a function of the vector of all variables, which are fed."""

        def evaluate(vector: Array) -> list[Array]:
            values = {
                var: vector[part].reshape(shape).astype(var.dtype.base_dtype.as_numpy_dtype)
                for var, part, shape in zip(self._vars, self._slices, self._shapes, strict=True)
            }
            results = session.run([*tensors, *fetches], {**values, **feeds})
            if callback is not None:
                callback(*results[len(tensors) :])
            own: list[Array] = results[: len(tensors)]
            return own

        return evaluate

    def _minimize(
        self,
        initial_val: Array,
        loss_grad_func: Evaluate,
        equality_funcs: list[Evaluate],
        equality_grad_funcs: list[Evaluate],
        inequality_funcs: list[Evaluate],
        inequality_grad_funcs: list[Evaluate],
        packed_bounds: list[tuple[float, float]] | None,
        step_callback: Callable[[Array], None],
        optimizer_kwargs: dict[str, Nest],
    ) -> Array:
        """The vector that the algorithm found.

        Args:
            initial_val: the vector to begin with.
            loss_grad_func: from a vector to the loss and its gradient.
            equality_funcs, inequality_funcs: from a vector to the value of each constraint.
            equality_grad_funcs, inequality_grad_funcs: from a vector to the gradient of each constraint.
            packed_bounds: the bounds of each element, or None.
            step_callback: to be called after each step.
            optimizer_kwargs: the program's arguments for the algorithm.
        """
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() method.")


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimizes a loss by `scipy.optimize.minimize`, by default with its method L-BFGS-B.

    vector = tf.Variable([7.0, 7.0])
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum(tf.square(vector)), options={"maxiter": 100})
    optimizer.minimize(session)

    Constraints need a method that takes them, such as SLSQP.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val: Array,
        loss_grad_func: Evaluate,
        equality_funcs: list[Evaluate],
        equality_grad_funcs: list[Evaluate],
        inequality_funcs: list[Evaluate],
        inequality_grad_funcs: list[Evaluate],
        packed_bounds: list[tuple[float, float]] | None,
        step_callback: Callable[[Array], None],
        optimizer_kwargs: dict[str, Nest],
    ) -> Array:
        """The vector that SciPy found; ValueError for an argument of SciPy's that is set here."""

        def loss(vector: Array) -> tuple[float, Array]:
            value, gradient = loss_grad_func(vector)
            return float(value), gradient.astype(np.float64)

        given = dict(optimizer_kwargs)
        own: dict[str, object] = {
            "jac": True,
            "callback": step_callback,
            "method": given.pop("method", self._DEFAULT_METHOD),
            "constraints": [
                *_constraints("eq", equality_funcs, equality_grad_funcs),
                *_constraints("ineq", inequality_funcs, inequality_grad_funcs),
            ],
            "bounds": packed_bounds,
        }
        for key in own:
            if key in given and key == "bounds":
                raise ValueError("Bounds must be set using the var_to_bounds argument")
            if key in given:
                raise ValueError(f"Optimizer keyword arg '{key}' is set automatically and cannot be injected manually")
        # SciPy's optimizers take a third of a second to import, which programs without them need not spend.
        result = importlib.import_module("scipy.optimize").minimize(loss, np.asarray(initial_val, np.float64), **own, **given)
        _logger.info(
            "Optimization terminated with:\n  Message: %s\n  Objective function value: %f\n  Number of iterations: %s",
            result.message, result.fun, getattr(result, "nit", "unknown"),
        )  # fmt: skip
        found: Array = result["x"]
        return found


def _constraints(kind: str, functions: list[Evaluate], derivatives: list[Evaluate]) -> list[dict[str, object]]:
    return [
        {"type": kind, "fun": _first(value), "jac": _first(slope)} for value, slope in zip(functions, derivatives, strict=True)
    ]


def _first(function: Evaluate) -> Callable[[Array], Array]:
    return lambda vector: np.asarray(function(vector)[0], np.float64)


def _packed(tensors: list[Tensor]) -> Tensor:
    flat = [reshape(each, [-1]) for each in tensors]
    return flat[0] if len(flat) == 1 else concat(flat, 0)
