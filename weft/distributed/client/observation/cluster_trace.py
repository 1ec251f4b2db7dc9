"""ClusterTrace: what all tasks of a cluster did for a while, as one trace that Perfetto and chrome://tracing show.

Each task is a process of the trace. Steps of its master are in one group of its threads, the parts that its worker ran in
another: the stages of a part lie in it, behind the time that they were ready and did not run yet. Arrows lead from a master's
asking to the part, from a stage that sent to the part that received, and from a part's end to the master that was told. Clocks
are aligned by round trips.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from weft.distributed.client.observation.observing import ClusterObserver, Json
from weft.distributed.client.observation.task_report import short_name
from weft.errors import OpError, UnavailableError

_ANSWER_S: Final = 30.0
_BEYOND_S: Final = 30.0  # how much longer tasks record than they are asked for, in case nobody ends it
_QUEUED_S: Final = 20e-6  # ready for less before it ran, a stage has not waited
_INSIDE_S: Final = 1e-6
_WORKER: Final = 1000
_GROUPS: Final = ((0, "steps", "step"), (2000, "compiling", "compile"), (3000, "client", "client"))
"""Of events with threads of their own: the first thread, what it is called, and of which kind the events are."""


@dataclass(frozen=True)
class TaskEvent:
    """Something that a task recorded, in seconds since the epoch by this process's clock."""

    task: str
    kind: str
    name: str
    begin_s: float
    end_s: float
    more: Json


class ClusterTrace:
    """What was recorded.

    Args:
        events: of all tasks.
        missing: by task, why nothing was had of it.
        dropped: by task, how many events were too many.
    """

    def __init__(self, events: list[TaskEvent], missing: Mapping[str, str], dropped: Mapping[str, int]) -> None:
        self.events = sorted(events, key=lambda event: event.begin_s)
        self.missing = dict(missing)
        self.dropped = {task: count for task, count in dropped.items() if count}

    @property
    def steps(self) -> int:
        """How many steps of masters it has."""
        return sum(event.kind == "step" for event in self.events)

    def as_json(self) -> str:
        """The trace in Chrome's format."""
        told = {"missing": self.missing, "dropped": self.dropped}
        # No `displayTimeUnit`: Perfetto has taken it for the unit of the times, and `ms` is what viewers show without it.
        return json.dumps({"traceEvents": list(_trace_events(self.events)), "otherData": told})


class ClusterRecording:
    """A recording of all tasks of a cluster that is under way: it begins when it is made, and `end` is called once.

    Args:
        address: `host:port` of any of its tasks.
        seconds: how long it may take, about.
        name: what the trace calls this process.

    Raises:
        UnavailableError: none of the tasks can be recorded. Other errors are as those of `TaskObserver.report`.
    """

    def __init__(self, address: str, seconds: float = 10.0, name: str = "client") -> None:
        self._name = name
        self._observer = ClusterObserver(address, timeout_s=_ANSWER_S)
        try:
            self._observer.open()
            limit_s = seconds + _BEYOND_S
            offsets = self._observer.of_all(lambda task: task.clock_offset_s(_ANSWER_S))
            known = [task for task, offset_s in offsets.items() if isinstance(offset_s, float)]
            begun = self._observer.of_all(lambda task: task.begin_recording(limit_s, _ANSWER_S), known)
            self._began = {**offsets, **{task: failed for task, failed in begun.items() if failed is not None}}
            failed = [answer.message for answer in self._began.values() if isinstance(answer, OpError)]
            if len(failed) == len(self._began):
                raise UnavailableError.of("; ".join(failed))
        except BaseException:
            self._observer.close()
            raise
        self._begin_s = time.time()

    def end(self) -> ClusterTrace:
        """End it; returns what was recorded."""
        end_s = time.time()
        try:
            ended = self._observer.of_all(lambda task: task.end_recording(_ANSWER_S))
        finally:
            self._observer.close()
        events = [TaskEvent(self._name, "client", "run", self._begin_s, end_s, {})]
        missing, dropped = {}, {}
        for task, answer in ended.items():
            offset_s = self._began[task]
            failed = offset_s if isinstance(offset_s, OpError) else answer if isinstance(answer, OpError) else None
            if isinstance(offset_s, float) and isinstance(answer, dict):
                dropped[task] = int(answer["dropped"])
                events += [
                    TaskEvent(task, kind, what, a - offset_s, b - offset_s, more) for kind, what, a, b, more in answer["events"]
                ]
            elif failed is not None:
                missing[task] = failed.message
        return ClusterTrace([_shifted(event, self._began) for event in events], missing, dropped)


