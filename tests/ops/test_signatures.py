"""The signature of every op is TensorFlow's: of the version that weft follows, or of the later one."""

from __future__ import annotations

from typing import Any, Final

import pytest
from tensorboard.compat.proto import attr_value_pb2, op_def_pb2

from tests import tensorflows
from tests.differential.ops import oracle
from tests.ops.test_registry import OWN_OPS
from weft.framework.op_types.op_def import REQUIRED, AttrDef, OpDef
from weft.framework.registry import op_registry
from weft.framework.registry.later_attrs import LATER_ATTRS
from weft.framework.types import dtypes

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(300)]

# What a library of tf.contrib declares, which stands in no list before it is loaded.
_OF_CONTRIB: Final = {
    "BytesInUse", "BytesLimit", "GatherTree", "MaxBytesInUse", "SparseFeatureCross", "WALSComputePartialLhsAndRhs",
    "CreateFertileStatsVariable", "CreateTreeVariable", "DecisionTreeResourceHandleOp", "FeatureUsageCounts",
    "FertileStatsDeserialize", "FertileStatsIsInitializedOp", "FertileStatsResourceHandleOp", "FertileStatsSerialize",
    "GrowTreeV4", "ProcessInputV4", "ReinterpretStringToFloat", "TraverseTreeV4", "TreeDeserialize", "TreeIsInitializedOp",
    "TreePredictionsV4", "TreeSerialize", "TreeSize", "UpdateModelV4",
}  # fmt: skip

# What later TensorFlows say of a dataset beside what it is made of.
_BOOKKEEPING: Final = {"metadata", "use_unbounded_threadpool"}
_MEANT: Final = {
    # Without the attribute TensorFlow 1.15 has one order for all iterations; the later default is another.
    "ShuffleAndRepeatDataset: its attribute reshuffle_each_iteration",
    # A node always says its type, which follows from its input.
    "ImageProjectiveTransformV2: its attribute dtype",
    "ImageProjectiveTransformV3: its attribute dtype",
}


@pytest.fixture(scope="module")
def declared() -> dict[str, dict[str, op_def_pb2.OpDef]]:
    """By version, the ops of a TensorFlow."""
    return {version: oracle.definitions(tensorflows.interpreter(version)) for version in sorted(tensorflows.VARIABLES)}


def _own_args(args: Any) -> list[list[Any]]:
    return [[a.name, a.dtype.name if a.dtype else "", a.type_attr, a.type_list_attr, a.number_attr, a.is_ref] for a in args]


def _their_args(args: Any) -> list[list[Any]]:
    return [
        [a.name, dtypes.as_dtype(a.type).name if a.type else "", a.type_attr, a.type_list_attr, a.number_attr, a.is_ref]
        for a in args
    ]


def _their_default(value: attr_value_pb2.AttrValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "type":
        return dtypes.as_dtype(value.type).name
    if kind == "s":
        return value.s.decode()
    return getattr(value, kind)


def _has_default(attr: AttrDef, theirs: op_def_pb2.OpDef.AttrDef) -> bool:
    """Whether an attribute has TensorFlow's default, or has none as it has; those of lists are compared by their presence."""
    if not theirs.HasField("default_value") or attr.default is REQUIRED:
        return attr.default is REQUIRED and not theirs.HasField("default_value")
    if attr.kind not in ("int", "bool", "float", "string", "type"):
        return True
    own = attr.default.name if attr.kind == "type" else attr.default
    return bool(own == pytest.approx(_their_default(theirs.default_value)) if attr.kind == "float" else
                own == _their_default(theirs.default_value))  # fmt: skip


def _differences(definition: OpDef, theirs: op_def_pb2.OpDef) -> set[str]:
    """The parts of a signature that are not this TensorFlow's."""
    found = set()
    for side, args in (("inputs", theirs.input_arg), ("outputs", theirs.output_arg)):
        if _own_args(getattr(definition, side)) != _their_args(args):
            found.add(f"{definition.name}: its {side}")
    own, known = definition.attrs, {attr.name: attr for attr in theirs.attr}
    added = set(LATER_ATTRS.get(definition.name, ())) - set(known)
    for name in {*own, *known} - added - (_BOOKKEEPING - set(own)):
        both = name in own and name in known
        if not both or own[name].kind != known[name].type or not _has_default(own[name], known[name]):
            found.add(f"{definition.name}: its attribute {name}")
    return found


def test_signatures_are_those_of_one_of_the_versions(declared: dict[str, dict[str, op_def_pb2.OpDef]]) -> None:
    differing: set[str] = set()
    for definition in op_registry.registered():
        found = [_differences(definition, ops[definition.name]) for ops in declared.values() if definition.name in ops]
        if found:
            differing |= set.intersection(*found)
    assert sorted(differing - _MEANT) == []


def test_ops_that_neither_version_has_are_named_as_our_own(declared: dict[str, dict[str, op_def_pb2.OpDef]]) -> None:
    unknown = {definition.name for definition in op_registry.registered()} - set().union(*declared.values())
    assert sorted(unknown ^ {*OWN_OPS, *_OF_CONTRIB}) == []
