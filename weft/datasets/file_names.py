"""The names of files that match patterns, as a tensor."""

from __future__ import annotations

from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.assertion import assert_that
from weft.ops.io.file_io import matching_files
from weft.ops.math.comparison import greater
from weft.ops.math.elementwise import add
from weft.ops.strings.parts import reduce_join


def matching_names(file_pattern: Tensor) -> Tensor:
    """The names, which are not none: else runs raise InvalidArgumentError."""
    found = matching_files(file_pattern)
    is_there = greater(shape(found)[0], 0, name="match_not_empty")
    message = add("No files matched pattern: ", reduce_join(file_pattern, separator=", "), name="message")
    check = assert_that(is_there, [message], summarize=1, name="assert_not_empty")
    with get_default_graph().control_dependencies([check]):
        return identity(found)
