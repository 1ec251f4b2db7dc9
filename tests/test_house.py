"""Rules of the house that no linter knows: who reads whose privates, what is global, how often a type says nothing.

A number here is a limit that held when it was written: it may shrink, and never grow.
"""

from __future__ import annotations

import ast
import functools
import graphlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.platform.imports.collections import no_collections

_ROOT = Path(__file__).parent.parent
_WEFT = _ROOT / "weft"

# Names that are private in spelling alone, because others gave them: programs written for TensorFlow call these of a graph, an
# operation, a type, a variable or a layer, or define them for weft to call; the rest are Python's own.
_TENSORFLOWS = frozenset(
    (
        "_add_control_inputs",
        "_as_graph_element", "_as_ref", "_create_slots", "_deserialize", "_from_components", "_get_partitions",
        "_get_save_slice_info", "_graph_parents", "_is_injective", "_key_op",
        "_set_attr", "_set_device", "_serialize", "_set_save_slice_info", "_to_components", "_unsafe_unfinalize",
    )
)  # fmt: skip
_PYTHONS = frozenset(("_asdict", "_current_frames", "_exit", "_fields", "_getframe", "_make", "_replace", "_SubParsersAction"))

# `Any` at most, by package, imports aside.
_ANYS = {
    "api": 18,
    "autodiff": 34,
    "checkpoint": 7,
    "client": 71,
    "distributed": 40,
    "errors": 4,
    "estimators": 116,
    "events": 6,
    "examples": 14,
    "framework": 228,
    "models": 37,
    "networks": 80,
    "ops": 218,
    "platform": 17,
    "protocol": 7,
    "runtime": 23,
    "translation": 2,
    "strategies": 0,
    "testing": 72,
    "training": 360,
}

# `Any` at most over the whole package, in a thousand lines that are not blank.
_ANYS_PER_THOUSAND = 9

# Files at most in a folder of the packages that everybody walks through.
_FILES = 12

# Where one looks for a seam: lines of a file, without what docstrings of functions say after their first line, lines of a
# function without its docstring, methods of a class.
_LINES, _FUNCTION_LINES, _METHODS = 400, 50, 25

# What is longer, and how long at most; each group with its reason.
_LONG_FILES = {
    # One class that programs are given whole, by TensorFlow's names; what its methods do stands elsewhere.
    "estimators/estimator.py": 420,
    "models/distributions/distribution.py": 420,
    "models/linear_operators/operator.py": 420,
    "ops/ragged/tensor.py": 530,
    "ops/variables/variable.py": 470,
    "training/optimizers/optimizer.py": 470,
    # A list: of public names, of functions, of checks.
    "namespace.py": 730,
    "testing/channel_conformance.py": 460,
    "testing/op_checks.py": 440,
    # One format, both ways.
    "protocol/tensor_frame.py": 410,
}
_LONG_FUNCTIONS: dict[str, int] = {}
_LARGE_CLASSES = {
    # TensorFlow's API fixes the methods: programs call each by its name, or override it.
    "datasets/dataset.py Dataset": 40,
    "estimators/estimator.py Estimator": 30,
    "estimators/run_config.py RunConfig": 33,
    "framework/types/dtypes.py DType": 29,
    "framework/graphs/func_graph.py FuncGraph": 28,
    "framework/graphs/graph.py Graph": 29,
    "models/bijectors/bijector.py Bijector": 32,
    "models/distributions/distribution.py Distribution": 60,
    "models/linear_operators/operator.py LinearOperator": 60,
    "ops/ragged/tensor.py RaggedTensor": 42,
    "ops/variables/variable.py Variable": 43,
    "strategies/extended.py StrategyExtended": 48,
    "training/optimizers/optimizer.py Optimizer": 37,
    # So does Python's arithmetic.
    "framework/types/dimension.py Dimension": 34,
    "framework/types/tensor_shape.py TensorShape": 34,
}


