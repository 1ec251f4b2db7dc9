"""A task on another host: what `weft launch --hosts` starts there by ssh, as `python -m weft.cli.remote_task`.

One line of JSON on standard input says what to run: it has the cluster's token, which no command line may show. Each line
behind it is the number of a signal for the task. Standard input stays open as long as the launcher lives; its end, however it
comes, ends the task. On standard output are the task's lines, and between them, behind a mark, what it tells its launcher.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from weft.cli.node_task import NodeTask
from weft.cli.supervision import exit_code_of
from weft.platform.process.launcher_link import TaskNews

_GRACE_S: Final = 10.0
# The record separator of ASCII, with which no program's line begins.
_MARK: Final = "\x1e"
REACHED: Final = r"\036{}\n"
"""For printf, what tells the launcher that its way there is open: news that say nothing else."""


def told(command: Sequence[str], environment: Mapping[str, str], folder: str) -> bytes:
    """The line that says what to run; the first word of the command stands for Python."""
    return json.dumps({"arguments": list(command[1:]), "environment": dict(environment), "folder": folder}).encode() + b"\n"


def signalled(number: int) -> bytes:
    """The line that sends the task a signal."""
    return b"%d\n" % number


def news_in(line: str) -> TaskNews | None:
    """What a line of standard output tells the launcher; None for one of the task's own."""
    return TaskNews.decode(line[1:].encode()) if line.startswith(_MARK) else None


def main() -> int:
    """Run the task; return its exit code."""
    asked = json.loads(sys.stdin.readline())
    task = NodeTask()
    try:
        task.start([sys.executable, *asked["arguments"]], asked["environment"], asked["folder"])
        threading.Thread(target=_obey_launcher, args=(task,), daemon=True).start()
        while True:
            news = task.news()
            # A launcher that is gone reads nothing; the task still has its time to end.
            with suppress(BrokenPipeError):
                for line in [*news.lines, *(_MARK + each.encode().decode().rstrip() for each in news.told)]:
                    print(line, flush=True)
            if news.return_code is not None:
                return exit_code_of(news.return_code)
    except OSError as error:
        print(f"the task cannot be started on this host: {error}", flush=True)
        return 127
    finally:
        task.close()


def _obey_launcher(task: NodeTask) -> None:
    while line := sys.stdin.readline():
        task.signal(int(line))
    task.signal(signal.SIGTERM)
    threading.Timer(_GRACE_S, task.signal, [signal.SIGKILL]).start()


if __name__ == "__main__":
    sys.exit(main())
