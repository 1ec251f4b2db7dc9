"""run_config: how estimators run. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.run_config import DEFAULT_UID_WHITE_LIST as _DEFAULT_UID_WHITE_LIST
from weft.estimators.learn.run_config import ClusterConfig as ClusterConfig
from weft.estimators.learn.run_config import Environment as Environment
from weft.estimators.learn.run_config import RunConfig as RunConfig
from weft.estimators.learn.run_config import TaskType as TaskType