@functools.cache
def _modules() -> dict[Path, ast.Module]:
    """Every module of weft that a person wrote, parsed, by its path in the package."""
    written = (each for each in sorted(_WEFT.rglob("*.py")) if not each.stem.endswith(("_pb2", "_pb2_grpc")))
    with no_collections():
        return {each.relative_to(_WEFT): ast.parse(each.read_text(encoding="utf-8")) for each in written}


@functools.cache
def _nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Every node of a module: many rules look at all of them."""
    return tuple(ast.walk(tree))


def _package(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def _members(defined: ast.ClassDef) -> Iterator[str]:
    """The names that a class gives its instances and itself."""
    for node in ast.walk(defined):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                yield name
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=names):
                yield from (each.value for each in ast.walk(names) if isinstance(each, ast.Constant))  # type: ignore[misc]


def _classes(tree: ast.Module) -> frozenset[str]:
    return frozenset(node.name for node in tree.body if isinstance(node, ast.ClassDef))


def _is_private(node: ast.AST) -> bool:
    """Whether it is `thing._private`, the thing not being the object or class itself."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    )


def _reaches(tree: ast.Module, classes: frozenset[str]) -> Iterator[ast.Attribute]:
    """Each `other._private` that is no member of a class around it; tables beside a class may name its methods."""
    if not any(map(_is_private, _nodes(tree))):
        return
    waiting: list[tuple[ast.AST, frozenset[str]]] = [(tree, frozenset())]
    while waiting:
        node, own = waiting.pop()
        if isinstance(node, ast.ClassDef):
            own |= frozenset(_members(node))
        elif isinstance(node, ast.Attribute) and _is_private(node):
            match node.value:
                case ast.Name(id=name) if name in classes:
                    pass
                case ast.Call(func=ast.Name(id="super")):
                    pass
                case _ if node.attr not in own | _TENSORFLOWS | _PYTHONS:
                    yield node
        waiting.extend((child, own) for child in ast.iter_child_nodes(node))


def test_no_object_reads_anothers_privates() -> None:
    found = [(path, reach) for path, tree in _modules().items() for reach in _reaches(tree, _classes(tree))]
    assert [f"weft/{path}:{reach.lineno} {ast.unparse(reach)}" for path, reach in found] == []


def _masked(tree: ast.Module) -> Iterator[str]:
    """Lists and dicts of a module that hold one thing at a constant place: globals that are assigned without saying `global`.

    A registry, whose name is in capitals, is none; a stack or a table in small letters is.
    """
    held = set()
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value):
                match value:
                    case ast.List(elts=[] | [_]) | ast.Dict(keys=[] | [_]):
                        held.add(name)
                        if name.islower() and not name.startswith("__"):
                            yield name
    for node in _nodes(tree):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant()) if name in held:
                yield name


def test_no_list_of_one_is_a_global_in_a_mask() -> None:
    assert {str(path) for path, tree in _modules().items() if any(_masked(tree))} == set()


