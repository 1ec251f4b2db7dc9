"""What is said where a checkpoint does not fit the variables that are to be restored, or is not there."""

from __future__ import annotations

import os
from typing import Any, Final

from weft.errors import InvalidArgumentError, NotFoundError, OpError
from weft.ops.declaration import Role
from weft.platform.files import gfile

_ADVICE: Final = (
    "Restoring from checkpoint failed. This is most likely due to {} from the checkpoint. Please ensure that you have "
    "not altered the graph expected based on the checkpoint. Original error:\n\n{}"
)
_LEAVE_OUT: Final = "or leave it out: tf.train.Saver([...]) restores the variables that it is given."


def no_checkpoint(prefix: str) -> Exception:
    """The error for a path at which there is no checkpoint: NotFoundError where its folder is not there, else ValueError."""
    text = f"The passed save_path is not a valid checkpoint: {prefix}."
    folder = os.path.dirname(prefix) or "."
    if not gfile.IsDirectory(folder):
        return NotFoundError.of(f"{folder}; No such file or directory. {text} Is it relative to another folder?")
    found = sorted(name.removesuffix(".index") for name in gfile.ListDirectory(folder) if name.endswith(".index"))
    if not found:
        return ValueError(f"{text} {folder} has no checkpoint.")
    return ValueError(
        f"{text} {folder} has {', '.join(found[-5:])}; tf.train.latest_checkpoint(folder) gives the path of the last."
    )


def of_missing_key(error: NotFoundError) -> OpError:
    """The error for a variable that a checkpoint lacks."""
    return _advised(error, "a Variable name or other graph key that is missing")


def of_mismatch(error: InvalidArgumentError) -> OpError:
    """The error for a variable of another shape or type than the checkpoint's."""
    advised = _advised(error, "a mismatch between the current graph and the graph")
    if "does not equal original dtype" in error.message:
        advised.remedy = f"Make the variable with the type that the checkpoint has, {_LEAVE_OUT}"
    elif error.op is not None and error.op.op_def.role is Role.ASSIGNMENT:
        name = error.op.inputs[0].op.name
        advised.remedy = (
            f"lhs is the variable {name!r} of this graph, rhs what the checkpoint has for it: build it as it was when it was "
            f"saved, {_LEAVE_OUT}"
        )
    return advised


def _advised(error: OpError, what: str) -> OpError:
    kind: Any = type(error)
    return kind(error.node_def, error.op, _ADVICE.format(what, error.message))  # type: ignore[no-any-return]
