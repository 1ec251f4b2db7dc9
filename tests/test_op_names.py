"""What kind of thing an op is stands in its declaration: no other part of weft tells ops apart by their names.

A list of names is out of date as soon as an op is added: code that needs to know asks for the op's role or another trait, or,
where it means one very op, for its declaration (`definition_of`).
"""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

import weft
import weft.ops
from weft.framework.registry import op_registry

for _module in pkgutil.walk_packages(weft.ops.__path__, "weft.ops."):
    importlib.import_module(_module.name)

ROOT = Path(weft.__file__).parent
NAMES = {definition.name for definition in op_registry.registered()}

# A node's or a declaration's name of its op: `op.type`, `definition.name`, `node_def.op`.
NAMING = ("type", "name", "op")

EXCEPTIONS = {
    ("framework/registry/later_attrs.py", "AssignVariableOp, CTCGreedyDecoder, ConcatOffset, Dequantize, "
     "ImageProjectiveTransformV2, InitializeTableFromTextFileV2, MergeV2Checkpoints, QuantizeAndDequantizeV2, "
     "QuantizeAndDequantizeV3, QuantizeV2, "
     "ScatterNdNonAliasingAdd, ShuffleAndRepeatDataset, ShuffleDatasetV2, TensorListGetItem, "
     "TensorListSetItem, TopKV2, TridiagonalSolve, VarHandleOp"): "TensorFlow 1.15 says which attributes its ops have",
    ("framework/importing/subgraph.py", "CheckNumerics, Identity"):
        "TensorFlow says what graph_util.remove_training_nodes removes",
    ("framework/importing/subgraph.py", "DynamicStitch, ParallelDynamicStitch"):
        "TensorFlow says what graph_util.must_run_on_cpu is of",
    ("framework/importing/subgraph.py", "Cast"): "TensorFlow says what graph_util.must_run_on_cpu is of",
    ("training/device_setter.py", "BoostedTreesEnsembleResourceHandleOp, BoostedTreesQuantileStreamResourceHandleOp, "
     "MutableDenseHashTableV2, MutableHashTableOfTensorsV2, MutableHashTableV2, "
     "ResourceConditionalAccumulator, VarHandleOp, Variable, VariableV2"): "TensorFlow's STANDARD_PS_OPS; programs may read it",
    ("api/raw_ops.py", "All, Any, EuclideanNorm, ExpandDims, Max, Mean, Min, Prod, Select, Split, SplitV, Squeeze, Sum, "
     "Where"): "TensorFlow says how its Python names the arguments of raw ops",
    ("api/raw_ops.py", "SdcaOptimizer, SdcaOptimizerV2"): "TensorFlow says which defaults its Python has for raw ops",
    ("ops/array/padding.py", "Pack"): "the op is declared in a module that uses this one",
    ("ops/array/slicing.py", "StridedSlice"): "a shape rule that the module's own ops share",
    ("ops/data_flow/accumulators.py", "ConditionalAccumulator"): "a shape rule that the module's own ops share",
    ("ops/data_flow/accumulators.py", "SparseConditionalAccumulator"): "a shape rule that the module's own ops share",
    ("ops/nn/conv_op.py", "Conv2DBackpropInput"): "a shape rule that the module's own ops share",
    ("ops/nn/conv_op.py", "Conv3D"): "a shape rule that the module's own ops share",
    ("testing/environment.py", "Const"): "TensorFlow's tests compare serial graphs so",
    ("framework/raising/merge_indices.py", "Const"): "graphs of TensorFlow's test the index of a Merge by such nodes",
    ("framework/raising/merge_indices.py", "Equal"): "graphs of TensorFlow's test the index of a Merge by such nodes",
    **{
        (f"client/graph_transforms/{module}.py", names): "TensorFlow says by these what a transform of a GraphDef is of"
        for module, names in (
            ("batch_norms", "BatchNormWithGlobalNormalization"),
            ("batch_norms", "Const"),
            ("batch_norms", "Conv2D"),
            ("batch_norms", "Conv2D, DepthwiseConv2dNative, MatMul"),
            ("batch_norms", "DepthwiseConv2dNative"),
            ("batch_norms", "FusedBatchNorm, FusedBatchNormV2, FusedBatchNormV3"),
            ("batch_norms", "Mul"),
            ("folding", "Const"),
            ("folding", "ControlTrigger"),
            ("folding", "Placeholder, PlaceholderWithDefault"),
            ("nodes", "Placeholder"),
        )
    },
    **{
        (f"training/quantization/{module}.py", names): "TensorFlow says by these what a graph's rewrite for quantization is of"
        for module, names in (
            ("edges", "HistogramSummary, ScalarSummary"),
            ("folded_layers", "Conv2D, DepthwiseConv2dNative, MatMul"),
            ("folded_layers", "DepthwiseConv2dNative"),
            ("fused_batch_norms", "DepthwiseConv2dNative"),
            ("fused_batch_norms", "MatMul"),
            ("insertion", "FakeQuantWithMinMaxArgs, FakeQuantWithMinMaxVars, FakeQuantWithMinMaxVarsPerChannel"),
            ("insertion", "Identity, Reshape"),
            ("layers", "Identity"),
            ("layers", "Identity, Relu, Relu6"),
            ("layers", "Relu, Relu6"),
            ("quantize", "FakeQuantWithMinMaxVars"),
            ("quantize", "Add, AddV2, Mul"),
            ("quantize", "BatchToSpaceND, Identity, Max, MaxPool, Reshape, SpaceToBatchND"),
            ("unfused_batch_norms", "BatchToSpaceND"),
            ("unfused_batch_norms", "Mul"),
            ("unfused_batch_norms", "Identity, Relu, Relu6"),
        )
    },
}  # fmt: skip

