"""A run has of an If node only the outputs that it needs, with what these need."""

from __future__ import annotations

import weft as tf
from weft.framework.operation import Operation, Tensor
from weft.passes.narrow import Narrowed, narrow
from weft.passes.prune import prune


def _cond() -> tuple[list[Tensor], list[Tensor], Tensor]:
    p = tf.placeholder(tf.bool, [], name="p")
    a, b = tf.placeholder(tf.float32, [2], name="a"), tf.placeholder(tf.float32, [3], name="b")
    return list(tf.cond(p, lambda: (a + 1, b + 1), lambda: (a * 2, tf.negative(b)))), [a, b], p


def _narrowed(fetches: list[Tensor], feeds: list[Tensor], targets: list[Operation]) -> Narrowed | None:
    return narrow(prune(fetches, feeds, targets), fetches, feeds, targets)


def test_a_run_of_everything_is_left_as_it_is() -> None:
    (x, y), inputs, p = _cond()
    assert _narrowed([x, y], [*inputs, p], []) is None
    assert _narrowed([inputs[0] + 1], inputs, []) is None


def test_arguments_of_other_outputs_are_left_out() -> None:
    (x, y), (_, b), p = _cond()
    for fetches, targets in (([y], []), ([], [y.op])):
        narrowed = _narrowed(fetches, [p], targets)
        assert narrowed is not None
        assert {op.name for op in narrowed.ops} == {"b", "cond/pred_id", "cond/If", "cond/Merge_1"}
        (node,) = (op for op in narrowed.ops if op.op_def.bodies)
        assert [tensor.name for tensor in node.inputs] == ["cond/pred_id:0", "b:0"]
        assert [tensor.dims for tensor in node.outputs] == [(3,)]
        assert node.attrs["Tin"] == node.attrs["Tout"] == [tf.float32]
        # The graph that the program built has what it had.
        assert len(x.op.inputs[0].op.inputs) == 3
        assert b.op in narrowed.originals.values()
        assert b.op not in narrowed.ops


def test_what_is_fed_stays_what_the_program_knows() -> None:
    (x, _), (a, _), p = _cond()
    narrowed = _narrowed([x, a], [p, a], [])
    assert narrowed is not None
    assert narrowed.fetches[1] is a
    (node,) = (op for op in narrowed.ops if op.op_def.bodies)
    assert node.inputs[1] is a


def test_updates_for_other_outputs_are_left_out() -> None:
    v = tf.Variable(0, name="v")
    p = tf.placeholder(tf.bool, [], name="p")
    x, y = tf.cond(p, lambda: (tf.assign_add(v, 1), tf.identity(v)), lambda: (tf.identity(v), tf.identity(v)))
    narrowed = _narrowed([y], [p], [])
    assert narrowed is not None
    (node,) = (op for op in narrowed.ops if op.op_def.bodies)
    branch = node.graph.get_function(node.attrs["then_branch"])
    assert "AssignAdd" not in {op.type for op in branch.get_operations()}
    assert _narrowed([x], [p], []) is None
