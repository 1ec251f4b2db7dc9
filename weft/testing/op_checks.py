"""Checks that every op must pass: its kernel against a reference and against itself compiled, its shape rule, its gradient.

A `Case` is one use of an op; the functions `check_*` each hold one claim about it and raise AssertionError when it is false.
Graphs are evaluated node by node here, on NumPy or on JAX, without a session: what fails is the op and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from weft.autodiff.gradients import gradients
from weft.framework.building.aliases import TensorLike
from weft.framework.building.op_builder import build
from weft.framework.graphs.graph import Graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types import op_def
from weft.framework.op_types.op_def import OpDef
from weft.framework.registry import op_registry
from weft.framework.types import dtypes
from weft.framework.types.dims import dims_compatible
from weft.framework.types.dtypes import DType, as_dtype
from weft.ops.array.constant import constant
from weft.ops.array.placeholder import placeholder

# How close two computations of one value must be, by the width of the type.
_TOLERANCES: Final = {
    dtypes.bfloat16: 4e-2, dtypes.float16: 4e-3, dtypes.float32: 1e-5, dtypes.float64: 1e-9,
    dtypes.complex64: 1e-5, dtypes.complex128: 1e-9,
}  # fmt: skip
_WIDER: Final = {
    dtypes.bfloat16: dtypes.float64, dtypes.float16: dtypes.float64, dtypes.float32: dtypes.float64,
    dtypes.complex64: dtypes.complex128,
}  # fmt: skip
# Attributes that type only outputs, and must widen with the inputs.
_OUTPUT_TYPES: Final = frozenset(("DstT", "Tcomplex", "Tout", "Treal"))
_STEP: Final = 1e-6


@dataclass(frozen=True)
class Case:
    """One use of an op.

    Args:
        op: the op's type.
        inputs: an array per input, a list of arrays for a list input; strings are object arrays of bytes.
        attrs: attributes beyond those that the inputs' types give.
        expected: the outputs as a function of the inputs, in NumPy or SciPy (a tuple when there are several); None when
            there is nothing to compare with but the compiled kernel.
        tolerance: how far from `expected` a result may be; from the type when None.
        gradient: whether the gradient rule is checked, for an op that has one.
        sweep: whether all types that the op allows are tried on these inputs.
        variant: what tells cases of one op apart in a test's name.
        constant_inputs: the inputs that the gradient rule takes for constants, by position.
        known_shape: whether the shape rule must know every dimension, given the shapes and values of all inputs.
        needs_shapes: whether the shape rule refuses inputs whose shapes it does not know.
    """

    op: str
    inputs: Sequence[Any] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    expected: Callable[..., Any] | None = None
    tolerance: float | None = None
    gradient: bool = True
    sweep: bool = True
    variant: str = ""
    constant_inputs: Sequence[int] = ()
    known_shape: bool = True
    needs_shapes: bool = False

    @property
    def label(self) -> str:
        """The op and the variant, as a test's name shows them."""
        return f"{self.op}-{self.variant}" if self.variant else self.op

    @property
    def definition(self) -> OpDef:
        """The op's declaration."""
        return op_registry.lookup(self.op)


# Evaluating a graph without a session.


class Evaluation:
    """The values of a graph's tensors, computed when they are asked for.

    `feeds` are arrays; with `traced`, a tracer for some of the fed tensors, kernels run on JAX, except for what must be known
    while tracing.
    """

    def __init__(self, feeds: Mapping[Tensor, object], traced: Mapping[Tensor, object] | None = None) -> None:
        self._values: dict[Tensor, Any] = dict(feeds)
        self._xp: Any = np
        self._known: Evaluation | None = None
        if traced is not None:
            self._known = Evaluation(feeds)
            self._values.update(traced)
            self._xp = jnp

    def value(self, tensor: Tensor) -> Any:
        """The value of a tensor."""
        if tensor not in self._values:
            for output, value in zip(tensor.op.outputs, self._run(tensor.op), strict=True):
                self._values.setdefault(output, value)
        return self._values[tensor]

    def _run(self, op: Operation) -> Sequence[Any]:
        arguments = [
            self._argument(arg.name in op.op_def.static, members)
            for arg, members in group(op.op_def.inputs, op.attrs, op.inputs)
        ]
        return call_kernel(op, arguments, jnp if op.op_def.compiled_only else self._xp)

    def _argument(self, is_static: bool, members: Any) -> Any:
        source = self._known if is_static and self._known is not None else self
        return [source.value(each) for each in members] if isinstance(members, list) else source.value(members)


