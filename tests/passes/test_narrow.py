"""A run has of If and While nodes only the outputs that it needs, with what these need."""

from __future__ import annotations

import weft as tf
from weft.framework.nodes.operation import Operation, Tensor
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


def _loop_node(narrowed: Narrowed | None) -> Operation:
    assert narrowed is not None
    (node,) = (op for op in narrowed.ops if op.op_def.is_loop)
    return node


def _types(node: Operation, attr: str) -> list[str]:
    return [op.type for op in node.graph.get_function(node.attrs[attr]).get_operations() if op.type != "_Arg"]


def test_loop_variables_that_nothing_needs_are_left_out() -> None:
    p = tf.placeholder(tf.float32, [], name="p")
    i, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * p), [0, 1.0])
    node = _loop_node(_narrowed([i], [], []))
    assert [tensor.op.name for tensor in node.inputs] == ["while/loop_var"]
    assert node.attrs["T"] == [tf.int32]
    assert node.attrs["output_shapes"] == [()]
    assert sorted(_types(node, "body")) == ["AddV2", "Const"]
    # The condition needs the other one.
    assert _narrowed([x], [p], []) is None
    assert _narrowed([i, x], [p], []) is None


def test_a_loop_variable_that_a_needed_one_is_computed_from_stays() -> None:
    p = tf.placeholder(tf.float32, [], name="p")
    _, x, _, _, _ = tf.while_loop(
        lambda i, *others: i < 3, lambda i, x, y, z, u: (i + 1, y, z * 2, x + p, u * x), [0, 1.0, 2.0, 3.0, 4.0]
    )
    assert len(_loop_node(_narrowed([x], [p], [])).outputs) == 5  # i, x, y, z and p


def test_the_condition_decides_what_stays() -> None:
    p = tf.placeholder(tf.float32, [], name="p")
    i, _ = tf.while_loop(lambda i, x: x < 3, lambda i, x: (i + 1, x + p), [0, 1.0])
    assert _narrowed([i], [p], []) is None


def test_loops_and_branches_in_a_loop_are_narrowed_with_it() -> None:
    p, q = tf.placeholder(tf.float32, [], name="p"), tf.placeholder(tf.float32, [], name="q")

    def body(i, x, y):
        _, x, y = tf.while_loop(lambda j, x, y: j < 2, lambda j, x, y: (j + 1, x + 1, y * p), [0, x, y])
        x, y = tf.cond(x > 5, lambda: (x + 1, y), lambda: (x, y * q))
        return i + 1, x, y

    _, x, _ = tf.while_loop(lambda i, x, y: i < 3, body, [0, 1.0, 1.0])
    outer = _loop_node(_narrowed([x], [], []))
    assert len(outer.inputs) == 2
    function = outer.graph.get_function(outer.attrs["body"])
    (inner,) = (op for op in function.get_operations() if op.op_def.is_loop)
    (branch,) = (op for op in function.get_operations() if op.op_def.bodies and not op.op_def.is_loop)
    assert (len(inner.outputs), len(branch.outputs)) == (2, 1)


def test_a_loop_records_only_what_the_run_uses() -> None:
    w = tf.constant(2.0)
    _, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.sin(x * w)), [0, 1.0])
    before = x.op.inputs[0].op
    (gradient,) = tf.gradients(x, w)
    assert before.type == "RecordingWhile"
    assert _narrowed([x, gradient], [], []) is None
    alone = _loop_node(_narrowed([x], [], []))
    assert (alone.type, len(alone.outputs)) == ("While", len(alone.inputs))
    # Its iterations are counted without what it records for the gradient.
    counted = _narrowed([before.outputs[-1]], [], [])
    assert _loop_node(counted).attrs["Trecorded"] == [tf.int32]


def test_a_gradient_loop_leaves_out_what_is_only_waited_for() -> None:
    p, w = tf.placeholder(tf.float32, [3, 2], name="p"), tf.Variable(2.0)
    _, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.sin(x * w + p[i])), [0, tf.zeros([2])])
    # All gradients of a node wait for each other, as optimizers ask for.
    (gradient,) = tf.gradients(x, w, gate_gradients=True)
    assert any(op.op_def.is_loop for other in gradient.op.control_inputs for op in other.control_inputs)
    narrowed = _narrowed([gradient], [p], [])
    (backwards,) = (op for op in narrowed.ops if op.type == "StatelessWhile")
    types = {op.type for op in backwards.graph.get_function(backwards.attrs["body"]).get_operations()}
    assert "StridedSliceGrad" not in types
    assert len(backwards.outputs) < len(narrowed.originals[backwards].outputs)


def test_what_runs_for_itself_stays_in_a_loop_of_a_function() -> None:
    v = tf.Variable(0.0, use_resource=True)

    @tf.function
    def counted(x):
        def body(i, x):
            v.assign_add(1.0)
            return i + 1, x * 2

        return tf.while_loop(lambda i, x: i < 3, body, [0, x])[0]

    node = _loop_node(_narrowed([counted(tf.constant(1.0))], [], []))
    assert "AssignAddVariableOp" in _types(node, "body")
    assert "Mul" not in _types(node, "body")