def record(address: str, run: Callable[[], object], seconds: float = 10.0, name: str = "client") -> ClusterTrace:
    """Record all tasks of a cluster while something runs.

    Args:
        address: `host:port` of any of its tasks.
        run: what to wait for; it stands in the trace as the client's.
        seconds: how long it may take, about.
        name: what the trace calls it.

    Raises:
        UnavailableError: none of the tasks could be recorded. Other errors are as those of `TaskObserver.report`.
    """
    recording = ClusterRecording(address, seconds, name)
    try:
        run()
    except BaseException:
        recording.end()
        raise
    return recording.end()


def _shifted(event: TaskEvent, offsets: Mapping[str, float | OpError]) -> TaskEvent:
    """With all its times by this process's clock."""
    offset_s = offsets.get(event.task, 0.0)
    if event.kind != "stage" or not isinstance(offset_s, float):
        return event
    more = {**event.more, "ready_s": event.more["ready_s"] - offset_s}
    return TaskEvent(event.task, event.kind, event.name, event.begin_s, event.end_s, more)


class _Lanes:
    """Threads of one group of a process of the trace: what overlaps gets another one."""

    def __init__(self, process: int, first: int) -> None:
        self._process = process
        self._first = first
        self._ends: list[float] = []

    def take(self, begin_s: float, end_s: float) -> int:
        """The first thread that is free by then."""
        lane = next((i for i, end in enumerate(self._ends) if end <= begin_s), len(self._ends))
        self._ends[lane : lane + 1] = [end_s]
        return self._first + lane

    def names(self, what: str) -> Iterator[Json]:
        """What the threads are called."""
        for lane in range(len(self._ends)):
            yield _named("thread_name", self._process, f"{what} {lane}" if lane else what, self._first + lane)


def _trace_events(events: list[TaskEvent]) -> Iterator[Json]:
    if not events:
        return
    zero_s = events[0].begin_s
    processes = {task: i + 1 for i, task in enumerate(sorted({event.task for event in events}))}
    for task, process in processes.items():
        yield _named("process_name", process, short_name(task))
    arrows = _Arrows(zero_s)
    for task, process in processes.items():
        own = [event for event in events if event.task == task]
        for first, what, kind in _GROUPS:
            lanes = _Lanes(process, first)
            for event in own:
                if event.kind == kind:
                    lane = lanes.take(event.begin_s, event.end_s)
                    yield _slice(event, process, lane, zero_s, event.kind)
                    if event.kind == "step":
                        arrows.note_step(event, process, lane)
            yield from lanes.names(what)
        yield from _parts(own, process, zero_s, arrows)
    arrows.note_messages(events)
    yield from arrows.made()


def _parts(own: list[TaskEvent], process: int, zero_s: float, arrows: _Arrows) -> Iterator[Json]:
    """The parts of a task with their stages, and the time that these were ready and did not run."""
    lanes, side = _Lanes(process, _WORKER), _Lanes(process, _WORKER + 500)
    place: dict[str, int] = {}
    busy: dict[str, float] = {}
    ends: dict[str, float] = {}
    for event in own:
        if event.kind == "stage":
            ends[event.more["step"]] = max(ends.get(event.more["step"], 0.0), event.end_s)
    for event in own:
        if event.kind == "part":
            step = event.more["step"]
            # Its last stage says that the part is over before it has noted its own end.
            event = replace(event, end_s=max(event.end_s, ends.get(step, 0.0)))
            place[step] = lane = lanes.take(event.begin_s, event.end_s)
            busy[step] = event.begin_s
            yield _slice(event, process, lane, zero_s, "part")
            arrows.note_part(event, process, lane)
    for event in own:
        if event.kind != "stage":
            continue
        step = event.more["step"]
        fits = step in place and event.begin_s >= busy[step]
        lane = place[step] if fits else side.take(event.begin_s, event.end_s)
        ready_s = max(event.more["ready_s"], busy.get(step, event.begin_s))
        if fits:
            if event.begin_s - ready_s >= _QUEUED_S:
                queued = TaskEvent(event.task, "queued", "queued", ready_s, event.begin_s, {"step": step})
                yield _slice(queued, process, lane, zero_s, "queue")
            busy[step] = event.end_s
        yield _slice(event, process, lane, zero_s, event.more["way"])
        arrows.note_stage(event, process, lane)
    yield from lanes.names("parts")
    yield from side.names("stages beside others")


