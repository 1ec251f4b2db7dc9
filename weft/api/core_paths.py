"""The protocol buffers that programs import as `tensorflow.core.PATH`, the modules that have these messages, and the tools."""

from __future__ import annotations

from typing import Final

_TENSORBOARD: Final = {
    "framework": (
        "allocation_description api_def attr_value cost_graph function graph node_def op_def resource_handle step_stats "
        "summary tensor_description tensor tensor_shape types variable versions"
    ),
    "protobuf": "cluster config debug meta_graph rewriter_config saver struct trackable_object_graph verifier_config",
    "util": "event",
}

_OWN: Final = {
    "framework": "device_attributes reader_base",
    "protobuf": "control_flow master queue_runner saved_model tensor_bundle tensorflow_server worker",
    "example": "example",
}

ALIASES: Final = {
    f"{folder}.{name}_pb2": f"{package}.{name}_pb2"
    for package, folders in (("tensorboard.compat.proto", _TENSORBOARD), ("weft.proto", _OWN))
    for folder, names in folders.items()
    for name in names.split()
} | {"example.feature_pb2": "weft.proto.example_pb2", "profiler.tfprof_log_pb2": "weft.proto.op_log_pb2"}

# The names of `tensorflow.tools.PATH`.
TOOLS: Final = {"graph_transforms": "weft.client.graph_transforms.transforms:TransformGraph"}
