"""What stages tell about themselves reaches another process as it is."""

from __future__ import annotations

from weft.distributed.rpc import stage_reports
from weft.proto import explain_pb2
from weft.runtime.choice.stage_report import StageReport, not_asked


def test_reports_survive_the_wire() -> None:
    rows = [
        StageReport("/job:a", 1, "cpu", "compiled", "Mul, Add", "compiled", "warm", 5, 0.005, 10, 0.01, 0.25, 2),
        not_asked("/job:b", "it is gone"),
    ]
    sent = explain_pb2.ExplainGraphResponse(stages=stage_reports.encode(rows)).SerializeToString()
    assert stage_reports.decode(explain_pb2.ExplainGraphResponse.FromString(sent).stages) == rows
