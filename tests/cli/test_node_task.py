"""A task's process on another node, here on this one."""

import os
import signal
import sys

import pytest

from weft.cli.node_task import NodeTask
from weft.platform.process.launcher_link import TaskNews


@pytest.fixture
def task():
    made = NodeTask()
    yield made
    made.close()


def news_until_end(task):
    lines, serves = [], False
    while True:
        news = task.news(100)
        lines.extend(news.lines)
        serves = serves or any(told.serves for told in news.told)
        if news.return_code is not None:
            return lines, serves, news.return_code


def test_lines_and_the_end_come_back_in_order(task, tmp_path):
    program = "import os, sys; print(os.environ['A'], os.getcwd()); print('error', file=sys.stderr); sys.exit(3)"
    task.start([sys.executable, "-u", "-c", program], {"A": "a"}, str(tmp_path))
    assert news_until_end(task) == ([f"a {tmp_path}", "error"], False, 3)


def test_a_task_that_serves_only_tells(task, tmp_path):
    told = "from weft.platform.process.launcher_link import TaskNews, tell_launcher; tell_launcher(TaskNews(serves=True))"
    program = f"{told}; import signal; signal.pause()"
    task.start([sys.executable, "-c", program], {"PYTHONPATH": os.pathsep.join(sys.path)}, str(tmp_path))
    assert task.news(100).told == (TaskNews(serves=True),)


def test_a_signal_reaches_it_and_it_can_be_started_again(task, tmp_path):
    program = "import signal; print('up', flush=True); signal.pause()"
    for number in (signal.SIGTERM, signal.SIGKILL):
        task.start([sys.executable, "-c", program], {}, str(tmp_path))
        # What is written in two pieces may come in two.
        while not (lines := task.news(100).lines):
            pass
        assert lines == ("up",)
        task.signal(number)
        assert news_until_end(task)[2] == -number


def test_without_news_a_wait_ends(task):
    assert task.news(0).return_code is None


def test_a_program_that_is_not_there_is_told(task, tmp_path):
    with pytest.raises(FileNotFoundError):
        task.start([str(tmp_path / "none")], {}, str(tmp_path))
