"""RunConfig: how an estimator runs: its directory, its seeds, how often it saves and logs, its place in the cluster."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorboard.compat.proto import config_pb2, rewriter_config_pb2

from weft.estimators.aliases import Settings
from weft.estimators.cluster_environment import TaskType, cluster_task
from weft.framework.compat.function_signatures import fn_args
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.types.printed import printed
from weft.jobs.tf_config import tf_config
from weft.platform.logs import tf_logging
from weft.strategies.distribute_config import DistributeConfig
from weft.strategies.strategy import Strategy

_USE_DEFAULT: Final[Any] = object()
_DEFAULT_SAVE_SECS: Final = 600
_REPLACEABLE: Final = (
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "session_config",
    "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps", "train_distribute", "device_fn", "protocol",
    "eval_distribute", "experimental_distribute", "experimental_max_worker_delay_secs", "session_creation_timeout_secs",
)  # fmt: skip
_BOTH_SAVES: Final = (
    "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set. They are {} steps and {} seconds."
)
# The condition that each field must meet unless it is None, and the message of the error.
_CONDITIONS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "model_dir": (bool, "model_dir should be non-empty"),
    "save_summary_steps": (lambda steps: steps >= 0, "save_summary_steps should be >= 0"),
    "save_checkpoints_steps": (lambda steps: steps >= 0, "save_checkpoints_steps should be >= 0"),
    "save_checkpoints_secs": (lambda secs: secs >= 0, "save_checkpoints_secs should be >= 0"),
    "session_config": (
        lambda config: isinstance(config, config_pb2.ConfigProto),
        "session_config must be instance of ConfigProto, such as tf.ConfigProto(allow_soft_placement=True)",
    ),
    "keep_checkpoint_max": (lambda count: count >= 0, "keep_checkpoint_max should be >= 0"),
    "keep_checkpoint_every_n_hours": (lambda hours: hours > 0, "keep_checkpoint_every_n_hours should be > 0"),
    "log_step_count_steps": (lambda steps: steps > 0, "log_step_count_steps should be > 0"),
    "tf_random_seed": (lambda seed: isinstance(seed, int), "tf_random_seed must be integer."),
    "experimental_max_worker_delay_secs": (
        lambda delay: isinstance(delay, int),
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    "session_creation_timeout_secs": (lambda secs: secs > 0, "session_creation_timeout_secs should be > 0"),
    "device_fn": (
        lambda function: callable(function) and set(fn_args(function)) == {"op"},
        'device_fn must be callable with exactly one argument "op".',
    ),
    "protocol": (lambda protocol: protocol in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs"),
}


def get_default_session_config() -> config_pb2.ConfigProto:
    """The ConfigProto of an estimator whose RunConfig has none: it places softly."""
    options = rewriter_config_pb2.RewriterConfig(meta_optimizer_iterations=rewriter_config_pb2.RewriterConfig.ONE)
    return config_pb2.ConfigProto(allow_soft_placement=True, graph_options=config_pb2.GraphOptions(rewrite_options=options))


class RunConfig:
    """How an estimator runs. What it is told about a cluster comes from the environment variable TF_CONFIG.

    Args:
        model_dir: where checkpoints and events are written; TF_CONFIG's when None, else a temporary directory.
        tf_random_seed: the graphs' seed.
        save_summary_steps: steps between summaries.
        save_checkpoints_steps: steps between checkpoints.
        save_checkpoints_secs: seconds between them, instead; 600 when neither is given.
        session_config: the sessions' ConfigProto.
        keep_checkpoint_max: how many checkpoints are kept; 0 or None for all.
        keep_checkpoint_every_n_hours: of those that go, one is kept for good in so many hours.
        log_step_count_steps: steps between two lines in the log; None for none.
        train_distribute, eval_distribute: the strategies that training and evaluation are distributed by.
        experimental_distribute: a DistributeConfig with both, instead.
        device_fn: gives the device of each operation; the parameter servers' round robin when None.
        protocol: how servers talk to each other.
        experimental_max_worker_delay_secs: how long a worker waits at most before it starts to train.
        session_creation_timeout_secs: how long a worker waits for the chief.

    Raises:
        ValueError: a value is out of its range, or TF_CONFIG contradicts it or itself.
        TypeError: a strategy is none.

    >>> config = tf.estimator.RunConfig(model_dir="/tmp/model", save_checkpoints_steps=100)
    >>> config.model_dir, config.save_checkpoints_steps, config.is_chief
    ('/tmp/model', 100, True)
    """

    _model_dir: str | None
    _tf_random_seed: int | None
    _save_summary_steps: int | None
    _save_checkpoints_steps: int | None
    _save_checkpoints_secs: float | None
    _session_config: config_pb2.ConfigProto | None
    _keep_checkpoint_max: int | None
    _keep_checkpoint_every_n_hours: float
    _log_step_count_steps: int | None
    _train_distribute: Strategy | None
    _device_fn: Callable[[Any], str] | None
    _protocol: str | None
    _eval_distribute: Strategy | None
    _experimental_distribute: object
    _experimental_max_worker_delay_secs: int | None
    _session_creation_timeout_secs: float

    __repr__ = printed("tf.estimator", lambda config: f"task {config.task_type}:{config.task_id}")

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: int | None = _USE_DEFAULT,
        save_checkpoints_secs: float | None = _USE_DEFAULT,
        session_config: config_pb2.ConfigProto | None = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Strategy | None = None,
        device_fn: Callable[[Any], str] | None = None,
        protocol: str | None = None,
        eval_distribute: Strategy | None = None,
        experimental_distribute: DistributeConfig | None = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        save_steps, save_secs = _save_times(save_checkpoints_steps, save_checkpoints_secs)
        environment = tf_config()
        if environment:
            tf_logging.info("TF_CONFIG environment variable: %s", environment)
        self._set(
            model_dir=_model_dir(environment, model_dir),
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_steps,
            save_checkpoints_secs=save_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute,
            device_fn=device_fn,
            protocol=protocol,
            eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        self.take_place_in_cluster(environment)

    def take_place_in_cluster(self, environment: Settings) -> None:
        """Take what TF_CONFIG says of the cluster.

        Args:
            environment: what TF_CONFIG says, read already.
        """
        strategy = self._train_distribute
        task = cluster_task(environment, strategy is not None and strategy.extended.experimental_between_graph)
        self._service = task.service
        self._cluster_spec = task.cluster_spec
        self._task_type = task.task_type
        self._task_id = task.task_id
        self._global_id_in_cluster = task.global_id_in_cluster
        self._master = "" if strategy is not None and not strategy.extended.uses_servers else task.master
        self._evaluation_master = task.evaluation_master
        self._is_chief = task.is_chief
        self._num_ps_replicas = task.num_ps_replicas
        self._num_worker_replicas = task.num_worker_replicas
        if self._session_config is None and self._cluster_spec:
            self._session_config = _distributed_session_config(task.task_type, task.task_id)

    @property
    def cluster_spec(self) -> ClusterSpec:
        """The cluster; empty without one, and in an evaluator."""
        return self._cluster_spec

    @property
    def device_fn(self) -> Callable[[Any], str] | None:
        """The device of each operation, or None."""
        return self._device_fn

    @property
    def evaluation_master(self) -> str:
        """The target of the sessions that evaluate."""
        return self._evaluation_master

    @property
    def is_chief(self) -> bool:
        """Whether this task initializes and saves the model."""
        return self._is_chief

    @property
    def master(self) -> str:
        """The target of the sessions that train."""
        return self._master

    @property
    def num_ps_replicas(self) -> int:
        """How many parameter servers there are."""
        return self._num_ps_replicas

    @property
    def num_worker_replicas(self) -> int:
        """How many tasks train, the chief among them."""
        return self._num_worker_replicas

    @property
    def task_id(self) -> int:
        """The number of this task in its job."""
        return self._task_id

    @property
    def global_id_in_cluster(self) -> int | None:
        """The number of this task among all: the chief's is 0, the parameter servers' come last; None for an evaluator."""
        return self._global_id_in_cluster

    @property
    def experimental_max_worker_delay_secs(self) -> int | None:
        """How many seconds a worker waits at most before it starts to train; None for 60."""
        return self._experimental_max_worker_delay_secs

    @property
    def task_type(self) -> str:
        """The job of this task, one of `TaskType`'s."""
        return self._task_type

    @property
    def tf_random_seed(self) -> int | None:
        """The graphs' seed."""
        return self._tf_random_seed

    @property
    def save_summary_steps(self) -> int | None:
        """Steps between two summaries."""
        return self._save_summary_steps

    @property
    def save_checkpoints_secs(self) -> float | None:
        """Seconds between two checkpoints."""
        return self._save_checkpoints_secs

    @property
    def session_config(self) -> config_pb2.ConfigProto | None:
        """The sessions' ConfigProto."""
        return self._session_config

    @property
    def save_checkpoints_steps(self) -> int | None:
        """Steps between two checkpoints."""
        return self._save_checkpoints_steps

    @property
    def keep_checkpoint_max(self) -> int | None:
        """How many checkpoints are kept; 0 or None for all."""
        return self._keep_checkpoint_max

    @property
    def session_creation_timeout_secs(self) -> float:
        """How many seconds a worker waits for the chief."""
        return self._session_creation_timeout_secs

    @property
    def keep_checkpoint_every_n_hours(self) -> float:
        """In how many hours one checkpoint is kept for good."""
        return self._keep_checkpoint_every_n_hours

    @property
    def log_step_count_steps(self) -> int | None:
        """Steps between two lines in the log; None for none."""
        return self._log_step_count_steps

    @property
    def model_dir(self) -> str | None:
        """Where checkpoints and events are written."""
        return self._model_dir

    @property
    def service(self) -> Settings | None:
        """What TF_CONFIG says of the platform that runs the cluster."""
        return self._service

    @property
    def train_distribute(self) -> Strategy | None:
        """The strategy by which training is distributed, or None."""
        return self._train_distribute

    @property
    def eval_distribute(self) -> Strategy | None:
        """The strategy by which evaluation is distributed, or None."""
        return self._eval_distribute

    @property
    def protocol(self) -> str | None:
        """How servers talk to each other; None for grpc."""
        return self._protocol

    def replace(self, **kwargs: object) -> RunConfig:
        """A copy with other values for some fields.

        Giving one of `save_checkpoints_steps` and `save_checkpoints_secs` takes the other away.

        Args:
            kwargs: the fields' new values by name.

        Raises:
            ValueError: a field cannot be replaced, or a value is out of its range.
        """
        changed = copy.deepcopy(self)
        changed._set(**kwargs)
        return changed

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            if name not in _REPLACEABLE:
                raise ValueError(f"Replacing {name} is not supported. Allowed properties are {list(_REPLACEABLE)}.")
            if name in ("train_distribute", "eval_distribute") and not isinstance(value, Strategy | None):
                meant = f": did you mean {value.__name__}()?" if isinstance(value, type) else ""
                raise TypeError(f"RunConfig: {name} must be a tf.distribute.Strategy, got {value!r}{meant}")
            setattr(self, f"_{name}", value)
        self._settle_save_times(fields)
        if fields.get("experimental_distribute") is not None:
            self._take_strategies(fields)
        for name, (is_valid, message) in _CONDITIONS.items():
            value = getattr(self, f"_{name}")
            if value is not None and not is_valid(value):
                raise ValueError(f"{message} Got {value!r}." if message.endswith(".") else f"{message}, got {value!r}")

    def _take_strategies(self, fields: Mapping[str, object]) -> None:
        """Take the strategies of a DistributeConfig."""
        given = fields["experimental_distribute"]
        if not isinstance(given, DistributeConfig):
            raise TypeError(f"RunConfig: experimental_distribute must be a DistributeConfig, got {given!r}")
        if given.remote_cluster:
            raise NotImplementedError(
                "DistributeConfig(remote_cluster=...): weft has no standalone client. Start each task with a TF_CONFIG of its "
                "own, which `train_and_evaluate` reads"
            )
        for name in ("train_distribute", "eval_distribute"):
            if getattr(given, name) is not None:
                if fields.get(name) is not None:
                    raise ValueError(f"Either `{name}` or `experimental_distribute.{name}` can be set.")
                self._set(**{name: getattr(given, name)})

    def _settle_save_times(self, fields: Mapping[str, object]) -> None:
        steps, secs = fields.get("save_checkpoints_steps"), fields.get("save_checkpoints_secs")
        if steps is not None and secs is not None:
            raise ValueError(_BOTH_SAVES.format(steps, secs))
        if steps is not None:
            self._save_checkpoints_secs = None
        elif secs is not None:
            self._save_checkpoints_steps = None


