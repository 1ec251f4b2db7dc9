"""What weft calls a function of the program with, where Python says that the number of arguments is wrong."""

from __future__ import annotations

import re
from typing import Final

_COUNT: Final = re.compile(r"\(\) (?:missing \d+ required positional|takes .*positional argument)")
_NONE: Final = "{0} is called without arguments; lambda: f(x) makes such a function of f."
_STEP: Final = "{0} is called with as many arguments as there are loop_vars, in their order."
_PART: Final = (
    "{0} is called with one argument, an element; of several elems it is a list of their elements: lambda parts: f(*parts)."
)
_FOLD: Final = "{0} is called with two arguments: what it returned the last time, and the next element."
# The methods of a hook, and what they are called with.
_HOOKS: Final = {
    "begin": "self",
    "after_create_session": "self, session, coord",
    "before_run": "self, run_context",
    "after_run": "self, run_context, run_values",
    "end": "self, session",
}
_ENDS: Final = ("begin", "end")
# Those of a Keras callback.
_CALLBACKS: Final = {
    **dict.fromkeys(("on_epoch_begin", "on_epoch_end"), "self, epoch, logs=None"),
    **{f"on_{kind}batch_{end}": "self, batch, logs=None" for kind in ("", "train_", "test_", "predict_") for end in _ENDS},
    **{f"on_{kind}_{end}": "self, logs=None" for kind in ("train", "test", "predict") for end in _ENDS},
}
# By the name of the argument that takes the function, and the function of weft.
_CALLED_WITH: Final = {
    ("true_fn", "cond"): _NONE,
    ("false_fn", "cond"): _NONE,
    ("fn1", "cond"): _NONE,
    ("fn2", "cond"): _NONE,
    ("default", "case"): _NONE,
    ("cond", "while_loop"): _STEP,
    ("body", "while_loop"): _STEP,
    ("fn", "map_fn"): _PART,
    ("fn", "scan"): _FOLD,
    ("fn", "foldl"): _FOLD,
    ("fn", "foldr"): _FOLD,
    ("input_fn", "train"): _NONE,
    ("input_fn", "evaluate"): _NONE,
    ("input_fn", "predict"): _NONE,
    ("loss", "compile"): "{0} is called with two arguments, the targets and the outputs: def {0}(y_true, y_pred).",
    ("main", "run"): "{0} is called with one argument, the list of the program's name and what no flag took: def {0}(argv).",
}


def hint_for_function(text: str, function: str, arguments: dict[str, object]) -> str:
    """What the functions among the arguments of a call are called with; empty for an error about something else.

    Args:
        text: the error's.
        function: the name of the function of weft that was called.
        arguments: what it was given.
    """
    if not _COUNT.search(text):
        return ""
    owner, _, called = text.partition("()")[0].rpartition(".")
    if owner and called in _HOOKS:
        return f"A hook's {called} is called as {called}({_HOOKS[called]})."
    if owner and called in _CALLBACKS:
        return f"A callback's {called} is called as {called}({_CALLBACKS[called]})."
    found = [
        known.format(name)
        for name, value in arguments.items()
        if getattr(value, "__name__", "") == called and (known := _CALLED_WITH.get((name, function)))
    ]
    return " ".join(dict.fromkeys(found))
