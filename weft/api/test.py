"""tf.test: test cases for programs with graphs, gradient checks, local clusters, benchmarks."""

from __future__ import annotations

from unittest import mock as mock

from weft.testing.benchmark import Benchmark as Benchmark
from weft.testing.benchmark import benchmark_config as benchmark_config
from weft.testing.environment import assert_equal_graph_def as assert_equal_graph_def
from weft.testing.environment import create_local_cluster as create_local_cluster
from weft.testing.environment import gpu_device_name as gpu_device_name
from weft.testing.environment import is_built_with_cuda as is_built_with_cuda
from weft.testing.environment import is_built_with_gpu_support as is_built_with_gpu_support
from weft.testing.environment import is_built_with_rocm as is_built_with_rocm
from weft.testing.environment import is_gpu_available as is_gpu_available
from weft.testing.environment import test_src_dir_path as test_src_dir_path
from weft.testing.gradient_check import compute_gradient as compute_gradient
from weft.testing.gradient_check import compute_gradient_error as compute_gradient_error
from weft.testing.stub_out import StubOutForTesting as StubOutForTesting
from weft.testing.test_case import TestCase as TestCase
from weft.testing.test_case import get_temp_dir as get_temp_dir
from weft.testing.test_case import main as main

__all__ = [
    "Benchmark", "StubOutForTesting", "TestCase", "assert_equal_graph_def", "benchmark_config", "compute_gradient",
    "compute_gradient_error", "create_local_cluster", "get_temp_dir", "gpu_device_name", "is_built_with_cuda",
    "is_built_with_gpu_support", "is_built_with_rocm", "is_gpu_available", "main", "mock", "test_src_dir_path",
]  # fmt: skip
