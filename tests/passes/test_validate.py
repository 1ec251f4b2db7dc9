"""A result of a pass that breaks a rule is refused, and the error names the rule and what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

import weft as tf
from weft.errors import InternalError
from weft.framework.nodes.operation import Operation, Tensor
from weft.passes.partition import Edge, Partition, partition
from weft.passes.stage import Kind, Staging
from weft.passes.validate import validate_partition, validate_partitions, validate_staging

A, B = "/job:a/replica:0/task:0", "/job:b/replica:0/task:0"


@dataclass
class Run:
    """A run that is fed `x`, squares it on one task and negates the square on another."""

    ops: list[Operation]
    placement: Mapping[Operation, str]
    feeds: list[Tensor]
    fetches: list[Tensor]
    staging: Staging
    parts: dict[str, Partition]

    def validate(self) -> None:
        validate_staging(self.staging, self.ops, self.placement, self.feeds)
        validate_partitions(self.parts, self.ops, self.placement, self.feeds, self.fetches)

    def op(self, name: str) -> Operation:
        return next(op for op in self.ops if op.name == name)


@pytest.fixture
def run(graph: tf.Graph) -> Run:
    x = tf.placeholder(tf.float32, [], name="x")
    square = tf.square(x, name="square")
    negative = tf.negative(square, name="negative")
    with tf.control_dependencies([negative]):
        tf.no_op(name="end")
    ops = [square.op, negative.op, graph.get_operation_by_name("end")]
    placement = {op: f"{A if op is square.op else B}/device:CPU:0" for op in ops}
    staging = Staging(ops, placement, [x], [negative])
    return Run(ops, placement, [x], [negative], staging, partition(ops, placement, staging, [x], [negative]))


def test_what_the_passes_make_keeps_the_rules(run: Run) -> None:
    run.validate()


def _forget_a_kind(run: Run) -> None:
    del run.staging.kinds[run.op("square")]


def _lower_a_number(run: Run) -> None:
    run.staging.levels[run.op("negative")] = 0


def _compile_strings(run: Run) -> None:
    op = tf.constant("text").op
    run.ops.append(op)
    run.placement = {**run.placement, op: f"{A}/device:CPU:0"}
    run.staging.kinds[op], run.staging.levels[op] = Kind.COMPILED, 0


def _gather_on_an_accelerator(run: Run) -> None:
    op = tf.gather(tf.zeros([3]), 1).op
    run.ops = [op]
    run.placement = {op: f"{A}/device:GPU:0"}
    run.staging.kinds, run.staging.levels = {op: Kind.ROWS}, {op: 0}


def _free_a_computation(run: Run) -> None:
    run.staging.kinds[run.op("end")] = Kind.FREE


def _lose_a_node(run: Run) -> None:
    run.parts[B].nodes.remove(run.op("end"))
    for known in (run.parts[B].devices, run.parts[B].kinds, run.parts[B].levels):
        del known[run.op("end")]


def _turn_the_order_round(run: Run) -> None:
    run.parts[B].nodes.reverse()


def _lose_a_receive(run: Run) -> None:
    run.parts[B].recvs.clear()


def _lose_a_send(run: Run) -> None:
    run.parts[A].sends.clear()


def _give_a_number_twice(run: Run) -> None:
    (edge,) = run.parts[A].sends
    again = Edge(edge.number, run.op("square"), A, B)
    run.parts[A].sends.append(again)
    run.parts[B].recvs[again.source] = again


def _lose_a_fetch(run: Run) -> None:
    run.parts[B].fetches.clear()


def _place_elsewhere(run: Run) -> None:
    run.parts[A].devices[run.op("square")] = f"{B}/device:CPU:0"


def _settle_what_nobody_fetches(run: Run) -> None:
    run.parts[A].settled[run.op("square").outputs[0]] = []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_forget_a_kind, "every node of the run, and no other, has a kind: 'square' (Square)"),
        (
            _lower_a_number,
            "an edge over a boundary leads to a higher number, here 0 twice: 'square' (Square), 'negative' (Neg)",
        ),
        (_compile_strings, "a compiled node has only types that XLA has: 'Const' (Const)"),
        (_gather_on_an_accelerator, f"a node by rows is on a CPU, here on {A}/device:GPU:0: 'GatherV2' (GatherV2)"),
        (_free_a_computation, "a free node is a constant, a variable or a read: 'end' (NoOp)"),
        (_lose_a_node, "every node of the run, and no other, is in a part: 'end' (NoOp)"),
        (_turn_the_order_round, "a node comes behind those that it waits for: 'negative' (Neg), 'end' (NoOp)"),
        (_lose_a_receive, "an input is fed, received or made by an earlier node: 'square:0' (Square), 'negative' (Neg)"),
        (_lose_a_send, f"what is received is sent: edge 0 with 'square:0' from {A} to {B}"),
        (_give_a_number_twice, f"an edge has a number of its own, here 0 again: edge 0 with 'square:0' from {A} to {B}"),
        (_lose_a_fetch, "every fetch that a node makes is a part's: 'negative:0' (Neg)"),
        (_place_elsewhere, f"a node's device is of the part's task, '{A}', here '{B}/device:CPU:0': 'square' (Square)"),
        (_settle_what_nobody_fetches, "what is read at the end is fetched: 'square:0' (Square)"),
    ],
)
def test_a_broken_rule_is_named_with_what_breaks_it(run: Run, damage: Callable[[Run], None], message: str) -> None:
    damage(run)
    with pytest.raises(InternalError) as caught:
        run.validate()
    assert str(caught.value) == f"After a pass: {message}"


def test_a_part_is_validated_by_itself_too(run: Run) -> None:
    validate_partition(run.parts[A])
    run.parts[A].fetches.append(run.fetches[0])
    with pytest.raises(InternalError, match="what is fetched is made by a node of the part: 'negative:0'"):
        validate_partition(run.parts[A])
