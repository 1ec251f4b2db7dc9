"""Spans: runs, steps and their parts as spans of OpenTelemetry, where the program has set that up.

Nothing of OpenTelemetry is imported here: without it in the process, or without a provider of tracers, no tracer is found, and
a step looks at one attribute. With one, a run is a span of the client's; the step is its child on the master, each part of the
step a child of that in its task, and stages, sends, receives and the making of code are children of parts. What joins them over
tasks goes with the messages that ask for a call or a part: see `PortableContext`.
"""

from __future__ import annotations

import contextlib
import struct
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Final, Protocol

from weft.framework.version import WEFT_VERSION
from weft.runtime.recording import Recording, code_news

_NS: Final = 1_000_000_000
_CONTEXT: Final = struct.Struct(">16s8sB")
_POINTS: Final = ("ask", "done")
_WHOLE: Final = ("step", "part")
_HIDDEN: Final = ("step", "error", "ready_s")


class Place(Protocol):
    """A span's numbers: OpenTelemetry's SpanContext."""

    is_valid: bool
    trace_id: int
    span_id: int
    trace_flags: int


class Span(Protocol):
    """OpenTelemetry's Span, as far as it is used here."""

    def get_span_context(self) -> Place: ...
    def is_recording(self) -> bool: ...
    def set_status(self, status: object, description: str) -> None: ...
    def add_event(self, name: str, attributes: Mapping[str, object], timestamp: int) -> None: ...
    def end(self, end_time: int) -> None: ...


class Tracer(Protocol):
    """OpenTelemetry's Tracer, as far as it is used here."""

    def start_span(
        self, name: str, context: object = None, *, attributes: Mapping[str, object], start_time: int | None = None
    ) -> Span: ...
    def start_as_current_span(
        self, name: str, *, kind: object, attributes: Mapping[str, object]
    ) -> AbstractContextManager[Span]: ...


class PortableContext:
    """A span's place in its trace as bytes: the trace's number, the span's, and W3C's flags."""

    @staticmethod
    def of(span: Span) -> bytes:
        """The bytes of a span; none of one that nobody records."""
        context = span.get_span_context()
        if not context.is_valid or not span.is_recording():
            return b""
        return _CONTEXT.pack(context.trace_id.to_bytes(16, "big"), context.span_id.to_bytes(8, "big"), int(context.trace_flags))

    @staticmethod
    def read(api: ModuleType, data: bytes) -> object:
        """The context that children of a span elsewhere begin in; None for what is no such bytes."""
        if len(data) != _CONTEXT.size:
            return None
        trace, span, flags = _CONTEXT.unpack(data)
        numbers = int.from_bytes(trace, "big"), int.from_bytes(span, "big")
        there = api.SpanContext(*numbers, is_remote=True, trace_flags=api.TraceFlags(flags))
        return api.set_span_in_context(api.NonRecordingSpan(there)) if there.is_valid else None


class SpanRecording(Recording):
    """What is noted of one step, or of one part of it, as a span with children. Safe from any thread.

    Args:
        tracing: where spans are made.
        name: what the span is called.
        parent: the bytes of the span that it is a child of; with none, the current one of this thread is.
        also: takes the events too.
    """

    def __init__(self, tracing: Tracing, name: str, parent: bytes, also: Recording | None, **more: str) -> None:
        super().__init__()
        self._tracing = tracing
        self._also = also
        within = PortableContext.read(tracing.api, parent) if parent else None
        self._span = tracing.tracer.start_span(name, context=within, attributes=more)
        self._within = tracing.api.set_span_in_context(self._span)
        self.context: bytes = PortableContext.of(self._span)
        """By which the parts of the step find this span."""

    def add(self, kind: str, name: str, begin_s: float, end_s: float, **more: object) -> None:
        """Note an event: the whole, whose span ends with it, a moment of it, or a child."""
        if self._also is not None:
            self._also.add(kind, name, begin_s, end_s, **more)
        if kind in _WHOLE:
            if error := more.get("error"):
                self._span.set_status(self._tracing.api.StatusCode.ERROR, str(error))
            self._span.end(int(end_s * _NS))
            return
        if kind in _POINTS:
            self._span.add_event(kind, {"weft.task": name}, int(begin_s * _NS))
            return
        attributes: dict[str, object] = {f"weft.{key}": value for key, value in more.items() if key not in _HIDDEN}
        attributes["weft.peer" if kind in ("send", "receive") else f"weft.{kind}"] = name
        self._tracing.child(f"weft.{kind}", self._within, begin_s, end_s, attributes)

    def note_code(self, name: str, begin_s: float, end_s: float) -> None:
        """Code was made while the step ran."""
        self._tracing.child("weft.compile", self._within, begin_s, end_s, {"weft.stage": name})


