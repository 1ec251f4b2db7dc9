"""Programs of users' kinds, one file each, which run unchanged wherever a job can run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.jobs.description import JobDescription, Role

_PROGRAMS = Path(__file__).with_name("programs")
_EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Kind:
    """A program, its tasks, and what each client prints at its end.

    Args:
        name: the program's file, without its ending.
        counts: how many tasks of each role it has.
        ends: a line of each task that trains or evaluates.
        flags: whether it is told its place by flags; else by TF_CONFIG alone.
        folder: where the file is.
        arguments: what it is told beside; {model} stands for the folder of its checkpoints.
    """

    name: str
    counts: dict[str, int]
    ends: tuple[str, ...]
    flags: bool = True
    folder: Path = _PROGRAMS
    arguments: tuple[str, ...] = ("--model={model}",)

    def __str__(self) -> str:
        return self.name

    @property
    def program(self) -> str:
        """Its file."""
        return str(self.folder / f"{self.name}.py")

    def arguments_for(self, model: Path) -> list[str]:
        """Its own arguments, with a folder for its checkpoints."""
        return [each.format(model=model) for each in self.arguments]

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
        """Fail where a client has not come to its end, or no model is there that it should have saved."""
        missing = [each for each in self.ends if each not in output]
        assert not missing, output
        if any("{model}" in each for each in self.arguments):
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
"""Programs that each do one thing."""

_DATA = "--data_dir={model}/../data"
EXAMPLES = (
    Kind(
        "digits", _PS_AND_WORKERS, ("test accuracy",), folder=_EXAMPLES, arguments=("--train_dir={model}", "--train_steps=200"),
    ),
    Kind(
        "recommender", {"ps": 2, "worker": 2}, ("test AUC",), folder=_EXAMPLES,
        arguments=("--train_dir={model}", _DATA, "--train_steps=12", "--test_steps=6"),
    ),
    Kind(
        "elastic", _PS_AND_WORKERS, ("worker:0 is done with", "worker:1 is done with"), folder=_EXAMPLES,
        arguments=("--shards=40",),
    ),
    Kind(
        "hybrid", _PS_AND_WORKERS, ("the copy's weights sum to",), folder=_EXAMPLES, arguments=("--steps=60",),
    ),
    Kind(
        "a3c", _PS_AND_WORKERS, ("solved after",), folder=_EXAMPLES, arguments=("--train_dir={model}", "--goal=60"),
    ),
    Kind("preferences", _PS_AND_WORKERS, ("understood after",), folder=_EXAMPLES, arguments=("--train_dir={model}",)),
)  # fmt: skip
"""The repository's own, for as many steps as show that they train; the player for three times its first score."""
