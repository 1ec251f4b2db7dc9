"""Every op that weft shares with TensorFlow, in both.

    WEFT_ORACLE_PYTHON=... python -m tests.differential.ops [--count 40] [OP ...]

`WEFT_ORACLE_PYTHON` names a Python with TensorFlow 2.21, `WEFT_ORACLE_PYTHON_1` one with 1.15, whose answers count as well
(`make interop` has both).
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from tests.differential.ops import oracle, page, report, results
from tests.differential.ops.campaign import Campaign, shared_ops


def main() -> int:
    """Run what is asked for and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential.ops", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("ops", nargs="*", help="the ops; all that both have without")
    parser.add_argument("--count", type=int, default=40, help="mutations of each op beside seeds and types")
    parser.add_argument("--every", type=int, default=6, help="each how manieth case is compiled, too")
    parser.add_argument("--show", type=int, default=3, help="how many differences of an op are printed")
    parser.add_argument("--all", action="store_true", help="print the ops that agree, too")
    parser.add_argument("--keep", type=Path, help="a folder to keep TensorFlow's answers in, for the next time")
    parser.add_argument(
        "--results", type=Path, help="a file of what came out, a line per op: ops that it has are not run again"
    )
    parser.add_argument("--page", type=Path, help="write the page of the docs out of the file of results, and run nothing")
    parser.add_argument("--note", default="", help="what the page says of the run under its table")
    parser.add_argument("--limit-s", type=float, default=240, help="the time that an op's cases may take in each library")
    parser.add_argument("--declarations", action="store_true", help="compare the ops' declarations, and run nothing")
    parser.add_argument("--draw", type=int, default=0, help="another number draws other mutations")
    asked = parser.parse_args()
    if asked.page is not None:
        asked.page.write_text(page.page(results.stored(asked.results).values(), asked.note))
        return 0
    python = oracle.python_of("2.21")
    if python is None:
        parser.error("WEFT_ORACLE_PYTHON names no Python that has TensorFlow 2.21 (make interop)")
    definitions = oracle.definitions(python)
    shared = shared_ops(definitions)
    if asked.declarations:
        return report.declarations([definitions[name] for name in shared])
    unknown = sorted(set(asked.ops) - set(shared))
    if unknown:
        parser.error(f"not ops of both: {', '.join(unknown)}")
    if asked.keep is not None:
        asked.keep.mkdir(parents=True, exist_ok=True)
    campaign = Campaign(python, oracle.python_of("1.15"), asked.count, asked.every, asked.keep, asked.limit_s, asked.draw)
    with contextlib.closing(campaign):
        found = results.resumed(asked.results, asked.ops or shared, lambda ops: campaign.run(ops, definitions))
        return report.findings(found, asked.show, asked.all)


if __name__ == "__main__":
    sys.exit(main())
