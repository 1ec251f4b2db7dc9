"""EventsWriter: TensorFlow's lower class for event files, which programs use for events of their own times."""

from __future__ import annotations

import os

from weft.events.event_file import EventFile, EventLike


class EventsWriter:
    """Appends Event protos to one file, `PREFIX.out.tfevents....`.

    Args:
        file_prefix: the file's path, before what it gets appended.
    """

    def __init__(self, file_prefix: bytes | str) -> None:
        directory, name = os.path.split(os.fsdecode(file_prefix))
        self._place = directory or "."
        self._name = name
        self._suffix = ""
        self._file: EventFile | None = None

    def InitWithSuffix(self, suffix: bytes | str) -> None:
        """Make the file, with something after its name."""
        self._suffix = os.fsdecode(suffix)
        self._opened()

    def FileName(self) -> bytes:
        """The file's path; it is made when it is asked for."""
        return os.fsencode(self._opened().path)

    def WriteEvent(self, event: EventLike) -> None:
        """Append an event."""
        self._opened().add(event)

    def Flush(self) -> bool:
        """Write to disk what is buffered."""
        self._opened().flush()
        return True

    def Close(self) -> bool:
        """Write what is buffered and close the file; a later event begins another one."""
        if self._file is not None:
            self._file.close()
            self._file = None
        return True

    def _opened(self) -> EventFile:
        if self._file is None:
            self._file = EventFile(self._place, max_queue=1000, flush_secs=60, filename_suffix=self._suffix, prefix=self._name)
        return self._file
