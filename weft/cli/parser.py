"""The argument parser of every `weft` command: wrong input gets one line on standard error and exit code 2."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Sequence
from typing import Final, NoReturn

_OPTION: Final = re.compile(r"--?\w[\w-]*")
_LACKS_VALUE: Final = re.compile(r"argument (?:-\w/)?(--[\w-]+): expected one argument$")
_INVALID_CHOICE: Final = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)$")
_SHORTEST_BEGINNING: Final = 3
# By what names programs are told of their place in a cluster.
_PLACES: Final = frozenset(("--index", "--task", "--task_index", "--task-index", "--job_name", "--cluster", "--role"))


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """The formatter of Python 3.13, which leaves room for the names of subcommands, under every Python."""

    def add_argument(self, action: argparse.Action) -> None:
        """Take the argument, and the subcommands that it stands for, into account."""
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction) and action.help is not argparse.SUPPRESS:
            longest = max(map(len, action.choices), default=0)
            self._action_max_length = max(self._action_max_length, longest + self._current_indent + 2)


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, which names the option that was probably meant; --help has the usage.

    Its description keeps its line breaks, and no option can be abbreviated. It writes no colours.

    Args:
        prog: what the command is called.
        description: what it does.
        color: what Python 3.14 tells the parsers of subcommands; it changes nothing.
    """

    def __init__(self, prog: str | None = None, description: str | None = None, *, color: bool = False) -> None:
        super().__init__(prog=prog, description=description, formatter_class=_HelpFormatter, allow_abbrev=False)
        # Python 3.14 colours the usage, out of which `options` are read.
        self.color = False
        self._given: list[str] = []
        self.elsewhere: dict[str, str] = {}
        """What does the work of subcommands that somebody may look for here."""

    @property
    def options(self) -> list[str]:
        """What its options are called."""
        return ["--help", *_OPTION.findall(self.format_usage())]

    def parse_known_args(  # type: ignore[override]  # its stub's overloads
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As of the base class, but nothing stays unknown: each parser tells of what it was given itself."""
        self._given = list(args or ())
        first = args[0] if args else ""
        if first.startswith("-") and first not in ("-h", *self.options) and self._subcommands is not None:
            # The value of an unknown option would be taken for the subcommand.
            self.refuse([first])
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.refuse(unknown)
        return found, unknown

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """End the process: these arguments are none of this parser's."""
        meant = did_you_mean(unknown[0].partition("=")[0], self.options) or self._place_of_options(unknown[0])
        self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")

    @property
    def _subcommands(self) -> argparse.Action | None:
        return next((action for action in self._actions if isinstance(action, argparse._SubParsersAction)), None)

    def _place_of_options(self, unknown: str) -> str:
        if any(action.metavar == "PROGRAM" for action in self._actions):
            if unknown == "-m":
                return "; PROGRAM is a file, that of a package is PACKAGE/__main__.py"
            if unknown.partition("=")[0] in _PLACES and not self.prog.endswith(" run"):
                return "; which task this is, and of which cluster, tell the scheduler or TF_CONFIG, and the program gets it"
            return "; an option of the program stands behind PROGRAM"
        subcommands = self._subcommands
        if subcommands is None or not subcommands.choices or not unknown.startswith("-"):
            return ""
        return f"; options stand behind {subcommands.metavar}, one of {', '.join(map(str, subcommands.choices))}"

    def error(self, message: str) -> NoReturn:
        """End the process with the message."""
        message = message.replace(", ...", "")  # the program's arguments are not required
        self.exit(2, f"{self.prog}: error: {message}{self._next_step(message)} (see {self.prog} --help)\n")

    def _next_step(self, message: str) -> str:
        """The word that an invalid choice was meant for, or those from which one is lacking."""
        refused = _INVALID_CHOICE.search(message)
        if refused is not None and refused[1] in self.elsewhere:
            return f"; {self.elsewhere[refused[1]]}"
        if refused is not None:
            return did_you_mean(refused[1], [each.strip("'") for each in refused[2].split(", ")])
        lacking = _LACKS_VALUE.match(message)
        if lacking is not None:
            return f"; a value that begins with a hyphen is joined to it, as in {lacking[1]}=-1"
        if message.startswith("the following arguments are required: -"):
            # One that is lacking may have been given by another name, which argparse would tell of later.
            known = [each for action in self._actions if action.required for each in action.option_strings]
            for given in (each.partition("=")[0] for each in self._given if each.startswith("--")):
                meant = "" if given in (*known, *self.options) else did_you_mean(given, known)
                if meant:
                    return f", and there is no {given}{meant}"
        for action in self._actions:
            if action.choices and action.required and f": {action.metavar or action.dest}" in message:
                return f", one of {', '.join(map(str, action.choices))}"
        return ""


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """The end of a sentence that names the word that was probably meant; empty when none is like it."""
    # Their dashes are no likeness: `--version` is not meant for `--on`.
    bare = {each.lstrip("-"): each for each in reversed(known)}
    word = word.lstrip("-")
    begun = [each for each in bare if each.startswith(word)] if len(word) >= _SHORTEST_BEGINNING else []
    # One letter is like any word that has it; a ratio of 0.6, as of `force` and `grace`, is chance.
    close = difflib.get_close_matches(word, bare, n=1, cutoff=0.65) if len(word) > 1 else []
    if not close and len(begun) == 1:
        close = begun
    return f"; did you mean {bare[close[0]]!r}?" if close else ""
