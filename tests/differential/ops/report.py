"""What the harness prints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tensorboard.compat.proto import op_def_pb2

from tests.differential.ops.campaign import Finding
from weft.framework.op_types.op_def import AttrDef, to_op_def_proto
from weft.framework.registry import op_registry
from weft.framework.types.dtypes import as_dtype


def findings(found: Iterable[Finding], show: int, also_agreeing: bool) -> int:
    """Print a line per op, with some differences under it, and the sums; 1 where an op differs that has no reason."""
    totals = {"agree": 0, "differ": 0, "differ, with a reason": 0, "nothing to compare": 0}
    unexplained = 0
    for each in found:
        state = _state(each)
        totals[state] += 1
        unexplained += state == "differ"
        if also_agreeing or state != "agree":
            counts = (
                f"{each.cases:5} cases {each.compared:5} compared {each.refused:5} refused {len(each.differences):5} differ"
            )
            print(f"{each.op:40} {counts}", flush=True)
            for text in each.differences[:show]:
                print(f"    {text}", flush=True)
    compared = sum(count for state, count in totals.items() if state != "nothing to compare")
    print("; ".join(f"{count} ops {state}" for state, count in totals.items()))
    print(f"{100 * totals['agree'] / max(compared, 1):.1f} % of the ops compared agree on all cases")
    return 1 if unexplained else 0


def _state(finding: Finding) -> str:
    if finding.agrees:
        return "agree"
    if not finding.compared:
        return "nothing to compare"
    return "differ" if finding.differences else "differ, with a reason"


def declarations(theirs: Sequence[op_def_pb2.OpDef]) -> int:
    """Print in what the declarations of ops differ: state and the types that attributes allow; 1 where some do."""
    lines = [line for definition in theirs for line in declaration_differences(definition)]
    print("\n".join([*lines, f"{len(lines)} differences"]))
    return 1 if lines else 0


def declaration_differences(theirs: op_def_pb2.OpDef) -> list[str]:
    """State, types and limits that weft declares otherwise; quantized types aside, on which it has no arithmetic."""
    own = op_registry.lookup(theirs.name)
    found = []
    is_stateful = to_op_def_proto(own).is_stateful
    if is_stateful != theirs.is_stateful:
        found.append(f"{theirs.name}: {'stateful' if is_stateful else 'not stateful'}, other than TensorFlow's")
    for attr in theirs.attr:
        ours = own.attrs.get(attr.name)
        if ours is not None:
            found.extend(_limit_differences(theirs.name, ours, attr))
        if ours is None or attr.type not in ("type", "list(type)"):
            continue
        wanted = {as_dtype(each) for each in attr.allowed_values.list.type}
        lacking = wanted - set(ours.allowed) if ours.allowed else set()
        names = sorted(each.name for each in lacking if not each.is_quantized and each.name != "variant")
        if names:
            found.append(f"{theirs.name}.{attr.name}: does not allow {', '.join(names)}")
    return found


def _limit_differences(op: str, ours: AttrDef, theirs: op_def_pb2.OpDef.AttrDef) -> list[str]:
    """In what the limits of an attribute differ: its least value or length, the texts that it may be."""
    found = []
    least = theirs.minimum if theirs.has_minimum else None
    if ours.minimum != least:
        found.append(f"{op}.{ours.name}: the minimum is {ours.minimum}, TensorFlow's {least}")
    choices = {each.decode() for each in theirs.allowed_values.list.s}
    if set(ours.choices) != choices:
        found.append(f"{op}.{ours.name}: may be one of {sorted(ours.choices)}, in TensorFlow of {sorted(choices)}")
    return found