def _save_times(steps: Any, secs: Any) -> tuple[Any, Any]:
    """Steps and seconds between checkpoints: an argument that is given takes the other's default away."""
    if steps is _USE_DEFAULT and secs is _USE_DEFAULT:
        return None, _DEFAULT_SAVE_SECS
    steps, secs = (None if each is _USE_DEFAULT else each for each in (steps, secs))
    if steps is not None and secs is not None:
        raise ValueError(_BOTH_SAVES.format(steps, secs))
    return steps, secs


def _model_dir(environment: Settings, model_dir: str | os.PathLike[str] | None) -> str | None:
    given = None if model_dir is None else os.fspath(model_dir)
    if given == "":
        raise ValueError("model_dir should be non-empty.")
    told: str | None = environment.get("model_dir")
    if told == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if told and given and told != given:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in TF_CONFIG. "
            f'model_dir: {given}\nTF_CONFIG["model_dir"]: {told}.\n'
        )
    if told:
        tf_logging.info("Using model_dir in TF_CONFIG: %s", told)
    return given or told


def _distributed_session_config(task_type: str, task_id: int) -> config_pb2.ConfigProto | None:
    """A ConfigProto by which a task talks to the parameter servers alone: it runs on when another replica ends."""
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }.get(task_type)
    if filters is None:
        return None
    config = get_default_session_config()
    config.device_filters.extend(filters)
    return config
