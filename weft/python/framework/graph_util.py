"""tensorflow.python.framework.graph_util, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.graph_util import convert_variables_to_constants as convert_variables_to_constants
from weft.graph_util import extract_sub_graph as extract_sub_graph
from weft.graph_util import import_graph_def as import_graph_def
from weft.graph_util import must_run_on_cpu as must_run_on_cpu
from weft.graph_util import remove_training_nodes as remove_training_nodes
from weft.graph_util import tensor_shape_from_node_def_name as tensor_shape_from_node_def_name
