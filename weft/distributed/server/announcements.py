"""A task that has come back under another address announces it to the others, which from then on dial it there.

What is announced counts only if it cannot lead the traffic of a task that lives elsewhere: the caller is admitted as that task,
no other run of the task is connected or answers at the address known so far, and the run that announces itself answers at the
new one.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from weft.distributed.server.server_def import OwnTask
from weft.distributed.server.task_directory import PeerStubs
from weft.errors import (
    AlreadyExistsError,
    DeadlineExceededError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    UnavailableError,
)
from weft.platform.hosts.host_port import split_address

VARIABLE: Final = "WEFT_ANNOUNCE"
EVERYWHERE: Final = ("0.0.0.0", "::")
"""Hosts at which a server may listen and nobody can dial it."""

_LOG: Final = logging.getLogger("weft")
_ASK_S: Final = 1.0
_AGAIN_S: Final = 10.0  # a peer that was started again since knows nothing of it
_FIRST_PAUSE_S: Final = 0.25
_LONGEST_PAUSE_S: Final = 4.0


def is_asked_for(environment: Mapping[str, str]) -> bool:
    """Whether the environment asks tasks to announce themselves.

    Raises:
        InvalidArgumentError: it says neither yes nor no.
    """
    text = environment.get(VARIABLE, "0")
    if text not in ("", "0", "1"):
        raise InvalidArgumentError.of(f"{VARIABLE} is {text!r}; expected 1 for a task that announces its address, or 0")
    return text == "1"


class Announcements:
    """What one server hears of where other tasks are now. Safe from any thread.

    Args:
        task: the server's.
        stubs: of the other tasks, which are moved.
        incarnation_of: of a connected task; 0 when there is no connection.
        note: told of each task that has moved, with its address.
    """

    def __init__(
        self, task: str, stubs: PeerStubs, incarnation_of: Callable[[str], int], note: Callable[[str, str], None]
    ) -> None:
        self._task = task
        self._stubs = stubs
        self._incarnation_of = incarnation_of
        self._note = note
        self._lock = threading.Lock()

    def hear(self, task: str, address: str, incarnation: int) -> None:
        """Believe that a run of a task is at an address, after a look there; the caller was admitted as that task.

        Raises:
            NotFoundError: the cluster has no such other task.
            InvalidArgumentError: nobody can dial the address.
            AlreadyExistsError: another run of the task lives.
            UnavailableError: the run does not answer at the address.
        """
        if task not in self._stubs.others:
            raise NotFoundError.of(
                f"{self._task} heard of {task or 'a task without a name'} at {address!r}, which is no other task of its "
                "cluster. Describe the cluster with all tasks that it may have"
            )
        _check(task, address)
        with self._lock:
            known = self._stubs.address_of(task)
            connected = self._incarnation_of(task)
            if connected and connected != incarnation:
                raise _lives(task, known, connected, address, incarnation)
            if known == address:
                return
            before = 0 if connected else self._incarnation_at(task, known)
            if before and before != incarnation:
                raise _lives(task, known, before, address, incarnation)
            if self._incarnation_at(task, address) != incarnation:
                raise UnavailableError.of(
                    f"{task} has announced itself at {address}, where {self._task} does not find it. Look whether that address "
                    "can be reached from here, and is not another task's"
                )
            self._stubs.move(task, address)
        self._note(task, address)
        _LOG.info("Task %s is at %s now (before: %s), as it has announced itself", task, address, known)

    def _incarnation_at(self, task: str, address: str) -> int:
        """Which run of a task answers at an address; 0 if none does."""
        stub = self._stubs.make(task, address)
        try:
            return stub.status(_ASK_S).incarnation
        except OpError:
            return 0
        finally:
            stub.close()


class Announcer:
    """Tells the other tasks, on a thread of its own, where this one is; again and again, as they may be started anew.

    Args:
        task, incarnation: of the server that announces itself.
        stubs: of the others.
        address: where it is.
    """

    def __init__(self, task: str, incarnation: int, stubs: PeerStubs, address: Callable[[], str]) -> None:
        self._task = task
        self._incarnation = incarnation
        self._stubs = stubs
        self._address = address
        self._stopped = threading.Event()
        self._refused: dict[str, str] = {}
        self._thread = threading.Thread(target=self._run, name=f"weft-announce-{task}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End. Does not wait."""
        self._stopped.set()

    def _run(self) -> None:
        peers = self._stubs.others
        due, pauses = dict.fromkeys(peers, 0.0), dict.fromkeys(peers, _FIRST_PAUSE_S)
        while due and not self._stopped.wait(max(min(due.values()) - time.monotonic(), 0.0)):
            for peer in [peer for peer in peers if due[peer] <= time.monotonic()]:
                if self._stopped.is_set():
                    return
                if self._tell(peer):
                    due[peer], pauses[peer] = time.monotonic() + _AGAIN_S, _FIRST_PAUSE_S
                else:
                    due[peer] = time.monotonic() + pauses[peer]
                    pauses[peer] = min(2 * pauses[peer], _LONGEST_PAUSE_S)

    def _tell(self, peer: str) -> bool:
        try:
            self._stubs.of(peer).announce(self._address(), self._incarnation, 4 * _ASK_S)
        except (UnavailableError, DeadlineExceededError) as error:
            _LOG.debug("%s was not told where %s is: %s", peer, self._task, error.message)
            return False
        except OpError as error:
            if self._refused.get(peer) != error.message:
                self._refused[peer] = error.message
                _LOG.warning("%s does not believe that %s is at %s: %s", peer, self._task, self._address(), error.message)
            return False
        self._refused.pop(peer, None)
        return True


def announcer_of(
    task: OwnTask, announce: bool | None, incarnation: int, stubs: PeerStubs, port: Callable[[], int]
) -> Announcer | None:
    """What announces a server's task; None where neither the program, nor without its word the environment, wants that.

    Raises:
        InvalidArgumentError: nobody can dial the task's host, or the environment says neither yes nor no.
    """
    if not (is_asked_for(os.environ) if announce is None else announce):
        return None
    if task.host in EVERYWHERE:
        raise InvalidArgumentError.of(f"{task.name} cannot announce {task.address!r}, which others cannot dial: name its host")
    here = f"[{task.host}]" if ":" in task.host else task.host
    return Announcer(task.name, incarnation, stubs, lambda: f"{here}:{port()}")


def _check(task: str, address: str) -> None:
    host, port = split_address(address)
    if not host or host in EVERYWHERE or not port:
        raise InvalidArgumentError.of(
            f"{task} has announced itself at {address!r}, where nobody can dial it: expected host:port"
        )


def _lives(task: str, known: str, before: int, address: str, incarnation: int) -> AlreadyExistsError:
    return AlreadyExistsError.of(
        f"Incarnation {incarnation:x} of {task} has announced itself at {address}, but incarnation {before:x} lives at "
        f"{known}. Stop one of the two: a task is one process"
    )
