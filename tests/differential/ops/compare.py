"""Whether what two libraries made of a case is the same."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import numpy as np

from tests.differential.ops.archive import Reader
from tests.differential.ops.case import OpCase, arrays_of
from tests.differential.ops.known import (
    ANY_SIGN,
    AT_ZERO,
    FINITE_IF_COMPLEX,
    FINITE_ONLY,
    IGNORED_OUTPUTS,
    LOOSE,
    MESSAGES,
    MORE_GRADIENTS,
    SHAPES_ONLY,
    UNASKED,
    UNWRITTEN_ROWS,
)
from weft.framework.types.dtypes import as_dtype
from weft.proto import example_pb2

_TOLERANCES = {"bfloat16": 5e-2, "float16": 1e-2, "float32": 2e-4, "float64": 1e-8, "complex64": 2e-4, "complex128": 1e-8}
# What TensorFlow's CPU kernels do not have: weft may have it.
_LACKS = re.compile(
    r"No OpKernel was registered|Unimplemented|not (yet )?implemented|only supports? (the )?NHWC|only supports? NDHWC|"
    r"not supported|does not support|do(es)? not yet support|unsupported|No gradient|Could not find (valid )?device|Only NHWC|"
    # oneDNN has no primitive for the shapes.
    r"could not create a primitive|Failed to call dnnl_sgemm|"
    # The gradients of grouped convolutions are GPUs' alone.
    r"filter_size does not have enough elements|"
    r"No unary variant|is neither a subtype nor a supertype|ApplyBinaryOp", re.IGNORECASE
)  # fmt: skip


class Slack(NamedTuple):
    """What the inputs of a case leave open.

    Args:
        not_finite: whether NaN or infinities come in.
        has_zero: whether a zero does.
        unordered: whether the op may give its elements in any order.
    """

    not_finite: bool = False
    has_zero: bool = False
    unordered: bool = False


STRICT: Final = Slack()


def slack_of(case: OpCase) -> Slack:
    """What a case's own inputs leave open."""
    numbers = [array.astype(np.complex128) for array in arrays_of(case) if array.dtype.kind in "fcV"]
    return Slack(
        any(not bool(np.isfinite(each).all()) for each in numbers),
        any(bool((each == 0).any()) for each in numbers),
        case.op == "TopKV2" and not case.attrs.get("sorted", True),
    )


def is_lacking(found: Any) -> bool:
    """Whether TensorFlow has no kernel or no gradient for the case."""
    return "error" in found and (
        found["error"][0] in ("UnimplementedError", "LookupError", "NotImplementedError", "TypeError")
        or bool(_LACKS.search(found["message"]))
    )


# What a run of TensorFlow raises for inputs and attributes that do not fit.
_REFUSALS = ("InvalidArgumentError", "OutOfRangeError", "InternalError", "FailedPreconditionError")


def _numpy_type(name: str) -> Any:
    return as_dtype(name).as_numpy_dtype


def static(ours: Any, theirs: Any) -> str | None:
    """How two static answers differ: ours may know more."""
    if "error" in theirs or "error" in ours:
        return errors(ours, theirs)
    if ours["types"] != theirs["types"]:
        return f"static types {ours['types']}, TensorFlow's {theirs['types']}"
    for have, want in zip(ours["shapes"], theirs["shapes"], strict=True):
        if not _covers(have, want):
            return f"static shapes {ours['shapes']}, TensorFlow's {theirs['shapes']}"
    return None


def refuses_earlier(ours: Any, theirs: Any, their_run: Any) -> bool:
    """Whether weft refuses when the graph is built what TensorFlow refuses in the run: weft's shape rules look at more."""
    return (
        "error" in ours
        and "ValueError" in ours["error"]
        and ("error" not in theirs or "ValueError" in theirs["error"])
        and their_run.get("error", ("",))[0] in _REFUSALS
    )


def _covers(have: Any, want: Any) -> bool:
    if want is None or have == want:
        return True
    if have is None or len(have) != len(want):
        return False
    return all(wanted is None or wanted == size for size, wanted in zip(have, want, strict=True))


def errors(ours: Any, theirs: Any) -> str | None:
    """How two answers differ of which at least one is an error: the classes count."""
    have, want = _told(ours), _told(theirs)
    if want and theirs["error"][0] in ours.get("error", ()):
        return None
    return f"{have or 'no error'}, TensorFlow's {want or 'none'}"


def _told(found: Any) -> str:
    if "error" not in found:
        return ""
    words = re.sub(r"Graph execution error:\s*|Detected at node .*\n|Node: '.*'\n", "", found["message"]).split()
    return f"{found['error'][0]}: {' '.join(words)[:160]}"


