"""A function of the program that takes another number of arguments is told what it is called with."""

from __future__ import annotations

import pytest

from weft.platform.hints.function_hints import hint_for_function


def pair(a: int, b: int) -> int:
    return a + b


@pytest.mark.parametrize(
    ("function", "argument", "hint"),
    [
        ("cond", "true_fn", "true_fn is called without arguments"),
        ("map_fn", "fn", "fn is called with one argument, an element"),
        ("while_loop", "body", "body is called with as many arguments as there are loop_vars"),
    ],
)
def test_what_a_function_is_called_with(function: str, argument: str, hint: str) -> None:
    text = "pair() missing 1 required positional argument: 'b'"
    assert hint_for_function(text, function, {argument: pair}).startswith(hint)


def test_a_hooks_method_is_told_with_its_arguments() -> None:
    text = "Own.before_run() takes 1 positional argument but 2 were given"
    assert hint_for_function(text, "run", {}) == "A hook's before_run is called as before_run(self, run_context)."


def test_the_main_function_is_told_with_its_argument() -> None:
    def main() -> None: ...

    text = "main() takes 0 positional arguments but 1 was given"
    assert hint_for_function(text, "run", {"main": main}).endswith("def main(argv).")


def test_other_errors_get_none() -> None:
    assert hint_for_function("pair() got an unexpected keyword argument 'c'", "cond", {"true_fn": pair}) == ""
    assert hint_for_function("other() missing 1 required positional argument: 'b'", "cond", {"true_fn": pair}) == ""
