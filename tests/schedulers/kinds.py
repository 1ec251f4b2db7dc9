"""Programs of users' kinds, one file each, which run unchanged wherever a job can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.jobs.description import JobDescription, Role

_FOLDER = Path(__file__).with_name("programs")


@dataclass(frozen=True)
class Kind:
    """A program, its tasks, and what each client prints at its end.

    Args:
        name: the program's file, without its ending.
        counts: how many tasks of each role it has.
        ends: a line of each task that trains or evaluates.
        flags: whether it is told its place by flags; else by TF_CONFIG alone.
    """

    name: str
    counts: dict[str, int]
    ends: tuple[str, ...]
    flags: bool = True

    def __str__(self) -> str:
        return self.name

    @property
    def program(self) -> str:
        """Its file."""
        return str(_FOLDER / f"{self.name}.py")

    @property
    def options(self) -> list[str]:
        """Its tasks, as `weft launch` and `weft task` take them."""
        counts = [f"--{role}={count}" for role, count in self.counts.items()]
        return counts if self.flags else [*counts, "--no-flags"]

    def description(self, arguments: Sequence[str], environment: dict[str, str]) -> JobDescription:
        """Its job."""
        roles = tuple(Role(role, count) for role, count in self.counts.items())
        return JobDescription(self.program, roles, tuple(arguments), environment, flags=self.flags)

    def check(self, output: str, model: Path) -> None:
        """Fail where a client has not come to its end, or no model is there."""
        missing = [each for each in self.ends if each not in output]
        assert not missing, output
        assert (model / "checkpoint").exists(), output


_PS_AND_WORKERS = {"ps": 1, "worker": 2}
KINDS = (
    Kind("synchronous", _PS_AND_WORKERS, ("worker 0 is done at step", "worker 1 is done at step")),
    Kind("supervised", _PS_AND_WORKERS, ("worker 0 is done at step", "worker 1 is done at step")),
    Kind("in_graph", _PS_AND_WORKERS, ("the client is done at step",)),
    Kind("plain_in_graph", _PS_AND_WORKERS, ("the client is done, loss",)),
    Kind(
        "estimated", {"ps": 1, "chief": 1, "worker": 1, "evaluator": 1},
        ("chief 0 is done", "worker 0 is done", "evaluator 0 is done", "Performing the final export"), flags=False,
    ),
)  # fmt: skip
