"""Signals before the kill: noted once armed, given back, and the program's own handlers stay."""

import os
import re
import signal
import subprocess
import sys
import threading

import pytest

from weft.platform.process.stop_signals import StopSignals

USR1 = {"WEFT_STOP_SIGNALS": "SIGUSR1"}


@pytest.fixture
def armed():
    """Signals that are armed; disarmed at the end."""
    made = []

    def arm(**more):
        made.append(StopSignals({**USR1, **more}))
        made[-1].arm()
        return made[-1]

    yield arm
    for each in made:
        each.disarm()


def test_a_signal_is_noted_and_stands_for_an_exit_code(armed):
    signals = armed()
    assert signals.exit_code == 0
    os.kill(os.getpid(), signal.SIGUSR1)
    assert signals.exit_code == 128 + signal.SIGUSR1
    assert signals.name == "SIGUSR1"
    assert not signals.is_overdue


def test_without_the_variable_nothing_is_taken():
    signals = StopSignals({})
    signals.arm()
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL
    assert not signals.is_wanted


def test_a_programs_own_handler_stays(armed):
    came = []
    before = signal.signal(signal.SIGUSR1, lambda *_: came.append(1))
    try:
        assert not armed().exit_code
        os.kill(os.getpid(), signal.SIGUSR1)
        assert came == [1]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_signals_are_given_back():
    signals = StopSignals(USR1)
    signals.arm()
    signals.disarm()
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL


def test_a_step_that_does_not_end_is_left(armed):
    armed(WEFT_STOP_GRACE_S="0.2")
    os.kill(os.getpid(), signal.SIGUSR1)
    with pytest.raises(SystemExit) as caught:
        threading.Event().wait(60)
    assert caught.value.code == 128 + signal.SIGUSR1


def test_who_leaves_already_is_not_interrupted(armed):
    signals = armed(WEFT_STOP_GRACE_S="0")
    signals.begin_leaving()
    os.kill(os.getpid(), signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGUSR1)
    assert signals.is_overdue


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"WEFT_STOP_SIGNALS": "USR1"}, "WEFT_STOP_SIGNALS should name signals, such as 'SIGTERM,SIGUSR1': there is no 'USR1'"),
        ({"WEFT_STOP_GRACE_S": "long"}, "WEFT_STOP_GRACE_S should be seconds, and is 'long'"),
    ],
)
def test_what_is_no_signal_is_refused(environment, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        StopSignals(environment)


TRAINING = """
import os, signal
import weft as tf
step = tf.train.get_or_create_global_step()
add = step.assign_add(1)
with tf.train.MonitoredTrainingSession(checkpoint_dir={folder!r}, save_checkpoint_secs=3600) as session:
    while not session.should_stop():
        if session.run(add) == 5:
            os.kill(os.getpid(), signal.SIGTERM)
print("not reached")
"""


def test_training_that_is_told_of_its_end_saves_and_exits(tmp_path):
    environment = {**os.environ, "WEFT_STOP_SIGNALS": "SIGTERM"}
    program = TRAINING.format(folder=str(tmp_path))
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=100)
    assert ran.returncode == 143, ran.stderr
    assert ran.stdout == ""
    assert "SIGTERM: training stops after this step, and the model is saved" in ran.stderr
    # The signal came after the fifth step, and the sixth ended before the loop did.
    assert 'model.ckpt-6"' in (tmp_path / "checkpoint").read_text()
