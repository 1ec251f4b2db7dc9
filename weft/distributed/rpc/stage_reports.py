"""StageReports as messages, and back."""

from __future__ import annotations

from collections.abc import Iterable

from weft.proto import explain_pb2
from weft.runtime.choice.stage_report import StageReport


def encode(reports: Iterable[StageReport]) -> list[explain_pb2.StageReport]:
    """The messages of these reports."""
    return [explain_pb2.StageReport(**report._asdict()) for report in reports]


def decode(messages: Iterable[explain_pb2.StageReport]) -> list[StageReport]:
    """The reports of these messages."""
    return [StageReport(*(getattr(message, field) for field in StageReport._fields)) for message in messages]
