"""A place for a save that only those see who share the file system of the process that saves.

Tasks write where a path leads on their own machine. Where that is another file system than the chief's, a parameter server
would put its variables on its own disk, and the program would be told a path at which there is nothing. So the chief makes a
directory with a name that nobody has had before, and has the tasks write below it: they make one directory themselves, but not
the one above, and thus write nothing where the chief's is not to be seen. What they wrote is renamed to the checkpoint's own
name.

    DIR/.saving-0123456789abcdef/files/NAME...
"""

from __future__ import annotations

import contextlib
import os
import shutil
from types import TracebackType
from typing import Self

from weft import errors
from weft.checkpoint import files
from weft.checkpoint.commit import adopt
from weft.checkpoint.leftovers import STAGING_PREFIX

_INNER = "files"


class Staging:
    """A context in which `prefix` is the path to have the tasks write to; it leaves nothing behind.

    Args:
        path: the checkpoint's path, on a local file system; its directory is made, but not the one above.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        files.make_directory_of(path)
        self._top = self._new_top()
        self.prefix = os.path.join(self._top, _INNER, os.path.basename(path))

    def __enter__(self) -> Self:
        files.make_directory_of(os.path.join(self._top, _INNER))
        files.make_directory_of(self.prefix)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # Parts of a save that failed are worth nothing, and it may have failed of a full disk. Under another name first: a task
        # that still writes finds its directory gone.
        doomed = self._new_top()
        with contextlib.suppress(OSError):
            os.rename(files.local_path(self._top), files.local_path(doomed))
            shutil.rmtree(files.local_path(doomed), ignore_errors=True)

    def _new_top(self) -> str:
        return os.path.join(os.path.dirname(self._path), f"{STAGING_PREFIX}{files.unique_tag()}")

    def adopt(self) -> None:
        """Give what the tasks wrote its own name."""
        adopt(self.prefix, self._path)

    def is_hidden_from(self, error: errors.OpError) -> bool:
        """Whether a task failed because it does not see, or may not use, this place."""
        return isinstance(error, errors.NotFoundError | errors.PermissionDeniedError) and self._top in error.message
