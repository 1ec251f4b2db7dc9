"""tf.contrib.util: tensors as protos, and values that are known before a run."""

from __future__ import annotations

from weft.framework.nodes.constant_value import constant_value_as_shape as constant_value_as_shape
from weft.framework.nodes.constant_value import told_value as _told_value
from weft.framework.registry.op_list import ops_used_by_graph_def as ops_used_by_graph_def
from weft.framework.registry.op_list import stripped_op_list_for_graph as stripped_op_list_for_graph
from weft.framework.types.tensor_util import make_ndarray as make_ndarray
from weft.framework.types.tensor_util import make_tensor_proto as make_tensor_proto

constant_value = _told_value
