"""A name server for pods: answers with the addresses that a file in JSON has by name, read anew for each question.

Run as a script: python name_server.py ADDRESS FILE
"""

import json
import socket
import struct
import sys
from pathlib import Path

_A = 1
_NO_SUCH_NAME = 3


def answer(question: bytes, addresses: dict[str, str]) -> bytes:
    """The answer to one question, whose record may not be kept."""
    labels, at = [], 12
    while length := question[at]:
        labels.append(question[at + 1 : at + 1 + length].decode())
        at += 1 + length
    kind = struct.unpack_from("!H", question, at + 1)[0]
    found = addresses.get(".".join(labels).lower())
    records = b""
    if found is not None and kind == _A:
        records = struct.pack("!HHHIH", 0xC00C, _A, 1, 0, 4) + socket.inet_aton(found)
    flags = 0x8580 | (0 if found is not None else _NO_SUCH_NAME)
    return question[:2] + struct.pack("!HHHHH", flags, 1, bool(records), 0, 0) + question[12 : at + 5] + records


def main(address: str, file: str) -> None:
    """Answer until the process is ended."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as served:
        served.bind((address, 53))
        print("up", flush=True)
        while True:
            question, asker = served.recvfrom(4096)
            served.sendto(answer(question, json.loads(Path(file).read_text())), asker)


if __name__ == "__main__":
    main(*sys.argv[1:])
