"""tf.contrib.distributions.bijectors: invertible functions of distributions. This module only re-exports."""

from __future__ import annotations

from weft.models.bijectors.affine import Affine as Affine
from weft.models.bijectors.affine import AffineLinearOperator as AffineLinearOperator
from weft.models.bijectors.bijector import Bijector as Bijector
from weft.models.bijectors.bijector import ConditionalBijector as ConditionalBijector
from weft.models.bijectors.composed import Chain as Chain
from weft.models.bijectors.composed import Inline as Inline
from weft.models.bijectors.composed import Invert as Invert
from weft.models.bijectors.elementwise import AbsoluteValue as AbsoluteValue
from weft.models.bijectors.elementwise import AffineScalar as AffineScalar
from weft.models.bijectors.elementwise import Exp as Exp
from weft.models.bijectors.elementwise import Identity as Identity
from weft.models.bijectors.elementwise import PowerTransform as PowerTransform
from weft.models.bijectors.elementwise import Sigmoid as Sigmoid
from weft.models.bijectors.elementwise import Softplus as Softplus
from weft.models.bijectors.elementwise import Softsign as Softsign
from weft.models.bijectors.elementwise import Square as Square
from weft.models.bijectors.flows import MaskedAutoregressiveFlow as MaskedAutoregressiveFlow
from weft.models.bijectors.flows import RealNVP as RealNVP
from weft.models.bijectors.flows import masked_autoregressive_default_template as masked_autoregressive_default_template
from weft.models.bijectors.flows import masked_dense as masked_dense
from weft.models.bijectors.flows import real_nvp_default_template as real_nvp_default_template
from weft.models.bijectors.matrices import CholeskyOuterProduct as CholeskyOuterProduct
from weft.models.bijectors.matrices import FillTriangular as FillTriangular
from weft.models.bijectors.matrices import MatrixInverseTriL as MatrixInverseTriL
from weft.models.bijectors.matrices import ScaleTriL as ScaleTriL
from weft.models.bijectors.matrices import TransformDiagonal as TransformDiagonal
from weft.models.bijectors.shaped_elementwise import Gumbel as Gumbel
from weft.models.bijectors.shaped_elementwise import Kumaraswamy as Kumaraswamy
from weft.models.bijectors.shaped_elementwise import SinhArcsinh as SinhArcsinh
from weft.models.bijectors.vectors import Ordered as Ordered
from weft.models.bijectors.vectors import Permute as Permute
from weft.models.bijectors.vectors import Reshape as Reshape
from weft.models.bijectors.vectors import SoftmaxCentered as SoftmaxCentered
