"""tf.quantization: floats as small integers, and floats that are rounded as if they were."""

from __future__ import annotations

from weft.ops.math.fake_quantization import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from weft.ops.math.fake_quantization import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from weft.ops.math.fake_quantization import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from weft.ops.math.fake_quantization import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from weft.ops.math.fake_quantization import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from weft.ops.math.fake_quantization import (
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
from weft.ops.math.fake_quantization import quantize_and_dequantize as quantize_and_dequantize
from weft.ops.math.quantization import dequantize as dequantize
from weft.ops.math.quantization import quantize as quantize
