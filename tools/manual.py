"""Writes the manual page of `weft` out of its argument parser: `make manual`."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path
from typing import Final

from argparse_manpage.manpage import Manpage

from weft.cli.command_line import COMMANDS, command_parser

PAGE: Final = Path(__file__).parents[1] / "docs" / "weft.1"
_PURPOSE: Final = "runs dataflow graphs and TensorFlow 1.x programs on clusters"


def page() -> str:
    """The page in roff, the same on every day and in every terminal."""
    os.environ["COLUMNS"] = "80"
    parser = command_parser([*COMMANDS])
    parser.man_short_description = _PURPOSE  # type: ignore[attr-defined]  # where argparse-manpage looks for it
    manual = Manpage(parser)
    manual.date, manual.source, manual.manual = "", f"weft {importlib.metadata.version('weft')}", "weft"
    return str(manual)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
