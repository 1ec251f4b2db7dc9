"""NodeTest: by what a node sends examples to its left child; many of them at once, and in the messages of trees."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.proto.decision_tree_pb2 import BinaryNode, InequalityTest, MatchingValuesTest

_MATCHING: Final = "type.googleapis.com/tensorflow.decision_trees.MatchingValuesTest"


class Comparison(IntEnum):
    """How a feature's value is compared with a node's number; TensorFlow takes each other inequality for `LESS`."""

    LESS_OR_EQUAL = InequalityTest.LESS_OR_EQUAL
    LESS = InequalityTest.LESS_THAN
    EQUAL = 4


_WRITTEN: Final = {
    Comparison.LESS_OR_EQUAL: InequalityTest.LESS_OR_EQUAL,
    Comparison.LESS: InequalityTest.LESS_THAN,
}


class NodeTest(NamedTuple):
    """An example goes left whose feature compares so with the number."""

    feature: int
    comparison: Comparison
    number: np.float32


def goes_left(values: Array, comparisons: Array, numbers: Array) -> Array:
    """Whether examples go left, by the values that they have: `[...] float32, [...], [...] float32 -> [...] bool`."""
    is_equal = (values == numbers) & (comparisons != Comparison.LESS)
    return is_equal | ((values < numbers) & (comparisons != Comparison.EQUAL))


def write_test(test: NodeTest, node: BinaryNode) -> None:
    """Put a test into a node's message."""
    if test.comparison is Comparison.EQUAL:
        matching = MatchingValuesTest()
        matching.feature_id.id.value = str(test.feature)
        matching.value.add().float_value = float(test.number)
        node.custom_left_child_test.type_url = _MATCHING
        node.custom_left_child_test.value = matching.SerializeToString()
        return
    written = node.inequality_left_child_test
    written.feature_id.id.value = str(test.feature)
    written.type = _WRITTEN[test.comparison]
    written.threshold.float_value = float(test.number)


def read_test(node: BinaryNode) -> NodeTest:
    """The test of a node's message.

    Raises:
        InvalidArgumentError: it is of a kind that forests do not make.
    """
    if node.WhichOneof("left_child_test") == "inequality_left_child_test":
        inequality = node.inequality_left_child_test
        if inequality.WhichOneof("FeatureSum") != "feature_id":
            raise _strange(node)
        is_closed = inequality.type == InequalityTest.LESS_OR_EQUAL
        comparison = Comparison.LESS_OR_EQUAL if is_closed else Comparison.LESS
        return NodeTest(int(inequality.feature_id.id.value), comparison, np.float32(inequality.threshold.float_value))
    custom = node.custom_left_child_test
    if custom.type_url.rpartition("/")[2] != _MATCHING.rpartition("/")[2]:
        raise _strange(node)
    matching = MatchingValuesTest.FromString(custom.value)
    if len(matching.value) != 1 or matching.inverse:
        raise _strange(node)
    return NodeTest(int(matching.feature_id.id.value), Comparison.EQUAL, np.float32(matching.value[0].float_value))


def _strange(node: BinaryNode) -> InvalidArgumentError:
    return InvalidArgumentError.of(
        "Unable to parse tree config: a node compares neither one feature with a threshold nor with one value, as the nodes of "
        f"forests do: {node}"
    )
