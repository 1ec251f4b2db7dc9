"""Seeded changes of protocol buffer messages that keep them readable, so that they reach what lies behind the parser."""

from __future__ import annotations

import random
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from reliability.fuzz.byte_mutation import INTERESTING, mutate

_INT_RANGES: Final = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_FLOATS: Final = (0.0, -1.0, 1e30, float("inf"), float("nan"))


class MessageMutation:
    """Changes messages of one type; strings and parts are taken from a corpus of good ones."""

    def __init__(self, corpus: list[Any]) -> None:
        self._parts: dict[str, list[Any]] = {}
        self._texts: list[str] = ["", "^", ":", "a:b:c", "loc:@", "^" * 3, "/" * 5, "x" * 300, "node:-1", "é"]
        for message in corpus:
            self._collect(message)

    def mutate(self, source: random.Random, message: Any) -> Any:
        """Return a copy of `message` that is changed in one to three places."""
        changed = type(message)()
        changed.CopyFrom(message)
        for _ in range(source.randint(1, 3)):
            self._change(source, changed)
        return changed

    def _collect(self, message: Any) -> None:
        parts = self._parts.setdefault(message.DESCRIPTOR.full_name, [])
        if len(parts) < 200:
            parts.append(message)
        for field, value in message.ListFields():
            if field.type == FieldDescriptor.TYPE_STRING and not field.is_repeated:
                if len(self._texts) < 400:
                    self._texts.append(value)
            elif field.message_type is None:
                continue
            elif _is_map(field):
                if isinstance(value[next(iter(value))], Message):
                    for item in value.values():
                        self._collect(item)
            elif field.is_repeated:
                for item in value:
                    self._collect(item)
            else:
                self._collect(value)

    def _change(self, source: random.Random, message: Any) -> None:
        """Walk down to a random depth and change one field there."""
        while True:
            below = self._messages_below(message)
            if not below or source.random() < 0.2:
                break
            message = source.choice(below)
        known = list(message.DESCRIPTOR.fields)
        used = [field for field, _ in message.ListFields()]
        if known:
            self._change_field(source, message, source.choice(used if used and source.random() < 0.8 else known))

    @staticmethod
    def _messages_below(message: Any) -> list[Any]:
        found: list[Any] = []
        for field, value in message.ListFields():
            if field.message_type is None:
                continue
            if _is_map(field):
                found.extend(item for item in value.values() if isinstance(item, Message))
            elif field.is_repeated:
                found.extend(value)
            else:
                found.append(value)
        return found

    def _change_field(self, source: random.Random, message: Any, field: FieldDescriptor) -> None:
        if source.random() < 0.15:
            message.ClearField(field.name)
        elif _is_map(field):
            self._change_map(source, getattr(message, field.name), field)
        elif field.is_repeated:
            self._change_list(source, getattr(message, field.name), field)
        elif field.message_type is not None:
            getattr(message, field.name).CopyFrom(self._part(source, field))
        else:
            setattr(message, field.name, self._scalar(source, field, getattr(message, field.name)))

    def _change_map(self, source: random.Random, values: Any, field: FieldDescriptor) -> None:
        key_field, value_field = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
        keys = list(values)
        key = (
            source.choice(keys) if keys and source.random() < 0.7 else self._scalar(source, key_field, key_field.default_value)
        )
        if key in values and source.random() < 0.3:
            del values[key]
        elif value_field.message_type is not None:
            values[key].CopyFrom(self._part(source, value_field))
        else:
            values[key] = self._scalar(source, value_field, value_field.default_value)

    def _change_list(self, source: random.Random, values: Any, field: FieldDescriptor) -> None:
        choice = source.randrange(3)
        at = source.randrange(len(values)) if values else 0
        if values and choice == 0:
            del values[at]
        elif field.message_type is not None:
            target = values.add() if not values or choice == 1 else values[at]
            target.CopyFrom(self._part(source, field))
        elif values and choice == 2:
            values[at] = self._scalar(source, field, values[at])
        else:
            values.append(self._scalar(source, field, values[at] if values else field.default_value or _zero(field)))

    def _part(self, source: random.Random, field: FieldDescriptor) -> Any:
        parts = self._parts.get(field.message_type.full_name)
        if parts:
            return source.choice(parts)
        return field.message_type._concrete_class()

    def _scalar(self, source: random.Random, field: FieldDescriptor, old: Any) -> Any:
        if field.type == FieldDescriptor.TYPE_STRING:
            return source.choice(self._texts)
        if field.type == FieldDescriptor.TYPE_BYTES:
            return mutate(source, old or b"?") if source.random() < 0.6 else source.choice(self._texts).encode()
        if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
            return not old
        if field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
            return source.choice(_FLOATS)
        if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
            return source.choice([*field.enum_type.values_by_number, 7777, -1])
        low, high = _INT_RANGES[field.cpp_type]
        value = source.choice(INTERESTING) if source.random() < 0.6 else (old or 0) + source.choice((-1, 1, 5))
        return min(max(value, low), high)


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _zero(field: FieldDescriptor) -> Any:
    return "" if field.type == FieldDescriptor.TYPE_STRING else b"" if field.type == FieldDescriptor.TYPE_BYTES else 0
