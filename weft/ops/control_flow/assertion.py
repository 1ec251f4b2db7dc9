"""Assert, Print and CheckNumerics: ops that look at values while a step runs and speak up."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, format_dims
from weft.framework.types.dtypes import DType
from weft.framework.types.value_types import OrNone
from weft.ops.array.padding import check_rank
from weft.ops.declaration import no_outputs, not_differentiable, op, same_as_input
from weft.ops.dispatch import dispatchable
from weft.ops.math.elementwise import FLOATS
from weft.ops.strings.parts import string_format
from weft.ops.strings.value_text import summarize_first
from weft.platform.files import gfile
from weft.platform.logs import tf_logging


def _scalar_condition(node: Operation) -> list[Dims]:
    check_rank(node.inputs[0], 0)
    return []


@op("Assert", "condition: bool, data: [T] ->", limits={"T": 1}, infer=_scalar_condition, gradient=not_differentiable,
    stateful=True, at_once=True, only_looks=True)  # fmt: skip
def assert_node(ctx: OpContext, condition: Array, data: Array, *, T: list[DType], summarize: int = 3) -> tuple[()]:
    """Do nothing when the condition holds; InvalidArgumentError with the data otherwise.

    `scalar bool, n*[*data] ->`
    """
    if np.ndim(condition):
        raise InvalidArgumentError.of(f"In[0] should be a scalar: {list(np.shape(condition))}")
    if not condition:
        shown = " ".join(f"[{summarize_first(value, summarize)}]" for value in data)
        raise InvalidArgumentError.of(f"assertion failed: {shown}")
    return ()


def assert_that(
    condition: TensorLike, data: Sequence[object], summarize: int | None = None, name: str | None = None
) -> Operation:
    """Make an operation that fails with InvalidArgumentError, printing `data`, unless the condition holds.

    It runs only where something waits for it: use it in `control_dependencies`.

    Args:
        condition: a scalar bool.
        data: a list of tensors and values.
        summarize: how many elements of each to print, 3 by default.
        name: a name scope.

    Raises:
        TypeError: `data` is no list.
    """
    if not isinstance(data, list | tuple):
        raise TypeError(f"data must be a list of tensors and values, got {data!r}: of one it is [{data!r}].")
    graph = get_default_graph()
    with graph.name_scope(name or "Assert"):
        node = assert_node(condition, list(data), summarize=3 if summarize is None else summarize, name="Assert")
        graph.node_count.total += _nodes_beside(node, data)
        return node


def _nodes_beside(node: Operation, data: Sequence[object]) -> int:
    """How many nodes TensorFlow makes beside an Assert's own: of values two constants, and a branch around it where it prints
    more than strings and int32, with a Switch for each tensor that comes in."""
    values = sum(not isinstance(each, Tensor) for each in data)
    if all(each.dtype.base_dtype in (dtypes.string, dtypes.int32) for each in node.inputs[1:]):
        return values
    return values + 9 + len({each for each in data if isinstance(each, Tensor)})


class _PrintCount:
    """The count of the times that a Print node has printed; the task's resource of that node."""

    def __init__(self) -> None:
        # `next` is atomic, so two steps never get the same number.
        self.numbers = itertools.count()


@op("Print", "input: T, data: [U] -> output: T", infer=same_as_input, stateful=True,
    gradient=lambda node, grad: [grad] + [None] * (len(node.inputs) - 1), limits={"U": 0})  # fmt: skip
def print_node(
    ctx: OpContext, input: Array, data: Array, *, U: list[DType], message: str = "", first_n: int = -1, summarize: int = 3
) -> Result:
    """The input; the data go to standard error: `[...], n*[*data] -> [...]`."""
    if first_n < 0 or next(ctx.find_or_create(_PrintCount, _PrintCount).numbers) < first_n:
        shown = "".join(f"[{summarize_first(value, summarize)}]" for value in data)
        print(f"{message}{shown}", file=sys.stderr, flush=True)
    return input


