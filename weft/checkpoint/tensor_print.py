"""Prints what is in a checkpoint, by the names of tensorflow.python.tools.inspect_checkpoint."""

from __future__ import annotations

import re
from math import prod

from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.errors import OpError


def print_tensors_in_checkpoint_file(
    file_name: str, tensor_name: str | None, all_tensors: bool, all_tensor_names: bool = False, count_exclude_pattern: str = ""
) -> None:
    """Print names, values or a summary of the tensors in a checkpoint, and how many numbers they are.

    What cannot be read is told on the output, too, as TensorFlow's tool does; nothing is raised.

    Args:
        file_name: the checkpoint's prefix.
        tensor_name: the tensor whose value to print; empty for the names, dtypes and shapes of all.
        all_tensors: whether to print the values of all tensors.
        all_tensor_names: whether to print the names of all tensors.
        count_exclude_pattern: a regular expression; tensors whose names it finds are not counted.
    """
    try:
        reader = NewCheckpointReader(file_name)
        shapes = reader.get_variable_to_shape_map()
        if all_tensors or all_tensor_names:
            for name in sorted(shapes):
                print("tensor_name: ", name)
                if all_tensors:
                    print(reader.get_tensor(name))
        elif tensor_name:
            print("tensor_name: ", tensor_name)
            print(reader.get_tensor(tensor_name))
        else:
            print(reader.debug_string().decode())
    except OpError as error:
        print(error)
        return
    sizes = {name: prod(shape) for name, shape in shapes.items()}
    if count_exclude_pattern:
        excluded = [name for name in sizes if re.search(count_exclude_pattern, name)]
        numbers = sum(sizes.pop(name) for name in excluded)
        print(f"# Excluding {len(excluded)} tensors ({numbers} params) that match {count_exclude_pattern} when counting.")
    print(f"# Total number of params: {sum(sizes.values())}")
