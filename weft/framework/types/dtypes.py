"""The element types of tensors, numbered as TensorFlow's DataType enum numbers them.

A DType with the enum number + 100 is the *ref* form of its base: the type of a variable's mutable output.
"""

from __future__ import annotations

import builtins
from typing import Any, Final

import ml_dtypes
import numpy as np
from tensorboard.compat.proto import types_pb2

from weft.platform.hints.spelling import did_you_mean

_REF_OFFSET: Final = 100


class DType:
    """One element type. Instances are interned: compare with `==` or `is`.

    `DType(number)` is the type that TensorFlow's DataType enum gives that number, and raises TypeError if there is none.

    Args:
        type_enum: the number of a type in TensorFlow's enum DataType, such as 1 for float32.
    """

    __slots__ = ("_base", "_enum", "_name", "_numpy", "size")

    _enum: int
    _name: str
    _numpy: type
    _base: DType
    size: int

    def __new__(cls, type_enum: int) -> DType:
        """The type with this number."""
        found = _BY_ENUM.get(int(type_enum))
        if found is None:
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}")
        return found

    @classmethod
    def _make(cls, enum: int, name: str, numpy_type: type, base: DType | None = None) -> DType:
        made = object.__new__(cls)
        made._enum = enum
        made._name = name
        made._numpy = numpy_type
        made._base = made if base is None else base
        # A handle has no size of its own; an array of strings holds a pointer for each.
        made.size = 1 if name.startswith(("resource", "variant")) else np.dtype(numpy_type).itemsize
        return made

    @property
    def name(self) -> str:
        """The short name, such as `float32` or `float32_ref`."""
        return self._name

    @property
    def as_datatype_enum(self) -> int:
        """TensorFlow's DataType number."""
        return self._enum

    @property
    def as_numpy_dtype(self) -> type[Any]:
        """The NumPy scalar type (`object` for strings)."""
        return self._numpy

    @property
    def base_dtype(self) -> DType:
        """The type without the ref mark."""
        return self._base

    @property
    def real_dtype(self) -> DType:
        """float32 of complex64, float64 of complex128, else the type itself."""
        return {complex64: float32, complex128: float64}.get(self._base, self)

    @property
    def is_ref(self) -> builtins.bool:
        """Whether this is the type of a reference to a variable, such as `float32_ref`."""
        return self._enum > _REF_OFFSET

    # Programs written for TensorFlow ask by this name.
    @property
    def _is_ref_dtype(self) -> builtins.bool:
        return self.is_ref

    @property
    def _as_ref(self) -> DType:
        return self if self.is_ref else _BY_ENUM[self._enum + _REF_OFFSET]

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        """Whether NumPy has arrays of this type; handles and variants are none."""
        return self._numpy is not None and self._base not in (resource, variant)

    @property
    def is_bool(self) -> builtins.bool:
        """Whether this is the boolean type."""
        return self._base is bool

    @property
    def is_integer(self) -> builtins.bool:
        """Whether this is a plain (not quantized) integer type."""
        return self._base in _INTEGERS

    @property
    def is_floating(self) -> builtins.bool:
        """Whether this is a real floating point type."""
        return self._base in _FLOATS

    @property
    def is_complex(self) -> builtins.bool:
        """Whether this is a complex type."""
        return self._base in (complex64, complex128)

    @property
    def is_quantized(self) -> builtins.bool:
        """Whether this is a quantized type."""
        return self._base in (qint8, quint8, qint16, quint16, qint32)

    @property
    def is_unsigned(self) -> builtins.bool:
        """Whether this is an unsigned integer type."""
        return self._base in (uint8, uint16, uint32, uint64, uint4, uint2)

    @property
    def min(self) -> Any:
        """The least finite value."""
        return self._limits("minimum").min

    @property
    def max(self) -> Any:
        """The greatest finite value."""
        return self._limits("maximum").max

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of image intensities: (0, 1) for floats, else 0 and the greatest value; ValueError for other types."""
        if self in SMALL_DTYPES:
            raise ValueError(f"{self} does not have defined limits.")
        if self.is_floating:
            return 0, 1
        if self.is_bool:
            return 0, True
        if self.is_integer:
            return 0, self.max
        raise ValueError(f"{self} does not have defined limits.")

    def _limits(self, what: str) -> Any:
        if self.is_integer:
            return ml_dtypes.iinfo(self._numpy)  # type: ignore[no-untyped-call]
        if self.is_floating:
            return ml_dtypes.finfo(self._numpy)  # type: ignore[no-untyped-call]
        raise TypeError(f"Cannot find {what} value of {self}.")

    def is_compatible_with(self, other: object) -> builtins.bool:
        """Whether a tensor of type `other` may be used where this type is asked for; a ref may stand for its base.

        Args:
            other: a DType, or what `tf.as_dtype` makes one of.
        """
        other = as_dtype(other)
        return self in (other, other._base)

    def __eq__(self, other: object) -> builtins.bool:
        if other is None:
            return False
        if type(other) is DType:
            return self is other
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self._enum

    def __str__(self) -> str:
        return f"<dtype: {self._name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self._name}"

    def __reduce__(self) -> tuple[object, ...]:
        return as_dtype, (self._name,)


_BY_ENUM: Final[dict[int, DType]] = {}
_BY_NAME: Final[dict[str, DType]] = {}
_BY_NUMPY: Final[dict[Any, DType]] = {}


def _declare(enum: int, name: str, numpy_type: type) -> DType:
    dtype = DType._make(enum, name, numpy_type)
    ref = DType._make(enum + _REF_OFFSET, name + "_ref", numpy_type, base=dtype)
    for each in (dtype, ref):
        _BY_ENUM[each.as_datatype_enum] = each
        _BY_NAME[each.name] = each
    if numpy_type is not None and not name.startswith(("q", "resource", "variant")):
        _BY_NUMPY[numpy_type] = dtype
    return dtype


_T = types_pb2
float32 = _declare(_T.DT_FLOAT, "float32", np.float32)
float64 = _declare(_T.DT_DOUBLE, "float64", np.float64)
int32 = _declare(_T.DT_INT32, "int32", np.int32)
uint8 = _declare(_T.DT_UINT8, "uint8", np.uint8)
int16 = _declare(_T.DT_INT16, "int16", np.int16)
int8 = _declare(_T.DT_INT8, "int8", np.int8)
string = _declare(_T.DT_STRING, "string", object)
complex64 = _declare(_T.DT_COMPLEX64, "complex64", np.complex64)
int64 = _declare(_T.DT_INT64, "int64", np.int64)
bool = _declare(_T.DT_BOOL, "bool", np.bool_)
qint8 = _declare(_T.DT_QINT8, "qint8", np.int8)
quint8 = _declare(_T.DT_QUINT8, "quint8", np.uint8)
qint32 = _declare(_T.DT_QINT32, "qint32", np.int32)
bfloat16 = _declare(_T.DT_BFLOAT16, "bfloat16", ml_dtypes.bfloat16)
qint16 = _declare(_T.DT_QINT16, "qint16", np.int16)
quint16 = _declare(_T.DT_QUINT16, "quint16", np.uint16)
uint16 = _declare(_T.DT_UINT16, "uint16", np.uint16)
complex128 = _declare(_T.DT_COMPLEX128, "complex128", np.complex128)
float16 = _declare(_T.DT_HALF, "float16", np.float16)
resource = _declare(_T.DT_RESOURCE, "resource", object)
variant = _declare(_T.DT_VARIANT, "variant", object)
uint32 = _declare(_T.DT_UINT32, "uint32", np.uint32)
uint64 = _declare(_T.DT_UINT64, "uint64", np.uint64)
float8_e5m2 = _declare(_T.DT_FLOAT8_E5M2, "float8_e5m2", ml_dtypes.float8_e5m2)
float8_e4m3fn = _declare(_T.DT_FLOAT8_E4M3FN, "float8_e4m3fn", ml_dtypes.float8_e4m3fn)
# Numbers, since older packages of the messages do not name them. An element takes a byte in memory, in files and on the wire.
float8_e4m3fnuz = _declare(26, "float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz)
float8_e4m3b11fnuz = _declare(27, "float8_e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz)
float8_e5m2fnuz = _declare(28, "float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz)
int4 = _declare(29, "int4", ml_dtypes.int4)
uint4 = _declare(30, "uint4", ml_dtypes.uint4)
int2 = _declare(31, "int2", ml_dtypes.int2)
uint2 = _declare(32, "uint2", ml_dtypes.uint2)
float4_e2m1fn = _declare(33, "float4_e2m1fn", ml_dtypes.float4_e2m1fn)

half = float16
double = float64

bool_ref, string_ref, resource_ref, variant_ref = (each._as_ref for each in (bool, string, resource, variant))
int8_ref, int16_ref, int32_ref, int64_ref = (each._as_ref for each in (int8, int16, int32, int64))
uint8_ref, uint16_ref, uint32_ref, uint64_ref = (each._as_ref for each in (uint8, uint16, uint32, uint64))
qint8_ref, qint16_ref, qint32_ref, quint8_ref, quint16_ref = (each._as_ref for each in (qint8, qint16, qint32, quint8, quint16))
float16_ref, bfloat16_ref, float32_ref, float64_ref = (each._as_ref for each in (float16, bfloat16, float32, float64))
complex64_ref, complex128_ref = (each._as_ref for each in (complex64, complex128))
half_ref, double_ref = float16_ref, float64_ref

_SMALL_FLOATS: Final = (float8_e5m2, float8_e4m3fn, float8_e4m3fnuz, float8_e4m3b11fnuz, float8_e5m2fnuz, float4_e2m1fn)
_SMALL_INTEGERS: Final = (int4, uint4, int2, uint2)
SMALL_DTYPES: Final = (*_SMALL_FLOATS, *_SMALL_INTEGERS)
"""The types of less than 16 bits that NumPy alone does not have: models are kept in them, few ops compute with them."""

_INTEGERS: Final = frozenset((int8, int16, int32, int64, uint8, uint16, uint32, uint64, *_SMALL_INTEGERS))
_FLOATS: Final = frozenset((float16, bfloat16, float32, float64, *_SMALL_FLOATS))

_BY_NAME.update({"half": float16, "double": float64, "float": float32, "half_ref": half_ref, "double_ref": double_ref})
_BY_NUMPY.update(
    {
        float: float32,
        int: int32,
        complex: complex64,
        builtins.bool: bool,
        str: string,
        bytes: string,
        np.object_: string,
    }
)

QUANTIZED_DTYPES: Final = frozenset((qint8, quint8, qint16, quint16, qint32))


def datatype_name(dtype: DType) -> str:
    """The type as messages of kernels name it: the DataType's name in small letters, "float" for float32."""
    name: str = types_pb2.DataType.Name(dtype.as_datatype_enum)
    return name.removeprefix("DT_").lower()


