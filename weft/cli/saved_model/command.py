"""The command `weft saved-model`, with the options of TensorFlow's `saved_model_cli`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Final

from weft.cli import os_trouble
from weft.cli.parser import OneLineParser
from weft.cli.saved_model import running, showing
from weft.errors import OpError

_DESCRIPTION: Final = """\
Show what a SavedModel offers, or run one of its signatures, by the options of
TensorFlow's saved_model_cli. The model is the folder with saved_model.pb.
"""
_SHOW: Final = """\
Without further options: the tag sets of the model. With --tag_set: the keys of
its signatures. With --signature_def too: the inputs and outputs of that one.
"""
_RUN: Final = """\
Feed a signature's inputs, print its outputs, and save them to --outdir.

  --inputs 'x=values.npy;y=archive.npz[name]'
  --input_exprs 'x=np.ones((2, 3));y=[1.0, 2.0]'
  --input_examples 'examples=[{"age":[22.0],"education":["BS","MS"]}]'

An input that is given twice is taken from the later kind. Files may have numbers
and strings; pickled objects, which can run code, are refused.
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=OneLineParser)
    _add_show(actions)
    _add_run(actions)


def _add_show(actions: argparse._SubParsersAction[OneLineParser]) -> None:
    parser = _add(actions, "show", "show what the model offers", _SHOW)
    parser.add_argument("--all", action="store_true", help="show each signature of each tag set")
    parser.add_argument("--tag_set", metavar="TAGS", help="the tags of one graph, separated by commas")
    parser.add_argument("--signature_def", metavar="KEY", help="the key of one signature")
    parser.set_defaults(run=lambda arguments: _guarded(parser, lambda: _show(arguments, parser)))


def _add_run(actions: argparse._SubParsersAction[OneLineParser]) -> None:
    parser = _add(actions, "run", "run a signature of the model", _RUN)
    parser.add_argument("--tag_set", metavar="TAGS", required=True, help="the tags of the graph, separated by commas")
    parser.add_argument("--signature_def", metavar="KEY", required=True, help="the key of the signature")
    parser.add_argument(
        "--inputs", default="", metavar="INPUTS", help="input=FILE or input=FILE[NAME], separated by semicolons"
    )
    parser.add_argument(
        "--input_exprs", default="", metavar="EXPRESSIONS", help="input=EXPRESSION of numbers, lists and np, by semicolons"
    )
    parser.add_argument(
        "--input_examples", default="", metavar="EXAMPLES", help="input=[{FEATURE: LIST}] for tf.Examples, by semicolons"
    )
    parser.add_argument("--outdir", metavar="DIR", help="save each output there, to NAME.npy")
    parser.add_argument("--overwrite", action="store_true", help="replace outputs that are there already")
    parser.add_argument("--worker", default="", metavar="TARGET", help="run on this server, such as grpc://host:port")
    parser.set_defaults(run=lambda arguments: _guarded(parser, lambda: running.run(arguments)))


def _add(actions: argparse._SubParsersAction[OneLineParser], name: str, summary: str, description: str) -> OneLineParser:
    parser = actions.add_parser(name, help=summary, description=description)
    parser.add_argument("--dir", required=True, metavar="DIR", help="the model's folder")
    return parser


def _show(arguments: argparse.Namespace, parser: OneLineParser) -> None:
    if arguments.signature_def is not None and arguments.tag_set is None:
        parser.error("--signature_def needs --tag_set")
    if arguments.all:
        showing.show_all(arguments.dir)
    elif arguments.tag_set is None:
        showing.show_tag_sets(arguments.dir)
    elif arguments.signature_def is None:
        showing.show_signature_keys(arguments.dir, arguments.tag_set)
    else:
        showing.show_signature(arguments.dir, arguments.tag_set, arguments.signature_def)


def _guarded(parser: OneLineParser, act: Callable[[], None]) -> int:
    """Tell a mistake in the arguments, or a model that cannot be used, in one line."""
    try:
        act()
    except BrokenPipeError:
        raise
    except OpError as error:
        parser.error(_one_line(error.message))
    except OSError as error:
        parser.error(_one_line(os_trouble.told(error)))
    except (ValueError, RuntimeError) as error:
        parser.error(_one_line(str(error)))
    return os.EX_OK


def _one_line(text: str) -> str:
    return " ".join(text.split())
