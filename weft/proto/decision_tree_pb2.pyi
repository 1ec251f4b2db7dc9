from google.protobuf import any_pb2 as _any_pb2
from google.protobuf import wrappers_pb2 as _wrappers_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Model(_message.Message):
    __slots__ = ("decision_tree",)
    DECISION_TREE_FIELD_NUMBER: _ClassVar[int]
    decision_tree: DecisionTree
    def __init__(self, decision_tree: _Optional[_Union[DecisionTree, _Mapping]] = ...) -> None: ...

class DecisionTree(_message.Message):
    __slots__ = ("nodes",)
    NODES_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[TreeNode]
    def __init__(self, nodes: _Optional[_Iterable[_Union[TreeNode, _Mapping]]] = ...) -> None: ...

class TreeNode(_message.Message):
    __slots__ = ("node_id", "binary_node", "leaf", "custom_node_type")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    BINARY_NODE_FIELD_NUMBER: _ClassVar[int]
    LEAF_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_NODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    node_id: _wrappers_pb2.Int32Value
    binary_node: BinaryNode
    leaf: Leaf
    custom_node_type: _any_pb2.Any
    def __init__(self, node_id: _Optional[_Union[_wrappers_pb2.Int32Value, _Mapping]] = ..., binary_node: _Optional[_Union[BinaryNode, _Mapping]] = ..., leaf: _Optional[_Union[Leaf, _Mapping]] = ..., custom_node_type: _Optional[_Union[_any_pb2.Any, _Mapping]] = ...) -> None: ...

class BinaryNode(_message.Message):
    __slots__ = ("left_child_id", "right_child_id", "inequality_left_child_test", "custom_left_child_test")
    LEFT_CHILD_ID_FIELD_NUMBER: _ClassVar[int]
    RIGHT_CHILD_ID_FIELD_NUMBER: _ClassVar[int]
    INEQUALITY_LEFT_CHILD_TEST_FIELD_NUMBER: _ClassVar[int]
    CUSTOM_LEFT_CHILD_TEST_FIELD_NUMBER: _ClassVar[int]
    left_child_id: _wrappers_pb2.Int32Value
    right_child_id: _wrappers_pb2.Int32Value
    inequality_left_child_test: InequalityTest
    custom_left_child_test: _any_pb2.Any
    def __init__(self, left_child_id: _Optional[_Union[_wrappers_pb2.Int32Value, _Mapping]] = ..., right_child_id: _Optional[_Union[_wrappers_pb2.Int32Value, _Mapping]] = ..., inequality_left_child_test: _Optional[_Union[InequalityTest, _Mapping]] = ..., custom_left_child_test: _Optional[_Union[_any_pb2.Any, _Mapping]] = ...) -> None: ...

class SparseVector(_message.Message):
    __slots__ = ("sparse_value",)
    class SparseValueEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: Value
        def __init__(self, key: _Optional[int] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    SPARSE_VALUE_FIELD_NUMBER: _ClassVar[int]
    sparse_value: _containers.MessageMap[int, Value]
    def __init__(self, sparse_value: _Optional[_Mapping[int, Value]] = ...) -> None: ...

class Vector(_message.Message):
    __slots__ = ("value",)
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: _containers.RepeatedCompositeFieldContainer[Value]
    def __init__(self, value: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...

class Leaf(_message.Message):
    __slots__ = ("vector", "sparse_vector")
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    SPARSE_VECTOR_FIELD_NUMBER: _ClassVar[int]
    vector: Vector
    sparse_vector: SparseVector
    def __init__(self, vector: _Optional[_Union[Vector, _Mapping]] = ..., sparse_vector: _Optional[_Union[SparseVector, _Mapping]] = ...) -> None: ...

class FeatureId(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: _wrappers_pb2.StringValue
    def __init__(self, id: _Optional[_Union[_wrappers_pb2.StringValue, _Mapping]] = ...) -> None: ...

class ObliqueFeatures(_message.Message):
    __slots__ = ("features", "weights")
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    features: _containers.RepeatedCompositeFieldContainer[FeatureId]
    weights: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, features: _Optional[_Iterable[_Union[FeatureId, _Mapping]]] = ..., weights: _Optional[_Iterable[float]] = ...) -> None: ...

class InequalityTest(_message.Message):
    __slots__ = ("feature_id", "oblique", "type", "threshold")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        LESS_OR_EQUAL: _ClassVar[InequalityTest.Type]
        LESS_THAN: _ClassVar[InequalityTest.Type]
        GREATER_OR_EQUAL: _ClassVar[InequalityTest.Type]
        GREATER_THAN: _ClassVar[InequalityTest.Type]
    LESS_OR_EQUAL: InequalityTest.Type
    LESS_THAN: InequalityTest.Type
    GREATER_OR_EQUAL: InequalityTest.Type
    GREATER_THAN: InequalityTest.Type
    FEATURE_ID_FIELD_NUMBER: _ClassVar[int]
    OBLIQUE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    feature_id: FeatureId
    oblique: ObliqueFeatures
    type: InequalityTest.Type
    threshold: Value
    def __init__(self, feature_id: _Optional[_Union[FeatureId, _Mapping]] = ..., oblique: _Optional[_Union[ObliqueFeatures, _Mapping]] = ..., type: _Optional[_Union[InequalityTest.Type, str]] = ..., threshold: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("float_value", "double_value", "int32_value", "int64_value")
    FLOAT_VALUE_FIELD_NUMBER: _ClassVar[int]
    DOUBLE_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT32_VALUE_FIELD_NUMBER: _ClassVar[int]
    INT64_VALUE_FIELD_NUMBER: _ClassVar[int]
    float_value: float
    double_value: float
    int32_value: int
    int64_value: int
    def __init__(self, float_value: _Optional[float] = ..., double_value: _Optional[float] = ..., int32_value: _Optional[int] = ..., int64_value: _Optional[int] = ...) -> None: ...

class MatchingValuesTest(_message.Message):
    __slots__ = ("feature_id", "value", "inverse")
    FEATURE_ID_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    INVERSE_FIELD_NUMBER: _ClassVar[int]
    feature_id: FeatureId
    value: _containers.RepeatedCompositeFieldContainer[Value]
    inverse: bool
    def __init__(self, feature_id: _Optional[_Union[FeatureId, _Mapping]] = ..., value: _Optional[_Iterable[_Union[Value, _Mapping]]] = ..., inverse: bool = ...) -> None: ...
