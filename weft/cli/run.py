"""`weft run`: run a program that imports TensorFlow, unchanged, with weft in TensorFlow's place."""

from __future__ import annotations

import argparse
from typing import NoReturn

from weft.api.tensorflow_paths import run_as_tensorflow
from weft.cli.parser import OneLineParser
from weft.cli.program_file import check_program

_DESCRIPTION = """\
Run PROGRAM, a Python file that says `import tensorflow as tf`, with weft in the
place of TensorFlow 1.15: the modules below tensorflow, such as tensorflow.contrib,
tensorflow.python and tensorflow.core, are weft's. Python processes that the program
starts find weft so, too.
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    parser.add_argument("program", metavar="PROGRAM", help="the Python file to run")
    parser.add_argument("args", nargs=argparse.REMAINDER, metavar="...", help="arguments of PROGRAM")
    parser.set_defaults(run=lambda arguments: _run(arguments, parser), is_program=True)


def _run(arguments: argparse.Namespace, parser: OneLineParser) -> NoReturn:
    check_program(arguments.program, parser)
    run_as_tensorflow(arguments.program, arguments.args)
