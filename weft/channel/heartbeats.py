"""Heartbeats: one thread that beats for all connections of this process, by the rules of `protocol.heartbeat`.

It reads nothing and waits for nobody, so a process is heard as long as its interpreter runs any thread at all. Connections with
one interval beat at the same moments: with the defaults the thread wakes 2.5 times a second, for one connection or a thousand,
and not at all where there is none. A step takes no notice of it: readers count what they receive, and look at no clock.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from weft.channel.transport.peer_evidence import is_readable
from weft.errors import UnavailableError
from weft.platform.waits import wait_notice
from weft.protocol.heartbeat import PATIENCE, PROBE_INTERVALS, TIMEOUT_S, BeatStep, Evidence, Heartbeat
from weft.protocol.messages import Ping, Pong
from weft.protocol.tensor_blob import Buffer
from weft.protocol.tensor_frame import encode

Probe: TypeAlias = Callable[[float], Evidence]
"""Asks a peer in another way, for so many seconds at most."""

HEARTBEAT: Final = 0
"""The nonce of heartbeats: an answer with another one is for whoever asked."""

_LOG: Final = logging.getLogger("weft.waits")
_WAITED_FOR: Final = {
    Evidence.BUSY: "its process runs and does not answer, as in a long call of a C library or on a machine without memory",
    Evidence.STOPPED: "its process is stopped, as by a debugger or Ctrl-Z",
}
_FRAMES: Final = {BeatStep.TELL: encode(Pong(HEARTBEAT)), BeatStep.ASK: encode(Ping(HEARTBEAT))}


@dataclass(frozen=True, slots=True)
class Watch:
    """How a connection's peer is watched.

    `timeout_s` is how soon a peer is noticed that stands still or is cut off; None gives up nobody. `probe` asks it in another
    way, where the kernel does not know enough. `tolerates_stop`: a process that is stopped may be waited for.
    """

    timeout_s: float | None = TIMEOUT_S
    probe: Probe | None = None
    tolerates_stop: bool = False


class Watched(Protocol):
    """A connection, as its heartbeats see it. None of it waits."""

    name: str

    @property
    def received_count(self) -> int:
        """A number that grows with what is received."""
        ...

    @property
    def queued_bytes(self) -> int:
        """The bytes that wait for the peer."""
        ...

    def fileno(self) -> int:
        """The descriptor that is readable while something waits to be read."""
        ...

    def send_frame(self, frame: Sequence[Buffer]) -> None:
        """Send an encoded message; UnavailableError when that is over."""
        ...

    def evidence(self, silent_s: float) -> Evidence:
        """What the kernel knows of a peer that has been silent for so long."""
        ...

    def abort(self, cause: Exception | None) -> None:
        """End the connection now."""
        ...


class _Beating:
    """One connection: its rules, and when its next beat is due."""

    __slots__ = ("due_s", "peer", "rules", "told_s", "watch")

    def __init__(self, peer: Watched, watch: Watch, now_s: float) -> None:
        self.peer = peer
        self.watch = watch
        self.rules = Heartbeat(watch.timeout_s, now_s, watch.tolerates_stop)
        self.told_s = 0.0
        self.plan(now_s)

    def plan(self, now_s: float) -> None:
        """Set the time of the next beat: one that others of this interval have, too."""
        interval_s = self.rules.interval_s
        self.due_s = (now_s // interval_s + 1) * interval_s


class Heartbeats:
    """The connections that beat, and the thread, which lives as long as there are any. Safe from any thread."""

    def __init__(self) -> None:
        self.wake_ups = 0
        """How often the thread has woken."""
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._beating: dict[Watched, _Beating] = {}
        self._thread: threading.Thread | None = None

    def forget(self) -> None:
        """In a forked child: the connections are the parent's, and so is the thread."""
        self._reset()

    def add(self, peer: Watched, watch: Watch) -> None:
        """Beat for a connection from now on."""
        with self._lock:
            self._beating[peer] = _Beating(peer, watch, time.monotonic())
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="weft-heartbeats", daemon=True)
                self._thread.start()
            else:
                self._changed.notify()

    def remove(self, peer: Watched) -> None:
        """Beat no more for a connection; nothing if it did not."""
        with self._lock:
            self._beating.pop(peer, None)
            if not self._beating:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            due = self._wait()
            if due is None:
                return
            for beating in due:
                self._beat(beating)

    def _wait(self) -> list[_Beating] | None:
        """Wait until some are due; None when there is no connection any more."""
        with self._lock:
            while self._beating:
                now_s = time.monotonic()
                due = [beating for beating in self._beating.values() if beating.due_s <= now_s]
                for beating in due:
                    beating.plan(now_s)
                if due:
                    self.wake_ups += 1
                    return due
                self._changed.wait(min(beating.due_s for beating in self._beating.values()) - now_s)
            self._thread = None
            return None

    def _beat(self, beating: _Beating) -> None:
        peer = beating.peer
        for step in beating.rules.beat(time.monotonic(), peer.received_count):
            if step is BeatStep.INQUIRE:
                self._inquire(beating)
                continue
            if step is BeatStep.TELL:  # something was received: the next silence is another one
                beating.told_s = 0.0
            if not peer.queued_bytes:  # else the peer will hear what stands in the queue
                with contextlib.suppress(UnavailableError):
                    peer.send_frame(_FRAMES[step])

    def _inquire(self, beating: _Beating) -> None:
        evidence = _seen(beating)
        probe = beating.watch.probe
        if evidence not in (Evidence.UNKNOWN, Evidence.BUSY) or probe is None:
            _judge(beating, evidence)
            return

        def ask() -> None:
            asked = probe(PROBE_INTERVALS * beating.rules.interval_s)
            # What comes meanwhile counts more than how another way went.
            if _seen(beating) is Evidence.HEARD:
                asked = Evidence.HEARD
            elif evidence is Evidence.BUSY:
                # The kernel knows that it runs, so that it cannot be reached says no more.
                asked = Evidence.ANSWERING if asked is Evidence.PASSED_BY else Evidence.BUSY
            _judge(beating, asked)

        threading.Thread(target=ask, name=f"weft-probe-{beating.peer.name}", daemon=True).start()


