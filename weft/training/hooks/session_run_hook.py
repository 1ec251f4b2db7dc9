"""SessionRunHook: what a training session calls around its life and around each run, and what it passes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from weft.client.session import Session
from weft.framework.building.aliases import Feeds, Fetches
from weft.framework.types.printed import printed
from weft.proto.messages import RunOptions
from weft.training.coordinator import Coordinator


class SessionRunHook:
    """Extends a MonitoredSession. Every method does nothing unless a subclass says otherwise.

    Called in this order, each in the order of the hooks: `begin`, then (again after each recovery) `after_create_session`,
    then `before_run` and `after_run` around each run, at last `end`, which is left out when the block ends with an error.

    >>> class Count(tf.train.SessionRunHook):
    ...     runs = 0
    ...     def after_run(self, run_context, run_values):
    ...         self.runs += 1
    >>> hook = Count()
    >>> op = tf.no_op()
    >>> with tf.train.MonitoredSession(hooks=[hook]) as session:
    ...     session.run(op)
    >>> hook.runs
    1
    """

    def __repr__(self) -> str:
        plain = {name.lstrip("_"): value for name, value in vars(self).items() if isinstance(value, bool | int | float | str)}
        settings = "".join(f" {name}={value!r}" for name, value in plain.items())
        return f"<tf.train.{type(self).__name__}{settings}>"

    def begin(self) -> None:
        """Called once, before the session is made: the last chance to add to the graph."""

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Called when a session has been made or made again; the graph is closed and the variables have values.

        Args:
            session: the plain Session.
            coord: the Coordinator of the session's threads.
        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run; returns what to fetch and feed besides, or None.

        Args:
            run_context: tells what the program fetches and feeds, has the session, and takes the request to stop.
        """
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that succeeded, with the values of what `before_run` asked for.

        Args:
            run_context: as of `before_run`.
            run_values: the values of what `before_run` asked for, in `results`.
        """

    def end(self, session: Session) -> None:
        """Called at the end of a session that ends without an error; `session` still runs.

        Args:
            session: the session, which still runs.
        """


class SessionRunArgs(NamedTuple("_Args", [("fetches", Any), ("feed_dict", Any), ("options", Any)])):
    """A request to a run: what a hook's `before_run` returns.

    Args:
        fetches: tensors, operations or their names, in any structure of lists, tuples and dicts.
        feed_dict: values by tensor; none when None.
        options: RunOptions, which are joined with those of other hooks; none when None.

    >>> tf.train.SessionRunArgs("loss:0").fetches
    'loss:0'
    """

    __slots__ = ()

    def __new__(cls, fetches: Fetches, feed_dict: Feeds | None = None, options: RunOptions | None = None) -> SessionRunArgs:
        """Make the record; only the fetches are needed."""
        return super().__new__(cls, fetches, feed_dict, options)


class SessionRunValues(NamedTuple):
    """The answer to a hook's request, which its `after_run` finds in `run_values`.

    Args:
        results: the fetched values in the structure of the request's fetches; None when it asked for nothing.
        options: the RunOptions of the run, all hooks' joined.
        run_metadata: the RunMetadata of the run.
    """

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """One run, as hooks see it.

    Args:
        original_args: the SessionRunArgs that the program asked for.
        session: the Session that runs.
    """

    __repr__ = printed("tf.train")

    def __init__(self, original_args: SessionRunArgs, session: Session) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """The program's own request."""
        return self._original_args

    @property
    def session(self) -> Session:
        """The Session that runs."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook asked to stop after this run."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Make `should_stop` true after this run."""
        self._stop_requested = True


def checked_hooks(hooks: object) -> list[SessionRunHook]:
    """The hooks as a list of their own.

    Raises:
        TypeError: they are no list, or one is a class.
        AttributeError: one is no hook.
    """
    if hooks is None:
        return []
    if not isinstance(hooks, Iterable):
        kind = type(hooks).__name__
        raise TypeError(f"{kind!r} object is not iterable: hooks must be a list, such as hooks=[hook], got {hooks!r}")
    found = list(hooks)
    for hook in found:
        if isinstance(hook, type):
            raise TypeError(f"hooks must be objects, got the class {hook.__name__}: did you mean {hook.__name__}(...)?")
        if not hasattr(hook, "begin"):
            kind = type(hook).__name__
            raise AttributeError(
                f"{kind!r} object has no attribute 'begin': {hook!r} in hooks is no hook; a hook is of a class derived from "
                "tf.train.SessionRunHook"
            )
    return found
