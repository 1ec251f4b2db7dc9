"""A traceback has the program's frames, and one of weft: the call that failed."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import weft as tf
from weft.platform.tracebacks import short_traceback
from weft.platform.tracebacks.short_traceback import kept_frames, text_of

WEFT = str(Path(tf.errors.__file__).parent)
MAIN, MODEL = "/home/me/train.py", "/home/me/model.py"
SESSION, BUILDER = f"{WEFT}/client/session.py", f"{WEFT}/framework/building/op_builder.py"
JAX = "/env/lib/python3.11/site-packages/jax/core.py"
GYM = "/env/lib/python3.11/site-packages/gym/core.py"


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ([MAIN, MODEL], [0, 1]),
        ([MAIN, SESSION, BUILDER], [0, 1]),
        ([MAIN, SESSION, JAX, BUILDER], [0, 1]),
        ([MAIN, SESSION, MODEL, BUILDER, BUILDER], [0, 2, 3]),
        ([MAIN, SESSION, MODEL], [0, 2]),
        ([MAIN, SESSION, GYM], [0, 2]),
        ([SESSION, BUILDER], [0]),
        ([MAIN, contextlib.__file__, BUILDER], [0, 2]),
        ([MAIN, SESSION, contextlib.__file__, MODEL], [0, 3]),
    ],
)
def test_frames_that_are_shown(files: list[str], kept: list[int]) -> None:
    assert kept_frames(files) == kept


def failing() -> Exception:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("w", [2])
        try:
            session.run(variable)
        except tf.errors.FailedPreconditionError as error:
            return error
    raise AssertionError


def test_the_switch_shows_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    short = text_of(failing())
    monkeypatch.setenv(short_traceback.SWITCH, "1")
    full = text_of(failing())
    assert short.partition("uninitialized")[0].count(f'"{WEFT}') == 1
    assert full.partition("uninitialized")[0].count(f'"{WEFT}') > 5


def test_a_program_that_fails_shows_its_own_lines(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text("import weft as tf\n\ndef main():\n    tf.reduce_sum([1.0], axes=0)\n\nmain()\n")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=False)
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    frames = [line for line in lines if line.startswith('  File "')]
    assert sum(str(program) in frame for frame in frames) == 2
    assert sum(WEFT in frame for frame in frames) <= 1
    assert lines[-1].endswith("Did you mean 'axis'?")


def test_the_error_of_a_failed_thread_is_kept_as_the_cause() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(2, [tf.float32], shapes=[[]], name="q")
        put = queue.enqueue(tf.check_numerics(tf.log(-1.0), "bad", name="check"))
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [put]))
        element = queue.dequeue()
        coordinator = tf.train.Coordinator(clean_stop_exception_types=(tf.errors.InvalidArgumentError,))
        threads = tf.train.start_queue_runners(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError) as caught:
            session.run(element)
        coordinator.join(threads)
    assert isinstance(caught.value.__cause__, tf.errors.InvalidArgumentError)
    assert "The thread that fills it has failed: InvalidArgumentError: bad" in str(caught.value)
    text = text_of(caught.value)
    assert text.index("InvalidArgumentError: bad") < text.index("OutOfRangeError")


def test_the_start_of_a_thread_is_left_out() -> None:
    session = str(Path(short_traceback.__file__).parents[2] / "client" / "session.py")
    assert kept_frames([threading.__file__, threading.__file__, "/home/user/train.py", session]) == [2, 3]
