"""train_and_evaluate: the part that this process has in training a model, alone or in a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tensorboard.compat.proto import config_pb2

from weft.distributed.server.server import Server
from weft.estimators.aliases import Metrics
from weft.estimators.checkpoint_evaluator import CheckpointEvaluator, EvalResult, EvalStatus, EvaluationListener
from weft.estimators.cluster_environment import TaskType
from weft.estimators.estimator import Estimator
from weft.estimators.run_config import RunConfig
from weft.estimators.specs import EvalSpec, TrainSpec
from weft.framework.graphs.collections import GraphKeys
from weft.platform.logs import tf_logging
from weft.training.hooks.checkpoint_hooks import CheckpointSaverListener

# Workers start one after another, so that the chief's variables have values when they look. Programs set these.
_MAX_DELAY_SECS = 60
_DELAY_SECS_PER_WORKER = 5
# How often an evaluator without a throttle looks for its first checkpoint.
_LOOK_S = 0.5


def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[Metrics | None, list[bytes | None] | None] | None:
    """Train and evaluate a model, or do this process's part of it, as TF_CONFIG says.

    Without a cluster the model is evaluated between steps, after checkpoints. In a cluster the chief and the workers train, the
    evaluator evaluates each new checkpoint until training has come to its end, and a parameter server serves until it is
    stopped. A master, in place of a chief, evaluates too.

    Args:
        estimator: the model.
        train_spec: how to train.
        eval_spec: how to evaluate.

    Returns:
        Without a cluster, the metrics of the last evaluation and the paths of its exports; else None.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: there are several evaluators, or a task of no such kind.

    >>> def input_fn():
    ...     return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[2.0], [4.0]])).repeat(20)
    >>> import tempfile
    >>> line = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], model_dir=tempfile.mkdtemp())
    >>> metrics, _ = tf.estimator.train_and_evaluate(
    ...     line, tf.estimator.TrainSpec(input_fn, max_steps=10), tf.estimator.EvalSpec(input_fn, steps=1))
    >>> print(int(metrics["global_step"]), metrics["loss"] > 0)
    10 True
    """
    for name, value, wanted in (
        ("eval_spec", eval_spec, EvalSpec),
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
    ):
        if not isinstance(value, wanted):
            raise TypeError(f"`{name}` must have type `tf.estimator.{wanted.__name__}`. Got: {type(value)}")
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  Given task id "
            f"{config.task_id}"
        )
    executor = _Executor(estimator, train_spec, eval_spec)
    if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
        tf_logging.info("Running training and evaluation locally (non-distributed).")
        return executor.run_local()
    executor.run_task(config.task_type)
    return None


class _Executor:
    """What each kind of task does."""

    def __init__(self, estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> None:
        self._estimator = estimator
        self._train_spec = train_spec
        self._eval_spec = eval_spec
        self._config: RunConfig = estimator.config

    def run_local(self) -> tuple[Metrics | None, list[bytes | None] | None]:
        tf_logging.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is "
            "determined based on RunConfig arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
            self._config.save_checkpoints_steps,
            self._config.save_checkpoints_secs,
        )
        listener = EvaluationListener(self._evaluator(), self._eval_spec.throttle_secs)
        self._train([listener])
        return listener.result.metrics, listener.result.export_results

    def run_task(self, task_type: str) -> None:
        tasks: dict[str, Callable[[], None]] = {
            TaskType.CHIEF: self._run_trainer,
            TaskType.EVALUATOR: self._run_evaluator,
            TaskType.MASTER: self._run_master,
            TaskType.PS: self._run_ps,
            TaskType.WORKER: self._run_trainer,
        }
        if task_type not in tasks:
            raise ValueError(f"Task type {task_type} is not supported. Supported task types are {sorted(tasks)}")
        tasks[task_type]()

    def _run_trainer(self) -> None:
        self._train_in_cluster([])

    def _run_master(self) -> None:
        self._train_in_cluster([EvaluationListener(self._evaluator(), self._eval_spec.throttle_secs)])

    def _run_ps(self) -> None:
        server = _start_server(self._config)
        if server is not None:
            server.join()

    def _run_evaluator(self) -> None:
        delay_s = self._eval_spec.start_delay_secs
        if delay_s:
            tf_logging.info("Waiting %f secs before starting eval.", delay_s)
            time.sleep(delay_s)
        evaluator = self._evaluator()
        while True:
            started_s = time.monotonic()
            result = evaluator.evaluate_and_export()
            if self._has_ended(result):
                return
            self._throttle(result, started_s)

    def _has_ended(self, result: EvalResult) -> bool:
        """Whether this was the evaluation of the last checkpoint."""
        end = self._train_spec.max_steps
        step = (result.metrics or {}).get(GraphKeys.GLOBAL_STEP)
        if not step or not end or step < end:
            return False
        tf_logging.info("Exiting evaluation, global_step=%s >= train max_steps=%s", step, end)
        return True

    def _throttle(self, result: EvalResult, started_s: float) -> None:
        throttle_s = self._eval_spec.throttle_secs
        rest_s = throttle_s - (time.monotonic() - started_s)
        if rest_s > 0:
            tf_logging.info("Waiting %f secs before starting next eval run.", rest_s)
            time.sleep(rest_s)
        elif throttle_s == 0 and result.status is not EvalStatus.EVALUATED:
            # TensorFlow says it, and looks, some thousand times a second.
            tf_logging.log_first_n(
                tf_logging.WARN,
                "EvalSpec.throttle_secs is set as 0. This might overload the job before finding (next) new checkpoint. Please "
                "consider to increase it.", 1,
            )  # fmt: skip
            time.sleep(_LOOK_S)

    def _train_in_cluster(self, listeners: Sequence[CheckpointSaverListener]) -> None:
        # The process keeps its server until it ends, as a program may go on to use the cluster.
        _start_server(self._config)
        delay_s = self._start_delay_s()
        if delay_s > 0:
            tf_logging.info("Waiting %d secs before starting training.", delay_s)
            time.sleep(delay_s)
        self._train(listeners)

    def _start_delay_s(self) -> int:
        if self._config.task_type != TaskType.WORKER:
            return 0
        most_s = self._config.experimental_max_worker_delay_secs
        return min(_MAX_DELAY_SECS if most_s is None else most_s, (self._config.task_id + 1) * _DELAY_SECS_PER_WORKER)

    def _train(self, listeners: Sequence[CheckpointSaverListener]) -> None:
        spec = self._train_spec
        self._estimator.train(spec.input_fn, max_steps=spec.max_steps, hooks=list(spec.hooks), saving_listeners=listeners)

    def _evaluator(self) -> CheckpointEvaluator:
        return CheckpointEvaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)


def _start_server(config: RunConfig) -> Server | None:
    """The server of this task; None where it is the only one."""
    if not config.master:
        tf_logging.info("Skip starting Tensorflow server as there is only one node in the cluster.")
        return None
    tf_logging.info("Start Tensorflow server.")
    session_config = config_pb2.ConfigProto(log_device_placement=False)
    if config.session_config is not None:
        session_config.gpu_options.CopyFrom(config.session_config.gpu_options)
    return Server(
        config.cluster_spec,
        job_name=config.task_type,
        task_index=config.task_id,
        config=session_config,
        protocol=config.protocol,
    )
