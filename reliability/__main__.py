"""The command line; docs/reliability.md has what each command shows."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from reliability import soak
from reliability.chaos import campaign
from reliability.fuzz import driver
from reliability.fuzz.catalogue import TARGETS
from reliability.leaks import campaign as leaks


def parser() -> argparse.ArgumentParser:
    """Make the parser; each command brings its own options."""
    options = argparse.ArgumentParser(
        "python -m reliability", description="Show that weft keeps what docs/reliability.md says."
    )
    commands = options.add_subparsers(required=True, metavar="COMMAND")
    _add_fuzz(commands.add_parser("fuzz", help="give weft mutated input"))
    _add_chaos(commands.add_parser("chaos", help="let something happen to short training jobs"))
    _add_leaks(commands.add_parser("leaks", help="end steps, sessions and clients badly, and look for what is left"))
    _add_soak(commands.add_parser("soak", help="use a cluster for minutes, and watch its memory and latency"))
    return options


def _add_soak(options: argparse.ArgumentParser) -> None:
    options.add_argument("--minutes", type=float, default=20)
    options.add_argument("--seed", type=int, default=1)
    options.set_defaults(run=_soak)


def _soak(options: argparse.Namespace) -> int:
    samples = soak.run(options.minutes, options.seed)
    print(soak.text(samples))
    return 1 if soak.problems(samples) else 0


def _add_leaks(options: argparse.ArgumentParser) -> None:
    options.add_argument("--steps", type=int, default=10_000, help="timed-out steps, and as many cancelled ones")
    options.add_argument("--cancelled", type=int, help="another number of cancelled steps")
    options.add_argument("--sessions", type=int, default=1_000, help="dropped sessions")
    options.add_argument("--clients", type=int, default=1_000, help="killed clients")
    options.set_defaults(run=_leaks)


def _leaks(options: argparse.Namespace) -> int:
    cancelled = options.steps if options.cancelled is None else options.cancelled
    findings = leaks.run(options.steps, cancelled, options.sessions, options.clients)
    print("\n".join(leaks.text(each) for each in findings))
    return 1 if any(each.problems for each in findings) else 0


def _add_chaos(options: argparse.ArgumentParser) -> None:
    options.add_argument("--jobs", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=0, help="the number of the first job, to repeat one")
    options.add_argument("--every", type=int, default=1, metavar="N", help="run every Nth job only; kinds come again every 12")
    options.add_argument("--steps", type=int, default=60, help="the length of each job")
    options.add_argument("--parallel", type=int, default=2, help="how many jobs run at a time")
    options.add_argument("--keep", type=Path, metavar="FOLDER", help="where logs and histories of bad jobs are kept")
    options.set_defaults(run=_chaos)


def _chaos(options: argparse.Namespace) -> int:
    outcomes = campaign.run(
        options.jobs, options.seed, steps=options.steps, parallel=options.parallel, first=options.first, every=options.every,
        keep=options.keep,
    )  # fmt: skip
    print(campaign.table(outcomes))
    return 1 if any(outcome.problems for outcome in outcomes) else 0


def _add_fuzz(options: argparse.ArgumentParser) -> None:
    options.add_argument("--what", choices=sorted(TARGETS), required=True, help="the kind of input")
    options.add_argument("--count", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--start", type=int, default=0, help="the number of the first case, to repeat one")
    options.add_argument("--memory-mb", type=int, default=5120, help="how much more memory the process may take")
    options.add_argument("--examples", type=Path, metavar="FOLDER", help="where inputs that fail are kept")
    options.set_defaults(run=_fuzz)


def _fuzz(options: argparse.Namespace) -> int:
    # What weft has to say of each refusal is not the question here.
    logging.disable(logging.WARNING)
    target = TARGETS[options.what]()
    result = driver.fuzz(
        target, options.count, options.seed, start=options.start, memory_bytes=options.memory_mb << 20,
        report=lambda line: print(line, file=sys.stderr),
    )  # fmt: skip
    target.close()
    print(driver.text(result))
    if options.examples:
        options.examples.mkdir(parents=True, exist_ok=True)
        for index, data, _ in result.examples.values():
            (options.examples / f"{target.name}-{options.seed}-{index}").write_bytes(data)
    return 1 if result.failures else 0


if __name__ == "__main__":
    chosen = parser().parse_args()
    sys.exit(chosen.run(chosen))
