"""The settings of a TPUEstimator: what concerns TPUs alone is kept, and has no effect."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Nest
from weft.strategies.cluster_resolver import ClusterResolver

_LOOP_TIME: Final = re.compile(r"[1-9]\d*[smh]")


class InputPipelineConfig:
    """How the input of a TPU is made."""

    PER_SHARD_V1: Final = 1
    PER_HOST_V1: Final = 2
    PER_HOST_V2: Final = 3
    BROADCAST: Final = 4
    SLICED: Final = 5


class _Fields(NamedTuple):
    """What a TPUConfig holds."""

    iterations_per_loop: int | str
    num_shards: int | None
    num_cores_per_replica: int | None
    per_host_input_for_training: bool | int
    tpu_job_name: str | None
    initial_infeed_sleep_secs: float | None
    input_partition_dims: object
    eval_training_input_configuration: int
    experimental_host_call_every_n_steps: int


class TPUConfig(_Fields):
    """How a program runs on TPUs.

    Args:
        iterations_per_loop: steps that a TPU makes by itself; or a time, such as `60s`, `5m` or `1h`.
        num_shards: how many replicas there are.
        num_cores_per_replica, tpu_job_name, initial_infeed_sleep_secs, input_partition_dims,
            eval_training_input_configuration, experimental_host_call_every_n_steps: kept.
        per_host_input_for_training: one of InputPipelineConfig's.

    Raises:
        ValueError: a number of steps or shards is not positive.
    """

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: int | str = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: bool | int = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: float | None = None,
        input_partition_dims: object = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        """Check the numbers and make the record."""
        steps = iterations_per_loop
        if not (_LOOP_TIME.fullmatch(steps) if isinstance(steps, str) else steps > 0):
            raise ValueError(
                "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value or time-based value "
                f"`<N><s|m|h>`, such as `60s`, `5m` or `1h`; got {steps!r}"
            )
        if num_shards is not None and num_shards <= 0:
            raise ValueError(f"TPUConfig num_shards must be positive, got {num_shards}")
        per_host = per_host_input_for_training
        if isinstance(per_host, bool):
            per_host = InputPipelineConfig.PER_HOST_V1 if per_host else InputPipelineConfig.PER_SHARD_V1
        return super().__new__(
            cls, steps, num_shards, num_cores_per_replica, per_host, tpu_job_name, initial_infeed_sleep_secs,
            input_partition_dims, eval_training_input_configuration, experimental_host_call_every_n_steps,
        )  # fmt: skip


class TPURunConfig(RunConfig):
    """A RunConfig with a TPUConfig; `tf.estimator.tpu.RunConfig`.

    Args:
        tpu_config: the TPUConfig; one of defaults when None.
        evaluation_master: the target of the sessions that evaluate; `master` when None.
        master: the target of the sessions that train; TF_CONFIG's when None.
        cluster: a ClusterResolver that tells the master instead.
        kwargs: those of RunConfig.

    Raises:
        ValueError: both `master` and `cluster` are given.
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: ClusterResolver | None = None,
        **kwargs: Nest,
    ) -> None:
        super().__init__(**kwargs)
        if cluster is not None and master:
            raise ValueError("TPU RunConfig: give one of `master` and `cluster`, not both")
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        target = master if cluster is None else cluster.master()
        if target:
            self._master = target
        if evaluation_master is not None or target:
            self._evaluation_master = evaluation_master if evaluation_master is not None else self._master

    @property
    def tpu_config(self) -> TPUConfig:
        """The TPUConfig."""
        return self._tpu_config

    @property
    def cluster(self) -> ClusterResolver | None:
        """The ClusterResolver, or None."""
        return self._cluster

    def replace(self, **kwargs: Nest) -> TPURunConfig:
        """A copy with other values for some fields, `tpu_config` among them.

        Args:
            kwargs: the fields' new values by name.
        """
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        changed = super().replace(**kwargs)
        assert isinstance(changed, TPURunConfig)
        changed._tpu_config = tpu_config
        return changed
