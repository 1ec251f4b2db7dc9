"""Affine bijectors of vectors: `y = scale x + shift`, the scale a matrix by its parts or a LinearOperator."""

from __future__ import annotations

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.bijectors.bijector import Bijector
from weft.models.linear_operators.dense import LinearOperatorLowerTriangular
from weft.models.linear_operators.diagonal import LinearOperatorDiag, LinearOperatorScaledIdentity
from weft.models.linear_operators.low_rank_update import LinearOperatorLowRankUpdate
from weft.models.linear_operators.operator import LinearOperator
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros_like
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_none_equal
from weft.ops.input_scope import input_scope
from weft.ops.linalg.matrix_bands import matrix_diag_part, matrix_set_diag
from weft.ops.linalg.matrix_parts import matrix_band_part
from weft.ops.math.casting import cast
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.unary import log


class AffineLinearOperator(Bijector):
    """`y = scale x + shift` for vectors `x`.

    Args:
        shift: `[..., size]`; 0 when None.
        scale: a LinearOperator of `[..., size, size]`; the identity when None.
        validate_args: whether the operator must say that it is not singular.
        name: of its scopes.

    Raises:
        TypeError: the scale is no LinearOperator, or of another type than the shift.
        ValueError: with `validate_args`, the scale does not say that it is not singular.
    """

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale: LinearOperator | None = None,
        validate_args: bool = False,
        name: str = "affine_linear_operator",
    ) -> None:
        with input_scope(name, name, [shift]), input_scope("init", "init", [shift]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
        if scale is not None and not isinstance(scale, LinearOperator):
            raise TypeError(f"scale is not an instance of tf.LinearOperator. It is {scale!r}.")
        if scale is not None and validate_args and not scale.is_non_singular:
            raise ValueError("Scale matrix must be non-singular.")
        self._scale = scale
        kinds = [each.dtype.base_dtype for each in (self._shift, scale) if each is not None]
        if len(set(kinds)) > 1:
            raise TypeError(f"shift.dtype({kinds[0]}) is incompatible with scale.dtype({kinds[1]}).")
        super().__init__(
            graph_parents=[*([] if self._shift is None else [self._shift]), *([] if scale is None else scale.graph_parents)],
            is_constant_jacobian=True,
            validate_args=validate_args,
            dtype=kinds[0] if kinds else dtypes.float32,
            forward_min_event_ndims=1,
            name=name,
        )

    @property
    def shift(self) -> Tensor | None:
        """What is added."""
        return self._shift

    @property
    def scale(self) -> Nest:
        """The operator."""
        return self._scale

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        y = x if self._scale is None else self._scale.matvec(x)
        return y if self._shift is None else y + self._shift

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else self._scale.solvevec(x)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        if self._scale is None:
            return constant(0.0, dtype=x.dtype.base_dtype)
        return self._scale.log_abs_determinant()


class Affine(Bijector):
    """`y = scale x + shift` for vectors `x`, the scale the sum of its parts; the identity when there is none.

    Args:
        shift: `[..., size]`; 0 when None.
        scale_identity_multiplier: `[...]`, a multiple of the identity.
        scale_diag: `[..., size]`, a diagonal.
        scale_tril: `[..., size, size]`, a lower triangle; what is above the diagonal counts for nothing.
        scale_perturb_factor: `V`, `[..., size, rank]`, of the term `V D V^T`.
        scale_perturb_diag: the diagonal of `D`, `[..., rank]`; ones when None.
        validate_args: whether a multiple of the identity alone is checked.
        name: of its scopes.

    Raises:
        ValueError: there is a `scale_perturb_diag` without a `scale_perturb_factor`.
        TypeError: the shift and the scale are of different types.
    """

    def __init__(
        self,
        shift: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
        parts = {
            "multiplier": scale_identity_multiplier, "diag": scale_diag, "tril": scale_tril,
            "factor": scale_perturb_factor, "factor_diag": scale_perturb_diag,
        }  # fmt: skip
        with input_scope(name, name, [shift, *parts.values()]), input_scope("init", "init", [shift, *parts.values()]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
            self._is_multiple = scale_diag is None and scale_tril is None and scale_perturb_factor is None
            kind = dtypes.float32 if self._shift is None else self._shift.dtype.base_dtype
            if self._is_multiple and scale_identity_multiplier is None:
                parts["multiplier"] = constant(1.0, dtype=kind)
            given = {key: None if part is None else convert_to_tensor(part, name=key) for key, part in parts.items()}
            self._scale: Nest = _multiple(given, validate_args) if self._is_multiple else _operator(given)
        if self._shift is not None and not self._is_multiple and self._scale.dtype.base_dtype != kind:
            raise TypeError(f"shift.dtype({kind}) is incompatible with scale.dtype({self._scale.dtype}).")
        super().__init__(
            graph_parents=[each for each in (self._shift, *given.values()) if each is not None],
            is_constant_jacobian=True,
            validate_args=validate_args,
            dtype=self._scale.dtype.base_dtype,
            forward_min_event_ndims=1,
            name=name,
        )

    @property
    def shift(self) -> Tensor | None:
        """What is added."""
        return self._shift

    @property
    def scale(self) -> Nest:
        """The scale: a LinearOperator; the tensor of the multiplier where that is all."""
        return self._scale

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        y = x * self._scale if self._is_multiple else self._scale.matvec(x)
        found: Tensor = y if self._shift is None else y + self._shift
        return found

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        x = y if self._shift is None else y - self._shift
        found: Tensor = x / self._scale if self._is_multiple else self._scale.solvevec(x)
        return found

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        if self._is_multiple:
            return log(absolute(self._scale)) * cast(shape_of(x)[-1], self._scale.dtype)
        found: Tensor = self._scale.log_abs_determinant()
        return found


def _multiple(given: dict[str, Tensor | None], validate_args: bool) -> Nest:
    multiplier = given["multiplier"]
    if multiplier is None or not validate_args:
        return multiplier
    check = assert_none_equal(multiplier, zeros_like(multiplier), message="identity_multiplier should be non-zero.")
    return with_dependencies([check], multiplier)


def _operator(given: dict[str, Tensor | None]) -> LinearOperator:
    """The sum of the parts: a triangle takes the diagonals in, and the term of low rank comes on top."""
    tril, diag, multiplier, factor = (given[key] for key in ("tril", "diag", "multiplier", "factor"))
    base: LinearOperator
    if tril is not None:
        triangle = matrix_band_part(tril, -1, 0)
        for more in (diag, None if multiplier is None else expand_dims(multiplier, -1)):
            if more is not None:
                triangle = matrix_set_diag(triangle, matrix_diag_part(triangle) + more)
        base = LinearOperatorLowerTriangular(triangle, is_non_singular=True, is_self_adjoint=False, is_positive_definite=False)
    elif diag is not None:
        whole = diag if multiplier is None else diag + expand_dims(multiplier, -1)
        base = LinearOperatorDiag(whole, is_non_singular=True, is_self_adjoint=True)
    else:
        assert factor is not None
        one = constant(1.0, dtype=factor.dtype) if multiplier is None else multiplier
        base = LinearOperatorScaledIdentity(shape_of(factor)[-2], one, is_non_singular=True, is_self_adjoint=True)
    if factor is None:
        return base
    diagonal = given["factor_diag"]
    return LinearOperatorLowRankUpdate(
        base, factor, diagonal, is_diag_update_positive=diagonal is None, is_non_singular=True, is_square=True
    )
