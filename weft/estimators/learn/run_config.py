"""contrib.learn's RunConfig and ClusterConfig: a master or worker 0 is the chief, and TF_CONFIG may name an environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tensorboard.compat.proto import config_pb2

from weft.estimators import run_config as core
from weft.estimators.aliases import Settings
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.jobs.tf_config import tf_config

# The fields that do not matter for `uid`.
DEFAULT_UID_WHITE_LIST: Final = (
    "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "session_config",
    "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
)  # fmt: skip
_DEFAULT_SAVE_SECS: Final = 600


class Environment:
    """The platforms that TF_CONFIG's `environment` may name."""

    CLOUD: Final = "cloud"
    GOOGLE: Final = "google"
    LOCAL: Final = "local"


class TaskType:
    """The kinds of tasks of a cluster."""

    MASTER: Final = "master"
    PS: Final = "ps"
    WORKER: Final = "worker"


class ClusterConfig:
    """The place of this process in a cluster, as TF_CONFIG tells it.

    Args:
        master: the target of training sessions; this task's own server when None.
        evaluation_master: the target of sessions that evaluate.

    Raises:
        ValueError: the task is none of the cluster.
    """

    def __init__(self, master: str | None = None, evaluation_master: str | None = None) -> None:
        config = tf_config()
        task = config.get("task") or {}
        self._task_type: str | None = task.get("type")
        self._task_id = self.get_task_id()
        self._cluster_spec = ClusterSpec(config.get("cluster") or {})
        self._master = _own_address(self._cluster_spec, self._task_type, self._task_id) if master is None else master
        self._num_ps_replicas = _count(self._cluster_spec, TaskType.PS)
        self._num_worker_replicas = _count(self._cluster_spec, TaskType.WORKER, TaskType.MASTER)
        self._environment: str = config.get("environment", Environment.LOCAL)
        chief = TaskType.MASTER if self._environment == Environment.CLOUD else TaskType.WORKER
        self._is_chief = self._task_id == 0 and self._task_type in (None, chief)
        self._evaluation_master = evaluation_master or ""

    @property
    def cluster_spec(self) -> ClusterSpec:
        """The cluster; empty without one."""
        return self._cluster_spec

    @property
    def environment(self) -> str:
        """The platform, one of Environment's."""
        return self._environment

    @property
    def evaluation_master(self) -> str:
        """The target of sessions that evaluate."""
        return self._evaluation_master

    @property
    def is_chief(self) -> bool:
        """Whether this task initializes and saves the model."""
        return self._is_chief

    @property
    def master(self) -> str:
        """The target of training sessions."""
        return self._master

    @property
    def num_ps_replicas(self) -> int:
        """How many parameter servers there are."""
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """How many tasks train."""
        return self._num_worker_replicas

    @property
    def task_id(self) -> int:
        """The number of this task in its job."""
        return self._task_id

    @property
    def task_type(self) -> str | None:
        """The job of this task; None without TF_CONFIG."""
        return self._task_type

    @staticmethod
    def get_task_id() -> int:
        """The number of this task in its job, 0 without TF_CONFIG."""
        index = (tf_config().get("task") or {}).get("index")
        return int(index) if index else 0


class RunConfig(ClusterConfig, core.RunConfig):  # type: ignore[misc]
    """How a contrib.learn estimator runs; a tf.estimator takes it too.

    Args:
        master: the target of training sessions; this task's own server when None.
        num_cores: threads within and between operations; 0 for as many as there are.
        log_device_placement: whether to log where operations run.
        gpu_memory_fraction: the share of a GPU's memory to take.
        tf_random_seed, save_summary_steps: see `tf.estimator.RunConfig`.
        save_checkpoints_secs: seconds between checkpoints; 600 for 0, unless there are steps.
        save_checkpoints_steps: steps between them, instead.
        keep_checkpoint_max, keep_checkpoint_every_n_hours, log_step_count_steps, protocol: see there.
        evaluation_master: the target of sessions that evaluate.
        model_dir, session_config, session_creation_timeout_secs: see there.
    """

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int = 100,
        save_checkpoints_secs: float | None = 0,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: config_pb2.ConfigProto | None = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        ClusterConfig.__init__(self, master, evaluation_master)
        self._tf_config = config_pb2.ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=config_pb2.GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )
        if save_checkpoints_secs == 0:
            save_checkpoints_secs = _DEFAULT_SAVE_SECS if save_checkpoints_steps is None else None
        core.RunConfig.__init__(
            self,
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )

    def take_place_in_cluster(self, environment: Settings) -> None:
        """Keep the place that ClusterConfig has read from TF_CONFIG; it needs no chief.

        Args:
            environment: what TF_CONFIG says, read already.
        """
        self._service = None
        self._global_id_in_cluster = None

    @property
    def tf_config(self) -> config_pb2.ConfigProto:
        """The ConfigProto of `num_cores` and its neighbours, which sessions do not use."""
        return self._tf_config

    def uid(self, whitelist: Sequence[str] | None = None) -> str:
        """What tells two configurations apart, but for some fields.

        Args:
            whitelist: these fields; those of seeds, saving and logging when None.
        """
        left_out = {f"_{name}" for name in (DEFAULT_UID_WHITE_LIST if whitelist is None else whitelist)}
        state = {name: value for name, value in vars(self).items() if name not in left_out}
        state["_cluster_spec"] = sorted(self._cluster_spec.as_dict().items())
        return ", ".join(f"{name}={value!r}" for name, value in sorted(state.items()))


def _own_address(cluster: ClusterSpec, task_type: str | None, task_id: int) -> str:
    if not cluster or not task_type or (len(cluster.jobs) == 1 and cluster.num_tasks(cluster.jobs[0]) == 1):
        return ""
    note = "Note that these values may be coming from the TF_CONFIG environment variable."
    if task_type not in cluster.jobs:
        raise ValueError(f"{task_type} is not a valid task_type in the cluster_spec:\n{cluster}\n\n{note}")
    if task_id not in cluster.task_indices(task_type):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} in the cluster_spec:\n{cluster}\n\n{note}"
        )
    return f"grpc://{cluster.task_address(task_type, task_id)}"


def _count(cluster: ClusterSpec, *jobs: str) -> int:
    return sum(cluster.num_tasks(job) for job in jobs if job in cluster.jobs)
