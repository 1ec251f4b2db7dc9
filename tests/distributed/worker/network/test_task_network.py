"""Two tasks talk over one connection: parts of steps are asked for, values pushed, and what waits for a lost peer ends."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.distributed.fake_workers import device, on_both, task
from weft.channel.listener import Listener, has_token
from weft.distributed.worker.network import link_repair
from weft.distributed.worker.network.asked_parts import AskedParts
from weft.distributed.worker.network.lost_links import LostLinks
from weft.distributed.worker.network.peer_connections import Admission
from weft.distributed.worker.network.task_network import TaskNetwork
from weft.errors import CancelledError, InvalidArgumentError, OpError, UnavailableError
from weft.passes.partition import Partition, partition
from weft.passes.prune import prune
from weft.passes.stage import Staging
from weft.protocol.master_step import PartDone, PartEvent, PartFailed
from weft.protocol.outcome_table import LANES
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.step.step import Step
from weft.runtime.worker import Worker

PATIENCE_S = 20.0


class Task:
    """A worker with its network, which listens for the other task."""

    def __init__(self, job: str) -> None:
        self.admissions: dict[str, Admission] = {}
        self.network: TaskNetwork
        self.worker = Worker(task(job), [device(job)], ord(job), ResourceManager(job), self._make_network)
        self.worker.sessions.create("s", tf.ConfigProto(), isolate=False)
        self.listener = Listener(
            "127.0.0.1", 0, receiver=self.worker.task, incarnation=self.worker.incarnation, has_permission=has_token(b"t"),
            on_connection=self.network.peers.accept, on_message=self.network.on_message, on_closed=self.network.on_closed,
        )  # fmt: skip

    def _make_network(self, worker: Worker) -> TaskNetwork:
        self.network = TaskNetwork(worker, self._admit)
        return self.network

    def _admit(self, name: str) -> Admission:
        if name not in self.admissions:
            raise UnavailableError(None, None, f"{name} is not there")
        return self.admissions[name]

    @property
    def admission(self) -> Admission:
        return Admission(tuple(self.listener.addresses), b"t", self.worker.incarnation)


class Answer:
    """Where a part of a step reports its end."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._result: tuple[Any, OpError | None] = (None, None)
        self.parts: list[Step] = []  # of the same step in the master's task
        self.context = b""

    def tell(self, event: PartEvent) -> None:
        assert not self._over.is_set()
        self._result = (event.fetches, None) if isinstance(event, PartDone) else (None, event.error)
        self._over.set()

    def put(self, action: Callable[[], None]) -> None:
        action()

    def repeat(self, task: str) -> None:
        self.ask(is_again=True)
        for part in self.parts:
            part.push_again(task)

    def ask(self, is_again: bool = False) -> None:
        """Ask for the part, for the first time or again."""

    def end(self, step: Step) -> None:
        """Take the end of a part that ran here."""
        self.tell(PartDone("here", step.fetches) if step.error is None else PartFailed("here", step.error))

    @property
    def values(self) -> list[Any]:
        assert self._over.wait(PATIENCE_S)
        fetches, error = self._result
        if error is not None:
            raise error
        return [np.asarray(value).tolist() for value in fetches]


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def tasks() -> Iterator[tuple[Task, Task]]:
    a, b = Task("a"), Task("b")
    a.admissions[b.worker.task], b.admissions[a.worker.task] = b.admission, a.admission
    yield a, b
    for each in (a, b):
        each.listener.stop()


def parts_of(feeds: Any, fetches: Any) -> dict[str, Partition]:
    ops = prune(fetches, feeds, [])
    placement = {op: f"{op.device or '/job:b'}/replica:0/task:0/device:CPU:0" for op in ops}
    return partition(ops, placement, Staging(ops, placement, feeds), feeds, fetches)


def blocked() -> tuple[tf.Tensor, tf.Operation]:
    """A dequeue on task b, and the enqueue that ends it."""
    with tf.device("/job:b"):
        queue = tf.FIFOQueue(1, tf.int32)
        return queue.dequeue(), queue.enqueue(1)


