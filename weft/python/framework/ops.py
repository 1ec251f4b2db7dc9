"""tensorflow.python.framework.ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.autodiff.registration import NotDifferentiable as NotDifferentiable
from weft.autodiff.registration import RegisterGradient as RegisterGradient
from weft.client.session import get_default_session as get_default_session
from weft.framework.collections import GraphKeys as GraphKeys
from weft.framework.graph import Graph as Graph
from weft.framework.graph import get_default_graph as get_default_graph
from weft.framework.graph import reset_default_graph as reset_default_graph
from weft.framework.graph_functions import add_to_collection as add_to_collection
from weft.framework.graph_functions import add_to_collections as add_to_collections
from weft.framework.graph_functions import colocate_with as colocate_with
from weft.framework.graph_functions import container as container
from weft.framework.graph_functions import control_dependencies as control_dependencies
from weft.framework.graph_functions import device as device
from weft.framework.graph_functions import get_collection as get_collection
from weft.framework.graph_functions import get_collection_ref as get_collection_ref
from weft.framework.graph_functions import name_scope as name_scope
from weft.framework.graph_functions import op_scope as op_scope
from weft.framework.indexed_slices import IndexedSlices as IndexedSlices
from weft.framework.operation import Operation as Operation
from weft.framework.operation import Tensor as Tensor
from weft.framework.tensor_conversion import convert_to_tensor as convert_to_tensor
from weft.ops.control_flow.init_scope import init_scope as init_scope
