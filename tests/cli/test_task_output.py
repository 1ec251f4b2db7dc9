from weft.cli.task_output import TaskOutput

TEXT = "one\n\nzwölf\r\n10%\r20%\rdone\nlast"
LINES = ["one", "", "zwölf", "done", "last"]


def test_a_whole_text_is_cut_into_lines():
    output = TaskOutput()
    assert output.feed(TEXT.encode()) + output.end() == LINES
    assert output.has_lines


def test_bytes_that_come_one_by_one_give_the_same_lines():
    output = TaskOutput()
    lines = [line for byte in TEXT.encode() for line in output.feed(bytes([byte]))]
    assert lines + output.end() == LINES


def test_an_incomplete_line_waits():
    output = TaskOutput()
    assert output.feed(b"a") == []
    assert output.feed(b"b\n") == ["ab"]
    assert output.end() == []


def test_bytes_that_are_no_text_are_shown_as_such():
    assert TaskOutput().feed(b"\xff\n") == ["\N{REPLACEMENT CHARACTER}"]


def test_a_bar_that_never_ends_its_line_takes_no_memory():
    output = TaskOutput()
    for percent in range(100_000):
        output.feed(b"\r%d%%" % percent)
    assert output.end() == ["99999%"]


def test_a_task_that_wrote_nothing_has_no_lines():
    output = TaskOutput()
    assert output.end() == []
    assert not output.has_lines


def test_a_line_without_end_is_cut():
    output = TaskOutput()
    [line] = output.feed(b"x" * (1 << 21))
    assert len(line) == 1 << 21
