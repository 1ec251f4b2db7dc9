"""Libraries of kernels in machine code, which weft cannot load: its ops are declared in Python and compiled by XLA."""

from __future__ import annotations

import os
from typing import NoReturn

from weft.errors import NotFoundError, UnimplementedError


def _refuse(library: str, alternative: str) -> NoReturn:
    if not os.path.exists(library):
        raise NotFoundError.of(f"{library}: cannot open shared object file: No such file or directory")
    raise UnimplementedError.of(f"{library}: weft loads no libraries built for TensorFlow. {alternative}")


def load_op_library(library_filename: str) -> NoReturn:
    """Refuse a library of ops.

    Args:
        library_filename: the path of a shared library.

    Returns:
        Nothing: it always raises.

    Raises:
        NotFoundError: there is no such file.
        UnimplementedError: always, for one that is there; it names what to do instead.
    """
    _refuse(
        library_filename,
        "Write the op in Python: with existing ops and tf.custom_gradient, or with tf.py_func around a NumPy function.",
    )


def load_library(library_location: str) -> NoReturn:
    """Refuse a library of kernels; raises as `load_op_library`.

    Args:
        library_location: the path of a shared library, or of a directory with some.

    Returns:
        Nothing: it always raises.
    """
    load_op_library(library_location)


def load_file_system_library(library_filename: str) -> NoReturn:
    """Refuse a library of a file system; raises as `load_op_library`.

    Args: those of `tf.load_op_library`.

    Returns:
        Nothing: it always raises.
    """
    _refuse(library_filename, "tf.gfile takes any URL that fsspec knows: install the fsspec package of that file system.")
