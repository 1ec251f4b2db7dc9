"""Command-line flags: absl's, with the conveniences that programs of TensorFlow 1.x rely on.

There is one set of flags in a process, absl's; `FLAGS` is a view of it. The differences from `absl.flags` are that
reading a flag before anything was parsed parses `sys.argv`, that arguments which no flag claims are left alone, and
that the `DEFINE_*` functions also take the older keywords `flag_name`, `default_value` and `docstring`.
"""

from __future__ import annotations

import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar, cast

from absl import app as _absl_app
from absl import flags as _absl
from absl import logging as _absl_logging
from absl.flags import (
    DEFINE,
    ArgumentParser,
    ArgumentSerializer,
    BooleanFlag,
    BooleanParser,
    CantOpenFlagFileError,
    CsvListSerializer,
    DEFINE_alias,
    DEFINE_flag,
    DuplicateFlagError,
    EnumFlag,
    EnumParser,
    Error,
    Flag,
    FlagHolder,
    FlagNameConflictsWithMethodError,
    FlagValues,
    FloatParser,
    IllegalFlagValueError,
    IntegerParser,
    ListParser,
    ListSerializer,
    MultiFlag,
    UnparsedFlagAccessError,
    UnrecognizedFlagError,
    ValidationError,
    WhitespaceSeparatedListParser,
    adopt_module_key_flags,
    declare_key_flag,
    disclaim_key_flags,
    doc_to_help,
    flag_dict_to_args,
    get_help_width,
    mark_bool_flags_as_mutual_exclusive,
    mark_flag_as_required,
    mark_flags_as_mutual_exclusive,
    mark_flags_as_required,
    multi_flags_validator,
    register_multi_flags_validator,
    register_validator,
    text_wrap,
    validator,
)

from weft.platform.hints.spelling import did_you_mean

__all__ = [
    "DEFINE",
    "FLAGS",
    "ArgumentParser",
    "ArgumentSerializer",
    "BooleanFlag",
    "BooleanParser",
    "CantOpenFlagFileError",
    "CsvListSerializer",
    "DEFINE_alias",
    "DEFINE_bool",
    "DEFINE_boolean",
    "DEFINE_enum",
    "DEFINE_enum_class",
    "DEFINE_flag",
    "DEFINE_float",
    "DEFINE_integer",
    "DEFINE_list",
    "DEFINE_multi",
    "DEFINE_multi_enum",
    "DEFINE_multi_enum_class",
    "DEFINE_multi_float",
    "DEFINE_multi_integer",
    "DEFINE_multi_string",
    "DEFINE_spaceseplist",
    "DEFINE_string",
    "DuplicateFlagError",
    "EnumFlag",
    "EnumParser",
    "Error",
    "Flag",
    "FlagHolder",
    "FlagNameConflictsWithMethodError",
    "FlagValues",
    "FlagsError",
    "FloatParser",
    "IllegalFlagValueError",
    "IntegerParser",
    "ListParser",
    "ListSerializer",
    "MultiFlag",
    "UnparsedFlagAccessError",
    "UnrecognizedFlagError",
    "ValidationError",
    "WhitespaceSeparatedListParser",
    "adopt_module_key_flags",
    "declare_key_flag",
    "disclaim_key_flags",
    "doc_to_help",
    "flag_dict_to_args",
    "get_help_width",
    "mark_bool_flags_as_mutual_exclusive",
    "mark_flag_as_required",
    "mark_flags_as_mutual_exclusive",
    "mark_flags_as_required",
    "multi_flags_validator",
    "register_multi_flags_validator",
    "register_validator",
    "text_wrap",
    "validator",
]

# A flag belongs to the module that calls DEFINE_*, not to this one, which merely passes the call on.
disclaim_key_flags()

FlagsError = Error

_NEW_KEYWORDS: Final = {"flag_name": "name", "default_value": "default", "docstring": "help"}
_Define = TypeVar("_Define", bound=Callable[..., Any])


_NAMED: Final = re.compile(r"flag --(\w+)")
_KINDS: Final = frozenset(("an integer", "a number"))
_NO_HELP: Final = "(no help available)"