class Tracing:
    """A tracer, and the package that it is of.

    Args:
        api: the module `opentelemetry.trace`.
        provider: of tracers.
    """

    def __init__(self, api: ModuleType, provider: object) -> None:
        self.api = api
        self.provider = provider
        self.tracer: Tracer = api.get_tracer("weft", WEFT_VERSION, provider)

    def child(self, name: str, within: object, begin_s: float, end_s: float, attributes: Mapping[str, object]) -> None:
        """Make the span of something that is over."""
        self.tracer.start_span(name, context=within, start_time=int(begin_s * _NS), attributes=attributes).end(int(end_s * _NS))

    @contextlib.contextmanager
    def run(self, feeds: int) -> Iterator[None]:
        """A client's run as the current span of this thread."""
        with self.tracer.start_as_current_span("weft.run", kind=self.api.SpanKind.CLIENT, attributes={"weft.feeds": feeds}):
            yield

    @property
    def here(self) -> bytes:
        """The bytes of this thread's current span."""
        return PortableContext.of(self.api.get_current_span())


class _CodeSpans(Recording):
    """Code is made on a thread that knows of no step: it counts to the part that has begun last."""

    def add(self, kind: str, name: str, begin_s: float, end_s: float, **more: object) -> None:
        latest = spans.latest_part
        if latest is not None:
            latest.note_code(name, begin_s, end_s)


class Spans:
    """Whether this process makes spans. Safe from any thread."""

    def __init__(self) -> None:
        self.tracing: Tracing | None = None
        """What makes them; None while the process has no provider of tracers."""
        self.latest_part: SpanRecording | None = None
        self._lock = threading.Lock()
        self._code: _CodeSpans | None = None

    def look(self) -> None:
        """Look whether the program has set a provider of tracers, as sessions and servers do when they are made."""
        api = sys.modules.get("opentelemetry.trace")
        if api is None:
            return
        provider = api.get_tracer_provider()
        with self._lock:
            if isinstance(provider, api.ProxyTracerProvider | api.NoOpTracerProvider):
                self.tracing = self.latest_part = None
                return
            if self.tracing is None or self.tracing.provider is not provider:
                self.tracing = Tracing(api, provider)
            if self._code is None:
                self._code = _CodeSpans()
                code_news.begin(self._code)

    def step(self, step_id: int, parent: bytes, also: Recording | None) -> Recording | None:
        """What a step on its master is noted with: `also`, or a span that tells it too."""
        tracing = self.tracing
        if tracing is None:
            return also
        made = SpanRecording(tracing, "weft.step", parent, also, **{"weft.step": f"{step_id:x}"})
        return made if made.context else also

    def part(self, task: str, step_id: int, parent: bytes, also: Recording | None) -> Recording | None:
        """What a task's part of a step is noted with; `parent` are the bytes that came with the request."""
        tracing = self.tracing
        if tracing is None or PortableContext.read(tracing.api, parent) is None:
            return also
        made = SpanRecording(tracing, "weft.part", parent, also, **{"weft.task": task, "weft.step": f"{step_id:x}"})
        if not made.context:
            return also
        self.latest_part = made
        return made


spans: Final = Spans()
"""Of this process."""
