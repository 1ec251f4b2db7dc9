"""What a program gives a Saver: the session first, then the path. Who confuses them is told."""

from __future__ import annotations

import os

from weft.client.session import BaseSession


def as_path(save_path: str | os.PathLike[str], method: str) -> str:
    """The path that `method` of a Saver was given; TypeError for a session in its place."""
    if isinstance(save_path, BaseSession):
        raise TypeError(f"'save_path' must be a path, not {save_path!r}: the session comes first, saver.{method}(sess, path)")
    return os.fsdecode(save_path)


def checked_session(sess: object) -> BaseSession:
    """The session; TypeError for what is none, such as a monitored one."""
    if isinstance(sess, BaseSession):
        return sess
    monitored = (
        ": a monitored session saves by itself where it has a checkpoint_dir; a hook gets the session inside as "
        "run_context.session"
    )
    raise TypeError(f"'sess' must be a Session; {sess}{monitored if hasattr(sess, 'run_step_fn') else ''}")
