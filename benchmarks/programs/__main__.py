"""Run one measure here and print its figure as one JSON line: `python -m benchmarks.programs local_runs:feed`."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from dataclasses import asdict

from benchmarks.channel import claim_standard_streams
from benchmarks.framework import framework_name


def main(measure: str) -> None:
    channel = claim_standard_streams()
    module, _, function = measure.partition(":")
    status = 0
    try:
        sample = getattr(importlib.import_module(f"benchmarks.programs.{module}"), function)()
        channel.send(framework=framework_name(), measure=measure, **asdict(sample))
    except Exception:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1])
