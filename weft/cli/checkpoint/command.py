"""The command `weft checkpoint`: lists, shows, compares, exports, imports and verifies checkpoints of weft and TensorFlow."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Final

from weft.cli import os_trouble
from weft.cli.checkpoint import comparing, exporting, importing, listing
from weft.cli.option_values import tolerance
from weft.cli.parser import OneLineParser
from weft.errors import NotFoundError, OpError

TROUBLE: Final = 2
"""The exit code where a checkpoint cannot be read; as that of diff."""

_DESCRIPTION: Final = """\
List, show, compare, export, import and verify checkpoints, weft's and
TensorFlow's.

A CHECKPOINT is a path without .index or .data, such as model/model.ckpt-1000,
or a folder, which stands for its latest one. One of the V1 format is the name
of its file, or the pattern of its files, such as 'model.ckpt-?????-of-00002'.
"""
_HELP: Final = "a path without .index and .data, or a folder for its latest"
_DIFF: Final = """\
Compare two checkpoints, tensor by tensor. The exit code is 0 when they hold the
same, 1 when they differ, and 2 when one cannot be read.
"""
_EXPORT: Final = """\
Write a checkpoint's tensors to one file that NumPy (.npz) or safetensors
(.safetensors; pip install 'weft[safetensors]') reads. A partitioned variable
becomes one tensor. Safetensors have no strings and no complex128: those are
left out, and told. Small types that the file cannot have become float32 or int8.
"""
_IMPORT: Final = """\
Make a checkpoint (V2) of the arrays in a file of NumPy (.npz) or safetensors
(.safetensors; pip install 'weft[safetensors]'). Savers restore from it by name.
"""
_VERIFY: Final = """\
Read checkpoints as a whole, and check every length and checksum. A folder stands
for all that are in it. The exit code is 1 when one is damaged or incomplete.
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, parser_class=OneLineParser)

    ls = _add(actions, "ls", "list the checkpoints of a folder", "List the checkpoints of a folder, oldest first.")
    ls.add_argument("folder", metavar="FOLDER", help="a folder with checkpoints")
    ls.set_defaults(run=lambda arguments: _guarded(lambda: listing.list_folder(arguments.folder)))

    show = _add(
        actions, "show", "show the tensors of a checkpoint", "Show what a checkpoint holds; of named tensors their values, too."
    )
    show.add_argument("checkpoint", metavar="CHECKPOINT", help=_HELP)
    show.add_argument("names", nargs="*", metavar="NAME", help="show the values of these tensors")
    show.set_defaults(run=lambda arguments: _guarded(lambda: listing.show(arguments.checkpoint, arguments.names)))

    diff = _add(actions, "diff", "compare two checkpoints", _DIFF)
    diff.add_argument("first", metavar="CHECKPOINT", help=_HELP)
    diff.add_argument("second", metavar="CHECKPOINT", help="the one to compare it with")
    diff.add_argument(
        "--tolerance", type=tolerance, default=0.0, metavar="X", help="take numbers for equal that differ by X (0)"
    )
    diff.set_defaults(
        run=lambda arguments: _guarded(lambda: comparing.compare(arguments.first, arguments.second, arguments.tolerance))
    )

    export = _add(actions, "export", "write the tensors to a file of NumPy or safetensors", _EXPORT)
    export.add_argument("checkpoint", metavar="CHECKPOINT", help=_HELP)
    export.add_argument("output", metavar="FILE", help="NAME.npz or NAME.safetensors")
    export.add_argument(
        "--only", action="append", metavar="PATTERN", help="only tensors of such names, as 'dense/*'; may be repeated"
    )
    export.add_argument("--overwrite", action="store_true", help="replace the file if there is one")
    export.set_defaults(run=lambda arguments: _export(arguments, export))

    take_in = _add(actions, "import", "make a checkpoint of NumPy's or safetensors' file", _IMPORT)
    take_in.add_argument("file", metavar="FILE", help="NAME.npz or NAME.safetensors")
    take_in.add_argument("checkpoint", metavar="CHECKPOINT", help="the path of the new checkpoint, without .index")
    take_in.add_argument("--only", action="append", metavar="PATTERN", help="such as 'dense/*'; may be repeated")
    take_in.add_argument("--rename", action="append", metavar="OLD=NEW", default=[], help="an array's name; may be repeated")
    take_in.add_argument("--overwrite", action="store_true", help="replace the checkpoint if there is one")
    take_in.set_defaults(run=lambda arguments: _import(arguments, take_in))

    verify = _add(actions, "verify", "check that checkpoints are whole", _VERIFY)
    verify.add_argument("checkpoints", nargs="+", metavar="CHECKPOINT", help="a path, or a folder for all that are in it")
    verify.set_defaults(run=lambda arguments: _guarded(lambda: listing.verify(arguments.checkpoints)))


def _add(actions: argparse._SubParsersAction[OneLineParser], name: str, summary: str, description: str) -> OneLineParser:
    return actions.add_parser(name, help=summary, description=description)


def _export(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    if not arguments.output.endswith(exporting.KINDS):
        parser.error(f"{arguments.output!r} should end in {' or '.join(exporting.KINDS)}")
    return _guarded(
        lambda: exporting.export(arguments.checkpoint, arguments.output, arguments.only or ["*"], arguments.overwrite)
    )


def _import(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    if not arguments.file.endswith(exporting.KINDS):
        parser.error(f"{arguments.file!r} should end in {' or '.join(exporting.KINDS)}")
    pairs = [each.partition("=") for each in arguments.rename]
    wrong = next(("".join(pair) for pair in pairs if not all(pair)), None)
    if wrong is not None:
        parser.error(f"--rename takes OLD=NEW, not {wrong!r}")
    renamed = {old: new for old, _, new in pairs}
    return _guarded(
        lambda: importing.import_file(
            arguments.file, arguments.checkpoint, arguments.only or ["*"], renamed, arguments.overwrite
        )
    )


def _guarded(act: Callable[[], int]) -> int:
    """Tell a checkpoint that cannot be read, with the kind of its trouble, in one line."""
    try:
        return act()
    except BrokenPipeError:
        raise
    except OpError as error:
        text = f"{type(error).__name__}: {error.message}"
        if isinstance(error, NotFoundError) and not error.message.startswith("Key "):
            text = (
                f"{text.rstrip('.')}; a checkpoint is named by its path without .index and .data, or by its folder: "
                "'weft checkpoint ls FOLDER'"
            )
    except OSError as error:
        text = os_trouble.told(error)
    except ValueError as error:
        text = str(error)
    print(f"weft checkpoint: {' '.join(text.split())}", file=sys.stderr)
    return TROUBLE
