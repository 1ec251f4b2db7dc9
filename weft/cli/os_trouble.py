"""What the system refused, in words: Python's own are `[Errno 28] No space left on device`."""

from __future__ import annotations


def naming(error: OSError, path: str) -> OSError:
    """The error with the file that it is about, for one of writing, which names none."""
    return type(error)(error.errno, error.strerror, path)


def told(error: OSError) -> str:
    """`'out.npz': No space left on device`; of an error that names no file, that of the output."""
    if error.errno is None or error.strerror is None:
        return str(error)
    named = error.filename
    return f"{'the output' if named is None else repr(str(named))}: {error.strerror}"
