"""tf.graph_util: parts of graphs and frozen graphs. This module only re-exports."""

from __future__ import annotations

from weft.client.frozen_graph import convert_variables_to_constants as convert_variables_to_constants
from weft.framework.importing.importer import import_graph_def as import_graph_def
from weft.framework.importing.subgraph import extract_sub_graph as extract_sub_graph
from weft.framework.importing.subgraph import must_run_on_cpu as must_run_on_cpu
from weft.framework.importing.subgraph import remove_training_nodes as remove_training_nodes
from weft.framework.importing.subgraph import tensor_shape_from_node_def_name as tensor_shape_from_node_def_name