def results(op: str, ours: Any, theirs: Any, readers: tuple[Reader, Reader], what: str, slack: Slack = STRICT) -> str | None:
    """How the results of a way differ, None where they agree."""
    if "error" in theirs or "error" in ours:
        return errors(ours, theirs)
    if op in MORE_GRADIENTS and "gradient" in what:
        ours = _shared(ours, theirs["connected"])
    if ours.get("connected") != theirs.get("connected"):
        return f"gradients for inputs {ours['connected']}, TensorFlow's {theirs['connected']}"
    if len(ours["values"]) != len(theirs["values"]):
        return f"{len(ours['values'])} values, TensorFlow's {len(theirs['values'])}"
    if slack.unordered and "gradient" in what:
        # Each place has a weight of its own, and no element has a place.
        return None
    tied = _tied_outputs(theirs["values"], readers[1]) if op == "CTCBeamSearchDecoder" and theirs["values"] else ()
    for number, (have, want) in enumerate(zip(ours["values"], theirs["values"], strict=True)):
        if have["type"] != want["type"]:
            return f"value {number} is {have['type']}, TensorFlow's {want['type']}"
        found, wanted = readers[0].array(have, _numpy_type), readers[1].array(want, _numpy_type)
        if number in IGNORED_OUTPUTS.get(op, ()) and "gradient" not in what:
            continue
        if number in tied:
            continue
        if slack.unordered:
            found, wanted = (np.sort(each, -1) if each.ndim else each for each in (found, wanted))
        if op in UNASKED and found.shape == (0,) and wanted.shape == ():
            continue
        if found.shape != wanted.shape:
            return f"value {number} has shape {found.shape}, TensorFlow's {wanted.shape}"
        if op not in SHAPES_ONLY and not same(op, found, wanted, what, slack):
            first = _first_difference(found, wanted)
            return f"value {number} is {_short(found, first)}, TensorFlow's {_short(wanted, first)}"
    return None


def _shared(ours: Any, connected: Any) -> Any:
    """A gradient's results for those inputs that the other library has one for."""
    values = iter(ours["values"])
    pairs = [(has, next(values) if has else None) for has in ours["connected"]]
    kept = [value for (has, value), wanted in zip(pairs, connected, strict=True) if has and wanted]
    return {"values": kept, "connected": [has and wanted for (has, _), wanted in zip(pairs, connected, strict=True)]}


def _tied_outputs(values: Any, reader: Reader) -> set[int]:
    """The outputs of a beam search with sequences that TensorFlow finds as probable as one beside them: either may be first."""
    scores = reader.array(values[-1], _numpy_type).astype(np.float64)
    count = scores.shape[-1]
    with np.errstate(all="ignore"):
        near = np.isclose(scores[:, 1:], scores[:, :-1]).any(0)
    tied = {at + step for at in np.flatnonzero(near).tolist() for step in (0, 1)}
    return {kind * count + at for at in tied for kind in range(3)}


def _first_difference(found: Any, wanted: Any) -> int:
    """The first element that differs by more than its last digits."""
    if found.dtype.kind in "Obiu":
        differs = found != wanted
    else:
        wide = np.complex128 if found.dtype.kind == "c" else np.float64
        with np.errstate(all="ignore"):
            differs = ~np.isclose(found.astype(wide), wanted.astype(wide), 1e-4, 1e-6, equal_nan=True)
    return int(np.argmax(np.ravel(differs)))


def same(op: str, found: Any, wanted: Any, what: str, slack: Slack = STRICT) -> bool:
    """Whether two arrays are the same, as far as the op and the case's inputs say what is in them."""
    if op in MESSAGES and found.dtype.kind == "O":
        pairs = zip(found.ravel().tolist(), wanted.ravel().tolist(), strict=True)
        return all(example_pb2.Example.FromString(a) == example_pb2.Example.FromString(b) for a, b in pairs)
    if found.dtype.kind in "Obiu":
        return bool(np.array_equal(found, wanted))
    name = found.dtype.name
    tolerance = max(LOOSE.get(op, 0.0), _TOLERANCES.get(name, 1e-1))
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        found, wanted = found.astype(wide), wanted.astype(wide)
        if op in FINITE_ONLY and (slack.not_finite or (slack.has_zero and op in AT_ZERO)):
            both = np.isfinite(found) & np.isfinite(wanted)
            found, wanted = np.where(both, found, 0), np.where(both, wanted, 0)
        if op in UNWRITTEN_ROWS and "gradient" not in what:
            wanted = np.where(found == 0, 0, wanted)
        if op in ANY_SIGN and "gradient" not in what:
            found, wanted = np.abs(found), np.abs(wanted)
        if wide is np.complex128:
            # Which parts of a product with infinities are NaN is each library's own.
            both = ~np.isfinite(found) & ~np.isfinite(wanted)
            if op in FINITE_IF_COMPLEX and (slack.not_finite or slack.has_zero):
                both = ~np.isfinite(found) | ~np.isfinite(wanted)
            found, wanted = np.where(both, 0, found), np.where(both, 0, wanted)
        finite = np.abs(wanted[np.isfinite(wanted)])
        scale = max(1.0, float(finite.max())) if finite.size else 1.0
        return bool(np.allclose(found, wanted, tolerance, tolerance * min(scale, 1e4) * 1e-1, equal_nan=True))


def _short(array: Any, first: int) -> str:
    """Some elements, from the first on that differs where there are many."""
    begin = first if array.size > 8 else 0
    text = np.array2string(array.ravel()[begin : begin + 8], separator=",", max_line_width=10_000)
    return text if array.size <= 8 else f"{text} from {begin} of {array.size}"
