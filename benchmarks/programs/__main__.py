"""Run one program here and print its result as one JSON line: `python -m benchmarks.programs local_runs:feed`.

A program that takes a size gets it as a further argument: `python -m benchmarks.programs growth_of_steps:nodes 1000`.
"""

from __future__ import annotations

import importlib
import os
import resource
import sys
import traceback
from dataclasses import asdict

from benchmarks.channel import claim_standard_streams
from benchmarks.framework import framework_name


def main(program: str, *sizes: str) -> None:
    channel = claim_standard_streams()
    module, _, function = program.partition(":")
    status = 0
    try:
        result = getattr(importlib.import_module(f"benchmarks.programs.{module}"), function)(*map(int, sizes))
        cpu_s = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        channel.send(framework=framework_name(), program=program, cpu_s=cpu_s, **asdict(result))
    except Exception:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
