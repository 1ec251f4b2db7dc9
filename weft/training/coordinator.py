"""Coordinator: stops several threads together, and hands the first one's exception to who joins them."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from weft import errors
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.platform.process.interrupts import is_main_thread
from weft.platform.waits.standing_threads import look_every_s
from weft.platform.waits.wait_notice import WaitNotice
from weft.training.stop_wait import StopWait, others_of_program

_POLL_S: Final = 0.05
_NOT_STOPPED: Final = (
    "Nobody has asked them to stop, and they fill queues until their input ends: call coord.request_stop() before coord.join()."
)
_STOPPED: Final = (
    "They were asked to stop: a thread looks at coord.should_stop() between its steps, and one that is blocked in a step ends "
    "with session.close() or the close of its queue. After {0:.0f} s join gives up."
)


class Coordinator:
    """One stop request that many threads share. Safe from any thread.

        coord = tf.train.Coordinator()
        threads = [threading.Thread(target=work, args=(coord,)) for _ in range(4)]
        ...
        coord.join(threads)  # raises what a thread gave to request_stop

    where each thread runs `with coord.stop_on_exception(): while not coord.should_stop(): ...`.

    Args:
        clean_stop_exception_types: exceptions that only ask to stop, and are not raised again; OutOfRangeError, the end
            of the input, when None.

    >>> coord = tf.train.Coordinator()
    >>> coord.request_stop()
    >>> coord.should_stop()
    True
    """

    def __init__(self, clean_stop_exception_types: Sequence[type[BaseException]] | None = None) -> None:
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        check_arguments(Coordinator.__init__, clean_stop_exception_types=clean_stop_exception_types)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._exception: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    def __repr__(self) -> str:
        state = "asked to stop" if self._stop_event.is_set() else "running"
        cause = f" by {self._exception!r}" if self._exception is not None else ""
        return f"<tf.train.Coordinator {state}{cause}, {len(self._registered_threads)} registered threads>"

    def request_stop(self, ex: object = None) -> None:
        """Ask all threads to stop.

        Args:
            ex: the exception that is the reason, or a `sys.exc_info()`; the first one is raised by `join`. Once the
                threads have been joined it is raised here.

        Raises:
            ValueError: `ex` is no exception.
        """
        exception = ex[1] if isinstance(ex, tuple) else ex
        if exception is not None and not isinstance(exception, BaseException):
            raise ValueError(
                f"ex must be an exception or a sys.exc_info() tuple, got {ex!r}. A stop without an error is request_stop()."
            )
        if isinstance(exception, self._clean_stop_exception_types):
            exception = None
        with self._lock:
            if self._joined and exception is not None:
                raise exception
            if self._stop_event.is_set():
                return
            if exception is not None:
                tf_logging.info("Error reported to Coordinator: %s: %s", type(exception).__name__, exception)
                self._exception = exception
            self._stop_event.set()

    def clear_stop(self) -> None:
        """Take the stop request and its exception back."""
        with self._lock:
            self._joined = False
            self._exception = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Turn an exception of the block into a stop request with that exception."""
        try:
            yield
        except BaseException:
            self.request_stop(sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Block until a stop is requested or `timeout` seconds have passed; tells whether it was requested.

        Where the main thread waits without end, and no other thread of the program goes on, the log says so.

        Args:
            timeout: seconds; without end when None.

        Returns:
            Whether a stop was requested.
        """
        if timeout is not None or not is_main_thread():
            return self._stop_event.wait(timeout)
        # The program goes on when the main thread does: any other one may be there to wait.
        wait = StopWait("Coordinator.wait_for_stop", lambda: others_of_program(self._registered_threads))
        while not self._stop_event.wait(look_every_s()):
            wait.look()
        return True

    def register_thread(self, thread: threading.Thread) -> None:
        """Have `join` wait for a thread.

        Args:
            thread: a thread that was started.
        """
        check_arguments(Coordinator.register_thread, thread=thread)
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Block until the threads given and those registered have ended.

        Args:
            threads: threads to wait for besides those registered.
            stop_grace_period_secs: how long they have after a stop was requested.
            ignore_live_threads: whether threads that are left then are no error.

        Raises:
            TypeError: `threads` is one thread, and no list.
            RuntimeError: a thread is still alive `stop_grace_period_secs` after the stop request, unless
                `ignore_live_threads`.
            BaseException: the exception that was given to `request_stop`.
        """
        if threads is not None and not isinstance(threads, Iterable):
            raise TypeError(
                f"threads must be a list of threads, not {threads!r}; the time to wait is `stop_grace_period_secs=`, an "
                "argument "
                "by name."
            )
        check_arguments(Coordinator.join, stop_grace_period_secs=stop_grace_period_secs)
        with self._lock:
            waited_for = self._registered_threads.union(threads or ())
        notice = WaitNotice()
        # Threads that train may do so for days; those that only fill queues go on until they are stopped.
        fillers_alone = all(isinstance(thread, SessionThread) for thread in waited_for)
        wait = StopWait("Coordinator.join", lambda: waited_for)
        while not self.should_stop() and _wait_for_one(waited_for):
            if not fillers_alone:
                wait.look()
            elif notice.is_due():
                _tell(waited_for, notice.waited_s, _NOT_STOPPED)
        notice = WaitNotice()
        while _wait_for_one(in_grace := _in_grace(waited_for, notice.waited_s, stop_grace_period_secs)):
            if notice.is_due():
                _tell(in_grace, notice.waited_s, _STOPPED.format(stop_grace_period_secs))
        stragglers = sorted(thread.name for thread in waited_for if thread.is_alive() and not isinstance(thread, SessionThread))
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._exception is not None:
                raise self._exception
        if stragglers:
            message = f"Coordinator stopped with threads still running: {' '.join(stragglers)}"
            if not ignore_live_threads:
                raise RuntimeError(message)
            tf_logging.info(message)

    @property
    def joined(self) -> bool:
        """Whether the threads have been joined."""
        return self._joined

    @property
    def requested_exception(self) -> BaseException | None:
        """The exception that was given to `request_stop`, if there was one."""
        with self._lock:
            return self._exception

    def raise_requested_exception(self) -> None:
        """Raise the exception that was given to `request_stop`, if there was one."""
        exception = self.requested_exception
        if exception is not None:
            raise exception


class SessionThread(threading.Thread):
    """A thread that only runs steps, so that closing their session ends it: `join` leaves it to that after a moment."""

    stop_grace_secs: Final = 1.0


def _in_grace(threads: Iterable[threading.Thread], waited_s: float, grace_s: float) -> list[threading.Thread]:
    """The threads that may still take their time."""
    return [
        thread
        for thread in threads
        if waited_s < (min(grace_s, thread.stop_grace_secs) if isinstance(thread, SessionThread) else grace_s)
    ]


def _tell(threads: Iterable[threading.Thread], waited_s: float, advice: str) -> None:
    names = ", ".join(sorted(thread.name for thread in threads if thread.is_alive()))
    tf_logging.warning("Coordinator.join has waited %.0f s for threads that still run: %s. %s", waited_s, names, advice)


def _wait_for_one(threads: Iterable[threading.Thread]) -> bool:
    """Wait a moment for one of the threads that are alive; False when none is."""
    alive = next((thread for thread in threads if thread.is_alive()), None)
    if alive is None:
        return False
    alive.join(_POLL_S)
    return True


class LooperThread(threading.Thread):
    """A daemon thread that runs a function again and again, until its coordinator is asked to stop.

    Either give a `target` or override `run_loop`.

    Args:
        coord: the Coordinator; the thread registers with it, and an exception stops it.
        timer_interval_secs: the seconds from one call's start to the next one's; None for no pause.
        target: the function.
        args: its positional arguments.
        kwargs: its keyword arguments.

    Raises:
        ValueError: `coord` is no Coordinator, or there are arguments without a target.
        TypeError: the target is no function.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., object] | None = None,
        args: Sequence[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        if target is None and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        if target is not None and not callable(target):
            raise TypeError(f"{target!r} object is not callable: the target is a function, and args are its arguments")
        super().__init__(daemon=True)
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._repeated = target
        self._repeated_args = tuple(args or ())
        self._repeated_kwargs = dict(kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., object],
        args: Sequence[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
    ) -> LooperThread:
        """Start such a thread and return it.

        Args:
            coord: the Coordinator that stops it.
            timer_interval_secs: the seconds from one call's start to the next one's; None for no pause.
            target: the function.
            args: its positional arguments.
            kwargs: its keyword arguments.
        """
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """The thread's work."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                due = time.monotonic()
                while not self._coord.wait_for_stop(max(due - time.monotonic(), 0.0)):
                    due += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called before the first call; for subclasses."""

    def stop_loop(self) -> None:
        """Called after the last call; for subclasses."""

    def run_loop(self) -> None:
        """The repeated work: the target, unless a subclass overrides it."""
        if self._repeated is not None:
            self._repeated(*self._repeated_args, **self._repeated_kwargs)
