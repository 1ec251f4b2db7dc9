"""Input receivers: the placeholders of an exported model and the features that it makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from weft.estimators.input_function import parse_input_fn_result
from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.placeholder import placeholder
from weft.ops.io.parse_example import parse_example

SINGLE_FEATURE_DEFAULT_NAME: Final = "feature"
SINGLE_RECEIVER_DEFAULT_NAME: Final = "input"
SINGLE_LABEL_DEFAULT_NAME: Final = "label"
_SINGLE_NAMES: Final = {
    "feature": SINGLE_FEATURE_DEFAULT_NAME,
    "label": SINGLE_LABEL_DEFAULT_NAME,
    "receiver_tensor": SINGLE_RECEIVER_DEFAULT_NAME,
    "receiver_tensors_alternative": SINGLE_RECEIVER_DEFAULT_NAME,
}

# One tensor, or several by name.
Tensors: TypeAlias = "Tensor | SparseTensor | Mapping[Nest, Tensor | SparseTensor]"


class _Receiver(NamedTuple):
    """What an input receiver holds."""

    features: Nest
    receiver_tensors: dict[str, Nest]
    receiver_tensors_alternatives: dict[str, dict[str, Nest]] | None


class ServingInputReceiver(_Receiver):
    """The input of a model that is served.

    Args:
        features: what the model function gets: a tensor, or tensors by name.
        receiver_tensors: what a request feeds, by name; a single one is called `input`.
        receiver_tensors_alternatives: by name, other tensors that may be fed instead.

    Raises:
        ValueError: something is missing, no tensor, or under a key that is no text.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Tensors,
        receiver_tensors: Tensors,
        receiver_tensors_alternatives: Mapping[str, Tensors] | None = None,
    ) -> ServingInputReceiver:
        """Check the parts and make the record."""
        return super().__new__(
            cls,
            _named(features, "feature", allow_int_keys=True),
            _named(receiver_tensors, "receiver_tensor"),
            _alternatives(receiver_tensors_alternatives),
        )