def as_dtype(value: object) -> DType:
    """Convert a DType, DataType number, name, NumPy dtype or Python type to a DType.

    Args:
        value: a DType, the number of one, a name such as "float32", a NumPy dtype, or `float`, `int`, `bool`, `str`.

    Returns:
        The DType: the same object for the same type.

    Raises:
        TypeError: nothing here has that type.
    """
    if type(value) is DType:
        return value
    if value is None:
        raise TypeError("Cannot convert value None to a TensorFlow DType.")
    key: Any = value
    try:
        found = _BY_NUMPY.get(key)
        if found is not None:
            return found
        found = _BY_ENUM.get(key) or _BY_NAME.get(key)
    except TypeError:
        found = None
    if found is not None:
        return found
    try:
        # NumPy's letters, such as "i", are no names of types here, and a tuple is a type with fields.
        kind = None if isinstance(value, str | tuple) else np.dtype(key)
    except (TypeError, ValueError):
        kind = None
    if kind is not None:
        if kind.kind in "SU":
            return string
        # NumPy has several types of a name, such as np.ulonglong beside np.uint64.
        found = _BY_NUMPY.get(kind.type) or _BY_NAME.get(kind.name)
        if found is not None:
            return found
    meant = did_you_mean(value, _BY_NAME) if isinstance(value, str) else ""
    if hasattr(value, "output_types"):
        meant = " Its types are its attribute output_types."
    elif isinstance(value, list):
        meant = f" Several types are a tuple: ({', '.join(map(repr, value))})."
    raise TypeError(f"Cannot convert value {value!r} to a TensorFlow DType.{meant}")
