"""The simplest loop over a Supervisor's session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weft import errors
from weft.training.sessions.supervisor import Supervisor


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., object],
    args: Sequence[object] | None = None,
    kwargs: Mapping[str, object] | None = None,
    master: str = "",
) -> None:
    """Call a function with the session until the supervisor should stop.

    After a task of the cluster was lost, a new session is made and the loop goes on from the last checkpoint.

    Args:
        supervisor: makes the session.
        train_step_fn: called with the session, `args` and `kwargs`; what it returns is not used.
        args, kwargs: its other arguments.
        master: the target of the session.
    """
    should_retry = True
    while should_retry:
        try:
            should_retry = False
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
        except errors.AbortedError:
            # A parameter server came back without its variables.
            should_retry = True
