"""The page of the docs that tells how many ops agree with TensorFlow, what differs, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.differential.ops import known
from tests.differential.ops.campaign import Finding, shared_ops
from tests.differential.ops.undefined import UNDEFINED, UNDEFINED_GRADIENTS

_LISTED: Final = Path(__file__).parents[3] / "tools/tensorflow_ops_2.21.txt"

_REASONS: Final[Sequence[tuple[str, str, Mapping[str, str]]]] = (
    ("Documented differences", "These ops do otherwise than TensorFlow in some cases, and are meant to.", known.DIFFERENCES),
    (
        "Not-a-number and infinities",
        "Where a case's own inputs have these, only what is finite in both results is compared.",
        known.FINITE_ONLY,
    ),
    (
        "Complex infinities",
        "Where NaN, an infinity or a zero comes in, only what is finite in both complex results is compared.",
        known.FINITE_IF_COMPLEX,
    ),
    (
        "What TensorFlow leaves open",
        "Cases are left out whose outcome nobody says: what their inputs are is looked at, case by case.",
        {op: reason for op, (_, reason) in UNDEFINED.items()},
    ),
    (
        "Gradients that TensorFlow leaves open",
        "The cases are compared, but for their gradients.",
        {op: reason for op, (_, reason) in UNDEFINED_GRADIENTS.items()},
    ),
    ("More gradients", "The gradients that both have are compared.", known.MORE_GRADIENTS),
    ("Gradients of one output", "Gradients are asked of the first output alone.", known.GRADIENT_OF),
    ("Outputs that are not asked for", "They are not compared.", known.UNASKED),
    ("Messages", "They are compared as messages, not by their bytes.", known.MESSAGES),
    ("Empty inputs", "The values are not compared where an input is empty.", known.UNWRITTEN),
    ("Steps that are not run", "They are not compared.", known.UNWRITTEN_ROWS),
    ("Inputs that belong together", "They are not changed one by one.", known.DEPENDENT),
    ("Values that differ from run to run", "Shapes and types alone are compared.", known.SHAPES_ONLY),
    ("Ops without cases", "Other tests have them.", known.WITHOUT),
)


def page(found: Iterable[Finding], note: str = "") -> str:
    """The page, in Markdown; a note says what else is to be known of the run, such as what ran on which commit."""
    findings = list(found)
    return "\n".join([*_head(findings), *([note, ""] if note else []), *_open(findings), reasons()])


def reasons() -> str:
    """The part of the page that no run changes: the rules and lists of the harness."""
    lines: list[str] = []
    for title, text, ops in _REASONS:
        lines += [f"## {title}", "", text, ""]
        for reason in dict.fromkeys(ops.values()):
            lines.append(f"- {', '.join(f'`{op}`' for op, why in ops.items() if why == reason)}: {reason}.")
        lines.append("")
    lines += ["## Rows that come repeatedly", "", f"They are not compared: {known.REPEATED}.", ""]
    return "\n".join(lines)


def _head(findings: Sequence[Finding]) -> list[str]:
    compared = [each for each in findings if each.compared]
    agree = [each for each in compared if each.agrees]
    told = [each for each in compared if each.meant and not each.differences]
    cases = sum(each.compared for each in compared)
    same = cases - sum(len(each.differences) + each.meant for each in compared)
    return [
        "# How far ops agree with TensorFlow",
        "",
        "`python -m tests.differential.ops --results FILE --page docs/op_agreement.md` writes this page out of a file of "
        "results; [From and to TensorFlow](tensorflow.md) says what is compared, and how.",
        "",
        "| | |",
        "|---|---|",
        f"| ops that both have | {len(shared_ops(dict.fromkeys(_LISTED.read_text().split())))} |",
        f"| of these in the run that this page is of | {len(findings)} |",
        f"| ops with cases that TensorFlow has an answer for | {len(compared)} |",
        f"| agree on all of their cases | {len(agree)} ({100 * len(agree) / max(len(compared), 1):.1f} %) |",
        f"| differ as documented below | {len(told)} |",
        f"| differ otherwise | {len(compared) - len(agree) - len(told)} |",
        f"| cases compared | {cases} |",
        f"| cases that agree | {same} ({100 * same / max(cases, 1):.1f} %) |",
        "",
    ]


def _open(findings: Sequence[Finding]) -> list[str]:
    """A row for each op that differs without a reason."""
    rows = [each for each in findings if each.compared and each.differences]
    if not rows:
        return []
    lines = ["## Open differences", "", "| op | cases | differ | the first |", "|---|---|---|---|"]
    for each in rows:
        # What files the error passed through says nothing.
        first = (
            re.sub(r'File ".*| \[\[.*| Original stack trace.*', "", each.differences[0])[:150]
            .replace("|", "\\|")
            .replace("`", "'")
            .replace("<", "\\<")
            .replace("](", "] (")  # else a link
        )
        lines.append(f"| `{each.op}` | {each.compared} | {len(each.differences)} | {first} |")
    return [*lines, ""]
