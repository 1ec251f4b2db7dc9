"""The comparisons of arrays that tf.test.TestCase has. Tensors are evaluated first, in the default session if there is one."""

from __future__ import annotations

import contextlib
import unittest
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Final

import numpy as np

from weft.client.session import BaseSession, Session, get_default_session
from weft.framework.building.aliases import Array
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.devices.device_spec import DeviceSpec
from weft.framework.graphs.graph import Graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dtypes import as_dtype, bfloat16
from weft.ops.ragged.tensor import RaggedTensor
from weft.testing import ragged_values

_BFLOAT16: Final = bfloat16.as_numpy_dtype


class ArrayAssertions(unittest.TestCase):
    """Assertions on values that arrays, tensors, lists and dicts of them may hold."""

    def _require(self, holds: bool, message: str) -> None:
        if not holds:
            self.fail(message)

    def _session_of(self, graph: Graph) -> AbstractContextManager[BaseSession]:
        """A context with the session that values of this graph are asked of."""
        session = get_default_session()
        return Session(graph=graph) if session is None else contextlib.nullcontext(session)

    def _values(self, values: list[Any]) -> list[Any]:
        """The values, those of tensors among them out of one step: what tensors of two steps say need not belong together."""
        places = [place for place, each in enumerate(values) if _has_value(each)]
        if places:
            with self._session_of(values[places[0]].graph) as session:
                found = session.run([values[place] for place in places])
            values = list(values)
            for place, value in zip(places, found, strict=True):
                values[place] = value
        return values

    def _GetNdArray(self, a: object) -> Any:
        (value,) = self._values([a])
        if isinstance(value, np.ndarray):
            return value
        try:
            return np.array(value)
        except ValueError:
            # Lists of unlike lengths.
            return np.array(value, np.object_)

    def assertShapeEqual(self, np_array: Array, tf_tensor: Tensor, msg: str | None = None) -> None:
        """Fail unless an array has the static shape of a tensor.

        Args:
            np_array: the array.
            tf_tensor: the tensor, of a shape that is known.
            msg: what to say beside it.
        """
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)

    def assertDTypeEqual(self, target: str | bytes, expected_dtype: object) -> None:
        """Fail unless an array (or the value of a tensor) has this type.

        Args:
            target: an array, or a tensor, which is evaluated.
            expected_dtype: the type, as TensorFlow or NumPy has it.
        """
        found, wanted = as_dtype(self._GetNdArray(target).dtype), as_dtype(expected_dtype)
        self._require(found == wanted, f"Expected {wanted}, got {found}")

    def assertDeviceEqual(self, device1: DeviceSpec | str, device2: DeviceSpec | str, msg: str | None = None) -> None:
        """Fail unless two device names (or specs, or functions that canonicalize) name one device.

        Args:
            device1, device2: names or `tf.DeviceSpec`.
            msg: what to say beside it.
        """
        names = [DeviceSpec.from_string(each or "").to_string() if isinstance(each, str | None) else each.to_string()
                 for each in (device1, device2)]  # fmt: skip
        self._require(names[0] == names[1], f"Devices {device1} and {device2} are not equal. {msg or ''}")

    # Near.

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Fail unless two numbers are at most `err` apart.

        Args:
            f1, f2: the numbers.
            err: how far they may be apart.
            msg: what to say beside it.
        """
        if not (f1 == f2 or abs(f1 - f2) <= err):
            self.fail(f"{f1:f} != {f2:f} +/- {err:f}{'' if msg is None else f' ({msg})'}")

    def assertArrayNear(self, farray1: Array, farray2: Array, err: float, msg: str | None = None) -> None:
        """Fail unless the numbers of two sequences are pairwise at most `err` apart.

        Args:
            farray1, farray2: sequences of numbers.
            err: how far two may be apart.
            msg: what to say beside it.
        """
        self._require(len(farray1) == len(farray2), f"The lengths differ: {len(farray1)} and {len(farray2)}. {msg or ''}")
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1: object, ndarray2: object, err: float, msg: str | None = None) -> None:
        """Fail unless the norm of the difference of two arrays is below `err`.

        Args:
            ndarray1, ndarray2: arrays of one shape.
            err: what the norm must be below.
            msg: what to say beside it.
        """
        distance = np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2))
        self._require(bool(distance < err), f"The norm of the difference is {distance}, not below {err}. {msg or ''}")

    # Close.

    def assertAllClose(self, a: object, b: object, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Fail unless two arrays, or lists, tuples or dicts of them, agree within `atol + rtol * abs(b)`.

        The tolerance is at least 1e-3 where one of them is float16, 1e-2 where one is bfloat16.

        Args:
            a, b: arrays, or tensors, which are evaluated, or structures of them.
            rtol: the tolerance relative to `b`.
            atol: the absolute one, which is added.
            msg: what to say beside it.
        """
        self._all_close(a, b, rtol, atol, "", msg or "")

    def _all_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        if hasattr(a, "_asdict") and hasattr(b, "_asdict"):
            a, b = a._asdict(), b._asdict()
        if isinstance(a, dict) or isinstance(b, dict):
            same = isinstance(a, dict) and isinstance(b, dict)
            self._require(same and set(a) == set(b), f"a{path} and b{path} have other keys or kinds: {a!r}, {b!r}. {msg}")
            for key in a:
                self._all_close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
            return
        if isinstance(a, list | tuple) and not _is_regular(a):
            self._require(len(a) == len(b), f"Mismatched lengths: a{path} has {len(a)}, b{path} {len(b)}. {msg}")
            for index, (x, y) in enumerate(zip(a, b, strict=True)):
                self._all_close(x, y, rtol, atol, f"{path}[{index}]", msg)
            return
        a, b = self._values([a]) + self._values([b])
        if ragged_values.is_ragged(a) or ragged_values.is_ragged(b):
            self._require_ranks(a, b, msg)
            found = ragged_values.differences(ragged_values.rows_of(a), ragged_values.rows_of(b), rtol, atol)
            self._require(not found, f"a{path} and b{path} are not close: {'; '.join(found[:3])}. {msg}")
            return
        self._arrays_close(self._GetNdArray(a), self._GetNdArray(b), rtol, atol, path, msg)

    def _require_ranks(self, a: object, b: object, msg: str) -> None:
        ranks = [ragged_values.rank_of(each) for each in (a, b)]
        self._require(None in ranks or ranks[0] == ranks[1], f"{ranks[0]} and {ranks[1]} dimensions are ragged. {msg}")

    def _arrays_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        self._require(a.shape == b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}{path and ' at ' + path}. {msg}")
        for kind, least in ((np.float16, 1e-3), (_BFLOAT16, 1e-2)):
            if kind in (a.dtype, b.dtype):
                rtol, atol = max(rtol, least), max(atol, least)
        first, second = (array.astype(np.float32) if array.dtype == _BFLOAT16 else array for array in (a, b))
        text = f"Mismatched value: a{path} is different from b{path}. {msg}"
        np.testing.assert_allclose(first, second, rtol=rtol, atol=atol, err_msg=text, equal_nan=True)

    def assertAllCloseAccordingToType(
        self,
        a: object,
        b: object,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """As `assertAllClose`, with tolerances by the narrower type of the two.

        Args:
            a, b: arrays, or tensors, which are evaluated.
            rtol, atol: the relative and the absolute tolerance for float64.
            float_rtol, float_atol: those for float32.
            half_rtol, half_atol: those for float16.
            bfloat16_rtol, bfloat16_atol: those for bfloat16.
            msg: what to say beside it.
        """
        kinds = {self._GetNdArray(each).dtype for each in (a, b)}
        for narrow, of_type in (
            ((np.dtype(np.float32), np.dtype(np.complex64)), (float_rtol, float_atol)),
            ((np.dtype(np.float16),), (half_rtol, half_atol)),
            ((np.dtype(_BFLOAT16),), (bfloat16_rtol, bfloat16_atol)),
        ):
            if kinds & set(narrow):
                rtol, atol = max(rtol, of_type[0]), max(atol, of_type[1])
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a: object, b: object, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None) -> None:
        """Fail when `assertAllClose` would not.

        Args:
            a, b: arrays, or tensors, which are evaluated, or structures of them.
            rtol: the tolerance relative to `b`.
            atol: the absolute one, which is added.
            msg: what to say beside it.
        """
        try:
            self.assertAllClose(a, b, rtol=rtol, atol=atol)
        except AssertionError:
            return
        self.fail(f"The two values are close at all elements. {msg or ''}")

    # Equal.

    def assertAllEqual(self, a: Array, b: Array, msg: str | None = None) -> None:
        """Fail unless two arrays have the same shape and equal elements; NaNs are equal here.

        Args:
            a, b: arrays, or tensors, which are evaluated.
            msg: what to say beside it.
        """
        a, b = self._values([a]) + self._values([b])
        if ragged_values.is_ragged(a) or ragged_values.is_ragged(b):
            self._require_ranks(a, b, msg or "")
            rows, others = ragged_values.rows_of(a), ragged_values.rows_of(b)
            self._require(rows == others, f"The rows differ: {rows} and {others}. {msg or ''}")
            return
        a, b = self._GetNdArray(a), self._GetNdArray(b)
        self._require(a.shape == b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}. {msg or ''}")
        np.testing.assert_array_equal(_as_text(a, b), _as_text(b, a), err_msg=msg or "")

    def assertNotAllEqual(self, a: object, b: object, msg: str | None = None) -> None:
        """Fail when `assertAllEqual` would not.

        Args:
            a, b: arrays, or tensors, which are evaluated.
            msg: what to say beside it.
        """
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(f"The two values are equal at all elements. {msg or ''}")

    # Order and membership.

    def _all(self, a: object, holds: Callable[[Any], object], what: str) -> None:
        values = self._GetNdArray(a)
        wrong = np.argwhere(~np.asarray(holds(values)))
        if len(wrong):
            place = tuple(wrong[0].tolist())
            self.fail(f"{len(wrong)} of {values.size} elements are not {what}; the first is {values[place]!r} at {list(place)}")

    def assertAllGreater(self, a: object, comparison_target: object) -> None:
        """Fail unless all elements are greater than a number.

        Args:
            a: an array, or a tensor, which is evaluated.
            comparison_target: the number.
        """
        self._all(a, lambda x: x > comparison_target, f"> {comparison_target}")

    def assertAllLess(self, a: object, comparison_target: object) -> None:
        """Fail unless all elements are less than a number.

        Args:
            a: an array, or a tensor, which is evaluated.
            comparison_target: the number.
        """
        self._all(a, lambda x: x < comparison_target, f"< {comparison_target}")

    def assertAllGreaterEqual(self, a: object, comparison_target: object) -> None:
        """Fail unless no element is less than a number.

        Args:
            a: an array, or a tensor, which is evaluated.
            comparison_target: the number.
        """
        self._all(a, lambda x: x >= comparison_target, f">= {comparison_target}")

    def assertAllLessEqual(self, a: object, comparison_target: object) -> None:
        """Fail unless no element is greater than a number.

        Args:
            a: an array, or a tensor, which is evaluated.
            comparison_target: the number.
        """
        self._all(a, lambda x: x <= comparison_target, f"<= {comparison_target}")

    def assertAllInRange(
        self,
        target: str | bytes,
        lower_bound: float,
        upper_bound: float,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Fail unless all elements are in a range, whose bounds belong to it unless they are open.

        Args:
            target: an array, or a tensor, which is evaluated.
            lower_bound, upper_bound: the bounds.
            open_lower_bound, open_upper_bound: whether the bound itself is outside.
        """

        def holds(x: Any) -> Any:
            above = x > lower_bound if open_lower_bound else x >= lower_bound
            return above & (x < upper_bound if open_upper_bound else x <= upper_bound)

        left, right = "(" if open_lower_bound else "[", ")" if open_upper_bound else "]"
        self._all(target, holds, f"in the range {left}{lower_bound}, {upper_bound}{right}")

    def assertAllInSet(self, target: object, expected_set: Iterable[Any]) -> None:
        """Fail unless all elements are among those of a set.

        Args:
            target: an array, or a tensor, which is evaluated.
            expected_set: the elements that there may be.
        """
        self._all(target, lambda x: np.isin(x, list(expected_set)), f"in the set {expected_set}")


def _has_value(value: object) -> bool:
    """Whether a session is asked for the value."""
    return isinstance(value, Tensor | SparseTensor | IndexedSlices | RaggedTensor | Operation) or hasattr(
        value, "_as_graph_element"
    )


def _is_regular(value: Any) -> bool:
    """Whether a list makes one array of numbers, so that it is compared as a whole."""
    if any(isinstance(each, Tensor | dict | SparseTensor | RaggedTensor) or hasattr(each, "_asdict") for each in value):
        return False
    try:
        return np.array(value).dtype != object
    except ValueError:
        return False


def _as_text(array: Any, other: Any) -> Any:
    """An array of strings as one of bytes, where the other one has strings of the other kind."""
    if array.dtype.kind == "U" and other.dtype.kind in "OS":
        return np.char.encode(array, "utf-8").astype(object)
    return array.astype(object) if array.dtype.kind == "S" else array
