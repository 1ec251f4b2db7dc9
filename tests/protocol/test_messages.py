"""Messages are immutable data."""

from __future__ import annotations

import dataclasses
import typing

import pytest

from weft.protocol import messages


@pytest.mark.parametrize("message_class", typing.get_args(messages.Message))
def test_messages_are_frozen_and_have_slots(message_class: type) -> None:
    assert dataclasses.is_dataclass(message_class)
    assert message_class.__dataclass_params__.frozen
    assert "__slots__" in vars(message_class)
