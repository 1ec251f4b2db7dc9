"""InputFnOps, and the functions that make the input of an exported model of contrib.learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from weft.estimators.aliases import Features, Labels
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.contracts import ParseSpec
from weft.ops.array.placeholder import placeholder
from weft.ops.io.parse_example import parse_example


class InputFnOps(NamedTuple):
    """What a serving input function returns.

    Args:
        features: what the model takes.
        labels: the labels; None where the model predicts.
        default_inputs: the tensors that a request feeds, by name.
    """

    features: Features
    labels: Labels
    default_inputs: Mapping[str, Tensor]


def build_parsing_serving_input_fn(feature_spec: ParseSpec, default_batch_size: int | None = None) -> Callable[[], InputFnOps]:
    """A function that makes the input of an exported model whose requests are serialized Examples.

    Args:
        feature_spec: what the Examples have, as `tf.parse_example` takes it.
        default_batch_size: how many Examples a request has; any number when None.

    Returns:
        The function, for `export_savedmodel` and `make_export_strategy`.
    """

    def input_fn() -> InputFnOps:
        examples = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return InputFnOps(parse_example(examples, feature_spec), None, {"examples": examples})

    return input_fn


def build_default_serving_input_fn(
    features: Mapping[str, Tensor], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """A function that makes the input of an exported model whose requests have the features themselves.

    Args:
        features: tensors by name, which tell the features' types and shapes.
        default_batch_size: how many examples a request has; any number when None.

    Returns:
        The function, for `export_savedmodel` and `make_export_strategy`.
    """

    def input_fn() -> InputFnOps:
        fed = {
            name: placeholder(each.dtype, [default_batch_size, *each.shape.as_list()[1:]], name=each.op.name)
            for name, each in features.items()
        }
        return InputFnOps(fed, None, fed)

    return input_fn
