"""Switches of command lines as TensorFlow's tools have them: `--name`, `--name=True` and `--name=False`."""

from __future__ import annotations

import argparse


def add_switch(parser: argparse.ArgumentParser, name: str, default: bool, help_text: str) -> None:
    """Let a command line have a switch.

    Args:
        parser: the command line's parser.
        name: the switch's name, without dashes.
        default: what it is where the command line does not name it; `--name` alone means True.
        help_text: what it is for.
    """
    parser.add_argument(f"--{name}", nargs="?", const=True, default=default, type=_truth, metavar="BOOL", help=help_text)


def _truth(text: str) -> bool:
    """Only `true` is, in letters of either size: TensorFlow's tools take it so."""
    return text.lower() == "true"