def call_kernel(op: Operation, arguments: Sequence[TensorLike], xp: object) -> list[Any]:
    """Run a node's kernel as the runtime does, results brought to the types of the outputs."""
    definition = op.op_def
    keywords = {key: op.attrs[key] for key in definition.kernel_attrs}
    head: tuple[Any, ...] = (xp,) if definition.takes_xp else (None,) if definition.is_host else ()
    with np.errstate(all="ignore"):
        made = definition.kernel(*head, *arguments, **keywords)
        results = list(made) if isinstance(made, tuple | list) else [made]
        assert len(results) == len(op.outputs), f"{op.type}: {len(results)} results for {len(op.outputs)} outputs"
        return [_as_declared(value, tensor.dtype.base_dtype) for value, tensor in zip(results, op.outputs, strict=True)]


def _as_declared(value: TensorLike, dtype: DType) -> Any:
    if isinstance(value, jax.Array):
        return value.astype(dtype.as_numpy_dtype)
    if dtype is dtypes.string and not isinstance(value, np.ndarray):
        boxed = np.empty((), object)
        boxed[()] = value
        return boxed
    return np.asarray(value, dtype.as_numpy_dtype)


def evaluate(fetches: Sequence[Tensor], feeds: Mapping[Tensor, object]) -> list[Any]:
    """The values of some tensors on NumPy, given those of others."""
    values = Evaluation(feeds)
    with jax.enable_x64(True):
        return [np.asarray(values.value(tensor)) for tensor in fetches]


def evaluate_compiled(fetches: Sequence[Tensor], feeds: Mapping[Tensor, object]) -> list[Any]:
    """The values of some tensors, of one graph or of several, computed by one compiled function with 64-bit types."""
    traceable = [tensor for tensor in feeds if tensor.dtype.base_dtype is not dtypes.string]
    with jax.enable_x64(True):

        def compute(values: Sequence[TensorLike]) -> list[Any]:
            evaluation = Evaluation(feeds, dict(zip(traceable, values, strict=True)))
            return [jnp.asarray(evaluation.value(tensor)) for tensor in fetches]

        return [np.asarray(value) for value in jax.jit(compute)([feeds[tensor] for tensor in traceable])]


# Building a case.


@dataclass(frozen=True)
class Built:
    """A case as a graph: the node, the placeholders of its inputs and what to feed them."""

    node: Operation
    feeds: dict[Tensor, Any]

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self.node.graph


def build_case(case: Case, dims_of: Callable[[Any], object] = np.shape, fold_static: bool = True) -> Built:
    """Build a case's node in a new graph.

    Args:
        case: the case.
        dims_of: gives the static shape of an input's placeholder from its array.
        fold_static: whether inputs that the op wants to know while compiling are constants.
    """
    definition = case.definition
    feeds: dict[Tensor, Any] = {}
    if case.needs_shapes:
        dims_of = np.shape

    def enter(value: TensorLike, is_static: bool) -> Tensor:
        array = as_array(value)
        if is_static and fold_static:
            return constant(array, as_dtype(array.dtype))
        shape: Any = None if is_static and not case.needs_shapes else dims_of(array)
        tensor: Tensor = placeholder(as_dtype(array.dtype), shape)
        feeds[tensor] = array
        return tensor

    graph = Graph()
    with graph.as_default():
        inputs = [
            [enter(each, arg.name in definition.static) for each in value]
            if arg.is_list
            else enter(value, arg.name in definition.static)
            for arg, value in zip(definition.inputs, case.inputs, strict=True)
        ]
        node = build(definition, inputs, dict(case.attrs), None)
    return Built(node, feeds)


def as_array(value: object) -> Any:
    """A case's input as an array: Python floats are float32 and ints int32, as in programs; strings are bytes."""
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    array = np.asarray(value)
    if array.dtype.kind in "SU":
        return np.array(value, object)
    return array.astype({"f": np.float32, "i": np.int32, "c": np.complex64}.get(array.dtype.kind, array.dtype))


def unknown_sizes(array: Any) -> tuple[None, ...]:
    """A static shape that knows the rank only."""
    return (None,) * np.ndim(array)


def unknown_rank(array: object) -> Any:
    """A static shape that knows nothing."""
    return None


def arrays_of(case: Case) -> list[Any]:
    """The inputs of a case, each an array or a list of arrays."""
    return [[as_array(each) for each in value] if isinstance(value, list | tuple) and arg.is_list else as_array(value)
            for arg, value in zip(case.definition.inputs, case.inputs, strict=True)]  # fmt: skip


# The checks.