def wait_until(is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_done():
        assert time.monotonic() < deadline
        threading.Event().wait(0.005)


def test_a_peer_runs_its_part_and_answers(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    x = tf.placeholder(tf.float32, [2])
    handle = b.worker.register("s", parts_of([x], [x * 2.0])[b.worker.task])
    assert a.network.peers.incarnation_of(b.worker.task) == 0
    for step in range(3):
        answer = Answer()
        a.network.run_graph(b.worker.task, step, handle, [np.full(2, step, np.float32)], False, answer)
        assert answer.values == [[2.0 * step] * 2]
    assert a.network.peers.incarnation_of(b.worker.task) == b.worker.incarnation
    # The way back is the same connection.
    wait_until(lambda: b.network.peers.incarnation_of(a.worker.task) == a.worker.incarnation)


def test_a_value_is_pushed_to_the_step_that_waits_for_it(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    x, there, here = on_both()
    parts = parts_of([x], [there, here])
    handles = {each.worker.task: each.worker.register("s", parts[each.worker.task]) for each in tasks}
    answer, own = Answer(), Answer()
    a.network.run_graph(b.worker.task, 7, handles[b.worker.task], [], False, answer)
    a.worker.run_graph(7, handles[a.worker.task], [np.float32(3)], own.end)
    assert (own.values, answer.values) == ([9.0], [-9.0])


def test_a_peer_is_asked_with_the_first_value_for_it(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    x, there, here = on_both()
    parts = parts_of([x], [there, here])
    handles = {each.worker.task: each.worker.register("s", parts[each.worker.task]) for each in tasks}
    for step in range(3):
        answer, own = Answer(), Answer()
        a.network.run_graph(b.worker.task, step, handles[b.worker.task], [], False, answer, is_held=True)
        connection = a.network.peers.connect(b.worker.task)
        assert connection.outbox.is_holding
        a.worker.run_graph(step, handles[a.worker.task], [np.float32(step)], own.end)
        assert not connection.outbox.is_holding
        assert (own.values, answer.values) == ([step**2], [-(step**2)])


def test_a_peer_that_gets_no_value_is_asked_when_the_connection_is_flushed(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    x = tf.placeholder(tf.float32, [])
    handle = b.worker.register("s", parts_of([x], [x + 1.0])[b.worker.task])
    answer = Answer()
    a.network.run_graph(b.worker.task, 1, handle, [np.float32(1)], False, answer, is_held=True)
    a.network.flush(b.worker.task)
    assert answer.values == [2.0]


def test_a_peer_is_asked_by_the_connection_that_holds_it_when_another_has_taken_its_place(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    x = tf.placeholder(tf.float32, [])
    handle = b.worker.register("s", parts_of([x], [x + 1.0])[b.worker.task])
    answer = Answer()
    a.network.run_graph(b.worker.task, 1, handle, [np.float32(1)], False, answer, is_held=True)
    first = a.network.peers.by_task[b.worker.task]
    dialed_again(b, a)
    assert a.network.peers.by_task[b.worker.task] is not first
    a.network.flush(b.worker.task)
    assert answer.values == [2.0]


def test_the_connection_before_is_used_again_when_the_one_that_replaced_it_ends(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    first = a.network.peers.connect(b.worker.task)
    dialed_again(b, a)
    cut(a, b)
    wait_until(lambda: a.network.peers.by_task[b.worker.task] is first)
    assert a.network.peers.incarnation_of(b.worker.task) == b.worker.incarnation
    x = tf.placeholder(tf.float32, [])
    handle = b.worker.register("s", parts_of([x], [x + 1.0])[b.worker.task])
    answer = Answer()
    a.network.run_graph(b.worker.task, 1, handle, [np.float32(1)], False, answer)
    assert answer.values == [2.0]


def test_a_peer_that_was_not_asked_yet_is_told_that_the_step_is_given_up(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    dequeue, _ = blocked()
    handle = b.worker.register("s", parts_of([], [dequeue])[b.worker.task])
    a.network.run_graph(b.worker.task, 5, handle, [], False, Answer(), is_held=True)
    a.network.abort(b.worker.task, 5, CancelledError(None, None, "enough"))
    # What is asked for next is answered behind both.
    x = tf.placeholder(tf.float32, [])
    answer = Answer()
    handle = b.worker.register("s", parts_of([x], [x + 1.0])[b.worker.task])
    a.network.run_graph(b.worker.task, 6, handle, [np.float32(1)], False, answer)
    assert answer.values == [2.0]
    wait_until(lambda: b.worker.live_steps == 0)


def test_a_failure_comes_back_with_its_class_and_node(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    x = tf.placeholder(tf.float32)
    handle = b.worker.register("s", parts_of([x], [tf.reshape(x, [3], name="misfit")])[b.worker.task])
    answer = Answer()
    a.network.run_graph(b.worker.task, 1, handle, [np.ones(2, np.float32)], False, answer)
    with pytest.raises(InvalidArgumentError, match="requested shape has 3") as caught:
        _ = answer.values
    assert caught.value.node_def.name == "misfit"
    unknown = Answer()
    a.network.run_graph(b.worker.task, 2, "nothing", [], False, unknown)
    with pytest.raises(OpError, match="Graph handle nothing is not registered"):
        _ = unknown.values


def test_a_step_that_is_given_up_ends_at_the_peer(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    dequeue, _ = blocked()
    handle = b.worker.register("s", parts_of([], [dequeue])[b.worker.task])
    a.network.run_graph(b.worker.task, 5, handle, [], False, Answer())
    wait_until(lambda: b.worker.live_steps == 1)
    a.network.abort(b.worker.task, 5, CancelledError(None, None, "enough"))
    wait_until(lambda: b.worker.live_steps == 0)


def test_a_lost_connection_ends_what_waits_on_both_sides(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    dequeue, _ = blocked()
    handle = b.worker.register("s", parts_of([], [dequeue])[b.worker.task])
    answer = Answer()
    a.network.run_graph(b.worker.task, 5, handle, [], False, answer)
    wait_until(lambda: b.worker.live_steps == 1)
    a.network.peers.connect(b.worker.task).begin_close("enough")
    with pytest.raises(UnavailableError, match=f"Task {b.worker.task} is unavailable"):
        _ = answer.values
    wait_until(lambda: b.worker.live_steps == 0)
    assert a.network.peers.incarnation_of(b.worker.task) == 0
    # The next one is a new connection.
    again = Answer()
    x = tf.placeholder(tf.float32, [])
    handle = b.worker.register("s", parts_of([x], [x + 1.0])[b.worker.task])
    a.network.run_graph(b.worker.task, 6, handle, [np.float32(1)], False, again)
    assert again.values == [2.0]


class Asking(Answer):
    """A part of task b that task a asks for, again after a cut."""

    def __init__(self, a: Task, b: Task, step_id: int, handle: str, *feeds: Any) -> None:
        super().__init__()
        self._ask = lambda is_again: a.network.run_graph(
            b.worker.task, step_id, handle, list(feeds), False, self, is_again=is_again
        )
        self.ask()

    def ask(self, is_again: bool = False) -> None:
        self._ask(is_again)


def dialed_again(task: Task, peer: Task) -> None:
    """Have a task dial a peer that has dialed it already, as both may at once."""
    before = peer.network.peers.by_task[task.worker.task]
    wait_until(lambda: peer.worker.task in task.network.peers.by_task)
    del task.network.peers.by_task[peer.worker.task]
    task.network.peers.connect(peer.worker.task)
    wait_until(lambda: peer.network.peers.by_task[task.worker.task] is not before)


def cut(task: Task, peer: Task) -> None:
    """End the connections between two tasks, as a device between them does."""
    connection = task.network.peers.by_task.get(peer.worker.task)
    if connection is not None:
        connection.abort(ConnectionResetError("cut by the test"))


def counter(b: Task) -> tuple[str, Callable[[], int]]:
    """An increment on task b, registered there, and how often it was applied."""
    with tf.device("/job:b"):
        total = tf.Variable(0, name="total")
    begin = b.worker.register("s", parts_of([], [total.initializer.outputs[0]])[b.worker.task])
    b.worker.run_graph(1 << 40, begin, [], lambda step: None)
    read = b.worker.register("s", parts_of([], [total.value()])[b.worker.task])
    handle = b.worker.register("s", parts_of([], [total.assign_add(1)])[b.worker.task])
    steps = iter(range(1 << 41, 1 << 42))

    def applied() -> int:
        answer = Answer()
        b.worker.run_graph(next(steps), read, [], answer.end)
        return int(answer.values[0])

    return handle, applied


def test_a_part_goes_on_when_the_connection_by_which_it_was_asked_for_is_cut(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    dequeue, enqueue = blocked()
    handle = b.worker.register("s", parts_of([], [dequeue])[b.worker.task])
    answer = Asking(a, b, 5, handle)
    wait_until(lambda: b.worker.live_steps == 1)
    first = a.network.peers.by_task.get(b.worker.task)
    cut(a, b)
    wait_until(lambda: a.network.peers.by_task.get(b.worker.task) not in (None, first))
    ops = prune([], [], [enqueue])
    placement = {op: device("b") for op in ops}
    part = partition(ops, placement, Staging(ops, placement, []), [], [])[b.worker.task]
    b.worker.run_graph(6, b.worker.register("s", part), [], lambda step: None)
    assert answer.values == [1]


def test_a_part_that_was_over_before_the_cut_answers_again_with_what_it_answered(
    tasks: tuple[Task, Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = tasks
    handle, applied = counter(b)
    answer = Asking(a, b, 5, handle)
    assert answer.values == [1]
    again = Answer()
    a.network.run_graph(b.worker.task, 5, handle, [], False, again)
    assert again.values == [1]
    assert applied() == 1


def test_a_master_that_is_there_again_and_does_not_ask_has_given_the_part_up(
    tasks: tuple[Task, Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = tasks
    monkeypatch.setattr(link_repair, "_GRACE_S", 0.05)
    dequeue, _ = blocked()
    answer = Answer()  # which asks for nothing again
    a.network.run_graph(b.worker.task, 5, b.worker.register("s", parts_of([], [dequeue])[b.worker.task]), [], False, answer)
    wait_until(lambda: b.worker.live_steps == 1)
    cut(a, b)
    wait_until(lambda: b.worker.live_steps == 0)


def test_a_part_that_comes_by_another_connection_outlives_the_one_that_was_cut_before(
    tasks: tuple[Task, Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = tasks
    a.network.peers.connect(b.worker.task)
    wait_until(lambda: a.worker.task in b.network.peers.by_task)
    before = b.network.peers.by_task[a.worker.task]
    x, there, here = on_both()
    parts = parts_of([x], [there, here])
    handles = {each.worker.task: each.worker.register("s", parts[each.worker.task]) for each in tasks}
    cut(a, b)
    wait_until(lambda: a.worker.task not in b.network.peers.by_task and before.is_closed)
    asked, steps_with = [], b.worker.steps_with

    def steps_before(peer: str) -> list[Step]:
        """Which steps needed a cut connection, and then the next step begins, by another."""
        monkeypatch.setattr(b.worker, "steps_with", steps_with)
        found = steps_with(peer)
        asked.append(Asking(a, b, 7, handles[b.worker.task]))
        wait_until(lambda: b.worker.live_steps == 1)
        return found

    monkeypatch.setattr(b.worker, "steps_with", steps_before)
    LostLinks(b.worker, b.network.peers, {}, AskedParts(b.worker)).note(before, a.worker.task, before.cause)
    own = Answer()
    asked[0].parts.append(a.worker.run_graph(7, handles[a.worker.task], [np.float32(3)], own.end))
    assert (own.values, asked[0].values) == ([9.0], [-9.0])


def test_increments_under_random_cuts_count_once(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    handle, applied = counter(b)
    cuts, rng = 0, random.Random(5)
    with ThreadPoolExecutor(4) as pool:

        def work(lane: int) -> None:
            for number in range(100):
                assert Asking(a, b, lane + number * LANES, handle).values

        done = [pool.submit(work, lane) for lane in range(4)]
        while not all(each.done() for each in done):
            threading.Event().wait(rng.uniform(0.0, 0.02))
            cut(*rng.choice([(a, b), (b, a)]))
            cuts += 1
        for each in done:
            each.result()
    assert applied() == 400
    assert cuts > 5


def test_values_pushed_under_random_cuts_arrive_once(tasks: tuple[Task, Task]) -> None:
    a, b = tasks
    rng = random.Random(6)
    x, there, here = on_both()
    parts = parts_of([x], [there, here])
    handles = {each.worker.task: each.worker.register("s", parts[each.worker.task]) for each in tasks}
    with ThreadPoolExecutor(3) as pool:

        def work(lane: int) -> None:
            for number in range(60):
                own, step = Answer(), lane + number * LANES
                asked = Asking(a, b, step, handles[b.worker.task])
                asked.parts.append(a.worker.run_graph(step, handles[a.worker.task], [np.float32(number)], own.end))
                assert (own.values, asked.values) == ([number**2], [-(number**2)])

        done = [pool.submit(work, lane) for lane in range(3)]
        while not all(each.done() for each in done):
            threading.Event().wait(rng.uniform(0.0, 0.03))
            cut(*rng.choice([(a, b), (b, a)]))
        for each in done:
            each.result()


def test_a_peer_that_is_not_there_is_told_at_once(tasks: tuple[Task, Task]) -> None:
    a, _ = tasks
    with pytest.raises(UnavailableError, match="is not there"):
        a.network.run_graph(task("c"), 1, "graph", [], False, Answer())
    with pytest.raises(UnavailableError, match="is not there"):
        a.network.push(task("c"), 1, [0], [np.float32(1)])
    a.network.abort(task("c"), 1, CancelledError(None, None, "never began"))
