"""Circulant operators: what the Fourier transform turns into multiplication by a spectrum."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import TensorShape
from weft.models.linear_operators.matrices import adjoint_of, implied
from weft.models.linear_operators.operator import LinearOperator
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import matrix_transpose
from weft.ops.debugging.checks import assert_near, assert_positive
from weft.ops.math.casting import cast
from weft.ops.math.complex_numbers import absolute, conj, imag, real
from weft.ops.math.reduce_functions import reduce_prod, reduce_sum
from weft.ops.math.unary import log
from weft.ops.signal.fourier import fft, fft2d, fft3d, ifft, ifft2d, ifft3d

_TRANSFORMS: Final[dict[int, tuple[Callable[..., Tensor], Callable[..., Tensor]]]] = {
    1: (fft, ifft),
    2: (fft2d, ifft2d),
    3: (fft3d, ifft3d),
}


class _Circulant(LinearOperator):
    """The operator whose eigenvalues are the spectrum, over as many dimensions as `block_depth` says."""

    _DEPTH: ClassVar[int] = 1

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        given = convert_to_tensor(spectrum, name="spectrum")
        if given.shape.ndims is not None and given.shape.ndims < self._DEPTH:
            raise ValueError(f"Argument spectrum must have at least {self._DEPTH} dimensions.  Found: {given}")
        if not given.dtype.is_complex:
            is_self_adjoint = implied(is_self_adjoint, "A real spectrum always corresponds to a self-adjoint operator.")
        implied(is_square, "A [[nested] block] circulant operator is always square.")
        self._spectrum = given
        super().__init__(
            as_dtype(input_output_dtype), [given], is_non_singular, is_self_adjoint, is_positive_definite, True, name
        )

    @property
    def block_depth(self) -> int:
        """How deep circulant blocks are nested: the number of the spectrum's dimensions that are transformed."""
        return self._DEPTH

    @property
    def spectrum(self) -> Tensor:
        """The eigenvalues."""
        return self._spectrum

    @property
    def block_shape(self) -> TensorShape:
        """The last dimensions of the spectrum."""
        return TensorShape(self._spectrum.shape.as_list()[-self._DEPTH :])

    def block_shape_tensor(self) -> Tensor:
        """The last dimensions of the spectrum, as a tensor."""
        return shape_of(self._spectrum)[-self._DEPTH :]

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """The first column, in the shape of the spectrum: its inverse transform."""
        with self._name_scope(name):
            return cast(_TRANSFORMS[self._DEPTH][1](self._complex()), self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Operation:
        """An operation that fails when the matrix is not real."""
        with self._name_scope(name):
            kernel = _TRANSFORMS[self._DEPTH][1](self._complex())
            return assert_near(imag(kernel), real(kernel) * 0, atol=1e-5, message="Spectrum was not Hermitian")

    def _complex(self) -> Tensor:
        wide = dtypes.complex128 if self._spectrum.dtype in (dtypes.float64, dtypes.complex128) else dtypes.complex64
        return cast(self._spectrum, wide)

    def _shape(self) -> TensorShape:
        size = self.block_shape.num_elements()
        return TensorShape(self._spectrum.shape.as_list()[: -self._DEPTH]).concatenate([size, size])

    def _shape_tensor(self) -> Tensor:
        sizes = shape_of(self._spectrum)
        size = reduce_prod(sizes[-self._DEPTH :])
        return concat([sizes[: -self._DEPTH], [size, size]], axis=0)

    def _by_spectrum(self, x: Tensor, apply: Callable[[Tensor, Tensor], Tensor], adjoint: bool, adjoint_arg: bool) -> Tensor:
        """The columns of matrices, transformed, met with the spectrum, and transformed back."""
        spectrum = conj(self._complex()) if adjoint else self._complex()
        rows = cast(matrix_transpose(adjoint_of(x) if adjoint_arg else x), spectrum.dtype)
        blocks = reshape(rows, concat([shape_of(rows)[:-1], self.block_shape_tensor()], axis=0))
        forward, backward = _TRANSFORMS[self._DEPTH]
        met = backward(apply(forward(blocks), expand_dims(spectrum, -self._DEPTH - 1)))
        flat = reshape(met, concat([shape_of(met)[: -self._DEPTH], self.shape_tensor()[-1:]], axis=0))
        result = cast(matrix_transpose(flat), self.dtype)
        if x.shape.ndims is not None and self.shape.ndims == 2:
            columns = x.shape.as_list()[-2 if adjoint_arg else -1]
            result.set_shape(x.shape[:-2].concatenate([self.range_dimension, columns]))
        return result

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._by_spectrum(x, lambda values, spectrum: values * spectrum, adjoint, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._by_spectrum(rhs, lambda values, spectrum: values / spectrum, adjoint, adjoint_arg)

    def _axes(self) -> list[int]:
        return list(range(-self._DEPTH, 0))

    def _determinant(self) -> Tensor:
        return cast(reduce_prod(self._spectrum, axis=self._axes()), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce_sum(log(absolute(self._spectrum)), axis=self._axes()), self.dtype)

    def _trace(self) -> Tensor:
        return cast(reduce_sum(self._spectrum, axis=self._axes()), self.dtype)

    def _diag_part(self) -> Tensor:
        size = cast(self.domain_dimension_tensor(), self.dtype)
        ones = cast(reshape(self._spectrum, concat([self.shape_tensor()[:-2], [-1]], axis=0)) * 0 + 1, self.dtype)
        return expand_dims(self.trace() / size, -1) * ones

    def _assert_non_singular(self) -> Operation:
        return assert_positive(absolute(self._spectrum), message="Operator was singular.")

    def _assert_positive_definite(self) -> Operation:
        return assert_positive(
            real(self._spectrum), message="Not positive definite:  Real part of spectrum was not all positive."
        )

    def _assert_self_adjoint(self) -> Operation:
        if not self._spectrum.dtype.is_complex:
            return assert_near(self._spectrum, self._spectrum)
        return assert_near(self._spectrum, conj(self._spectrum), message="Not self-adjoint:  The spectrum contained non-zero "
                           "imaginary part.")  # fmt: skip

    def _like(self, spectrum: Tensor) -> LinearOperator:
        return type(self)(spectrum, self.dtype, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite)

    def _adjoint_operator(self) -> LinearOperator:
        return self._like(conj(self._spectrum))

    def _inverse_operator(self) -> LinearOperator:
        return self._like(1.0 / self._spectrum)


class LinearOperatorCirculant(_Circulant):
    """A circulant matrix: each column is the one before, moved down by one; `spectrum` is `[..., n]`."""


class LinearOperatorCirculant2D(_Circulant):
    """A block circulant matrix with circulant blocks; `spectrum` is `[..., n0, n1]`."""

    _DEPTH = 2


class LinearOperatorCirculant3D(_Circulant):
    """A nested block circulant matrix; `spectrum` is `[..., n0, n1, n2]`."""

    _DEPTH = 3