def assert_close(found: object, wanted: object, tolerance: float | None, what: str) -> None:
    """Raise AssertionError unless two arrays agree: strings, integers and booleans exactly."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, wanted {wanted.shape}"
    if found.dtype == object or (found.dtype.kind in "iub" and tolerance is None):
        assert np.array_equal(found, wanted), f"{what}: {found!r}, wanted {wanted!r}"
        return
    close = _TOLERANCES.get(as_dtype(found.dtype), 0.0) if tolerance is None else tolerance
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(found.astype(wide), wanted.astype(wide), rtol=close, atol=close, err_msg=what)


def check_reference(case: Case) -> None:
    """The kernel on NumPy gives what the reference gives."""
    if case.expected is None:
        return
    built = build_case(case)
    with np.errstate(all="ignore"):
        wanted = case.expected(*arrays_of(case))
    wanted = list(wanted) if isinstance(wanted, tuple) else [wanted]
    found = evaluate(built.node.outputs, built.feeds)
    assert len(found) == len(wanted), f"{case.label}: {len(found)} outputs, the reference has {len(wanted)}"
    for index, (have, want) in enumerate(zip(found, wanted, strict=True)):
        assert_close(have, want, case.tolerance, f"{case.label} output {index}")


def check_compiled(case: Case) -> None:
    """The compiled kernel gives what the kernel on NumPy gives."""
    _check_compiled([case])


def _check_compiled(cases: Sequence[Case]) -> None:
    built = [(case, build_case(case)) for case in cases]
    built = [(case, each) for case, each in built if _is_compiled(each.node)]
    outputs = [tensor for _, each in built for tensor in each.node.outputs]
    feeds = {tensor: value for _, each in built for tensor, value in each.feeds.items()}
    labels = [f"{case.label} output {tensor.value_index}" for case, each in built for tensor in each.node.outputs]
    tolerances = [case.tolerance for case, each in built for _ in each.node.outputs]
    results = zip(evaluate_compiled(outputs, feeds), evaluate(outputs, feeds), tolerances, labels, strict=True)
    for compiled, interpreted, tolerance, label in results:
        assert_close(compiled, interpreted, tolerance, f"{label}, compiled")


def _is_compiled(node: Operation) -> bool:
    return not node.op_def.is_host and all(tensor.dtype.base_dtype is not dtypes.string for tensor in node.inputs)


def check_shapes(case: Case) -> None:
    """The shape rule says nothing false, whatever is known of the inputs, and all that can be said when everything is."""
    built = build_case(case)
    shapes = [value.shape for value in evaluate(built.node.outputs, built.feeds)]
    for tensor, shape in zip(built.node.outputs, shapes, strict=True):
        assert dims_compatible(tensor.dims, shape), f"{case.label}: inferred {tensor.dims}, computed {shape}"
        known = tensor.dims is not None and None not in tensor.dims
        if case.known_shape and not built.node.op_def.is_host:
            assert known, f"{case.label}: inferred {tensor.dims} of inputs that are fully known, computed {shape}"
    for dims_of in (unknown_sizes, unknown_rank):
        for fold_static in (True, False):
            other = build_case(case, dims_of, fold_static)
            for tensor, shape in zip(other.node.outputs, shapes, strict=True):
                assert dims_compatible(tensor.dims, shape), (
                    f"{case.label}: inferred {tensor.dims} under {dims_of.__name__}, computed {shape}"
                )


def check_types(case: Case) -> None:
    """For every type that the op allows, the compiled kernel gives what the one on NumPy gives."""
    _check_compiled([
        _with_type(case, name, dtype)
        for name, attr in case.definition.attrs.items()
        if attr.kind == "type" and _types_inputs(case.definition, name)
        for dtype in attr.allowed
        if dtype.is_numpy_compatible and not dtype.is_quantized and dtype not in (dtypes.string, dtypes.variant)
    ])  # fmt: skip


def _types_inputs(definition: OpDef, attr: str) -> bool:
    return any(arg.type_attr == attr for arg in definition.inputs)


def _with_type(case: Case, attr: str, dtype: DType) -> Case:
    def convert(value: TensorLike) -> Any:
        array = as_array(value)
        if array.dtype.kind == "c" and not dtype.is_complex:
            array = array.real
        return array.astype(dtype.as_numpy_dtype)

    inputs = [
        value if arg.type_attr != attr else [convert(each) for each in value] if arg.is_list else convert(value)
        for arg, value in zip(case.definition.inputs, case.inputs, strict=True)
    ]
    attrs = dict(case.attrs)
    if attr in attrs:
        attrs[attr] = dtype
    return Case(case.op, inputs, attrs, None, case.tolerance, variant=dtype.name, constant_inputs=case.constant_inputs,
                known_shape=case.known_shape)  # fmt: skip


def check_gradient(case: Case) -> None:
    """The gradient rule gives what finite differences of the kernel give, with shapes known and unknown."""
    definition = case.definition
    if definition.gradient in (None, op_def.not_differentiable) or not case.gradient:
        return
    case = _widened(case)
    for dims_of in (np.shape, unknown_sizes, unknown_rank):
        built = build_case(case, dims_of)
        _check_gradient(case, built, f"{case.label}, {dims_of.__name__}")


def _widened(case: Case) -> Case:
    """The case in 64 bits, where the op has them: finite differences need the digits."""
    for name, attr in case.definition.attrs.items():
        if attr.kind != "type" or not _types_inputs(case.definition, name):
            continue
        first = next(v for a, v in zip(case.definition.inputs, case.inputs, strict=True) if a.type_attr == name)
        found = as_dtype(as_array(first[0] if isinstance(first, list | tuple) and _is_list(case, name) else first).dtype)
        wide = _WIDER.get(found)
        if wide is not None and (not attr.allowed or wide in attr.allowed):
            case = _with_type(case, name, wide)
    attrs = dict(case.attrs)
    for name in _OUTPUT_TYPES & set(case.definition.attrs):
        if _types_inputs(case.definition, name):
            continue
        found = attrs.get(name, case.definition.attrs[name].default)
        if isinstance(found, DType):
            attrs[name] = _WIDER.get(found, found)
    return Case(case.op, case.inputs, attrs, variant=case.variant, constant_inputs=case.constant_inputs)


def _is_list(case: Case, attr: str) -> bool:
    return any(arg.is_list for arg in case.definition.inputs if arg.type_attr == attr)


def _check_gradient(case: Case, built: Built, what: str) -> None:
    generator = np.random.default_rng(0)
    outputs = [tensor for tensor in built.node.outputs if _is_inexact(tensor)]
    constants = [built.node.inputs[position] for position in case.constant_inputs]
    inputs = [tensor for tensor in built.feeds if _is_inexact(tensor) and tensor not in constants]
    if not outputs or not inputs:
        return
    weights = [_random_like(generator, value) for value in evaluate(outputs, built.feeds)]
    with built.graph.as_default():
        grads = gradients(outputs, inputs, grad_ys=[constant(weight) for weight in weights])

    def loss(feeds: Mapping[Tensor, object]) -> float:
        values = evaluate(outputs, feeds)
        return float(sum(np.sum(np.real(np.conj(w) * v)) for w, v in zip(weights, values, strict=True)))

    for tensor, grad in zip(inputs, grads, strict=True):
        if grad is None:
            found = np.zeros_like(built.feeds[tensor])
        else:
            found = _dense(grad, built.feeds, built.feeds[tensor].shape)
            assert found.shape == built.feeds[tensor].shape, f"{what}: gradient of {tensor.name} has shape {found.shape}"
        wanted = _differences(loss, built.feeds, tensor)
        scale = 1.0 if tensor.dtype in (dtypes.float64, dtypes.complex128) else 1e3
        np.testing.assert_allclose(
            found, wanted, rtol=2e-4 * scale, atol=2e-5 * scale, err_msg=f"{what}, gradient of input {tensor.name}"
        )


def _is_inexact(tensor: Tensor) -> bool:
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def _random_like(generator: Any, value: Any) -> Any:
    weight = generator.uniform(0.5, 1.5, value.shape)
    if value.dtype.kind == "c":
        weight = weight + 1j * generator.uniform(0.5, 1.5, value.shape)
    return weight.astype(value.dtype)


def _dense(grad: Tensor, feeds: Mapping[Tensor, object], shape: Any) -> Any:
    if not isinstance(grad, IndexedSlices):
        return evaluate([grad], feeds)[0]
    values, indices = evaluate([grad.values, grad.indices], feeds)
    dense = np.zeros(shape, values.dtype)
    np.add.at(dense, indices, values)
    return dense


def _differences(loss: Callable[[Mapping[Tensor, Any]], float], feeds: Mapping[Tensor, Any], tensor: Tensor) -> Any:
    value = feeds[tensor]
    is_wide = value.dtype in (np.float64, np.complex128)
    step = _STEP if is_wide else 1e-2
    result = np.zeros(value.shape, np.complex128 if value.dtype.kind == "c" else np.float64)
    for index in np.ndindex(*value.shape):
        for unit in (1.0, 1.0j) if value.dtype.kind == "c" else (1.0,):
            sides = []
            for sign in (step, -step):
                moved = value.copy()
                moved[index] += value.dtype.type(sign * unit)
                sides.append(loss({**feeds, tensor: moved}))
            result[index] += unit * (sides[0] - sides[1]) / (2 * step)
    return result
