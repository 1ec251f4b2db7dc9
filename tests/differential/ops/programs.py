"""Programs of several nodes for ops that work on what another op has made: queues, tables, lists, arrays, datasets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.differential.ops.case import Node, OpCase
from tests.differential.ops.functions import LIBRARY, function
from weft.framework.types import dtypes

F, I32, I64, S, U8 = dtypes.float32, dtypes.int32, dtypes.int64, dtypes.string, dtypes.uint8
_INFRASTRUCTURE = frozenset(("Const", "Identity", "Placeholder", "NoOp"))
_VALUES = np.array([[1.5, -2.0], [0.25, 4.0], [3.0, -0.5]], np.float32)


def N(name: str, op: str, inputs: Sequence[Any] = (), **attrs: Any) -> Node:
    """A node, in as few words as a table needs."""
    return Node(name, op, inputs, attrs)


def texts(*items: str) -> Any:
    """A vector of strings."""
    return np.array([each.encode() for each in items], object)


def text(item: str) -> Any:
    """A scalar string."""
    return np.array(item.encode(), object)


def program(nodes: Sequence[Node], runs: Sequence[Sequence[str]]) -> Iterator[OpCase]:
    """A case for each op that the program uses."""
    for op in dict.fromkeys(node.op for node in nodes if node.op not in _INFRASTRUCTURE):
        yield OpCase(op, None, before=nodes, runs=runs, functions=LIBRARY, kind="program")


def _queue(op: str, **attrs: Any) -> Iterator[OpCase]:
    types = [I64, F] if op == "PriorityQueueV2" else [I32, F]
    first = np.int64 if op == "PriorityQueueV2" else np.int32
    declared = {"shapes": [(2,)]} if op == "PriorityQueueV2" else {"component_types": types, "shapes": [(), (2,)]}
    nodes = [
        N("q", op, capacity=20, **declared, **attrs),
        N("one", "QueueEnqueueV2", ["q", np.array(7, first), _VALUES[0]], Tcomponents=types),
        N("many", "QueueEnqueueManyV2", ["q", np.array([3, 9, 1], first), _VALUES], Tcomponents=types),
        N("size", "QueueSizeV2", ["q"]),
        N("get", "QueueDequeueV2", ["q"], component_types=types),
        N("two", "QueueDequeueManyV2", ["q", np.int32(2)], component_types=types),
        N("close", "QueueCloseV2", ["q"]),
        N("closed", "QueueIsClosedV2", ["q"]),
        N("rest", "QueueDequeueUpToV2", ["q", np.int32(5)], component_types=types),
    ]
    runs = [["one"], ["many"], ["size:0"], ["get:0", "get:1"], ["closed:0"], ["two:0", "two:1"], ["close"], ["closed:0"],
            ["rest:0", "rest:1"]]  # fmt: skip
    yield from program(nodes, runs)
    yield from program(nodes[:-1], [["close"], ["get:0"]])
    yield from program(nodes[:-1], [["close"], ["one"]])


def _queues() -> Iterator[OpCase]:
    yield from _queue("FIFOQueueV2")
    yield from _queue("PaddingFIFOQueueV2")
    yield from _queue("PriorityQueueV2")
    yield from _queue("RandomShuffleQueueV2", min_after_dequeue=0, seed=3, seed2=5)


def _tables() -> Iterator[OpCase]:
    keys, values = texts("a", "b", "c"), np.array([10, 20, 30], np.int64)
    ask = texts("b", "x", "a")
    common = {"Tin": S, "Tout": I64}
    mutable = [
        N("t", "MutableHashTableV2", key_dtype=S, value_dtype=I64),
        N("put", "LookupTableInsertV2", ["t", keys, values], **common),
        N("find", "LookupTableFindV2", ["t", ask, np.int64(-1)], **common),
        N("size", "LookupTableSizeV2", ["t"]),
        N("gone", "LookupTableRemoveV2", ["t", texts("a", "z")], Tin=S),
        N("take", "LookupTableImportV2", ["t", texts("q"), np.array([5], np.int64)], **common),
    ]
    asked = [["put"], ["find:0"], ["size:0"], ["gone"], ["find:0"], ["size:0"], ["take"], ["find:0"]]
    yield from program(mutable, asked)
    dense = [
        N("t", "MutableDenseHashTableV2", [np.int64(-1), np.int64(-2)], key_dtype=I64, value_dtype=F, value_shape=(2,)),
        N("put", "LookupTableInsertV2", ["t", np.array([3, 4, 5], np.int64), _VALUES], Tin=I64, Tout=F),
        N("find", "LookupTableFindV2", ["t", np.array([5, 9], np.int64), np.zeros(2, np.float32)], Tin=I64, Tout=F),
        N("size", "LookupTableSizeV2", ["t"]),
        N("gone", "LookupTableRemoveV2", ["t", np.array([3], np.int64)], Tin=I64),
    ]
    yield from program(dense, [["put"], ["find:0"], ["size:0"], ["gone"], ["size:0"]])
    of_tensors = [N("t", "MutableHashTableOfTensorsV2", key_dtype=I64, value_dtype=F, value_shape=(2,)), *dense[1:]]
    yield from program(of_tensors, [["put"], ["find:0"], ["size:0"], ["gone"], ["size:0"]])
    fixed = [
        N("t", "HashTableV2", key_dtype=S, value_dtype=I64),
        N("fill", "InitializeTableV2", ["t", keys, values], Tkey=S, Tval=I64),
        N("find", "LookupTableFindV2", ["t", ask, np.int64(-1)], **common),
        N("all", "LookupTableExportV2", ["t"], Tkeys=I64, Tvalues=I64),
    ]
    yield from program(fixed[:-1], [["fill"], ["find:0"]])
    yield from program(fixed[:-1], [["find:0"]])
    one = [*fixed[:1], N("fill", "InitializeTableV2", ["t", texts("a"), np.array([1], np.int64)], Tkey=S, Tval=I64),
           N("all", "LookupTableExportV2", ["t"], Tkeys=S, Tvalues=I64)]  # fmt: skip
    yield from program(one, [["fill"], ["all:0", "all:1"]])


def _lists() -> Iterator[OpCase]:
    row = np.array([2], np.int32)
    nodes = [
        N("split", "TensorListFromTensor", [_VALUES, row], element_dtype=F, shape_type=I32),
        N("length", "TensorListLength", ["split"]),
        N("shape", "TensorListElementShape", ["split"], shape_type=I32),
        N("get", "TensorListGetItem", ["split", np.int32(1), row], element_dtype=F),
        N("set", "TensorListSetItem", ["split", np.int32(0), np.array([9.0, 8.0], np.float32)], element_dtype=F),
        N("pushed", "TensorListPushBack", ["set", np.array([7.0, 6.0], np.float32)], element_dtype=F),
        N("popped", "TensorListPopBack", ["pushed", row], element_dtype=F),
        N("stack", "TensorListStack", ["pushed", row], element_dtype=F),
        N("some", "TensorListGather", ["pushed", np.array([3, 0], np.int32), row], element_dtype=F),
        N("empty", "EmptyTensorList", [row, np.int32(9)], element_dtype=F, shape_type=I32),
        N("both", "TensorListConcatLists", ["split", "pushed"], element_dtype=F),
        N("all", "TensorListStack", ["both", row], element_dtype=F),
        N("room", "TensorListReserve", [row, np.int32(2)], element_dtype=F, shape_type=I32),
        N("filled", "TensorListScatterIntoExistingList", ["room", _VALUES[:2], np.array([1, 0], np.int32)], element_dtype=F),
        N("out", "TensorListStack", ["filled", row], element_dtype=F),
        N("more", "TensorListResize", ["split", np.int32(5)]),
        N("long", "TensorListLength", ["more"]),
        N("apart", "TensorListScatter", [_VALUES, np.array([2, 0, 1], np.int32), row], element_dtype=F, shape_type=I32),
        N("apart2", "TensorListScatterV2", [_VALUES, np.array([2, 0, 1], np.int32), row, np.int32(-1)], element_dtype=F,
          shape_type=I32),
        N("got", "TensorListStack", ["apart", row], element_dtype=F),
        N("got2", "TensorListStack", ["apart2", row], element_dtype=F),
        N("parts", "TensorListSplit", [_VALUES, np.array([-1, 2], np.int32), np.array([1, 2], np.int64)], element_dtype=F,
          shape_type=I32),
        N("joined", "TensorListConcatV2", ["parts", np.array([-1, 2], np.int32), np.array([], np.int64)], element_dtype=F,
          shape_type=I32),
    ]  # fmt: skip
    fetched = ["length:0", "shape:0", "get:0", "popped:1", "stack:0", "some:0", "all:0", "out:0", "long:0", "got:0", "got2:0",
               "joined:0", "joined:1"]  # fmt: skip
    yield from program(nodes, [[each] for each in fetched])
    bad = [*nodes[:1], N("get", "TensorListGetItem", ["split", np.int32(9), row], element_dtype=F)]
    yield from program(bad, [["get:0"]])
    none = [*nodes[9:10], N("popped", "TensorListPopBack", ["empty", row], element_dtype=F)]
    yield from program(none, [["popped:1"]])


def _arrays() -> Iterator[OpCase]:
    flow = "a:1"
    nodes = [
        N("a", "TensorArrayV3", [np.int32(3)], dtype=F, element_shape=None, dynamic_size=False, clear_after_read=False),
        N("w", "TensorArrayScatterV3", ["a", np.array([0, 1, 2], np.int32), _VALUES, flow], T=F),
        N("read", "TensorArrayReadV3", ["a", np.int32(1), "w"], dtype=F),
        N("some", "TensorArrayGatherV3", ["a", np.array([2, 0], np.int32), "w"], dtype=F),
        N("size", "TensorArraySizeV3", ["a", "w"]),
        N("joined", "TensorArrayConcatV3", ["a", "w"], dtype=F),
    ]
    yield from program(nodes, [["read:0", "some:0", "size:0"], ["joined:0", "joined:1"]])
    written = [nodes[0], N("w", "TensorArrayWriteV3", ["a", np.int32(2), _VALUES[0], flow], T=F),
               N("read", "TensorArrayReadV3", ["a", np.int32(2), "w"], dtype=F)]  # fmt: skip
    yield from program(written, [["read:0"]])
    beyond = [nodes[0], N("w", "TensorArrayWriteV3", ["a", np.int32(7), _VALUES[0], flow], T=F),
              N("read", "TensorArrayReadV3", ["a", np.int32(2), "w"], dtype=F)]  # fmt: skip
    yield from program(beyond, [["read:0"]])
    split = [nodes[0], N("w", "TensorArraySplitV3", ["a", _VALUES, np.array([1, 2, 0], np.int64), flow], T=F),
             N("read", "TensorArrayReadV3", ["a", np.int32(1), "w"], dtype=F)]  # fmt: skip
    yield from program(split, [["read:0"]])


def _bodies() -> Iterator[OpCase]:
    """If and While with functions of the library."""
    value = np.array([1.0, 2.0], np.float32)
    for op in ("If", "StatelessIf"):
        for taken in (np.array(True), np.array(False), np.array(3, np.int32)):
            attrs = {"Tcond": dtypes.as_dtype(taken.dtype), "Tin": [F], "Tout": [F]}
            bodies = {"then_branch": function("double"), "else_branch": function("negate")}
            yield from program([N("if", op, [taken, value], **attrs, **bodies)], [["if:0"]])
    for op in ("While", "StatelessWhile"):
        attrs = {"T": [F], "cond": function("small"), "body": function("double")}
        yield from program([N("while", op, [value], **attrs)], [["while:0"]])


def programs() -> list[OpCase]:
    """All programs."""
    return [each for family in (_queues, _tables, _lists, _arrays, _bodies) for each in family()]
