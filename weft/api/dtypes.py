"""tf.dtypes: the types of tensors' elements, and casts."""

from __future__ import annotations

from weft.framework.types.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
from weft.framework.types.dtypes import DType as DType
from weft.framework.types.dtypes import as_dtype as as_dtype
from weft.framework.types.dtypes import bfloat16 as bfloat16
from weft.framework.types.dtypes import bool as bool
from weft.framework.types.dtypes import complex64 as complex64
from weft.framework.types.dtypes import complex128 as complex128
from weft.framework.types.dtypes import double as double
from weft.framework.types.dtypes import float16 as float16
from weft.framework.types.dtypes import float32 as float32
from weft.framework.types.dtypes import float64 as float64
from weft.framework.types.dtypes import half as half
from weft.framework.types.dtypes import int8 as int8
from weft.framework.types.dtypes import int16 as int16
from weft.framework.types.dtypes import int32 as int32
from weft.framework.types.dtypes import int64 as int64
from weft.framework.types.dtypes import qint8 as qint8
from weft.framework.types.dtypes import qint16 as qint16
from weft.framework.types.dtypes import qint32 as qint32
from weft.framework.types.dtypes import quint8 as quint8
from weft.framework.types.dtypes import quint16 as quint16
from weft.framework.types.dtypes import resource as resource
from weft.framework.types.dtypes import string as string
from weft.framework.types.dtypes import uint8 as uint8
from weft.framework.types.dtypes import uint16 as uint16
from weft.framework.types.dtypes import uint32 as uint32
from weft.framework.types.dtypes import uint64 as uint64
from weft.framework.types.dtypes import variant as variant
from weft.ops.math.casting import cast as cast
from weft.ops.math.casting import saturate_cast as saturate_cast
from weft.ops.math.complex_numbers import complex_of as _complex_of
from weft.ops.strings.elementwise import as_string as as_string

# Under a name of its own: type checkers take a renamed import for the module's private business.
complex = _complex_of