def _seen(beating: _Beating) -> Evidence:
    """What can be known here and now."""
    try:
        if is_readable(beating.peer.fileno()):
            return Evidence.HEARD
        return beating.peer.evidence(beating.rules.silent_s(time.monotonic()))
    except (OSError, ValueError):  # it has just been closed
        return Evidence.HEARD


def _judge(beating: _Beating, evidence: Evidence) -> None:
    now_s = time.monotonic()
    silent_s = beating.rules.silent_s(now_s)
    why = beating.rules.found(evidence, now_s)
    if not why:
        _tell(beating, evidence, silent_s)
    else:
        beating.peer.abort(UnavailableError.of(f"nothing was heard from {beating.peer.name} for {silent_s:.1f} s, and {why}"))


def _tell(beating: _Beating, evidence: Evidence, silent_s: float) -> None:
    """Say that steps with a peer wait: after 10 s of silence, and after a minute."""
    if evidence is Evidence.HEARD:
        beating.told_s = 0.0
        return
    due_s = wait_notice.SECOND_S if beating.told_s else wait_notice.FIRST_S
    if silent_s < due_s or beating.told_s >= due_s:
        return
    beating.told_s = due_s
    most_s = PATIENCE * (beating.watch.timeout_s or TIMEOUT_S)
    _LOG.warning(
        "Nothing was heard from %s for %.0f s: %s. Steps that need it wait, %.0f s at most; look at it and its machine.",
        beating.peer.name, silent_s, _WAITED_FOR.get(evidence, "why is not known"), most_s,
    )  # fmt: skip


heartbeats = Heartbeats()
"""The heartbeats of this process."""

os.register_at_fork(after_in_child=heartbeats.forget)
