"""Count the names that public programs use and weft has, with `make names`.

`api_names.csv` lists names of TensorFlow 1.x, the programs out of 86 that use each, their repositories and how often. Those
that are missing are printed, and are a failure.
"""

from __future__ import annotations

import csv
import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

import weft

_NAMES = Path(__file__).with_name("api_names.csv")


@dataclass(frozen=True)
class Name:
    """A name and how often it is used."""

    symbol: str
    programs: int
    uses: int

    @property
    def is_there(self) -> bool:
        """Whether the name resolves, by attributes or as a module."""
        _, *parts = self.symbol.split(".")
        found: object = weft
        for count, part in enumerate(parts, 1):
            try:
                found = getattr(found, part)
            except AttributeError:
                try:
                    found = importlib.import_module(f"weft.{'.'.join(parts[:count])}")
                except ImportError:
                    return False
        return True


def names() -> list[Name]:
    """The names of the list, in its order."""
    with _NAMES.open(encoding="utf-8", newline="") as file:
        return [Name(row["symbol"], int(row["programs"]), int(row["uses"])) for row in csv.DictReader(file)]


def main() -> int:
    """Print the coverage; return how the process shall exit."""
    listed = names()
    missing = [name for name in listed if not name.is_there]
    for name in sorted(missing, key=lambda name: -name.programs):
        print(f"{name.symbol}: missing, used by {name.programs} programs")
    used = sum(name.uses for name in listed)
    lost = sum(name.uses for name in missing)
    print(f"{len(listed) - len(missing)} of {len(listed)} names, {100 * (used - lost) / used:.1f} % of {used:,} uses")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