class _Place(NamedTuple):
    """Where an event is drawn: a process and a thread of the trace, and from when to when."""

    process: int
    lane: int
    begin_s: float
    end_s: float

    def nearest(self, at_s: float) -> float:
        """The moment in it that is nearest to another one; viewers take its end for outside."""
        return max(self.begin_s, min(at_s, self.end_s - _INSIDE_S))


class _Arrows:
    """Pairs of moments that belong together, found by step and by edge."""

    def __init__(self, zero_s: float) -> None:
        self._zero_s = zero_s
        self._steps: dict[str, _Place] = {}
        self._parts: dict[tuple[str, str], _Place] = {}
        self._stages: dict[tuple[str, str, float], _Place] = {}
        self._pairs: list[tuple[str, tuple[_Place, float], tuple[_Place, float]]] = []

    def note_step(self, event: TaskEvent, process: int, lane: int) -> None:
        """Take note of where a master's step is."""
        self._steps[event.more["step"]] = _Place(process, lane, event.begin_s, event.end_s)

    def note_part(self, event: TaskEvent, process: int, lane: int) -> None:
        """Take note of where a part is."""
        self._parts[event.more["step"], event.task] = _Place(process, lane, event.begin_s, event.end_s)

    def note_stage(self, event: TaskEvent, process: int, lane: int) -> None:
        """Take note of where a stage is."""
        self._stages[event.more["step"], event.task, event.begin_s] = _Place(process, lane, event.begin_s, event.end_s)

    def note_messages(self, events: list[TaskEvent]) -> None:
        """Find the pairs of all that was asked, sent and told."""
        sends = {(e.more["step"], e.task, e.more["edge"]): e for e in events if e.kind == "send"}
        for event in events:
            step = str(event.more.get("step", ""))
            run = self._steps.get(step)
            part = self._parts.get((step, event.name))
            if event.kind == "ask" and run and part:
                self._add("ask", run, event.begin_s, part, max(part.begin_s, event.begin_s))
            elif event.kind == "done" and run and part:
                self._add("done", part, min(part.end_s, event.begin_s), run, event.begin_s)
            elif event.kind == "receive":
                self._add_transfer(event, sends.get((step, event.name, event.more["edge"])))

    def _add_transfer(self, event: TaskEvent, send: TaskEvent | None) -> None:
        there = self._parts.get((event.more["step"], event.task))
        here = None if send is None else self._stages.get((send.more["step"], send.task, send.begin_s))
        if send is not None and here is not None and there is not None:
            self._add(f"{event.more['bytes']} bytes", here, min(send.end_s, event.begin_s), there, event.begin_s)

    def _add(self, name: str, here: _Place, begin_s: float, there: _Place, end_s: float) -> None:
        begin_s, end_s = here.nearest(begin_s), there.nearest(end_s)
        if end_s < begin_s:
            # Clocks agree but for half a round trip: an arrow that would lead back leads straight across, while both last.
            begin_s = end_s = here.nearest(end_s)
        self._pairs.append((name, (here, begin_s), (there, end_s)))

    def made(self) -> Iterator[Json]:
        """Both ends of each arrow."""
        for number, (name, begin, end) in enumerate(self._pairs):
            for phase, (place, at_s) in (("s", begin), ("f", end)):
                shared = {"cat": "message", "name": name, "id": number, "pid": place.process, "tid": place.lane}
                yield {"ph": phase, **shared, "ts": _us(at_s, self._zero_s), **({"bp": "e"} if phase == "f" else {})}


def _slice(event: TaskEvent, process: int, lane: int, zero_s: float, category: str) -> Json:
    begin = _us(event.begin_s, zero_s)
    more = {name: value for name, value in event.more.items() if value not in ("", [])}
    name = "part" if event.kind == "part" else event.name
    return {
        "ph": "X", "cat": category, "name": name, "pid": process, "tid": lane, "ts": begin,
        "dur": round(max(_us(event.end_s, zero_s) - begin, 0.001), 3), "args": more,
    }  # fmt: skip


def _named(kind: str, process: int, name: str, thread: int = 0) -> Json:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}


def _us(at_s: float, zero_s: float) -> float:
    return round((at_s - zero_s) * 1e6, 3)
