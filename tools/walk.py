"""Count what one step walks through: Python calls, functions, files and folders of weft, in three real processes.

A client feeds `[4, 64]` to a session on a worker, which multiplies it by a variable of the parameter server; the server
reduces the product and the client fetches the sum. Every process counts the calls of its own threads with `sys.setprofile`.
Warm steps come first. Of the steps that are counted the one in the middle is printed: which thread reads is a matter of chance.

    make walk                   the table
    make walk WALK=--calls      the calls of each process too, thread by thread, in order
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np

import weft as tf
from weft.distributed.server.local_cluster import free_addresses

_ROOT: Final = str(Path(tf.__file__).parent) + "/"
_WAITING: Final = ("channel/waiting/", "platform/process/interrupts.py", "protocol/reader_")
_WARM_STEPS: Final = 120  # more than a stage of little work runs on the host before its code is made
_CODE_S: Final = 60.0  # that long the code may take
_AGAIN_STEPS: Final = 5  # before each step that is counted: a pause has let the connections' own threads take the turn
_COUNTED_STEPS: Final = 15
_SETTLE_S: Final = 0.03  # a process may still tidy up when the client has its answer

Calls = dict[int, list[tuple[str, str]]]
"""By thread: the file in weft and the function of each call, in order."""


class Recorder:
    """Notes the calls of every thread that is started after it is installed, and of the one that installs it."""

    def __init__(self) -> None:
        self.is_on = False
        self._calls: dict[int, list[CodeType]] = {}

    def install(self) -> None:
        """Begin to listen; nothing is noted before `is_on`."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, argument: object) -> None:
        if self.is_on and event == "call":
            self._calls.setdefault(threading.get_ident(), []).append(frame.f_code)

    def take(self) -> Calls:
        """Stop noting; return what was noted of weft."""
        self.is_on = False
        noted, self._calls = self._calls, {}
        here = {
            thread: [_call(code) for code in codes if code.co_filename.startswith(_ROOT)] for thread, codes in noted.items()
        }
        return {thread: calls for thread, calls in here.items() if calls}


def _call(code: CodeType) -> tuple[str, str]:
    return code.co_filename.removeprefix(_ROOT), code.co_qualname


def _serve(spec: dict[str, Any], job: str, pipe: Connection) -> None:
    recorder = Recorder()
    recorder.install()
    server = tf.train.Server(spec, job, 0)
    sys.setprofile(None)  # this thread only obeys
    pipe.send(None)
    while (order := pipe.recv()) != "stop":
        if order == "note":
            recorder.is_on = True
            pipe.send(None)
        else:
            pipe.send(recorder.take())
    server.stop()


class _Task:
    """A server in a process of its own, which notes calls when it is told to."""

    def __init__(self, spec: dict[str, Any], job: str) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=_serve, args=(spec, job, theirs), daemon=True)
        self._process.start()

    def ask(self, order: str) -> Any:
        self._pipe.send(order)
        return self._pipe.recv()

    def wait(self) -> None:
        self._pipe.recv()

    def stop(self) -> None:
        self._pipe.send("stop")
        self._process.join()


@dataclass(frozen=True)
class Figures:
    """What one process, or all together, walked through."""

    calls: int
    functions: int
    files: int
    folders: int
    file_changes: int
    folder_changes: int
    waiting: int
    threads: int


def figures_of(walks: Sequence[Calls]) -> Figures:
    """The figures of some processes; changes are counted along each thread."""
    threads = [calls for walk in walks for calls in walk.values()]
    calls = [call for thread in threads for call in thread]
    folder = {file: file.rpartition("/")[0] for file, _ in calls}
    pairs = [pair for thread in threads for pair in itertools.pairwise(thread)]
    return Figures(
        calls=len(calls),
        functions=len(set(calls)),
        files=len(folder),
        folders=len(set(folder.values())),
        file_changes=sum(a[0] != b[0] for a, b in pairs),
        folder_changes=sum(folder[a[0]] != folder[b[0]] for a, b in pairs),
        waiting=sum(file.startswith(_WAITING) for file, _ in calls),
        threads=len(threads),
    )


def walk_fed_step() -> dict[str, Calls]:
    """The calls of one warm step by process."""
    recorder = Recorder()
    recorder.install()
    addresses = free_addresses(2)
    spec = {"worker": addresses[:1], "ps": addresses[1:]}
    tasks = {job: _Task(spec, job) for job in spec}
    for task in tasks.values():
        task.wait()
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            weights = tf.Variable(np.ones((64, 32), np.float32))
        with tf.device("/job:worker"):
            fed = tf.placeholder(tf.float32, [4, 64])
            product = tf.matmul(fed, weights)
        with tf.device("/job:ps"):
            total = tf.reduce_sum(product)
        value = np.ones((4, 64), np.float32)
        with tf.Session(f"grpc://{addresses[0]}") as session:
            session.run(weights.initializer)

            def steps(count: int) -> None:
                for _ in range(count):
                    session.run(total, {fed: value})

            steps(_WARM_STEPS)
            tf.explain(total, {fed: value}, session, wait_s=_CODE_S)
            steps(_WARM_STEPS)
            samples = []
            for _ in range(_COUNTED_STEPS):
                steps(_AGAIN_STEPS)
                for task in tasks.values():
                    task.ask("note")
                recorder.is_on = True
                session.run(total, {fed: value})
                recorder.is_on = False
                time.sleep(_SETTLE_S)
                samples.append({"client": recorder.take(), **{job: task.ask("take") for job, task in tasks.items()}})
    sys.setprofile(None)
    for task in tasks.values():
        task.stop()
    samples.sort(key=lambda sample: figures_of(list(sample.values())).calls)
    return samples[len(samples) // 2]


def _report(walks: dict[str, Calls]) -> None:
    columns = {**{name: figures_of([walk]) for name, walk in walks.items()}, "all": figures_of(list(walks.values()))}
    print(f"{'':16}" + "".join(f"{name:>8}" for name in columns))
    for field in Figures.__dataclass_fields__:
        print(f"{field.replace('_', ' '):16}" + "".join(f"{getattr(figures, field):8}" for figures in columns.values()))
    print(f"{'waiting, share':16}" + "".join(f"{f.waiting / max(f.calls, 1):8.0%}" for f in columns.values()))


def _print_calls(walks: dict[str, Calls]) -> None:
    for name, walk in walks.items():
        for number, calls in enumerate(walk.values()):
            print(f"\n{name}, thread {number}")
            for file, function in calls:
                print(f"  {file:48} {function}")


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--calls", action="store_true", help="print the calls themselves too")
    walks = walk_fed_step()
    _report(walks)
    if options.parse_args().calls:
        _print_calls(walks)


if __name__ == "__main__":
    main()
