"""tf.profiler: parameters, floating-point operations, times and bytes of a graph. This module only re-exports."""

from __future__ import annotations

from weft.client.analysis.model_analyzer import profile as profile
from weft.client.analysis.op_log import write_op_log as write_op_log
from weft.client.analysis.options import ProfileOptionBuilder as ProfileOptionBuilder
from weft.client.analysis.profiler import Profiler as Profiler
from weft.client.analysis.profiler import advise as advise
from weft.proto.op_log_pb2 import OpLogProto as OpLogProto
