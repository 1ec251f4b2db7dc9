"""`python -m tensorflow.python.tools.inspect_checkpoint`: prints what is in a checkpoint."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Sequence

import numpy as np

from weft.checkpoint.tensor_print import print_tensors_in_checkpoint_file as print_tensors_in_checkpoint_file
from weft.platform.switches import add_switch


def parse_numpy_printoption(kv_str: str) -> None:
    """Set an option of how NumPy prints arrays.

    Args:
        kv_str: its name and value, as `precision=3`.

    Raises:
        argparse.ArgumentTypeError: it is no such text, or NumPy does not take the option.
    """
    name, equals, value = kv_str.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    try:
        np.set_printoptions(**{name: ast.literal_eval(value)})
    except (TypeError, ValueError, SyntaxError) as error:
        raise argparse.ArgumentTypeError(f"NumPy does not print with {kv_str}: {error}") from None


def main(arguments: Sequence[str]) -> None:
    """Print what the command line asks for.

    Args:
        arguments: those behind the command's name.

    Raises:
        SystemExit: no checkpoint is named, or an argument does not fit.
    """
    parser = argparse.ArgumentParser(prog="inspect_checkpoint")
    parser.add_argument("--file_name", default="", help="the checkpoint's prefix, such as model.ckpt-100")
    parser.add_argument("--tensor_name", default="", help="the tensor to print the value of")
    parser.add_argument("--count_exclude_pattern", default="", help="a pattern of names of tensors that are not counted")
    add_switch(parser, "all_tensors", False, "print names and values of all tensors")
    add_switch(parser, "all_tensor_names", False, "print the names of all tensors")
    parser.add_argument("--printoptions", nargs="*", type=parse_numpy_printoption, help="of NumPy, as precision=3")
    told = parser.parse_known_args(arguments)[0]
    if not told.file_name:
        print("Usage: inspect_checkpoint --file_name=checkpoint_file_name [--tensor_name=tensor_to_print] [--all_tensors] "
              "[--all_tensor_names] [--printoptions]")  # fmt: skip
        sys.exit(1)
    print_tensors_in_checkpoint_file(
        told.file_name, told.tensor_name, told.all_tensors, told.all_tensor_names, told.count_exclude_pattern
    )


if __name__ == "__main__":
    main(sys.argv[1:])
