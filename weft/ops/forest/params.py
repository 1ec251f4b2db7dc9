"""The message of a forest's parameters that its nodes carry, and numbers that depend on a leaf's depth."""

from __future__ import annotations

import functools

from google.protobuf.message import DecodeError

from weft.errors import InvalidArgumentError
from weft.proto.random_forest_pb2 import DepthDependentParam, TensorForestParams


@functools.lru_cache(maxsize=64)
def params_of(serialized: str) -> TensorForestParams:
    """The parameters of a node's attribute, which nobody changes.

    Raises:
        InvalidArgumentError: the attribute is no such message.
    """
    try:
        return TensorForestParams.FromString(serialized.encode("utf-8", "surrogateescape"))
    except DecodeError as error:
        raise InvalidArgumentError.of(f"Unable to parse the parameters of a forest: {error}") from error


def resolved(params: TensorForestParams, field: str, depth: int) -> float:
    """The value of a parameter for a leaf.

    Args:
        params: all parameters.
        field: the name of the one that is asked for; a part's is `PART.NAME`.
        depth: how deep the leaf is; the root is at 0.

    Raises:
        InvalidArgumentError: the parameter was not given.
    """
    held: TensorForestParams = functools.reduce(getattr, field.split(".")[:-1], params)
    param: DepthDependentParam = getattr(held, field.rpartition(".")[2])
    match param.WhichOneof("ParamType"):
        case "constant_value":
            return param.constant_value
        case "linear":
            linear = param.linear
            return min(max(depth * linear.slope + linear.y_intercept, linear.min_val), linear.max_val)
        case "exponential":
            power = param.exponential
            return power.bias + power.multiplier * float(power.base ** (power.depth_multiplier * depth))
        case "threshold":
            step = param.threshold
            return step.on_value if depth >= step.threshold else step.off_value
        case _:
            raise InvalidArgumentError.of(
                f"The forest's parameters lack {field}, which its way of splitting leaves needs: give it in the "
                "`param_file` of the ForestHParams"
            )
