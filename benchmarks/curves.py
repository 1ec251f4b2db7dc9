"""How cost grows: what is measured at several sizes, and what must hold of each curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.catalogue import Unit, matching
from benchmarks.timing import Point

MB = 1_000_000


@dataclass(frozen=True)
class Claim:
    """What must hold of a curve's points, in words and as a test of them."""

    text: str
    holds: Callable[[Sequence[Point]], bool]


@dataclass(frozen=True)
class Panel:
    """One small picture: figures of a curve against its size.

    `figures` maps the names of at most two figures to what they are called there; `reference` is one that is no contender's.
    """

    title: str
    unit: Unit
    figures: dict[str, str]
    claim: Claim
    is_logarithmic: bool = True
    reference: tuple[str, str] | None = None


@dataclass(frozen=True)
class Curve:
    """A program and the sizes at which it runs, each in a fresh process; `along` says what a size counts.

    A program that gives several points is run with one size, the greatest.
    """

    name: str
    program: str
    along: str
    sizes: tuple[int, ...]
    panels: tuple[Panel, ...]
    time_limit_s: float = 180.0


def _figures(points: Sequence[Point], name: str) -> list[float]:
    return [point.figures[name] for point in points]


def _flat(name: str, most: float) -> Claim:
    def holds(points: Sequence[Point]) -> bool:
        values = _figures(points, name)
        return max(values) <= most * min(values)

    return Claim(f"flat: the highest at most {most:g} times the lowest", holds)


def _no_faster_than_size(name: str) -> Claim:
    def holds(points: Sequence[Point]) -> bool:
        first, last = points[0], points[-1]
        return last.figures[name] / first.figures[name] <= last.size / first.size

    return Claim("grows no faster than the size", holds)


def _no_faster_than_twice(name: str) -> Claim:
    def holds(points: Sequence[Point]) -> bool:
        first, last = points[0], points[-1]
        return last.figures[name] / first.figures[name] <= 2 * last.size / first.size

    return Claim("grows at most twice as fast as the size", holds)


def _as_between(name: str, middle: int, most: float) -> Claim:
    """What comes with the first variable, such as an import, is not to hide how the cost grows behind `middle` of them."""

    def holds(points: Sequence[Point]) -> bool:
        by_each = [point.figures[name] / point.size for point in points if point.size >= middle]
        return not by_each or by_each[-1] <= most * by_each[0]

    return Claim(f"{name} from {middle} on: each at most {most:g} times as much", holds)


def _no_faster_than_tasks(name: str) -> Claim:
    def holds(points: Sequence[Point]) -> bool:
        by_others = [point.figures[name] / (point.size - 1) for point in points if point.size > 1]
        return max(by_others) <= 1.5 * by_others[0]

    return Claim("grows no faster than the other tasks", holds)


def _at_most_times(name: str, other: str, times: float) -> Claim:
    return Claim(
        f"{name} at most {times:g} times {other}",
        lambda points: all(point.figures[name] <= times * point.figures[other] for point in points),
    )


def _at_least(name: str, least: float) -> Claim:
    return Claim(f"at least {least:g}", lambda points: min(_figures(points, name)) >= least)


def _at_least_in_the_end(name: str, least: float) -> Claim:
    return Claim(f"at least {least:g} for the most", lambda points: points[-1].figures[name] >= least)


def _at_most_bytes(name: str, most: int) -> Claim:
    return Claim(f"at most {most // MB} MB", lambda points: max(_figures(points, name)) <= most)


def _grows_at_most_bytes(names: tuple[str, ...], most: int) -> Claim:
    """The first point is left out: until then caches fill and the allocator settles."""

    def holds(points: Sequence[Point]) -> bool:
        settled = points[1:] or points
        return all(settled[-1].figures[name] - settled[0].figures[name] <= most for name in names)

    return Claim(f"flat: at most {most // MB} MB more after 20k", holds)


