"""A TCP proxy that cuts the connections through it, as a device between two hosts does."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import threading

_RESET = struct.pack("ii", 1, 0)


class CuttingProxy:
    """Forwards connections to an address of this host, and cuts them when told to.

    Args:
        port: where to.
        host: the address.
    """

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self._there = (host, port)
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp:127.0.0.1:{self._listener.getsockname()[1]}"
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self._there)
            except OSError:
                near.close()
                continue
            with self._lock:
                self._sockets |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            with self._lock:
                self._sockets.discard(end)
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def cut(self, rng: random.Random) -> None:
        """Cut every connection, some by a reset, which loses what was sent just before."""
        with self._lock:
            ends, self._sockets = self._sockets, set()
        self.cuts += bool(ends)
        for end in ends:
            with contextlib.suppress(OSError):
                if rng.random() < 0.5:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the proxy and what goes through it."""
        self._listener.close()
        self.cut(random.Random(0))