ROOMS = (
    "framework", "ops", "passes", "autodiff", "protocol", "channel", "distributed", "runtime", "checkpoint", "client", "models",
    "events", "training", "testing", "examples", "platform", "api", "cli",
)  # fmt: skip


def _names_in(node: ast.AST, constants: Mapping[str, str] = MappingProxyType({})) -> set[str]:
    written = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and each.value in NAMES}
    return written | {constants[each.id] for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in constants}


def _constants(tree: ast.Module) -> dict[str, str]:
    """The constants of a module that have the name of an op."""
    return {
        ast.unparse(target): statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(statement.value, ast.Constant)
        if statement.value.value in NAMES
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
    }


def _is_name_of_op(node: ast.AST) -> bool:
    """Whether a side of a comparison is an op's name, or has one in it."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(_is_name_of_op(each.value if isinstance(each, ast.Starred) else each) for each in node.elts)
    return isinstance(node, ast.Attribute) and node.attr in NAMING


def _collection(node: ast.expr) -> ast.expr | None:
    """The elements of a collection that is written out, in a call such as `frozenset(...)` or without one."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("frozenset", "set", "tuple", "list"):
        return _collection(node.args[0]) if node.args else None
    if isinstance(node, ast.BinOp):
        return node
    if isinstance(node, ast.Dict):
        return ast.Tuple([key for key in node.keys if key is not None], ast.Load())
    return node if isinstance(node, ast.Tuple | ast.List | ast.Set) else None


def _told_apart(tree: ast.Module) -> Iterator[set[str]]:
    """The names of ops that a module compares names with, or keeps in a constant to do so."""
    constants = _constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(_is_name_of_op, sides)):
                yield set().union(*(_names_in(side, constants) for side in sides if not _is_name_of_op(side)))
        elif isinstance(node, ast.Match) and _is_name_of_op(node.subject):
            yield _names_in(ast.Tuple([case.pattern for case in node.cases], ast.Load()))  # type: ignore[list-item]
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        elements = None if value is None else _collection(value)
        if elements is not None:
            yield _names_in(elements)


@functools.cache
def _found(room: str) -> list[tuple[str, str]]:
    found = []
    for path in sorted((ROOT / room).rglob("*.py")):
        for names in _told_apart(ast.parse(path.read_text())):
            if names:
                found.append((path.relative_to(ROOT).as_posix(), ", ".join(sorted(names))))
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_no_op_is_told_by_its_name(room: str) -> None:
    assert [each for each in _found(room) if each not in EXCEPTIONS] == []


def test_the_exceptions_are_still_there() -> None:
    found = {each for room in ROOMS for each in _found(room)}
    assert [each for each in EXCEPTIONS if each not in found] == []


@pytest.mark.parametrize(
    "line",
    [
        'x = op.type == "Identity"',
        'x = "Identity" != node_def.op',
        'x = definition.name in ("Assign", "AssignVariableOp")',
        'KINDS: Final = frozenset(("VariableV2", "Variable"))',
        'KINDS = OTHERS | {"NoOp"}',
        'KINDS = {"If": 1}',
        'KIND: Final = "Restore"\nx = KIND in (each.type, *(source.op.type for source in each.inputs))',
    ],
)
def test_a_name_told_apart_is_found(line: str) -> None:
    assert any(_told_apart(ast.parse(line)))
