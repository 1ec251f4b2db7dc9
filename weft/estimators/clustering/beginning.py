"""What lets the clusters of a model begin at points of its input, before the first step."""

from __future__ import annotations

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.joining import concat
from weft.platform.logs import tf_logging
from weft.training.hooks.session_run_hook import SessionRunHook


class Begin(SessionRunHook):
    """Lets the clusters begin before the first step, if they have not.

    Args:
        init_op: lets them begin.
        initialized: whether they have, `[] bool`.
        name: of the model, for the log.
    """

    def __init__(self, init_op: Operation, initialized: Nest, name: str) -> None:
        self._init_op, self._initialized, self._name = init_op, initialized, name

    def after_create_session(self, session: Nest, coord: Nest) -> None:
        """Let them begin."""
        if not session.run(self._initialized):
            session.run(self._init_op)
            tf_logging.info("%s initialized.", self._name)


def side_by_side(features: Nest) -> Tensor:
    """The points `[n, size] float32` of features by name, in the order of their names; or of one tensor."""
    if isinstance(features, dict):
        return concat([convert_to_tensor(features[name], dtypes.float32) for name in sorted(features)], 1)
    return convert_to_tensor(features, dtypes.float32)
