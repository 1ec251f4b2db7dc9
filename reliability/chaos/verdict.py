"""What a job's records must show: the right step count, no update lost or doubled, objects that do one thing at a time."""

from __future__ import annotations

import itertools
import json
import math
import os
from dataclasses import dataclass
from typing import Any, Protocol

import weft as tf
from reliability.chaos import history
from reliability.chaos.history import OK, Operation
from reliability.chaos.linearizability import check_counter, check_queue, check_register
from reliability.chaos.probe import Objects
from reliability.chaos.programs import SERVERS, WORKERS, Job


@dataclass(frozen=True)
class Happening:
    """What happened to which task, and when."""

    fault: str
    kind: str
    index: int
    at: float


class Outcome(Protocol):
    """What the verdict fills in."""

    detected_s: float | None
    recovered_s: float | None
    operations: int
    problems: list[str]


def judge(job: Job, outcome: Outcome, happening: Happening) -> None:
    """Compare the records and the final state with what they must be."""
    probes, _ = history.read(job.folder.glob("probe-*.jsonl"))
    steps, notes = history.read(job.folder.glob("train-*.jsonl"))
    final = _final_state(job)
    outcome.operations = len(probes)
    outcome.problems += _training_problems(job, steps, notes, final, happening)
    outcome.problems += _object_problems(probes, final, happening)
    outcome.detected_s, outcome.recovered_s = _times(probes, steps, notes, happening)


def _final_state(job: Job) -> dict[str, Any]:
    """Read, in a process of its own, what the parameter servers hold at the end."""
    path = job.folder / "final.json"
    pid = os.fork()
    if not pid:
        status = 1
        try:
            path.write_text(json.dumps(_read_final_state(job)))
            status = 0
        finally:
            os._exit(status)
    os.waitpid(pid, 0)
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _read_final_state(job: Job) -> dict[str, Any]:
    objects = Objects()
    with objects.graph.as_default(), tf.device("/job:ps/task:0"):
        step = tf.get_variable("global_step", [], tf.int64, trainable=False)
        weights = []
        for index in range(SERVERS):
            # The round robin of the device setter: the step is the first variable.
            with tf.device(f"/job:ps/task:{(index + 1) % SERVERS}"):
                weights.append(tf.get_variable(f"w{index}", [8]))
    config = tf.ConfigProto(device_filters=["/job:ps"], operation_timeout_in_ms=20_000)
    with tf.Session(f"grpc://{job.cluster['ps'][0]}", graph=objects.graph, config=config) as session:
        state = {"step": int(session.run(step)), "weights": [session.run(each).tolist() for each in weights]}
        for target, kind in objects.calls:
            if kind == "read":
                try:
                    state[target] = objects.call(session, target, kind, None)
                except tf.errors.FailedPreconditionError:
                    state[target] = None
        for index in range(SERVERS):
            queue = f"queue{index}"
            size = objects.call(session, queue, "size", None) or 0
            state[queue] = [objects.call(session, queue, "dequeue", None) for _ in range(size)]
        return state


def _training_problems(
    job: Job, steps: list[Operation], notes: list[dict[str, Any]], final: dict[str, Any], happening: Happening
) -> list[str]:
    if not final:
        return ["the final state cannot be read"]
    problems = []
    step, weights = final["step"], final["weights"]
    done = sum(each.status == OK for each in steps)
    # A step has no known end where its worker was killed, or where the session had to be made again under it: it may have been
    # applied to one variable and not to another.
    renewed = sum(note["kind"] == "session" for note in notes) - WORKERS
    unknown = sum(each.status != OK for each in steps) + renewed
    # A worker reads the step beside its own update, before or behind it, and the others may have begun one meanwhile: two for
    # each, and one for each new session.
    last = job.steps + 2 * WORKERS + renewed
    if not job.steps <= step <= last:
        problems.append(f"the job ended at step {step}, {job.steps} to {last} are right")
    is_lost = happening.fault == "kill ps"
    for index, values in enumerate(weights):
        counted = -round(values[0])
        if len(set(values)) != 1:
            problems.append(f"an update of w{index} was applied in part: {values}")
        # What a killed parameter server held is of the moment of its last checkpoint, and so is the step beside it.
        elif abs(counted - step) > unknown and not (is_lost and (index + 1) % SERVERS):
            problems.append(f"w{index} has {counted} updates at step {step}, {unknown} steps have no known end")
    if not job.is_sync and not is_lost and not done <= step <= done + unknown:
        problems.append(f"{done} steps were confirmed and {unknown} have no known end, the step count is {step}")
    return problems


def _object_problems(probes: list[Operation], final: dict[str, Any], happening: Happening) -> list[str]:
    problems = []
    for target in sorted({each.target for each in probes}):
        mine = [each for each in probes if each.target == target]
        is_lost = happening.fault == "kill ps" and target.endswith(str(happening.index))
        if is_lost:
            # What a killed process held is gone; until then it was in order.
            mine = history.until(mine, happening.at)
        else:
            mine += _final_operations(target, final)
        if target.startswith(("counter", "accumulator")):
            problems += check_counter(mine)
        elif target.startswith("register"):
            problems += check_register(mine, initial=0)
        else:
            problems += check_queue(mine, is_drained=not is_lost)
    return problems


def _final_operations(target: str, final: dict[str, Any]) -> list[Operation]:
    """The final state as operations behind all others."""
    value = final.get(target)
    if isinstance(value, list):
        return [
            Operation("end", target, "dequeue", None, each, OK, 1e15 + i, 1e15 + i + 0.5) for i, each in enumerate(value)
        ]  # fmt: skip
    return [] if value is None else [Operation("end", target, "read", None, value, OK, 1e15, 1e15 + 1)]


def _times(
    probes: list[Operation], steps: list[Operation], notes: list[dict[str, Any]], happening: Happening
) -> tuple[float | None, float | None]:
    """When others first knew of the fault, and how long their training paused; None where they did not notice it."""
    victim = f"worker-{happening.index}." if happening.kind == "worker" else "-"
    others = [each for each in steps if each.status == OK and not each.process.startswith(victim)]
    done = sorted(each.end for each in others)
    gaps = [b - a for a, b in itertools.pairwise(done) if b > happening.at]
    errors = [each for each in probes if each.error and each.error != "empty" and not each.process.startswith(victim)]
    ends = [each.told for each in errors if each.told > happening.at]
    renewed = [note["t"] for note in notes if note["kind"] == "session" and note["t"] > happening.at]
    told = min([*ends, *renewed], default=math.inf)
    return (None if math.isinf(told) else told - happening.at), max(gaps, default=None)
