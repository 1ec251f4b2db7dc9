"""Functions on their way out warn their callers, once each."""

from __future__ import annotations

import logging

import pytest
from weft.python.util import deprecation as tensorflow_deprecation

from weft.platform.logs import deprecation


def test_a_function_warns_at_its_first_call(caplog: pytest.LogCaptureFixture) -> None:
    @deprecation.deprecated("2030-01-02", "Use new() instead.")
    def old(a: int) -> int:
        return a + 1

    with caplog.at_level(logging.WARNING, "weft"), caplog.at_level(logging.WARNING):
        assert (old(1), old(2)) == (2, 3)
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == 1
    assert "old (from " in texts[0]
    assert "deprecated and will be removed after 2030-01-02.\nUse new() instead." in texts[0]


def test_an_argument_or_a_value_of_it_warns(caplog: pytest.LogCaptureFixture) -> None:
    @deprecation.deprecated_args(None, "Leave it out.", "gone", ("kept", None))
    @deprecation.deprecated_arg_values(None, "Say False.", mode=True)
    def call(x: int, gone: int = 0, kept: object = None, mode: bool = False) -> int:
        return x

    call(1, kept=None)
    assert not caplog.records
    call(1, gone=2)
    call(1, kept=3)
    call(1, mode=True)
    assert ["with gone is" in caplog.messages[0], "with kept is" in caplog.messages[1]] == [True, True]
    assert "with mode=True is deprecated and will be removed in a future version." in caplog.messages[2]
    with pytest.raises(ValueError, match="deprecated arguments that it does not have: \\['y'\\]"):
        deprecation.deprecated_args(None, "", "y")(lambda x: x)


def test_a_class_under_its_former_name_is_the_same_class_that_warns(caplog: pytest.LogCaptureFixture) -> None:
    class New:
        def __init__(self, a: int) -> None:
            self.a = a

    old = deprecation.deprecated_alias("Old", "New", New)
    with deprecation.silence():
        assert old(1).a == 1
    assert not caplog.records
    made = old(2)
    assert isinstance(made, New)
    assert made.a == 2
    assert caplog.messages == ["The name Old is deprecated. Please use New instead."]


def test_an_argument_of_two_names() -> None:
    assert deprecation.deprecated_argument_lookup("axis", None, "dim", 1) == 1
    assert deprecation.deprecated_argument_lookup("axis", 2, "dim", None) == 2
    with pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
        deprecation.deprecated_argument_lookup("axis", 1, "dim", 2)


def test_a_program_turns_the_warnings_off_as_in_tensorflow(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensorflow_deprecation, "_PRINT_DEPRECATION_WARNINGS", False)
    with caplog.at_level(logging.WARNING):
        deprecation.deprecated(None, "Use new() instead.")(lambda: 1)()
    assert not caplog.records