class ImplicitFlags:
    """The process's flags, parsed from `sys.argv` by the first read unless the program parsed them before.

    Attributes are the flags' values; everything else that `absl.flags.FlagValues` offers is passed through. Threading:
    as absl's, define and parse on one thread, read on any.

    Args:
        values: the `absl.flags.FlagValues` that it stands for.
    """

    def __init__(self, values: FlagValues) -> None:
        self.__dict__["_values"] = values
        self.__dict__["_parsed_implicitly"] = False

    def parse(self, argv: Sequence[str]) -> list[str]:
        """Parse `argv`, whose first item is the program's name; return that item and what no flag claimed.

        Args:
            argv: the command line, the program's name first.
        """
        self.__dict__["_parsed_implicitly"] = False
        return self._parse(argv)

    def _parse(self, argv: Sequence[str]) -> list[str]:
        values = self.__dict__["_values"]
        # Multi-value flags append to what an earlier parse found unless they count as absent.
        for name in values:
            values[name].present = 0
        return _told(values, argv, known_only=True)

    def _parse_flags(self, args: Sequence[str] | None = None) -> None:
        """Parse `args` (without the program's name), or `sys.argv`: the explicit parse of TensorFlow before 1.5."""
        self.parse(sys.argv if args is None else [sys.argv[0], *args])

    def note_definition(self) -> None:
        """Give a flag that was defined after an implicit parse its value too."""
        if self.__dict__["_parsed_implicitly"]:
            self._parse(sys.argv)

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__["_values"]
        if name in values and not values.is_parsed():
            self.__dict__["_parsed_implicitly"] = True
            self._parse(sys.argv)
        if name not in values and not name.startswith("_") and not hasattr(type(values), name):
            raise AttributeError(f"{name}: no such flag.{did_you_mean(name, list(values))}")
        return getattr(values, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["_values"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["_values"], name)

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        self.__dict__["_parsed_implicitly"] = False
        return _told(self.__dict__["_values"], argv, known_only)

    def misspelt(self, arguments: Sequence[str]) -> list[str]:
        """What to say of the arguments that no flag claimed, and that are nearly the name of one.

        Args:
            arguments: what parsing has left; those behind a "--" are not looked at.
        """
        said = []
        for argument in itertools.takewhile(lambda each: each != "--", arguments):
            name = argument.lstrip("-").partition("=")[0]
            meant = did_you_mean(name, list(self)) if argument.startswith("--") else ""
            if meant:
                said.append(f"{argument} is no flag of the program, and nothing is set by it.{meant}")
        return said

    def __getitem__(self, name: str) -> Flag[Any]:
        return cast("Flag[Any]", self.__dict__["_values"][name])

    def __setitem__(self, name: str, flag: Flag[Any]) -> None:
        self.__dict__["_values"][name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__["_values"]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__["_values"])

    def __len__(self) -> int:
        return len(self.__dict__["_values"])

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_values"])

    def __str__(self) -> str:
        return str(self.__dict__["_values"])


def _told(values: FlagValues, argv: Sequence[str], known_only: bool) -> list[str]:
    """Parse, and say with an error what the flag is for, which its value does not fit."""
    try:
        return values(argv, known_only=known_only)
    except _absl.Error as error:
        found = _NAMED.search(str(error))
        flag = values[found[1]] if found and found[1] in values else None
        if flag is None or type(error) not in (_absl.IllegalFlagValueError, _absl.Error):
            raise
        kind, help_text = flag.parser.syntactic_help, flag.help.rstrip(".")
        told = ([kind] if kind in _KINDS else []) + ([] if help_text == _NO_HELP else [repr(help_text)])
        default = "it has no default" if flag.default is None else f"{flag.default_as_str} by default"
        raise type(error)(f"{error}. --{flag.name} is {': '.join(told) or 'a flag without help'} ({default}).") from None


FLAGS = ImplicitFlags(_absl.FLAGS)

# absl's own modules have flags by names that programs like for theirs, such as log_dir, v and verbosity; they may take them.
for _module in (_absl_logging, _absl_app):
    for _flag in _absl.FLAGS.flags_by_module_dict()[_module.__name__]:
        _flag.allow_override = True


def _defined_by_notebook(name: str) -> bool:
    """Whether the flag was defined at an interactive prompt, where running a cell again is no mistake."""
    program = id(sys.modules["__main__"])
    return hasattr(sys, "ps1") and name in FLAGS and _absl.FLAGS.find_module_id_defining_flag(name) == program


def _wrapped(define: _Define) -> _Define:
    """Let `define` take the older keywords, and give the new flag its value if the others have theirs."""

    @functools.wraps(define)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        kwargs = {_NEW_KEYWORDS.get(keyword, keyword): value for keyword, value in kwargs.items()}
        if _defined_by_notebook(args[0] if args else kwargs["name"]):
            kwargs["allow_override"] = True
        holder = define(*args, **kwargs)
        FLAGS.note_definition()
        return holder

    return cast("_Define", wrapper)


DEFINE_string = _wrapped(_absl.DEFINE_string)
DEFINE_integer = _wrapped(_absl.DEFINE_integer)
DEFINE_float = _wrapped(_absl.DEFINE_float)
DEFINE_boolean = _wrapped(_absl.DEFINE_boolean)
DEFINE_bool = DEFINE_boolean
DEFINE_enum = _wrapped(_absl.DEFINE_enum)
DEFINE_enum_class = _wrapped(_absl.DEFINE_enum_class)
DEFINE_list = _wrapped(_absl.DEFINE_list)
DEFINE_spaceseplist = _wrapped(_absl.DEFINE_spaceseplist)
DEFINE_multi = _absl.DEFINE_multi
DEFINE_multi_string = _wrapped(_absl.DEFINE_multi_string)
DEFINE_multi_integer = _wrapped(_absl.DEFINE_multi_integer)
DEFINE_multi_float = _wrapped(_absl.DEFINE_multi_float)
DEFINE_multi_enum = _wrapped(_absl.DEFINE_multi_enum)
DEFINE_multi_enum_class = _wrapped(_absl.DEFINE_multi_enum_class)
