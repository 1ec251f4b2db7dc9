"""Finds where the bytes of a protocol buffer stop being one: protobuf tells only that they do.

A message is a run of fields, each a tag (number and wire type) and a value; text, bytes and messages inside have their length
in front. `find_damage` follows a descriptor down to the innermost field that cannot be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

_Descriptor: TypeAlias = Any
"""Of a message or a field; protobuf has classes of its own for them in each of its implementations."""

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIXED_BYTES: Final = {_FIXED64: 8, _FIXED32: 4}
_MAX_VARINT_BYTES: Final = 10
_DEEPEST: Final = 100  # as protobuf itself


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong, at which byte, and in what, such as `graph_def.node[17] 'dense/MatMul'`; empty for the message itself."""

    offset: int
    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.what}, at byte {self.offset}{f' in {self.place}' if self.place else ''}"


class _Damaged(Exception):
    def __init__(self, damage: Damage) -> None:
        super().__init__(str(damage))
        self.damage = damage


def find_damage(data: bytes, descriptor: _Descriptor) -> Damage | None:
    """The first place where bytes are no message of this descriptor; None where all fields can be told apart."""
    try:
        _walk(data, 0, len(data), descriptor, "", 0)
    except _Damaged as found:
        return found.damage
    return None


def _walk(data: bytes, start: int, end: int, descriptor: _Descriptor, place: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise _Damaged(Damage(start, place, f"messages are deeper than {_DEEPEST} inside of each other"))
    counts: dict[int, int] = {}
    position, name = start, ""
    while position < end:
        here = f"{place}{name}"
        tag, after = _varint(data, position, end, here, "a field's tag is cut off")
        number, wire = tag >> 3, tag & 7
        field = descriptor.fields_by_number.get(number) if descriptor is not None else None
        if number == 0 or wire not in (_VARINT, _FIXED64, _LENGTH, _FIXED32):
            raise _Damaged(Damage(position, here, "there is no field"))
        if wire == _LENGTH:
            count = counts.get(number, 0)
            counts[number] = count + 1
            inside = _inside(here, field, count)
            size, after = _varint(data, after, end, inside, "a length is cut off")
            text = _check_value(data, after, after + size, end, field, inside, depth)
            position = after + size
            if text is not None and field is not None and field.name == "name" and not name:
                name = f" {text!r}"
        elif wire == _VARINT:
            _, position = _varint(data, after, end, here, "a number is cut off")
        else:
            position = after + _FIXED_BYTES[wire]
            if position > end:
                raise _Damaged(Damage(after, here, f"a number reaches to byte {position}, beyond its message's end at {end}"))


def _check_value(data: bytes, start: int, stop: int, end: int, field: _Descriptor, place: str, depth: int) -> str | None:
    """Look into a value with a length; returns it where it is text."""
    message = field.message_type if field is not None and field.type == field.TYPE_MESSAGE else None
    if message is not None:
        _walk(data, start, min(stop, end), message, place, depth + 1)
    if stop > end:
        what = f"the field has {stop - start} bytes and reaches to byte {stop}, but what holds it ends at {end}"
        raise _Damaged(Damage(start, place, what))
    if field is None or field.type != field.TYPE_STRING:
        return None
    try:
        return data[start:stop].decode()
    except UnicodeDecodeError as error:
        raise _Damaged(Damage(start + error.start, place, "text is not UTF-8")) from None


def _inside(place: str, field: _Descriptor, count: int) -> str:
    if field is None:
        return place
    repeated = field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
    step = f"{field.name}[{count}]" if repeated else field.name
    return f"{place}.{step}" if place else step


def _varint(data: bytes, start: int, end: int, place: str, what: str) -> tuple[int, int]:
    value = 0
    for position in range(start, min(start + _MAX_VARINT_BYTES, end)):
        byte = data[position]
        value |= (byte & 0x7F) << (7 * (position - start))
        if byte < 0x80:
            return value, position + 1
    raise _Damaged(Damage(start, place, what))
