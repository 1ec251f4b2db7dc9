from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StageReport(_message.Message):
    __slots__ = ("task", "number", "device", "kind", "nodes", "way", "why", "host_runs", "host_s", "compiled_runs", "compiled_s", "compile_s", "sizes", "cached_sizes")
    TASK_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    WAY_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    HOST_RUNS_FIELD_NUMBER: _ClassVar[int]
    HOST_S_FIELD_NUMBER: _ClassVar[int]
    COMPILED_RUNS_FIELD_NUMBER: _ClassVar[int]
    COMPILED_S_FIELD_NUMBER: _ClassVar[int]
    COMPILE_S_FIELD_NUMBER: _ClassVar[int]
    SIZES_FIELD_NUMBER: _ClassVar[int]
    CACHED_SIZES_FIELD_NUMBER: _ClassVar[int]
    task: str
    number: int
    device: str
    kind: str
    nodes: str
    way: str
    why: str
    host_runs: int
    host_s: float
    compiled_runs: int
    compiled_s: float
    compile_s: float
    sizes: int
    cached_sizes: int
    def __init__(self, task: _Optional[str] = ..., number: _Optional[int] = ..., device: _Optional[str] = ..., kind: _Optional[str] = ..., nodes: _Optional[str] = ..., way: _Optional[str] = ..., why: _Optional[str] = ..., host_runs: _Optional[int] = ..., host_s: _Optional[float] = ..., compiled_runs: _Optional[int] = ..., compiled_s: _Optional[float] = ..., compile_s: _Optional[float] = ..., sizes: _Optional[int] = ..., cached_sizes: _Optional[int] = ...) -> None: ...

class ExplainGraphRequest(_message.Message):
    __slots__ = ("graph_handle",)
    GRAPH_HANDLE_FIELD_NUMBER: _ClassVar[int]
    graph_handle: str
    def __init__(self, graph_handle: _Optional[str] = ...) -> None: ...

class ExplainGraphResponse(_message.Message):
    __slots__ = ("stages",)
    STAGES_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedCompositeFieldContainer[StageReport]
    def __init__(self, stages: _Optional[_Iterable[_Union[StageReport, _Mapping]]] = ...) -> None: ...

class ExplainCallableRequest(_message.Message):
    __slots__ = ("session_handle", "handle")
    SESSION_HANDLE_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    session_handle: str
    handle: int
    def __init__(self, session_handle: _Optional[str] = ..., handle: _Optional[int] = ...) -> None: ...

class ExplainCallableResponse(_message.Message):
    __slots__ = ("stages",)
    STAGES_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedCompositeFieldContainer[StageReport]
    def __init__(self, stages: _Optional[_Iterable[_Union[StageReport, _Mapping]]] = ...) -> None: ...
