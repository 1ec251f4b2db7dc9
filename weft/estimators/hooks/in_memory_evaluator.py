"""InMemoryEvaluatorHook: evaluates a model while it trains, with the variables as they are, without checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.client.session import Session
from weft.estimators.aliases import Features, InputFn, Labels
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.evaluation_graph import EvaluationGraph, build_evaluation
from weft.estimators.evaluation_results import write_results
from weft.estimators.input_function import parse_input_fn_result
from weft.estimators.mode_keys import ModeKeys
from weft.estimators.model_function import call_input_fn
from weft.framework.building.aliases import SessionLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.ops.array.placeholder import placeholder
from weft.ops.control_flow.ordering import group
from weft.ops.random.seed import set_random_seed
from weft.ops.variables.assign import assign
from weft.training.coordinator import Coordinator
from weft.training.hooks.hook_timer import SecondOrStepTimer
from weft.training.hooks.session_run_hook import SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.scaffold import Scaffold
from weft.training.sessions.evaluation import StopAfterNEvalsHook, evaluate_once
from weft.training.training_util import create_global_step


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates at the beginning, every so many steps, and at the end, in a graph and a session of its own.

    Args:
        estimator: the model, which trains in this process alone.
        input_fn: builds the input, as `Estimator.evaluate` takes it.
        steps: batches of each evaluation; None: until the input ends.
        hooks: SessionRunHooks of the evaluation.
        name: makes the directory of the evaluation's events `eval_NAME`.
        every_n_iter: steps between two evaluations.

    Raises:
        ValueError: a number is not positive, or the estimator is one of a cluster.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: InputFn,
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator = estimator
        self._input_fn = input_fn
        self._hooks = [*(hooks or ()), *([] if steps is None else [StopAfterNEvalsHook(steps)])]
        self._eval_dir = estimator.eval_dir(name)
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Build the graph of the evaluations."""
        self._timer.reset()
        self._iter_count = 0
        self._graph = Graph()
        with self._graph.as_default():
            self._built = self._build()
            if self._built.scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if self._built.scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            self._variables = _variables_by_name()
            self._fed = {name: placeholder(each.dtype.base_dtype) for name, each in self._variables.items()}

    def _build(self) -> EvaluationGraph:
        estimator, config = self._estimator, self._estimator.config

        def call_model_fn(features: Features, labels: Labels, mode: str) -> EstimatorSpec:
            return estimator.model_fn(features, labels, mode, config)

        set_random_seed(config.tf_random_seed)
        create_global_step()
        result = call_input_fn(self._input_fn, ModeKeys.EVAL, estimator.params, config)
        features, labels, input_hooks = parse_input_fn_result(result)
        return build_evaluation(call_model_fn, features, labels, [*input_hooks, *self._hooks])

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Find the variables that both graphs have, and evaluate the model as it is at the beginning."""
        if get_default_graph().get_collection(GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError("InMemoryEvaluator does not support saveables other than global variables.")
        trained = _variables_by_name()
        self._trained = {name: trained[name] for name in self._variables if name in trained}
        with self._graph.as_default():
            self._load = group(*(assign(self._variables[name], self._fed[name]) for name in self._trained))
        self._evaluate(session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Evaluate when it is time."""
        self._iter_count += 1
        if self._timer.should_trigger_for_step(self._iter_count):
            self._evaluate(run_context.session)

    def end(self, session: Session) -> None:
        """Evaluate the last model."""
        self._evaluate(session)

    def _evaluate(self, train_session: SessionLike) -> None:
        feeds = {self._fed[name]: value for name, value in train_session.run(self._trained).items()}

        def load(scaffold: Scaffold, session: Any) -> None:
            session.run(self._load, feed_dict=feeds)

        with self._graph.as_default():
            results = evaluate_once(
                None,
                master=self._estimator.config.evaluation_master,
                scaffold=Scaffold(init_fn=load, copy_from_scaffold=self._built.scaffold),
                eval_ops=self._built.update_op,
                final_ops=self._built.values,
                hooks=self._built.hooks,
                config=self._estimator.config.session_config,
            )
        write_results(self._eval_dir, results, None)
        self._timer.update_last_triggered_step(self._iter_count)


def _variables_by_name() -> dict[str, Any]:
    return {each.name: each for each in get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)}
