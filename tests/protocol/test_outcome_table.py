"""A step that is asked for again is run once, and answers again with what it answered, until the next one acknowledges that."""

from __future__ import annotations

import random

from weft.protocol.outcome_table import LANES, Fate, OutcomeTable


def test_a_step_is_new_once() -> None:
    table: OutcomeTable[str] = OutcomeTable()
    assert table.ask(7) is Fate.NEW
    assert table.ask(7) is Fate.RUNNING
    assert table.note_end(7, "seven", 5)
    assert table.ask(7) == table.ask(7) == "seven"


def test_the_next_step_of_a_lane_acknowledges_the_last() -> None:
    table: OutcomeTable[str] = OutcomeTable()
    table.ask(7)
    table.note_end(7, "seven", 5)
    assert table.ask(8) is Fate.NEW
    assert table.ask(7) == "seven"
    assert table.ask(7 + LANES) is Fate.NEW
    assert table.kept_bytes == 0
    # What was under way when its asker went on comes too late.
    assert table.ask(7) is Fate.ACKNOWLEDGED
    assert table.ask(7 + LANES) is Fate.RUNNING


def test_the_end_of_a_step_that_was_given_up_changes_nothing() -> None:
    table: OutcomeTable[str] = OutcomeTable()
    table.ask(7)
    table.ask(7 + LANES)
    assert not table.note_end(7, "late", 5)
    assert not table.note_end(9, "never asked for", 5)
    assert table.ask(7 + LANES) is Fate.RUNNING
    assert table.note_end(7 + LANES, "first", 5)
    assert not table.note_end(7 + LANES, "second", 5)
    assert table.ask(7 + LANES) == "first"


def test_answers_are_kept_within_a_limit_and_the_fate_beyond_it() -> None:
    table: OutcomeTable[str] = OutcomeTable(max_bytes=10)
    for number in (1, 2, 3):
        table.ask(number)
        table.note_end(number, str(number), 5)
    assert [table.ask(number) for number in (1, 2, 3)] == ["1", "2", Fate.DROPPED]
    assert table.kept_bytes == 10
    table.ask(1 + LANES)
    assert table.kept_bytes == 5
    table.ask(3 + LANES)
    table.note_end(3 + LANES, "again", 5)
    assert table.ask(3 + LANES) == "again"


def test_whatever_is_lost_each_step_is_run_once() -> None:
    """Askers that repeat their requests at random, over a network that loses requests and answers."""
    rng = random.Random(12)
    table: OutcomeTable[int] = OutcomeTable()
    runs: dict[int, int] = {}
    answers: list[tuple[int, int]] = []
    asked = list(range(8))
    for _ in range(20_000):
        lane = rng.randrange(8)
        number = asked[lane]
        if rng.random() < 0.3:
            continue  # the request is lost
        found = table.ask(number)
        if found is Fate.NEW:
            runs[number] = runs.get(number, 0) + 1
        if found in (Fate.NEW, Fate.RUNNING) and rng.random() < 0.5:
            table.note_end(number, number * 2, 8)
        if isinstance(found, int) and rng.random() < 0.7:
            answers.append((number, found))
            asked[lane] = number + LANES
    assert len(answers) > 1000
    assert all(answer == number * 2 for number, answer in answers)
    assert set(runs.values()) == {1}
    assert table.kept_bytes <= 8 * 8