def _imports(tree: ast.AST) -> Iterator[str]:
    """The dotted names that a module imports when it runs; of `from a import b` both `a.b`, which may be a module, and `a`."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=otherwise):
                yield from (name for each in otherwise for name in _imports(each))
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{each.name}" for each in names)
                yield module
            case _:
                yield from _imports(node)


def test_no_module_imports_itself_by_way_of_others() -> None:
    names = {".".join(("weft", *path.with_suffix("").parts)).removesuffix(".__init__"): path for path in _modules()}
    imported = {name: set(_imports(_modules()[path])) & names.keys() - {name} for name, path in names.items()}
    # A package's face imports its modules, which name the package; that is no cycle, as they want nothing of the face.
    faces = {name for name, path in names.items() if path.stem == "__init__"}
    graphlib.TopologicalSorter({name: found - faces for name, found in imported.items()}).prepare()


def _has_name(tree: ast.Module, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in _nodes(tree))


def test_only_the_public_names_a_graph_and_its_nodes_and_what_is_imported_later_are_known_by_type_alone() -> None:
    detours = {str(path) for path, tree in _modules().items() if _has_name(tree, "TYPE_CHECKING")}
    later = {str(path) for path, tree in _modules().items() if _has_name(tree, "Later")}
    assert later == {
        "credentials/credentials.py",
        "platform/files/file_system.py",
        *(f"platform/imports/{name}_modules.py" for name in ("grpc", "jax", "malt", "regex")),
    }
    assert detours - later == {
        "__init__.py",
        "framework/nodes/arithmetic.py",
        "framework/serial/graph_def.py",
        "framework/nodes/operation.py",
    }


@pytest.mark.parametrize("package", ["channel", "distributed", "framework", "platform", "runtime"])
def test_a_folder_has_a_dozen_files_at_most(package: str) -> None:
    folders = [_WEFT / package, *(each for each in (_WEFT / package).rglob("*") if each.is_dir())]
    counts = {str(each.relative_to(_WEFT)): len([*each.glob("*.py")]) for each in folders}
    assert {name: count for name, count in counts.items() if count > _FILES} == {}


def _anys(tree: ast.Module) -> int:
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in _nodes(tree))


def test_any_says_what_a_type_is_more_and_more_seldom() -> None:
    found: Counter[str] = Counter()
    for path, tree in _modules().items():
        found[_package(path)] += _anys(tree)
    assert {package: count for package, count in found.items() if count > _ANYS.get(package, 0)} == {}


def _longer(found: dict[str, int], limit: int, longest: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in found.items() if count > longest.get(name, limit)}


def _file_lines(path: Path, tree: ast.Module) -> int:
    told = [
        (node.body[0].end_lineno or 0) - node.body[0].lineno
        for node in _nodes(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node, clean=False)
    ]
    return len((_WEFT / path).read_text(encoding="utf-8").splitlines()) - sum(told)


def test_files_have_a_seam_at_400_lines() -> None:
    found = {str(path): _file_lines(path, tree) for path, tree in _modules().items()}
    assert _longer(found, _LINES, _LONG_FILES) == {}


def _function_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    docstring = ast.get_docstring(function, clean=False)
    own = (function.end_lineno or 0) - function.lineno + 1
    return own - (len(docstring.splitlines()) if docstring else 0)


def test_functions_and_classes_stay_small() -> None:
    functions: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    for path, tree in _modules().items():
        for node in _nodes(tree):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    functions[f"{path} {name}"] = max(functions[f"{path} {name}"], _function_lines(node))
                case ast.ClassDef(name=name, body=body):
                    classes[f"{path} {name}"] = sum(isinstance(each, ast.FunctionDef) for each in body)
    assert _longer(functions, _FUNCTION_LINES, _LONG_FUNCTIONS) == {}
    assert _longer(classes, _METHODS, _LARGE_CLASSES) == {}


def test_exceptions_for_what_is_large_are_needed() -> None:
    large = {*_LONG_FILES, *(name.split()[0] for name in (*_LONG_FUNCTIONS, *_LARGE_CLASSES))}
    assert large - {str(path) for path in _modules()} == set()
    short = [str(path) for path, tree in _modules().items() if str(path) in _LONG_FILES and _file_lines(path, tree) <= _LINES]
    assert short == []


def _line_count(path: Path) -> int:
    return sum(bool(line.strip()) for line in (_WEFT / path).read_text(encoding="utf-8").splitlines())


def test_any_is_rare_in_the_whole_package() -> None:
    anys = sum(map(_anys, _modules().values()))
    lines = sum(map(_line_count, _modules()))
    assert anys * 1000 <= _ANYS_PER_THOUSAND * lines, f"{1000 * anys / lines:.1f} of 1,000 lines"


def test_nothing_depends_on_how_an_interpreter_counts_references() -> None:
    counting = {"getrefcount", "getallocatedblocks"}
    assert [path for path, tree in _modules().items() if any(getattr(n, "attr", "") in counting for n in _nodes(tree))] == []
