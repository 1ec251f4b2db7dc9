from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TreeNode(_message.Message):
    __slots__ = ("leaf", "bucketized_split", "metadata")
    LEAF_FIELD_NUMBER: _ClassVar[int]
    BUCKETIZED_SPLIT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    leaf: Leaf
    bucketized_split: BucketizedSplit
    metadata: NodeMetadata
    def __init__(self, leaf: _Optional[_Union[Leaf, _Mapping]] = ..., bucketized_split: _Optional[_Union[BucketizedSplit, _Mapping]] = ..., metadata: _Optional[_Union[NodeMetadata, _Mapping]] = ...) -> None: ...

class NodeMetadata(_message.Message):
    __slots__ = ("gain", "original_leaf")
    GAIN_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_LEAF_FIELD_NUMBER: _ClassVar[int]
    gain: float
    original_leaf: Leaf
    def __init__(self, gain: _Optional[float] = ..., original_leaf: _Optional[_Union[Leaf, _Mapping]] = ...) -> None: ...

class Leaf(_message.Message):
    __slots__ = ("scalar",)
    SCALAR_FIELD_NUMBER: _ClassVar[int]
    scalar: float
    def __init__(self, scalar: _Optional[float] = ...) -> None: ...

class BucketizedSplit(_message.Message):
    __slots__ = ("feature_id", "threshold", "left_id", "right_id")
    FEATURE_ID_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    LEFT_ID_FIELD_NUMBER: _ClassVar[int]
    RIGHT_ID_FIELD_NUMBER: _ClassVar[int]
    feature_id: int
    threshold: int
    left_id: int
    right_id: int
    def __init__(self, feature_id: _Optional[int] = ..., threshold: _Optional[int] = ..., left_id: _Optional[int] = ..., right_id: _Optional[int] = ...) -> None: ...

class Tree(_message.Message):
    __slots__ = ("nodes",)
    NODES_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[TreeNode]
    def __init__(self, nodes: _Optional[_Iterable[_Union[TreeNode, _Mapping]]] = ...) -> None: ...

class TreeMetadata(_message.Message):
    __slots__ = ("num_layers_grown", "is_finalized", "post_pruned_nodes_meta")
    class PostPruneNodeUpdate(_message.Message):
        __slots__ = ("new_node_id", "logit_change")
        NEW_NODE_ID_FIELD_NUMBER: _ClassVar[int]
        LOGIT_CHANGE_FIELD_NUMBER: _ClassVar[int]
        new_node_id: int
        logit_change: _containers.RepeatedScalarFieldContainer[float]
        def __init__(self, new_node_id: _Optional[int] = ..., logit_change: _Optional[_Iterable[float]] = ...) -> None: ...
    NUM_LAYERS_GROWN_FIELD_NUMBER: _ClassVar[int]
    IS_FINALIZED_FIELD_NUMBER: _ClassVar[int]
    POST_PRUNED_NODES_META_FIELD_NUMBER: _ClassVar[int]
    num_layers_grown: int
    is_finalized: bool
    post_pruned_nodes_meta: _containers.RepeatedCompositeFieldContainer[TreeMetadata.PostPruneNodeUpdate]
    def __init__(self, num_layers_grown: _Optional[int] = ..., is_finalized: bool = ..., post_pruned_nodes_meta: _Optional[_Iterable[_Union[TreeMetadata.PostPruneNodeUpdate, _Mapping]]] = ...) -> None: ...

class GrowingMetadata(_message.Message):
    __slots__ = ("num_trees_attempted", "num_layers_attempted", "last_layer_node_start", "last_layer_node_end")
    NUM_TREES_ATTEMPTED_FIELD_NUMBER: _ClassVar[int]
    NUM_LAYERS_ATTEMPTED_FIELD_NUMBER: _ClassVar[int]
    LAST_LAYER_NODE_START_FIELD_NUMBER: _ClassVar[int]
    LAST_LAYER_NODE_END_FIELD_NUMBER: _ClassVar[int]
    num_trees_attempted: int
    num_layers_attempted: int
    last_layer_node_start: int
    last_layer_node_end: int
    def __init__(self, num_trees_attempted: _Optional[int] = ..., num_layers_attempted: _Optional[int] = ..., last_layer_node_start: _Optional[int] = ..., last_layer_node_end: _Optional[int] = ...) -> None: ...

class TreeEnsemble(_message.Message):
    __slots__ = ("trees", "tree_weights", "tree_metadata", "growing_metadata")
    TREES_FIELD_NUMBER: _ClassVar[int]
    TREE_WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    TREE_METADATA_FIELD_NUMBER: _ClassVar[int]
    GROWING_METADATA_FIELD_NUMBER: _ClassVar[int]
    trees: _containers.RepeatedCompositeFieldContainer[Tree]
    tree_weights: _containers.RepeatedScalarFieldContainer[float]
    tree_metadata: _containers.RepeatedCompositeFieldContainer[TreeMetadata]
    growing_metadata: GrowingMetadata
    def __init__(self, trees: _Optional[_Iterable[_Union[Tree, _Mapping]]] = ..., tree_weights: _Optional[_Iterable[float]] = ..., tree_metadata: _Optional[_Iterable[_Union[TreeMetadata, _Mapping]]] = ..., growing_metadata: _Optional[_Union[GrowingMetadata, _Mapping]] = ...) -> None: ...

class DebugOutput(_message.Message):
    __slots__ = ("feature_ids", "logits_path")
    FEATURE_IDS_FIELD_NUMBER: _ClassVar[int]
    LOGITS_PATH_FIELD_NUMBER: _ClassVar[int]
    feature_ids: _containers.RepeatedScalarFieldContainer[int]
    logits_path: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, feature_ids: _Optional[_Iterable[int]] = ..., logits_path: _Optional[_Iterable[float]] = ...) -> None: ...
