"""The RunConfig that an estimator ends up with: its directory, its session's ConfigProto, where its operations go."""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto import config_pb2

from weft.estimators.run_config import RunConfig, get_default_session_config
from weft.platform.logs import tf_logging
from weft.strategies.strategy import Strategy
from weft.training.device_setter import STANDARD_PS_OPS, replica_device_setter


def settled_config(config: RunConfig | None, model_dir: str | os.PathLike[str] | None) -> RunConfig:
    """A copy of a RunConfig that has a directory and a ConfigProto.

    Args:
        config: the program's; a new one when None.
        model_dir: the estimator's directory; the RunConfig's when None, else a temporary one.

    Raises:
        ValueError: it is no RunConfig, or has another directory.
    """
    if config is None:
        config = RunConfig()
        tf_logging.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(
            f"config must be an instance of `RunConfig`, but provided {config}. tf.estimator.RunConfig(...) makes one."
        )
    if config.session_config is None:
        config = config.replace(session_config=get_default_session_config())
    directory = None if model_dir is None else os.fspath(model_dir)
    if directory is not None and config.model_dir is not None and config.model_dir != directory:
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
            f"'{directory}', in `RunConfig`: '{config.model_dir}' "
        )
    if not directory and config.model_dir is None:
        directory = tempfile.mkdtemp()
        tf_logging.warning("Using temporary folder as model directory: %s", directory)
    return config.replace(model_dir=directory) if directory else config


def fitted_session_config(
    session_config: config_pb2.ConfigProto | None, strategy: Strategy | None
) -> config_pb2.ConfigProto | None:
    """The ConfigProto as a strategy needs it."""
    if strategy is None or session_config is None:
        return session_config
    fitted: config_pb2.ConfigProto = strategy.update_config_proto(session_config)
    return fitted


def placed_config(config: RunConfig, strategy: Strategy, checkpoint: str | None) -> RunConfig:
    """The RunConfig of a process that trains by a strategy, which takes its place in the RunConfig's cluster.

    Raises:
        ValueError: the cluster is none that the strategy can use.
        FailedPreconditionError: workers that train together see different checkpoints.
    """
    session_config = copy.deepcopy(config.session_config)
    strategy.configure(session_config, config.cluster_spec or None, config.task_type, config.task_id)
    strategy.extended.check_agreement("the last checkpoint in model_dir", os.path.basename(checkpoint or ""))
    return config.replace(session_config=session_config)


def device_function(config: RunConfig) -> Callable[[Any], str] | None:
    """Where the operations of a task that trains go: what the RunConfig says, or variables over the parameter servers."""
    if config.device_fn is not None:
        return config.device_fn
    if config.num_ps_replicas == 0:
        return None
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=f"/job:{config.task_type}/task:{config.task_id}" if config.task_type else "/job:worker",
        merge_devices=True,
        ps_ops=list(STANDARD_PS_OPS),
        cluster=config.cluster_spec,
    )
