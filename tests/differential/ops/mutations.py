"""Changes of a case: other types, values, shapes and attributes. Each takes a case, and returns another or None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto import op_def_pb2

from tests.differential.ops.case import OpCase, Variable, attributes
from weft.framework.registry import op_registry
from weft.framework.types import attr_value, dtypes
from weft.framework.types.dtypes import DType, as_dtype

TYPES = tuple(
    as_dtype(name)
    for name in [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "half",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
)
_SPECIAL_FLOATS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e30, 1e-30, 0.5, -2.5)
# Integers by these names say how much memory a kernel takes: they stay small.
_SIZES = ("shape", "size", "dims", "num", "depth", "multiples", "start", "limit", "delta", "length", "block", "paddings",
          "counts", "splits", "seed", "capacity", "values_to", "output", "max")  # fmt: skip


class Mutator:
    """The changes of an op's cases."""

    def __init__(self, definition: op_def_pb2.OpDef, generator: np.random.RandomState) -> None:
        self.definition = definition
        self.random = generator
        own = op_registry.lookup(definition.name)
        self.static = set(own.static)

    # Inputs.

    def _places(self, case: OpCase, wanted: Callable[[Any, str], bool]) -> list[tuple[int, int | None]]:
        """Where the arrays are that a change is meant for: input, and member of a list."""
        found: list[tuple[int, int | None]] = []
        for i, (arg, value) in enumerate(zip(self.definition.input_arg, case.values, strict=False)):
            members = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
            found.extend((i, j) for j, each in members if isinstance(each, np.ndarray) and wanted(each, arg.name))
        return found

    def _pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.random.randint(len(choices))]

    def _sorted(self, array: Any, i: int) -> Any:
        """An array, in order where the op searches in it: what it finds in another is nobody's to say."""
        return np.sort(array, -1) if self.definition.input_arg[i].name == "sorted_inputs" and array.ndim else array

    def _changed(
        self, case: OpCase, places: Sequence[tuple[int, int | None]], change: Callable[[Any], Any], kind: str
    ) -> OpCase:
        inputs = [list(value) if isinstance(value, list) else value for value in case.values]
        for i, j in places:
            if j is None:
                inputs[i] = self._sorted(change(inputs[i]), i)
            else:
                inputs[i][j] = change(inputs[i][j])
        return case.but(inputs=inputs, kind=kind)

    def redrawn(self, case: OpCase) -> OpCase | None:
        """Other values: floats anew in the old ones' range, integers in another order."""
        places = self._places(case, lambda array, name: array.dtype.kind != "O" and name not in self.static and array.size > 0)
        return self._changed(case, places, self._redraw, "values") if places else None

    def _redraw(self, array: Any) -> Any:
        dtype = as_dtype(array.dtype)
        if dtype.is_complex:
            parts = self.random.randn(2, *array.shape)
            return np.asarray(parts[0] + 1j * parts[1]).astype(array.dtype)
        if dtype.is_floating:
            wide = array.astype(np.float64)
            finite = wide[np.isfinite(wide)]
            low, high = (float(finite.min()), float(finite.max())) if finite.size else (-1.0, 1.0)
            if low == high:
                return array
            return np.asarray(self.random.uniform(low, high, array.shape)).astype(array.dtype)
        return self.random.permutation(array.ravel()).reshape(array.shape)

    def special(self, case: OpCase) -> OpCase | None:
        """NaN, infinities, zeros and the extremes of integers among the values of one input."""

        def wanted(array: Any, name: str) -> bool:
            small = name in self.static or any(word in name for word in _SIZES)
            return array.dtype.kind not in "OSUb" and array.size > 0 and (as_dtype(array.dtype).is_floating or not small)

        places = self._places(case, wanted)
        return self._changed(case, [self._pick(places)], self._specialize, "special") if places else None

    def _specialize(self, array: Any) -> Any:
        dtype = as_dtype(array.dtype)
        made = np.array(array)
        hit = self.random.rand(*array.shape) < 0.4
        if dtype.is_integer:
            choices = np.array([dtype.min, dtype.max, 0, 1], array.dtype)
        else:
            with np.errstate(all="ignore"):
                choices = np.array(_SPECIAL_FLOATS).astype(array.dtype)
        drawn = choices[self.random.randint(len(choices), size=array.shape)]
        return np.where(hit, drawn, made).astype(array.dtype)

    def emptied(self, case: OpCase) -> OpCase | None:
        """One size of the shapes becomes zero, wherever it occurs."""
        places = self._places(case, lambda array, name: array.ndim > 0 and name not in self.static)
        arrays = [case.values[i] if j is None else case.values[i][j] for i, j in places]
        sizes = sorted({size for array in arrays for size in array.shape})
        if not sizes:
            return None
        size = self._pick(sizes)

        def empty(array: Any) -> Any:
            return array[tuple(slice(0) if each == size else slice(None) for each in array.shape)]

        return self._changed(case, places, empty, "empty")

    def reshaped(self, case: OpCase) -> OpCase | None:
        """One input gets another shape: an axis more or less, a size of one, or one that fits nothing."""
        places = self._places(case, lambda array, name: True)
        return self._changed(case, [self._pick(places)], self._reshape, "shape") if places else None

    def _reshape(self, array: Any) -> Any:
        way = self.random.randint(6)
        if way == 0 or array.ndim == 0:
            return array[None]
        axis = self.random.randint(array.ndim)
        if way == 1:
            return array[0] if array.shape[0] else array[None]
        if way == 2:
            return np.take(array, [0], axis) if array.shape[axis] else array
        if way == 3:
            return np.concatenate([array, array], axis)
        if way == 4:
            return np.swapaxes(array, axis, -1)
        return np.asarray(array.ravel()[0], array.dtype) if array.size else array

    def renumbered(self, case: OpCase) -> OpCase | None:
        """An integer among the inputs is a little more or less: an axis, an index, a size."""
        places = self._places(case, lambda array, name: array.dtype.kind in "iu" and array.size > 0)
        return self._changed(case, [self._pick(places)], self._renumber, "integers") if places else None

    def _renumber(self, array: Any) -> Any:
        made = np.array(array).reshape(-1)
        place = self.random.randint(made.size)
        step = self._pick([-4, -3, -2, -1, 1, 2, 3])
        info = np.iinfo(made.dtype)
        made[place] = min(max(int(made[place]) + step, int(info.min)), int(info.max))
        return made.reshape(array.shape)

    # Types and attributes.

    def types(self) -> list[tuple[str, DType]]:
        """The types that may come in, by the attribute that says so."""
        found = []
        for attr in self.definition.attr:
            if attr.type == "type" and any(arg.type_attr == attr.name for arg in self.definition.input_arg):
                allowed = {as_dtype(each) for each in attr.allowed_values.list.type} or set(TYPES)
                found.extend((attr.name, dtype) for dtype in TYPES if dtype in allowed)
        return found

    def retyped(self, case: OpCase, attr: str, dtype: DType) -> OpCase:
        """All inputs of one type attribute in another type."""

        def convert(value: Any) -> Any:
            if isinstance(value, Variable):
                return Variable(convert(value.value))
            if isinstance(value, str) or value.dtype.kind == "O":
                return value
            with np.errstate(all="ignore"):
                real = value.real if value.dtype.kind == "c" and not dtype.is_complex else value
                return np.asarray(real).astype(dtype.as_numpy_dtype)

        inputs = [
            value
            if arg.type_attr != attr and not (isinstance(value, Variable) and attr in ("T", "dtype"))
            else [convert(each) for each in value]
            if isinstance(value, list)
            else self._sorted(convert(value), i)
            if isinstance(value, np.ndarray)
            else convert(value)
            for i, (arg, value) in enumerate(zip(self.definition.input_arg, case.values, strict=False))
        ]
        attrs = {key: value for key, value in case.attrs.items() if key != attr}
        return case.but(inputs=inputs, attrs=attrs, kind=f"type {dtype.name}")

    def reattributed(self, case: OpCase) -> OpCase | None:
        """One attribute has another value."""
        told = set(attributes(self.definition, case.but(attrs={})))
        names = [attr for attr in self.definition.attr if attr.name not in told and attr.type != "func"]
        if not names:
            return None
        attr = self._pick(names)
        now = case.attrs.get(attr.name, attr_value.decode(attr.default_value) if attr.HasField("default_value") else None)
        changed = self._other(attr, now)
        return None if changed is None else case.but(attrs={**case.attrs, attr.name: changed}, kind=f"attribute {attr.name}")

    def _other(self, attr: Any, now: Any) -> Any:
        if attr.type == "bool":
            return not now
        if attr.type == "string":
            choices = [each.decode() for each in attr.allowed_values.list.s if each.decode() != now]
            return self._pick(choices) if choices else None
        if attr.type == "type":
            return self._pick([as_dtype(each) for each in attr.allowed_values.list.type] or list(TYPES))
        if attr.type == "int":
            return int(now or 0) + self._pick([-2, -1, 1, 2])
        if attr.type == "float":
            return self._pick([0.0, 1.0, -0.5, 2.0, float(now or 0) * 1.5])
        if attr.type == "list(int)" and now:
            changed = list(now)
            changed[self.random.randint(len(changed))] += self._pick([-1, 1])
            return changed if self.random.rand() < 0.8 else changed[:-1]
        if attr.type == "shape" and isinstance(now, tuple | list):
            return self._pick([None, (*now, 1), tuple(None for _ in now), ()])
        return None

    @staticmethod
    def is_numeric(dtype: DType) -> bool:
        """Whether it is one of the types that are tried."""
        return dtype in TYPES or dtype is dtypes.string
