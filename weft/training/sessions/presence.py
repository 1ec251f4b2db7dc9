"""Presence: a replica's note on the board of its job, kept fresh while its session is open, and what it reads there.

The chief's note has the signature of its model, so that replicas with another one are told; everybody's note says what the
replica is doing, so that the chief can wait for the others at the end. Beside them is the note of the training run, which the
chief leaves for the one that comes after it, and that of the job, by which the servers that it was trained on know their end
(`job_notes`). The board is a resource on the tasks that hold the
variables. A session of its own, on a graph of its own, goes there: the program's graph stays as the program made it.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import sys
import threading
import time
import weakref
from typing import Final

from tensorboard.compat.proto import config_pb2

from weft.client import used_targets
from weft.client.session import Session
from weft.errors import OpError
from weft.framework.building.aliases import SessionLike
from weft.framework.devices.device_spec import DeviceSpec
from weft.platform.logs import tf_logging
from weft.platform.process.process_name import this_process
from weft.platform.waits.wait_notice import WaitNotice
from weft.protocol.job_watch import DONE, FAILED, TRAINING, JobNote, reason_of
from weft.training.sessions import lasting_clients
from weft.training.sessions.board import Board
from weft.training.sessions.board_view import CAN, IS, LEASE_S, NO, BoardView, Replica
from weft.training.sessions.client_end import tell_end
from weft.training.sessions.job_notes import JobNotes
from weft.training.sessions.model_signature import ModelSignature, signature_of
from weft.training.sessions.revival import Run
from weft.training.sessions.step_gate import StepGate

HEARTBEAT_S: Final = 1.5
_LEAVE_S: Final = 3.0
_TASKS: Final = 3
_POLL_S: Final = 0.1
_PAUSE_S: Final = 6.0  # how long a chief waits for the replicas that train to pause
_STEP_S: Final = 1.0  # how long a look at the fence waits for the step that runs
# A worker that trains on by itself does not keep the chief for longer.
LONGEST_DRAIN_S: Final = 15.0
_LOG_EVERY_S: Final = 10.0
# A chief that was killed just before, and is started again, would find the note of its former self.
_RIVAL_S: Final = LEASE_S + 1.0


class Presence:
    """One session's note, posted by a thread until `leave` or the end of the session.

    Args:
        session: the training session; it is not kept alive.
        is_chief: whether it is the chief's.
        config: its ConfigProto.
        state: what it does first.
    """

    def __init__(self, session: Session, is_chief: bool, config: config_pb2.ConfigProto | None, state: str) -> None:
        self._session = weakref.ref(session)
        self._signature = signature_of(session.graph)
        self._is_chief = is_chief
        target = session.sess_str.decode()
        self._address = target.removeprefix("grpc://")
        self._member = f"{this_process()}:{id(self):x}"
        self._state = state
        self._is_changed = True
        self._is_posted = False
        self._run: Run | None = None
        self._is_up = threading.Event()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._is_over = False
        self.is_at_end = False
        """Whether the training of this replica has ended well, and only what follows it goes on."""
        self._board = Board(target, config, _board_tasks(self._signature))
        self.view = BoardView(self._board, self._lock, self._member, self._signature)
        """What the board tells of the others."""
        self._jobs = JobNotes(self._board, target, config, is_chief, self._signature)
        self._job_state: str | None = None
        self._is_job_posted = True
        self._failure = ""
        self._gate: StepGate | None = None
        self._pause = NO
        self._rival_due_s = time.monotonic() + _RIVAL_S if is_chief else math.inf
        self._thread = threading.Thread(target=self._stay, name="weft-presence", daemon=True)

    def start(self) -> None:
        """Post the note, and go on posting, in a thread."""
        self._thread.start()

    def set_state(self, state: str) -> None:
        """Change the note."""
        self._state = state
        self._announce()

    def wait_until_posted(self, limit_s: float) -> None:
        """Block until the note of now is up, or for so many seconds."""
        self._is_up.wait(limit_s)

    def _announce(self) -> None:
        self._is_up.clear()
        self._is_changed = True
        self._wake.set()

    def begin_run(self, checkpoints: str | None) -> None:
        """Leave a note that a training run lives; when this session is closed the note says so.

        Args:
            checkpoints: where the run's checkpoints are; None for nowhere.
        """
        self._run = Run(checkpoints, has_ended=False)
        self.begin_job()

    def begin_job(self) -> None:
        """Tell the servers that this replica trains; at the end of the session it tells them that too."""
        session = self._session()
        if session is not None:
            self._jobs.find_tasks(session)
        self._job_state = TRAINING
        self._is_job_posted = False
        self._announce()

    def fail(self, reason: str) -> None:
        """Have the end of the session say that the job has failed."""
        if self._job_state is not None:
            self._job_state = FAILED
            self._failure = reason

    def will_return(self) -> None:
        """Have the end of the session say nothing: another one of this process goes on with the training."""
        self._job_state = None
        self._run = None

    def gate(self) -> StepGate:
        """What a replica that trains takes its steps through from now on; not for the chief."""
        if self._gate is None:
            self._gate = StepGate()
            self._pause = CAN
            self._announce()
        return self._gate

    def fence_off(self) -> None:
        """Raise the fence, and block until the replicas that train have paused, or for `_PAUSE_S`; for the chief."""
        self.view.raise_fence()
        deadline = time.monotonic() + _PAUSE_S
        while left := [each for each in self.view.others() if each.state == "training" and each.pause == CAN]:
            if time.monotonic() >= deadline:
                told = ", ".join(map(str, left))
                tf_logging.warning("Replicas have not paused within %g s while the model gets its values: %s", _PAUSE_S, told)
                return
            time.sleep(_POLL_S)

    @property
    def is_chief(self) -> bool:
        """Whether this is the chief."""
        return self._is_chief

    def wait_for_others(self, limit_s: float) -> list[Replica]:
        """Block until the replicas of other processes have ended, or for so many seconds; returns those that have not."""
        deadline = time.monotonic() + limit_s
        log_due, notice = time.monotonic() + 1.0, WaitNotice()
        while True:
            left = [each for each in self.view.others() if each.state == "training" and each.process != this_process()]
            now = time.monotonic()
            if not left or now >= deadline:
                return left
            if now >= log_due:
                tf_logging.info("Waiting for %d replicas to end: %s", len(left), ", ".join(map(str, left)))
                log_due = now + _LOG_EVERY_S
            if notice.is_due():
                tf_logging.warning(
                    "The chief has waited %.0f s at its end for replicas that train on, %.0f s at most: %s. Look at their "
                    "logs.", notice.waited_s, limit_s, ", ".join(map(str, left)),
                )  # fmt: skip
            time.sleep(_POLL_S)

    def leave(self) -> None:
        """Take the note away and end the thread; blocks for a few seconds at most."""
        self._is_over = True
        self._wake.set()
        self._thread.join(_LEAVE_S)

    def _stay(self) -> None:
        while not self._is_over and (session := self._session()) is not None and not session.is_closed:
            del session
            with contextlib.suppress(OpError, RuntimeError), self._lock:
                self._post()
                if not self._is_job_posted:
                    self._post_job(TRAINING)
            self._look_at_fence()
            self._look_for_rival()
            self._wake.wait(HEARTBEAT_S if self._gate is None or self._gate.is_open else _POLL_S)
            self._wake.clear()
        if self._gate is not None:
            self._gate.open()
        with contextlib.suppress(OpError, RuntimeError), self._lock:
            if self._is_posted:
                self._board.leave(self._member)
            if self._run is not None:
                self.view.keep_run(Run(self._run.checkpoints, has_ended=True))
        with contextlib.suppress(OpError, RuntimeError), self._lock:
            if self._job_state is not None:
                self._post_job(FAILED if self._job_state == FAILED else DONE)
        with self._lock:
            if self._job_state is None:
                self._board.close()
            else:
                lasting_clients.end_training(self._address, self._board)

    def _look_at_fence(self) -> None:
        """Pause while a chief replaces the values that this replica trains."""
        gate = self._gate
        if gate is None or self._state != "training" or not self.view.refresh():
            return
        if not self.view.is_fenced:
            if not gate.is_open:
                tf_logging.info("The model has its values: training goes on")
                self._pause = CAN
                self._announce()
                gate.open()
            return
        if gate.is_open:
            tf_logging.info("The chief replaces the values of the model: training pauses")
        if gate.close(_STEP_S) and self._pause != IS:
            self._pause = IS
            self._announce()

    def _look_for_rival(self) -> None:
        """Once: say that another process trains the same model as its chief; it has seen nobody when it began.

        Chiefs that save no checkpoints do no harm: who comes later joins the model that lives.
        """
        if self._run is None or time.monotonic() < self._rival_due_s:
            return
        self._rival_due_s = math.inf
        if self._run.checkpoints is None:
            return
        for other in self.view.others():
            if other.is_chief and other.process != this_process():
                tf_logging.warning(
                    "Another %s is at work on this model: both save checkpoints, each removes the other's from the list of the "
                    "latest, and either restores what the other trains. Start all replicas but one with is_chief=False", other
                )  # fmt: skip

    def _post_job(self, state: str) -> None:
        self._is_job_posted = True
        chief = Replica(self._is_chief, self._address, this_process(), "", {})
        self._jobs.post(JobNote(str(chief), this_process(), state, self._failure))

    def _post(self) -> None:
        if not self._is_changed:
            self._is_changed = not self._board.post(self._member, b"")
        if self._is_changed:
            self._is_changed = False
            note = Replica(
                self._is_chief,
                self._address,
                this_process(),
                self._state,
                self._signature if self._is_chief else {},
                self._pause,
            )
            self._is_posted = True
            self._is_job_posted = self._job_state is None
            self._board.post(self._member, note.as_note())
            if self._run is not None:
                self.view.keep_run(self._run)
            self._is_up.set()


def _board_tasks(signature: ModelSignature) -> list[str]:
    """A few of the tasks that hold the variables, and the one where nodes without a device go: replicas have to meet."""
    tasks = set()
    for variable in signature.values():
        device = DeviceSpec.from_string(variable.device)
        if device.job is not None:
            tasks.add((device.job, device.task or 0))
    return [*(f"/job:{job}/task:{task}" for job, task in sorted(tasks)[:_TASKS]), ""]


_PRESENT: Final[weakref.WeakKeyDictionary[Session, Presence]] = weakref.WeakKeyDictionary()


def announce(session: Session, is_chief: bool, config: config_pb2.ConfigProto | None, state: str) -> Presence | None:
    """Begin to be there for other replicas; None where there can be none: in one process, or with state of its own.

    None on a server of TensorFlow's, too: it keeps no notes.
    """
    if not session.sess_str or (config is not None and config.isolate_session_state) or session.is_on_tensorflow_server():
        return None
    used_targets.speak_for(session.sess_str.decode())
    presence = _PRESENT[session] = Presence(session, is_chief, config, state)
    session.when_closed(presence.leave)
    presence.start()
    return presence


def presence_of(session: SessionLike | None) -> Presence | None:
    """The presence of a session, if it was announced."""
    return _PRESENT.get(session) if isinstance(session, Session) else None


def tell_failure(session: SessionLike | None, error: BaseException) -> None:
    """Have the end of a session tell the servers that were trained on that the job has failed, and how."""
    presence = presence_of(session)
    if presence is not None:
        presence.fail(reason_of(error))


def note_end(session: SessionLike | None) -> None:
    """The training of a session has ended well: that others end now, too, is no loss."""
    presence = presence_of(session)
    if presence is not None:
        presence.is_at_end = True


def drain(session: SessionLike | None, limit_s: float) -> None:
    """If this is a chief's session, block until the replicas of other processes have ended, or for so many seconds."""
    presence = presence_of(session)
    if presence is None or not presence.is_chief:
        return
    left = presence.wait_for_others(limit_s)
    if left:
        told = ", ".join(map(str, left))
        tf_logging.warning("The chief ends while %d replicas train on, after waiting %g s: %s", len(left), limit_s, told)


def _leave_at_exit() -> None:
    """Programs of old do not close their sessions: one that ends without an error is done, too."""
    error = getattr(sys, "last_value", None)
    for session, presence in list(_PRESENT.items()):
        if not session.is_closed:
            if error is not None:
                tell_failure(session, error)
            presence.leave()
    lasting_clients.leave()
    tell_end(error)


atexit.register(_leave_at_exit)
