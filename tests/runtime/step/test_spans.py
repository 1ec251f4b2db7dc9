"""Where a span stands in its trace, as bytes that peers send."""

from __future__ import annotations

import pytest

from weft.runtime.step.spans import PortableContext, Spans, Tracing

trace = pytest.importorskip("opentelemetry.trace", reason="pip install 'weft[otel]'")
sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="pip install 'weft[otel]'")
sampling = pytest.importorskip("opentelemetry.sdk.trace.sampling", reason="pip install 'weft[otel]'")


def test_a_span_is_found_again_by_its_bytes() -> None:
    span = sdk.TracerProvider().get_tracer("t").start_span("s")
    there = trace.get_current_span(PortableContext.read(trace, PortableContext.of(span))).get_span_context()
    here = span.get_span_context()
    assert (there.trace_id, there.span_id, there.trace_flags) == (here.trace_id, here.span_id, here.trace_flags)
    assert there.is_remote


@pytest.mark.parametrize("data", [b"", b"x", b"\0" * 25, b"y" * 26], ids=["nothing", "short", "zeros", "long"])
def test_other_bytes_stand_nowhere(data: bytes) -> None:
    assert PortableContext.read(trace, data) is None


def test_a_step_that_the_sampler_leaves_out_is_noted_nowhere() -> None:
    spans = Spans()
    spans.tracing = Tracing(trace, sdk.TracerProvider(sampler=sampling.ALWAYS_OFF))
    assert spans.step(1, b"", None) is None
    assert spans.part("/job:ps/replica:0/task:0", 1, b"", None) is None
