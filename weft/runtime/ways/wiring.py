"""Wiring: how a stage stands among those of its partition."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wiring:
    """How a stage stands among those of its partition.

    `inputs` and `outputs` number the partition's values; `pending` is how many stages and messages it waits for; `then` are the
    numbers of the stages that wait for it; `sends` lists (peer task, edge numbers, value numbers) to push when it is done, with
    value -1 for an edge without one. `fed` are the places of inputs that are arrays of the program's own, `outside` those and
    the places of what other tasks send; `leaving` are the places of outputs that only go to other tasks; `static` those of
    inputs whose values compiled code depends on. With `one_moment`, a stage that only reads variables reads them at one moment.
    """

    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    pending: int = 0
    then: tuple[int, ...] = ()
    sends: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...] = ()
    fed: tuple[int, ...] = ()
    outside: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()
    static: tuple[int, ...] = ()
    one_moment: bool = False
