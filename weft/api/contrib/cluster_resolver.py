"""tf.contrib.cluster_resolver: what tells a cluster's tasks. This module only re-exports."""

from __future__ import annotations

from weft.strategies.cluster_resolver import ClusterResolver as ClusterResolver
from weft.strategies.cluster_resolver import SimpleClusterResolver as SimpleClusterResolver
from weft.strategies.cluster_resolver import TFConfigClusterResolver as TFConfigClusterResolver
from weft.strategies.cluster_resolver import UnionResolver as _UnionResolver
from weft.strategies.kubernetes_resolver import KubernetesClusterResolver as KubernetesClusterResolver
from weft.strategies.slurm_resolver import SlurmClusterResolver as SlurmClusterResolver

UnionClusterResolver = _UnionResolver
