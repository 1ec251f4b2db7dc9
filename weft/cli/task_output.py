"""From the bytes that tasks write to whole lines. Sans-IO."""

from __future__ import annotations

_LONGEST_LINE_BYTES = 1 << 20


class TaskOutput:
    """One task's output so far. Lines end at `\\n`; of what a carriage return overwrites, the last version counts."""

    def __init__(self) -> None:
        self._incomplete = b""
        self.has_lines = False
        """Whether there were any."""

    def feed(self, data: bytes) -> list[str]:
        """Take what was read; return the lines that it completes, without their ends."""
        *complete, self._incomplete = (self._incomplete + data).split(b"\n")
        # A progress bar redraws its line with carriage returns and may never end it.
        if b"\r" in self._incomplete[:-1]:
            self._incomplete = self._incomplete[self._incomplete.rindex(b"\r", 0, -1) + 1 :]
        if len(self._incomplete) > _LONGEST_LINE_BYTES:
            complete.append(self._incomplete)
            self._incomplete = b""
        return self._decoded(complete)

    def end(self) -> list[str]:
        """Take the end of the output; return the line that it leaves without an end, if any."""
        rest, self._incomplete = self._incomplete, b""
        return self._decoded([rest] if rest else [])

    def _decoded(self, lines: list[bytes]) -> list[str]:
        self.has_lines = self.has_lines or bool(lines)
        return [line.rstrip(b"\r").rpartition(b"\r")[2].decode(errors="replace") for line in lines]