CURVES = (
    Curve(
        "tasks",
        "growth_of_steps:tasks",
        "tasks",
        (1, 2, 4, 8, 16),
        (Panel("Step over all tasks", Unit.SECONDS, {"median": "step"}, _no_faster_than_tasks("median")),),
    ),
    Curve(
        "variables",
        "growth_of_steps:variables",
        "variables",
        (1, 10, 100, 1000),
        (Panel("Training step of variables elsewhere", Unit.SECONDS, {"median": "step"}, _no_faster_than_size("median")),),
    ),
    Curve(
        "nodes",
        "growth_of_steps:nodes",
        "nodes in the graph",
        (10, 100, 1000, 10_000, 100_000),
        (Panel("Step of three nodes, its plan ready", Unit.SECONDS, {"median": "step"}, _flat("median", 1.5)),),
    ),
    Curve(
        "clients",
        "growth_of_clients:clients",
        "clients of one server",
        (1, 2, 4, 8, 16, 32, 64),
        (
            Panel("Step of each client", Unit.SECONDS, {"p50": "p50", "p99": "p99"}, _at_most_times("p99", "p50", 10)),
            Panel(
                "Slowest client's steps, over the mean",
                Unit.SHARE,
                {"slowest_share": "share"},
                _at_least("slowest_share", 0.5),
                is_logarithmic=False,
            ),
        ),
    ),
    Curve(
        "steps",
        "growth_of_memory:steps",
        "distributed training steps",
        (100_000,),
        (
            Panel(
                "Memory of the processes",
                Unit.BYTES,
                {"worker": "worker", "ps": "ps"},
                _grows_at_most_bytes(("worker", "ps"), 4 * MB),
                is_logarithmic=False,
            ),
        ),
        time_limit_s=600.0,
    ),
    Curve(
        "messages",
        "growth_of_memory:messages",
        "bytes of each of 32 messages",
        (1 << 10, 1 << 15, 1 << 20, 1 << 25),
        (
            Panel(
                "Held for a peer that does not read",
                Unit.BYTES,
                {"held": "held"},
                _at_most_bytes("held", 400 * MB),
                reference=("asked", "all sent"),
            ),
            Panel("Another client's step meanwhile", Unit.SECONDS, {"bystander": "step"}, _flat("bystander", 5.0)),
        ),
    ),
    Curve(
        "workers",
        "growth_of_jobs:workers",
        "workers of one parameter server",
        (1, 2, 4, 8, 16),
        (
            Panel(
                "CPU of a light step",
                Unit.SECONDS,
                {"ps_cpu": "server", "worker_cpu": "worker"},
                _flat("ps_cpu", 2.0),
            ),
        ),
    ),
    Curve(
        "servers",
        "growth_of_jobs:servers",
        "parameter servers of eight workers",
        (1, 2, 4, 8),
        (
            Panel(
                "CPU of a step on each of them",
                Unit.SECONDS,
                {"ps_cpu": "servers", "worker_cpu": "worker"},
                _no_faster_than_size("ps_cpu"),
            ),
        ),
    ),
    Curve(
        "restore",
        "growth_of_jobs:restore",
        "parameter servers of one model",
        (1, 2, 4, 8),
        (
            Panel(
                "CPU of restoring 64 MB",
                Unit.SECONDS,
                {"ps_cpu": "servers", "worker_cpu": "worker"},
                _flat("ps_cpu", 2.0),
            ),
        ),
    ),
    Curve(
        "payload",
        "growth_of_jobs:payload",
        "bytes pulled at once",
        (1 << 10, 1 << 15, 1 << 20, 1 << 25, 1 << 30),
        (
            Panel(
                "CPU of a pull", Unit.SECONDS, {"ps_cpu": "server", "worker_cpu": "worker"}, _no_faster_than_size("worker_cpu")
            ),
        ),
    ),
    Curve(
        "checkpoint",
        "growth_of_files:checkpoint",
        "bytes of a model",
        (1 << 24, 1 << 27, 1 << 30),
        (
            Panel(
                "Saving, over a plain write with fsync",
                Unit.SHARE,
                {"saved": "share"},
                _at_least_in_the_end("saved", 0.7),
                is_logarithmic=False,
            ),
            Panel(
                "Restoring, over a plain read",
                Unit.SHARE,
                {"restored": "share"},
                _at_least_in_the_end("restored", 0.8),
                is_logarithmic=False,
            ),
        ),
    ),
    Curve(
        "build",
        "growth_of_jobs:build",
        "nodes",
        (1000, 10_000, 100_000),
        (
            Panel(
                "CPU from nothing to the first step",
                Unit.SECONDS,
                {"build": "build", "first": "first"},
                _no_faster_than_twice("first"),
            ),
        ),
    ),
    Curve(
        "model",
        "growth_of_models:model",
        "variables of a program",
        (1, 10, 100, 300, 1000, 3000, 10_000),
        (
            Panel(
                "CPU of building and of first values",
                Unit.SECONDS,
                {"build": "build", "init": "init"},
                _as_between("build", 300, 1.5),
            ),
            Panel(
                "CPU of the first step and of a later one",
                Unit.SECONDS,
                {"first": "first", "step": "later"},
                _as_between("first", 300, 1.5),
            ),
            Panel(
                "CPU of saving and of restoring",
                Unit.SECONDS,
                {"save": "save", "restore": "restore"},
                _as_between("save", 300, 1.5),
            ),
        ),
        time_limit_s=600.0,
    ),
)


def select_curves(patterns: list[str]) -> list[Curve]:
    """Return the curves whose name matches a pattern; all, if none is given."""
    return matching(CURVES, patterns, lambda curve: (curve.name,), "curve")
