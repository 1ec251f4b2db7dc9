"""The messages of the public API that the `tensorboard` package ships, with the types that it does not ship.

Type checkers read `messages.pyi` and the stubs in `tensorboard/`, which `make proto` generates.
"""

from tensorboard.compat.proto.attr_value_pb2 import AttrValue as AttrValue
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList as NameAttrList
from tensorboard.compat.proto.cluster_pb2 import ClusterDef as ClusterDef
from tensorboard.compat.proto.cluster_pb2 import JobDef as JobDef
from tensorboard.compat.proto.config_pb2 import ConfigProto as ConfigProto
from tensorboard.compat.proto.config_pb2 import GPUOptions as GPUOptions
from tensorboard.compat.proto.config_pb2 import GraphOptions as GraphOptions
from tensorboard.compat.proto.config_pb2 import OptimizerOptions as OptimizerOptions
from tensorboard.compat.proto.config_pb2 import RunMetadata as RunMetadata
from tensorboard.compat.proto.config_pb2 import RunOptions as RunOptions
from tensorboard.compat.proto.event_pb2 import Event as Event
from tensorboard.compat.proto.event_pb2 import LogMessage as LogMessage
from tensorboard.compat.proto.event_pb2 import SessionLog as SessionLog
from tensorboard.compat.proto.event_pb2 import TaggedRunMetadata as TaggedRunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef as GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef as MetaGraphDef
from tensorboard.compat.proto.meta_graph_pb2 import TensorInfo as TensorInfo
from tensorboard.compat.proto.node_def_pb2 import NodeDef as NodeDef
from tensorboard.compat.proto.saver_pb2 import SaverDef as SaverDef
from tensorboard.compat.proto.summary_pb2 import HistogramProto as HistogramProto
from tensorboard.compat.proto.summary_pb2 import Summary as Summary
from tensorboard.compat.proto.summary_pb2 import SummaryDescription as SummaryDescription
from tensorboard.compat.proto.summary_pb2 import SummaryMetadata as SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto as TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto as TensorShapeProto
