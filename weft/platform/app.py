"""The program's entry point, `run`: parse the flags, call main, exit with what it returns.

`flags` is here too, because programs reach the flags as `app.flags`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from absl import app as _absl_app
from absl import flags as _absl_flags
from absl import logging as _absl_logging

from weft.platform import flags as flags

__all__ = ["flags", "run"]

# absl's own flag, also where a program defines another of its name later.
_VERBOSITY = _absl_flags.FLAGS["verbosity"]


def run(main: Callable[[list[str]], object] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Parse the flags in `argv`, then exit with the result of `main`.

    From then on the level of logs that set none is INFO, or what `--verbosity` says: `tf.logging.info` and Python's
    `logging.info` are shown. absl's own `run` would do, but it takes for its settings also flags that are the program's.

    Args:
        main: called with the program's name and the arguments that no flag claimed; default: the program's `main`.
        argv: the program's name and arguments; default `sys.argv`.

    Raises:
        TypeError: `main` is no function.
        SystemExit: always; None and 0 mean success, as for `sys.exit`.

    >>> def main(arguments):
    ...     print(arguments[1:])
    >>> try:
    ...     tf.app.run(main, ["program.py", "data.csv"])
    ... except SystemExit as end:
    ...     print(end.code)
    ['data.csv']
    None
    """
    if main is not None and not callable(main):
        raise TypeError(f"run(main=...) takes a function of the arguments, such as main itself, got {main!r}.")
    _absl_app.define_help_flags()
    try:
        arguments = flags.FLAGS.parse(sys.argv if argv is None else list(argv))
    except flags.Error as error:
        # As absl says it: whoever misspells a value on the command line is helped by no traceback.
        sys.stderr.write(f"FATAL Flags parsing error:\n  {error}\nPass --helpshort or --helpfull to see help on flags.\n")
        sys.exit(1)
    for unknown in flags.FLAGS.misspelt(arguments):
        sys.stderr.write(f"WARNING {unknown}\n")
    _start_logs()
    try:
        raise SystemExit((main or _main_of_program())(arguments))
    except _absl_app.UsageError as error:
        _absl_app.usage(shorthelp=True, detailed_error=error)
        sys.exit(error.exitcode or 1)


def _start_logs() -> None:
    """Give the root logger a handler, if it has none, and the level that absl's flag has after parsing."""
    root, handler = logging.getLogger(), _absl_logging.get_absl_handler()
    if not root.handlers:
        root.addHandler(handler)
    # Set again where the command line has it: what a flag tells its loggers depends on the handlers they have.
    _VERBOSITY.value = 0 if _VERBOSITY.using_default_value else _VERBOSITY.value
    if handler not in root.handlers:
        # The flag has set the level of absl's logger alone.
        root.setLevel(_absl_logging.get_absl_logger().level)


def _main_of_program() -> Callable[[list[str]], Any]:
    main: Callable[[list[str]], Any] | None = getattr(sys.modules["__main__"], "main", None)
    if main is None:
        raise AttributeError("run() found no function 'main' in the program's file; define one or pass run(main=...)")
    return main
