"""learn_runner.run: makes an Experiment and does with it what this process's task asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.estimators.learn.experiment import Experiment
from weft.estimators.learn.run_config import RunConfig as LearnRunConfig
from weft.estimators.learn.run_config import TaskType
from weft.estimators.run_config import RunConfig
from weft.platform.logs import tf_logging
from weft.training.hparams import HParams


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: LearnRunConfig | None = None,
    hparams: HParams | None = None,
) -> Any:
    """Make an Experiment and call one of its methods.

    Args:
        experiment_fn: makes it, from `output_dir`, or from `run_config` and `hparams`.
        output_dir: the model's directory.
        schedule: the method; by the task when None: `train` for a worker of a cluster, `run_std_server` for a parameter
            server, else `train_and_evaluate`.
        run_config: how to run, with the model's directory, instead of `output_dir`.
        hparams: given to the function with it.

    Returns:
        What the method returns.

    Raises:
        ValueError: both or neither of `output_dir` and `run_config` are given, or there is no such method.
        TypeError: the function cannot be called, or makes no Experiment.
        RuntimeError: the Experiment's estimator has another RunConfig.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = _configured(experiment_fn, run_config, hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
        experiment = _checked(experiment_fn(output_dir=output_dir))
    return _execute(experiment, schedule or _default_schedule(run_config or experiment.estimator.config))


def _configured(experiment_fn: Callable[..., Experiment], run_config: LearnRunConfig, hparams: Any) -> Experiment:
    if not isinstance(run_config, LearnRunConfig):
        raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
    if not run_config.model_dir:
        raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
    wanted = run_config.uid()
    experiment = _checked(experiment_fn(run_config, hparams))
    found = experiment.estimator.config
    if not isinstance(found, LearnRunConfig):
        raise RuntimeError(
            "Pass `run_config` argument of the `experiment_fn` to the Estimator in Experiment. It is likely a different "
            "`RunConfig` is passed to `Estimator` or the `config` constructor argument in `Estimator` is not set."
        )
    if found.uid() != wanted:
        raise RuntimeError(
            "`RunConfig` instance is expected to be used by the `Estimator` inside the `Experiment`. expected "
            f"{wanted}, but got {found.uid()}"
        )
    return experiment


def _checked(experiment: object) -> Experiment:
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead.")
    return experiment


def _execute(experiment: Experiment, schedule: str) -> Any:
    task = getattr(experiment, schedule, None)
    if task is None or not callable(task):
        valid = [name for name in dir(experiment) if not name.startswith("_") and callable(getattr(experiment, name))]
        tf_logging.error("Allowed values for this experiment are: %s", valid)
        if task is None:
            raise ValueError(f"Schedule references non-existent task {schedule}")
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return task()


def _default_schedule(config: RunConfig) -> str:
    if sum(config.cluster_spec.num_tasks(job) for job in config.cluster_spec.jobs) <= 1:
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    schedules = {TaskType.MASTER: "train_and_evaluate", TaskType.PS: "run_std_server", TaskType.WORKER: "train"}
    if config.task_type not in schedules:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return schedules[config.task_type]
