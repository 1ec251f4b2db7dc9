"""tf.contrib.graph_editor: selections of nodes, their copies, and other edges between them. This module only re-exports."""

from __future__ import annotations

from weft.client.editing import copying as _copying
from weft.client.editing import elements as _elements
from weft.client.editing import rewiring as _rewiring
from weft.client.editing import selection as _selection
from weft.client.editing import views as _views
from weft.client.editing.copying import TransformerInfo as TransformerInfo
from weft.client.editing.copying import copy as copy
from weft.client.editing.copying import copy_with_input_replacements as copy_with_input_replacements
from weft.client.editing.copying import graph_replace as graph_replace
from weft.client.editing.elements import ControlOutputs as ControlOutputs
from weft.client.editing.elements import get_consuming_ops as get_consuming_ops
from weft.client.editing.elements import get_generating_ops as get_generating_ops
from weft.client.editing.elements import get_tensors as get_tensors
from weft.client.editing.elements import make_list_of_op as make_list_of_op
from weft.client.editing.elements import make_list_of_t as make_list_of_t
from weft.client.editing.elements import make_placeholder_from_dtype_and_shape as make_placeholder_from_dtype_and_shape
from weft.client.editing.elements import make_placeholder_from_tensor as make_placeholder_from_tensor
from weft.client.editing.elements import placeholder_name as placeholder_name
from weft.client.editing.rewiring import add_control_inputs as add_control_inputs
from weft.client.editing.rewiring import bypass as bypass
from weft.client.editing.rewiring import connect as connect
from weft.client.editing.rewiring import detach as detach
from weft.client.editing.rewiring import detach_control_inputs as detach_control_inputs
from weft.client.editing.rewiring import detach_control_outputs as detach_control_outputs
from weft.client.editing.rewiring import detach_inputs as detach_inputs
from weft.client.editing.rewiring import detach_outputs as detach_outputs
from weft.client.editing.rewiring import remove_control_inputs as remove_control_inputs
from weft.client.editing.rewiring import reroute_inputs as reroute_inputs
from weft.client.editing.rewiring import reroute_ios as reroute_ios
from weft.client.editing.rewiring import reroute_outputs as reroute_outputs
from weft.client.editing.rewiring import reroute_ts as reroute_ts
from weft.client.editing.rewiring import swap_ts as swap_ts
from weft.client.editing.selection import can_be_regex as can_be_regex
from weft.client.editing.selection import check_cios as check_cios
from weft.client.editing.selection import compute_boundary_ts as compute_boundary_ts
from weft.client.editing.selection import filter_ops as filter_ops
from weft.client.editing.selection import filter_ops_from_regex as filter_ops_from_regex
from weft.client.editing.selection import filter_ts as filter_ts
from weft.client.editing.selection import filter_ts_from_regex as filter_ts_from_regex
from weft.client.editing.selection import get_backward_walk_ops as get_backward_walk_ops
from weft.client.editing.selection import get_forward_walk_ops as get_forward_walk_ops
from weft.client.editing.selection import get_name_scope_ops as get_name_scope_ops
from weft.client.editing.selection import get_ops_ios as get_ops_ios
from weft.client.editing.selection import get_walks_intersection_ops as get_walks_intersection_ops
from weft.client.editing.selection import get_walks_union_ops as get_walks_union_ops
from weft.client.editing.selection import get_within_boundary_ops as get_within_boundary_ops
from weft.client.editing.selection import make_regex as make_regex
from weft.client.editing.selection import select_ops as select_ops
from weft.client.editing.selection import select_ops_and_ts as select_ops_and_ts
from weft.client.editing.selection import select_ts as select_ts
from weft.client.editing.views import SubGraphView as SubGraphView
from weft.client.editing.views import make_view as make_view
from weft.client.editing.views import make_view_from_scope as make_view_from_scope

# Under names of their own: type checkers take a renamed import for the module's private business.
ph = make_placeholder_from_dtype_and_shape
sgv = make_view
sgv_scope = make_view_from_scope
edit = _rewiring
reroute = _rewiring
select = _selection
subgraph = _views
transform = _copying
util = _elements
