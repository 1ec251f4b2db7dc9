"""Checkers of histories. Each is sound: what it reports cannot have happened to an object that does one thing at a time.

Counters are judged by bounds, registers by the search of Wing and Gong ("Testing and verifying concurrent objects", 1993) with
the memory of Lowe ("Testing for linearizability", 2017), queues by the rules of first in, first out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from reliability.chaos.history import FAIL, OK, UNKNOWN, Operation

MAX_STATES: Final = 200_000


def check_counter(history: Sequence[Operation], initial: int = 0) -> list[str]:
    """Judge a counter with operations `add` (by its argument, at least 0) and `read` (the result)."""
    adds = [each for each in history if each.kind == "add" and each.status != FAIL]
    problems = []
    for read in history:
        if read.kind != "read" or read.status != OK:
            continue
        low = initial + sum(add.argument for add in adds if add.status == OK and add.end < read.start)
        high = initial + sum(add.argument for add in adds if add.start < read.end)
        if not low <= read.result <= high:
            what = "an addition is lost" if read.result < low else "an addition was made twice"
            problems.append(f"{read.target}: {read.process} read {read.result}, possible are {low} to {high}: {what}")
    return problems


def check_register(history: Sequence[Operation], initial: Any = None) -> list[str]:
    """Judge a register with operations `write` (the argument) and `read` (the result)."""
    # An unknown write of a value that nobody read explains nothing: leaving it out keeps the search small.
    seen = {each.result for each in history if each.kind == "read" and each.status == OK}
    operations = [
        each for each in history
        if each.status == OK or (each.status == UNKNOWN and each.kind == "write" and each.argument in seen)
    ]  # fmt: skip
    required = sum(1 << i for i, each in enumerate(operations) if each.status == OK)
    found = _search(operations, required, initial)
    return [found] if found else []


def _search(operations: Sequence[Operation], required: int, initial: Any) -> str:
    """Look for an order in which every operation that is known to be done fits; depth first, no state twice.

    Returns '' where there is one, or it cannot be decided.
    """
    seen: set[tuple[int, Any]] = set()
    stack: list[tuple[int, Any]] = [(0, initial)]
    best, best_done = 0, -1
    while stack:
        done, value = stack.pop()
        if (done & required) == required:
            return ""
        if (done, value) in seen:
            continue
        if len(seen) >= MAX_STATES:
            # Not decided: a sound checker says nothing.
            return ""
        seen.add((done, value))
        if (done & required).bit_count() > best_done:
            best, best_done = done, (done & required).bit_count()
        # An operation may be next if no other that is still to come was over before it began.
        first_end = min(each.end for i, each in enumerate(operations) if not done >> i & 1)
        for i, each in enumerate(operations):
            if done >> i & 1 or each.start > first_end:
                continue
            if each.kind == "write":
                stack.append((done | 1 << i, each.argument))
            elif each.result == value:
                stack.append((done | 1 << i, value))
    blocked = next(each for i, each in enumerate(operations) if (required & ~best) >> i & 1)
    return f"{blocked.target}: no order of the operations explains that {blocked.process} got {blocked.result!r}"


def check_queue(history: Sequence[Operation], is_drained: bool = False) -> list[str]:
    """Judge a queue with operations `enqueue` (unique arguments) and `dequeue` (the result).

    With `is_drained` nothing is left in it, so that what never came out is lost, but for one element for each dequeue whose
    end is unknown.
    """
    into = {each.argument: each for each in history if each.kind == "enqueue" and each.status != FAIL}
    out = [each for each in history if each.kind == "dequeue" and each.status == OK]
    target = history[0].target if history else ""
    counts = Counter(each.result for each in out)
    problems = [f"{target}: {value} came out {count} times" for value, count in counts.items() if count > 1]
    problems += [f"{target}: {each.result} came out and was never put in" for each in out if each.result not in into]
    problems += [
        f"{target}: {each.result} came out before it was put in"
        for each in out if each.result in into and each.end < into[each.result].start
    ]  # fmt: skip
    problems += _out_of_order(target, into, {each.result: each for each in out if each.result in into})
    if is_drained:
        lost = [value for value, each in into.items() if each.status == OK and value not in counts]
        spent = sum(each.kind == "dequeue" and each.status == UNKNOWN for each in history)
        if len(lost) > spent:
            problems.append(f"{target}: {len(lost)} elements are lost, such as {lost[0]}; {spent} dequeues have no known end")
    return problems


def _out_of_order(target: str, into: dict[Any, Operation], out: dict[Any, Operation]) -> list[str]:
    """Elements of which the later one was out before the earlier one's dequeue began."""
    ordered = sorted((value for value in out if into[value].status == OK), key=lambda value: into[value].end)
    problems = []
    for first in ordered:
        for second, taken in out.items():
            if into[first].end < into[second].start and taken.end < out[first].start:
                problems.append(f"{target}: {second} was put in after {first} and came out before it")
    return problems
