"""What a program gives a Saver: the session first, then the path. Who confuses them is told."""

from __future__ import annotations

import numbers
import os
from typing import Any

from weft.client.session import BaseSession
from weft.framework.building.aliases import SessionLike
from weft.proto.messages import SaverDef


def as_path(save_path: str | os.PathLike[str], method: str) -> str:
    """The path that `method` of a Saver was given; TypeError for a session in its place."""
    if isinstance(save_path, BaseSession):
        raise TypeError(f"'save_path' must be a path, not {save_path!r}: the session comes first, saver.{method}(sess, path)")
    if not isinstance(save_path, str | bytes | os.PathLike):
        raise TypeError(
            f"'save_path' of Saver.{method} must be a path, such as 'folder/model.ckpt', got {save_path!r} of type "
            f"{type(save_path).__name__!r}"
        )
    return os.fsdecode(save_path)


def step_number(sess: SessionLike, global_step: Any) -> int:
    """The number that ends a checkpoint's name: what was given, or what a tensor of the session's graph has now.

    Raises:
        TypeError, ValueError: it is no number and no tensor of the graph, or its value is not one number.
    """
    if isinstance(global_step, numbers.Integral):
        return int(global_step)
    try:
        return int(sess.run(global_step))
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{error}\n  global_step: {global_step!r}\n  It is an integer, or the tensor of the global step, and ends the "
            "checkpoint's name: saver.save(sess, 'model', global_step=100) writes model-100."
        ) from None


def checked_session(sess: object) -> BaseSession:
    """The session; TypeError for what is none, such as a monitored one."""
    if isinstance(sess, BaseSession):
        return sess
    monitored = (
        ": a monitored session saves by itself where it has a checkpoint_dir; a hook gets the session inside as "
        "run_context.session"
    )
    raise TypeError(f"'sess' must be a Session; {sess}{monitored if hasattr(sess, 'run_step_fn') else ''}")


def check_graph(sess: SessionLike, saver_def: SaverDef) -> None:
    """Refuse a session of another graph than the Saver's.

    Args:
        sess: the session.
        saver_def: names the Saver's nodes.

    Raises:
        RuntimeError: the session's graph is empty. TypeError: it has no such nodes.
    """
    graph, node = sess.graph, saver_def.filename_tensor_name.partition(":")[0]
    try:
        graph.get_operation_by_name(node)
    except KeyError as error:
        told = (
            f"The session is of {graph.label}, and this Saver's nodes are in another graph: make both inside of one `with "
            "graph.as_default():`, or pass tf.Session(graph=...)."
        )
        if not graph.operations:
            empty = "The Session graph is empty.  Add operations to the graph before calling run()."
            raise RuntimeError(f"{empty} {told}") from None
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]} {told}") from None


def checked_number(max_to_keep: int | None) -> int | None:
    """How many checkpoints are kept; with fewer than none each would be deleted as soon as it is written."""
    if isinstance(max_to_keep, numbers.Real) and max_to_keep < 0:
        raise ValueError(f"Saver: max_to_keep is {max_to_keep}, less than no checkpoint. None, or 0, keeps all of them.")
    return max_to_keep
