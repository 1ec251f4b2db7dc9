"""tf.contrib.tfprof.tfprof_logger: the file of what a graph's nodes compute. This module only re-exports."""

from __future__ import annotations

from weft.client.analysis.op_log import write_op_log as write_op_log
