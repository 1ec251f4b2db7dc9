"""Names of tensorflow.python.framework.test_util and its like, which tests of TensorFlow programs use. They are written as in
`python_paths.NAMES`.
"""

from __future__ import annotations

from typing import Final

_TESTS_AS_THEY_ARE: Final = (
    "also_run_as_tf_function", "assert_no_garbage_created", "assert_no_new_pyobjects_executing_eagerly",
    "assert_no_new_tensors",
    "build_as_function_and_v1_graph", "deprecated_graph_mode_only", "enable_c_shapes", "enable_control_flow_v2",
    "enable_output_all_intermediates", "py_func_if_in_function", "use_deterministic_cudnn", "with_c_shapes",
    "with_control_flow_v2",
)  # fmt: skip
_DESCRIBED_TESTS: Final = (
    "disable_control_flow_v2", "disable_xla", "enable_tf_xla_constant_folding", "no_xla_auto_jit", "xla_allow_fallback",
)  # fmt: skip

NAMES: Final = {
    "ops.gradient_checker_v2": (
        "weft.testing.function_gradient_check:compute_gradient weft.testing.function_gradient_check:max_error"
    ),
    "framework.test_util": (
        "test.TestCase=TensorFlowTestCase test.gpu_device_name test.is_gpu_available test.assert_equal_graph_def "
        "weft.testing.graph_modes:run_in_graph_and_eager_modes "
        "weft.testing.graph_modes:run_all_in_graph_and_eager_modes weft.testing.graph_modes:run_deprecated_v1 "
        "weft.testing.graph_modes:run_v1_only test.create_local_cluster weft.testing.captured_writes:CapturedWrites "
        "test.assert_equal_graph_def=assert_equal_graph_def_v1 weft.testing.graph_checks:assert_equal_graph_def_v2 "
        "weft.testing.graph_checks:assert_meta_graph_protos_equal weft.testing.graph_checks:assert_ops_in_graph "
        "weft.testing.graph_checks:get_node_def_from_graph weft.testing.graph_checks:set_producer_version "
        "weft.testing.layouts:nchw_to_nhwc=NCHWToNHWC weft.testing.layouts:nhwc_to_nchw=NHWCToNCHW "
        "weft.testing.environment:device weft.testing.environment:force_cpu weft.testing.environment:force_gpu "
        "weft.testing.environment:use_gpu test.is_built_with_cuda=IsGoogleCudaEnabled "
        "weft.testing.test_conditions:is_xla_enabled=IsBuiltWithROCm weft.testing.test_conditions:is_xla_enabled=IsMklEnabled "
        "weft.testing.test_conditions:for_all_test_methods weft.testing.test_conditions:is_xla_enabled "
        "weft.testing.test_conditions:run_gpu_only weft.testing.test_conditions:run_gpu_only=run_cuda_only "
        "weft.testing.test_conditions:run_v2_only weft.testing.test_conditions:skip_if "
        + " ".join(f"weft.testing.test_conditions:as_it_is={name}" for name in _TESTS_AS_THEY_ARE)
        + " "
        + " ".join(f"weft.testing.test_conditions:described={name}" for name in _DESCRIBED_TESTS)
    ),
}