def print_values(
    input_: TensorLike,
    data: TensorLike,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Pass `input_` through, and print `data` to standard error whenever it is computed.

    Args:
        input_: the tensor.
        data: a list of tensors.
        message: what to print before them.
        first_n: print this many times only.
        summarize: how many elements of each to print, 3 by default.
        name: the node's name.

    Returns:
        A tensor with the value of `input_`.

    Raises:
        TypeError: `data` is no list.
    """
    if not isinstance(data, list | tuple):
        raise TypeError(f"Expected list for 'data' argument to 'Print' Op, not {data}. Of one tensor it is [tensor].")
    return print_node(
        input_, list(data), message=message or "", first_n=-1 if first_n is None else first_n,
        summarize=3 if summarize is None else summarize, name=name,
    )  # fmt: skip


@op("PrintV2", "input: string ->", ranks={"input": 0}, infer=no_outputs, gradient=None, stateful=True)
def print_v2_node(ctx: OpContext, input: Array, *, output_stream: str = "stderr", end: str = "\n") -> tuple[()]:
    """Write the string to a stream, a file or the log: `scalar string ->`."""
    text = input.item().decode("utf-8", "replace")
    if output_stream.startswith("file://"):
        with gfile.GFile(output_stream, "a") as file:
            file.write(text + end)
    elif output_stream in ("stdout", "stderr"):
        stream: TextIO = sys.stdout if output_stream == "stdout" else sys.stderr
        print(text, end=end, file=stream, flush=True)
    else:
        getattr(tf_logging, output_stream.removeprefix("log(").removesuffix(")"))(text)
    return ()


_STREAMS = {
    tf_logging.info: "log(info)", tf_logging.warn: "log(warning)", tf_logging.warning: "log(warning)",
    tf_logging.error: "log(error)",
}  # fmt: skip


def print_v2(*inputs: object, **kwargs: Any) -> Operation | OrNone:
    """Make an operation that prints tensors and Python objects, as Python's `print` does.

    Args:
        inputs: what to print, with a space in between.
        kwargs: `output_stream` (sys.stderr by default, sys.stdout, a function of tf.logging, or 'file://path'),
            `summarize` (how many entries to show at both ends of each dimension, 3; -1 for all), `sep`, `end`, `name`.

    Raises:
        ValueError: unknown arguments or streams.
    """
    stream = kwargs.pop("output_stream", sys.stderr)
    summarize, sep = kwargs.pop("summarize", 3), kwargs.pop("sep", " ")
    end, name = kwargs.pop("end", "\n"), kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {sorted(kwargs)}")
    tensors: list[Any] = []
    template = sep.join(_template(item, tensors) for item in inputs)
    if len(tensors) == 1 and template == _HOLE and tensors[0].dtype.name == "string" and tensors[0].dims == ():
        text = tensors[0]
    else:
        text_name = None if name is None else f"{name}_format"
        text = string_format(template, tensors, placeholder=_HOLE, summarize=summarize, name=text_name)
    made: Operation = print_v2_node(text, output_stream=_stream_name(stream), end=end, name=name)
    # Inside of `tf.py_function` it has printed.
    return None if made.graph.runs_eagerly else made


_HOLE = "{\x00}"


def _template(item: object, tensors: list[Any]) -> str:
    if isinstance(item, Tensor) or hasattr(item, "_as_graph_element"):
        tensors.append(convert_to_tensor(item))
        return _HOLE
    if isinstance(item, dict):
        return "{" + ", ".join(f"{key!r}: {_template(value, tensors)}" for key, value in item.items()) + "}"
    if isinstance(item, list | tuple) and any(isinstance(part, Tensor | list | tuple | dict) for part in item):
        inner = ", ".join(_template(part, tensors) for part in item)
        return f"[{inner}]" if isinstance(item, list) else f"({inner})"
    return str(item)


def _stream_name(stream: object) -> str:
    if stream is sys.stdout:
        return "stdout"
    if stream is sys.stderr:
        return "stderr"
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    found = _STREAMS.get(stream) if callable(stream) else None
    if found is None:
        raise ValueError(
            f"output_stream must be sys.stdout, sys.stderr, a function of tf.logging or a 'file://' path, got {stream!r}"
        )
    return found


def _check_numerics_gradient(node: Operation, grad: Tensor) -> Gradients:
    found = "Not a number (NaN) or infinity (Inf) values detected in gradient."
    return [check_numerics_node(grad, message=f"{found} {node.attrs['message']}")]


@op("CheckNumerics", "tensor: T -> output: T", infer=same_as_input, gradient=_check_numerics_gradient,
    stateful=True, at_once=True, types={"T": FLOATS})  # fmt: skip
def check_numerics_node(ctx: OpContext, tensor: Array, *, message: str) -> Result:
    """The input, unless it holds NaN or infinity: `[...] -> [...]`."""
    found = [what for what, test in (("Inf", np.isinf), ("NaN", np.isnan)) if test(tensor).any()]
    if found:
        raise InvalidArgumentError.of(f"{message} : Tensor had {' and '.join(found)} values")
    return tensor


@dispatchable
def check_numerics(tensor: TensorLike, message: str, name: str | None = None) -> Tensor:
    """Pass a tensor through; InvalidArgumentError with `message` when it holds NaN or infinity.

    Args:
        tensor: [...] tensor of a floating dtype.
        message: what the error's text begins with.

    Returns:
        A tensor with the same value.
    """
    return check_numerics_node(tensor, message=message, name=name)


def verify_tensor_all_finite(
    t: Tensor | None = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike | None = None,
    message: str | None = None,
) -> Tensor:
    """As `check_numerics`.

    Args:
        t, x: two names of the [...] tensor of a floating dtype.
        msg, message: two names of what the error's text begins with.

    Returns:
        A tensor with the same value.

    Raises:
        TypeError: there is no message.
    """
    tensor = convert_to_tensor(t if x is None else x)
    text = msg if message is None else message
    if text is None:
        raise TypeError(f"verify_tensor_all_finite needs a message for {tensor.name} {format_dims(tensor.dims)}")
    # TensorFlow gives what has been checked by a node of its own, which counts for the seeds of later random nodes.
    get_default_graph().node_count.total += 1
    return check_numerics(tensor, text, name)
