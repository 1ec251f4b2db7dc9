"""Complex tensors from their parts and back, and what is defined by them: absolute value, sign, angle."""

from __future__ import annotations

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.array.filling import zeros_like
from weft.ops.declaration import broadcast, op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.math.elementwise import COMPLEX, SIGNED, conj_node, mul, neg, reciprocal, unbroadcast

_PARTS = (dtypes.float32, dtypes.float64)


def _complex_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, y = node.inputs
    kind = x.dtype.base_dtype
    return [
        unbroadcast(real_node(grad, Tout=kind, name=None), x, y),
        unbroadcast(imag_node(grad, Tout=kind, name=None), y, x, name="Reshape_1"),
    ]


@op("Complex", "real: T, imag: T -> out: Tout", infer=broadcast, gradient=_complex_gradient,
    types={"T": _PARTS, "Tout": COMPLEX}, defaults={"T": dtypes.float32, "Tout": dtypes.complex64})  # fmt: skip
def complex_node(xp: ArrayModule, real: Array, imag: Array) -> Result:
    """`real + imag * i`: `[...], [...] -> [...]`, broadcast."""
    return real + 1j * imag


@dispatchable
def complex_of(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """The complex tensor with these parts: complex64 of float32, complex128 of float64.

    Args:
        real, imag: [...] tensors of float32 or of float64, whose shapes broadcast.

    Raises:
        TypeError: the parts have different types, or no such type.
    """
    real, imag = convert_to_tensor(real, name="real"), convert_to_tensor(imag, name="imag")
    types = real.dtype.base_dtype, imag.dtype.base_dtype
    if types[0] is not types[1] or types[0] not in _PARTS:
        raise TypeError(f"real and imag have incorrect types: {types[0].name} {types[1].name}")
    kind = dtypes.complex64 if types[0] is dtypes.float32 else dtypes.complex128
    return complex_node(real, imag, Tout=kind, name=name or "Complex")


def _from_parts(real: Tensor, imag: Tensor | int, like: Tensor) -> Tensor:
    return complex_node(real, imag, Tout=like.dtype.base_dtype, name=None)


@op("Real", "input: T -> output: Tout", infer=same_as_input, types={"T": COMPLEX, "Tout": _PARTS},
    defaults={"T": dtypes.complex64, "Tout": dtypes.float32},
    gradient=lambda node, grad: [_from_parts(grad, 0, node.inputs[0])])  # fmt: skip
def real_node(xp: ArrayModule, input: Array) -> Result:
    """The real part: `[...] -> [...]`."""
    return xp.real(input)


@op("Imag", "input: T -> output: Tout", infer=same_as_input, types={"T": COMPLEX, "Tout": _PARTS},
    defaults={"T": dtypes.complex64, "Tout": dtypes.float32},
    gradient=lambda node, grad: [_from_parts(zeros_like(grad), grad, node.inputs[0])])  # fmt: skip
def imag_node(xp: ArrayModule, input: Array) -> Result:
    """The imaginary part: `[...] -> [...]`."""
    return xp.imag(input)


def _angle_gradient(node: Operation, grad: Tensor) -> Gradients:
    x = node.inputs[0]
    swapped = _from_parts(imag_node(x, Tout=grad.dtype, name=None), real_node(x, Tout=grad.dtype, name=None), x)
    return [mul(neg(_from_parts(grad, zeros_like(grad), x)), reciprocal(swapped))]


@op("Angle", "input: T -> output: Tout", infer=same_as_input, types={"T": COMPLEX, "Tout": _PARTS},
    defaults={"T": dtypes.complex64, "Tout": dtypes.float32}, gradient=_angle_gradient)  # fmt: skip
def angle_node(xp: ArrayModule, input: Array) -> Result:
    """The angle in the complex plane: `[...] -> [...]`."""
    return xp.angle(input)


@dispatchable
def real(input: TensorLike, name: str | None = None) -> Tensor:
    """The real part; a real tensor comes back as it is.

    Args:
        input: [...] tensor of a numeric dtype; of complex64 comes float32, of complex128 float64.
    """
    tensor = convert_to_tensor(input, name="input")
    if not tensor.dtype.is_complex:
        return tensor
    return real_node(tensor, Tout=tensor.dtype.real_dtype, name=name)


@dispatchable
def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for a real tensor.

    Args:
        input: [...] tensor of a numeric dtype; of complex64 comes float32, of complex128 float64.
    """
    tensor = convert_to_tensor(input, name="input")
    if not tensor.dtype.is_complex:
        return zeros_like(tensor)
    return imag_node(tensor, Tout=tensor.dtype.real_dtype, name=name)


@dispatchable
def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """The angle in the complex plane; zeros for a real tensor.

    Args:
        input: [...] tensor of a numeric dtype; of complex64 comes float32, of complex128 float64.
    """
    tensor = convert_to_tensor(input, name="input")
    if not tensor.dtype.is_complex:
        return zeros_like(tensor)
    return angle_node(tensor, Tout=tensor.dtype.real_dtype, name=name or "Angle")


@dispatchable
def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor comes back as it is.

    Args:
        x: [...] tensor of a numeric dtype.

    Raises:
        TypeError: the tensor is not numeric.
    """
    tensor = convert_to_tensor(x, name="x")
    if tensor.dtype.is_complex or tensor.dtype.base_dtype is dtypes.variant:
        return conj_node(tensor, name=name)
    if tensor.dtype.is_floating or tensor.dtype.is_integer:
        return tensor
    raise TypeError(f"Expected numeric or variant tensor, got dtype {tensor.dtype!r}")


# Absolute value and sign.


def _abs_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [mul(grad, sign(node.inputs[0]))]


@op("Abs", "x: T -> y: T", infer=same_as_input, types={"T": SIGNED},
    gradient=_abs_gradient)  # fmt: skip
def abs_node(xp: ArrayModule, x: Array) -> Result:
    """The absolute value: `[...] -> [...]`."""
    return xp.abs(x)


def _complex_abs_gradient(node: Operation, grad: Tensor) -> Gradients:
    x = node.inputs[0]
    return [mul(_from_parts(grad, zeros_like(grad), x), sign(x))]


def _of_parts(node: Operation) -> list[Dims]:
    """The input's shape; ValueError unless the result has the type of the parts, the only one that has a kernel."""
    found, wanted = node.outputs[0].dtype.base_dtype, node.inputs[0].dtype.base_dtype.real_dtype
    if found is not wanted:
        raise ValueError(
            f"Tout must be {wanted.name}, the type of the parts of {node.inputs[0].dtype.name}, but is {found.name}"
        )
    return same_as_input(node)


@op("ComplexAbs", "x: T -> y: Tout", infer=_of_parts, gradient=_complex_abs_gradient,
    types={"T": COMPLEX, "Tout": _PARTS}, defaults={"T": dtypes.complex64, "Tout": dtypes.float32})  # fmt: skip
def complex_abs(xp: ArrayModule, x: Array) -> Result:
    """The absolute value of a complex tensor: `[...] -> [...]`."""
    return xp.abs(x)


@dispatchable
def absolute(x: TensorLike, name: str | None = None) -> Tensor:
    """The absolute value, real also for complex tensors.

    >>> sess.run(tf.abs([-1.5, 2.0]))
    array([1.5, 2. ], dtype=float32)

    Args:
        x: [...] tensor of a numeric dtype; of complex64 comes float32, of complex128 float64.

    Returns:
        [...] tensor of the argument's type and shape; of complex numbers it is of floats.

    Raises:
        TypeError: `x` is of another dtype.
    """
    tensor = convert_to_tensor(x, name="x")
    if tensor.dtype.is_complex:
        return complex_abs(tensor, Tout=tensor.dtype.real_dtype, name=name or "Abs")
    return abs_node(tensor, name=name)


@op("Sign", "x: T -> y: T", infer=same_as_input, gradient=lambda node, grad: [zeros_like(node.inputs[0])],
    types={"T": (*SIGNED, *COMPLEX)})  # fmt: skip
def sign(xp: ArrayModule, x: Array) -> Result:
    """-1, 0 or 1; `x / |x|` for complex x: `[...] -> [...]`.

    Args:
        x: [...] tensor of a signed integer, floating or complex dtype; the result has its shape and dtype.
    """
    if x.dtype.kind != "c":
        return xp.sign(x)
    size = xp.abs(x)
    return xp.where(size == 0, xp.zeros_like(x), x / xp.where(size == 0, xp.ones_like(size), size))