class TensorServingInputReceiver(_Receiver):
    """The input of a model whose function takes one tensor rather than several by name; otherwise a ServingInputReceiver.

    Args:
        features: the tensor that the model function takes.
        receiver_tensors: what is fed: a tensor, or tensors by name.
        receiver_tensors_alternatives: other ones by the names of further signatures.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Tensor | SparseTensor,
        receiver_tensors: Tensors,
        receiver_tensors_alternatives: Mapping[str, Tensors] | None = None,
    ) -> TensorServingInputReceiver:
        """Check the parts and make the record."""
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, None, "feature")
        return super().__new__(
            cls, features, _named(receiver_tensors, "receiver_tensor"), _alternatives(receiver_tensors_alternatives)
        )


class _Supervised(NamedTuple):
    """What a SupervisedInputReceiver holds."""

    features: Nest
    labels: Nest
    receiver_tensors: dict[str, Nest]


class SupervisedInputReceiver(_Supervised):
    """The input of a graph that trains or evaluates: features, labels, and the tensors to feed by name."""

    __slots__ = ()

    def __new__(cls, features: Tensors, labels: Tensors, receiver_tensors: Tensors) -> SupervisedInputReceiver:
        """Check the parts and make the record."""
        _named(features, "feature", allow_int_keys=True)
        _named(labels, "label", allow_int_keys=True)
        return super().__new__(cls, features, labels, _named(receiver_tensors, "receiver_tensor"))


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Nest], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function that builds an input of serialized Examples, fed under the name `examples`.

    Args:
        feature_spec: how to parse them, as `tf.parse_example` takes it.
        default_batch_size: how many a request has; None for any number.

    Returns:
        A function without arguments that returns a ServingInputReceiver.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        serialized = placeholder(dtypes.string, shape=[default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(serialized, feature_spec), {"examples": serialized})

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Tensor], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function that builds an input of plain tensors, fed under the features' own names.

    Args:
        features: tensors, by name, whose dtypes and shapes the placeholders get; the first dimension is the batch.
        default_batch_size: its size; None for any.

    Returns:
        A function without arguments that returns a ServingInputReceiver.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        placeholders = _placeholders(features, default_batch_size)
        return ServingInputReceiver(placeholders, placeholders)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Tensors, labels: Tensors, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """A function that builds features and labels as placeholders, for a graph that trains or evaluates.

    Args:
        features, labels: tensors whose dtypes and shapes the placeholders get, one each or several by name.
        default_batch_size: the size of their first dimension; None for any.

    Raises:
        ValueError: features and labels share a name.
    """
    named_features = features if isinstance(features, Mapping) else {SINGLE_RECEIVER_DEFAULT_NAME: features}
    named_labels = labels if isinstance(labels, Mapping) else {SINGLE_LABEL_DEFAULT_NAME: labels}
    shared = set(named_features) & set(named_labels)
    if shared:
        raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {shared}")

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        fed_features = _placeholders(named_features, default_batch_size)
        fed_labels = _placeholders(named_labels, default_batch_size)
        return SupervisedInputReceiver(
            fed_features if isinstance(features, Mapping) else fed_features[SINGLE_RECEIVER_DEFAULT_NAME],
            fed_labels if isinstance(labels, Mapping) else fed_labels[SINGLE_LABEL_DEFAULT_NAME],
            {**fed_features, **fed_labels},
        )

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Nest], **input_fn_args: Nest
) -> Callable[[], SupervisedInputReceiver]:
    """A function that builds placeholders like the features and labels of an input function, which is called once.

    Args:
        input_fn: gives a Dataset of features and labels, or the two.
        input_fn_args: its arguments.

    Raises:
        ValueError: it gives no labels, or features and labels share a name.
    """
    with Graph().as_default():
        features, labels, _ = parse_input_fn_result(input_fn(**input_fn_args))
        if labels is None:
            raise ValueError("build_supervised_input_receiver_fn_from_input_fn: input_fn gives no labels, only features")
        return build_raw_supervised_input_receiver_fn(features, labels)


def _placeholders(tensors: Mapping[Nest, Nest], batch_size: int | None) -> dict[Nest, Tensor]:
    return {name: _placeholder_like(name, tensor, batch_size) for name, tensor in tensors.items()}


def _placeholder_like(name: Nest, tensor: Nest, batch_size: int | None) -> Tensor:
    if not hasattr(tensor, "get_shape"):
        raise AttributeError(
            f"{type(tensor).__name__!r} object has no attribute 'get_shape': {name!r} is {tensor!r}, and a tensor is wanted "
            "whose type and shape the input has, such as tf.placeholder(tf.float32, [None, 1])"
        )
    shape = TensorShape([batch_size]).concatenate(tensor.get_shape()[1:])
    return placeholder(tensor.dtype, shape=shape, name=tensor.op.name)


def _named(tensors: Nest, part: str, allow_int_keys: bool = False) -> dict[Nest, Nest]:
    if tensors is None:
        raise ValueError(f"{part}s must be defined.")
    named = tensors if isinstance(tensors, dict) else {_SINGLE_NAMES[part]: tensors}
    for name, tensor in named.items():
        if not isinstance(name, str | int if allow_int_keys else str):
            raise ValueError(f"{part} keys must be strings{' or ints' if allow_int_keys else ''}: {name}.")
        _check_tensor(tensor, name, part)
    return named


def _alternatives(alternatives: Nest) -> dict[str, dict[str, Nest]] | None:
    if alternatives is None:
        return None
    if not isinstance(alternatives, dict):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
    return {name: _named(tensors, "receiver_tensors_alternative") for name, tensors in alternatives.items()}


def _check_tensor(tensor: Nest, name: object, part: str) -> None:
    if isinstance(tensor, Tensor | SparseTensor):
        return
    error = ValueError(f"{part}{f' {name}' if name else ''} must be a Tensor or SparseTensor.")
    if not hasattr(tensor, "tensor"):
        raise error
    try:
        convert_to_tensor(tensor)
    except TypeError:
        raise error from None
