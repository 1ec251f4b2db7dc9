"""The help of all commands is of one style: each says what it does, and what each of its arguments is."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest

from weft.cli.command_line import COMMANDS, command_parser, main


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _parsers(inner)


_PARSERS = {parser.prog: parser for parser in _parsers(command_parser([*COMMANDS]))}
_WITH_ARGUMENTS = {prog: parser for prog, parser in _PARSERS.items() if "run" in parser._defaults}


def _arguments(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    return (each for each in parser._actions if not isinstance(each, argparse._HelpAction | argparse._SubParsersAction))


@pytest.mark.parametrize("prog", _PARSERS)
def test_a_command_says_in_sentences_what_it_does(prog: str) -> None:
    description = (_PARSERS[prog].description or "").strip()
    assert re.match(r"[A-Z]", description)
    assert description.endswith((".", "_weft", "refused"))
    assert max(map(len, description.splitlines())) <= 84


@pytest.mark.parametrize("prog", _WITH_ARGUMENTS)
def test_each_argument_says_what_it_is_in_one_style(prog: str) -> None:
    for action in _arguments(_WITH_ARGUMENTS[prog]):
        name = "/".join(action.option_strings) or action.dest
        assert action.help, name
        # No sentence, and its default stands in brackets at the end.
        assert not action.help.endswith("."), name
        assert re.match(r"[a-z]|GPUs|Indexed|[A-Z]+[.:]|grpc|worker:0|input=", action.help), (name, action.help)
        if action.nargs != 0 and action.choices is None:
            assert re.fullmatch(r"[A-Z:.,4=\[\]_]+", str(action.metavar)), (name, action.metavar)


@pytest.mark.parametrize("prog", _WITH_ARGUMENTS)
def test_numbers_are_refused_in_words_of_ours(prog: str) -> None:
    assert [each.dest for each in _arguments(_WITH_ARGUMENTS[prog]) if each.type in (int, float)] == []


@pytest.mark.parametrize("words", ["", "checkpoint", "credentials", "saved-model"])
def test_a_subcommand_stands_in_the_line_that_tells_what_it_does(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([*words.split(), "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if re.fullmatch(r"    [a-z0-9-]+", line)] == []


@pytest.mark.parametrize("columns", ["20", "40", "200"])
def test_help_can_be_read_on_any_terminal(
    columns: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for prog in _PARSERS:
        with pytest.raises(SystemExit) as ended:
            main([*prog.split()[1:], "--help"])
        assert ended.value.code == 0
    assert "Ctrl-C" in capsys.readouterr().out
