"""Mutated GraphDefs, as a program imports them and as a client's session sends them to a master."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from google.protobuf.message import DecodeError

import weft as tf
from reliability.fuzz.byte_mutation import mutate
from reliability.fuzz.message_mutation import MessageMutation
from weft.distributed.master.served_sessions import ServedSession
from weft.errors import InternalError, OpError, UnknownError
from weft.framework.importing.received_graph import ReceivedGraph
from weft.protocol.graph_size import GraphSize
from weft.protocol.limits import ServerLimits
from weft.protocol.session_lease import SessionLease

_LIMITS = ServerLimits()


class GraphDefs:
    """Imports a mutated graph, or extends a served session by it, by turns."""

    name = "graphdefs"

    def __init__(self) -> None:
        # Many small graphs rather than a few large ones: a case costs what its graph has of nodes, and changes one or two.
        self._corpus = [make() for make in _CORPUS]
        self._bytes = [each.SerializeToString() for each in self._corpus]
        self._mutation = MessageMutation(self._corpus)

    def make(self, source: random.Random) -> bytes:
        """Make a GraphDef; one of ten is changed in its bytes."""
        if source.random() < 0.1:
            return mutate(source, source.choice(self._bytes), self._bytes)
        return self._mutation.mutate(source, source.choice(self._corpus)).SerializeToString()  # type: ignore[no-any-return]

    def run(self, data: bytes) -> str:
        """Import the graph, then hand it to a master's session."""
        try:
            proto = tf.GraphDef.FromString(data)
        except DecodeError:
            return "DecodeError"
        return _outcome_of_import(proto) + _outcome_of_extension(proto)

    def seeds(self) -> list[bytes]:
        """Good graphs."""
        return self._bytes

    def close(self) -> None:
        """Nothing is held."""


def _outcome_of_import(proto: Any) -> str:
    with tf.Graph().as_default():
        try:
            tf.import_graph_def(proto, name="")
        except (ValueError, tf.errors.NotFoundError) as error:
            _check_text(error)
            return f"{type(error).__name__}, "
    return "accepted, "


def _outcome_of_extension(proto: Any) -> str:
    try:
        received = ReceivedGraph()
        bare: Any = _Bare(received.graph)
        ServedSession(bare, SessionLease(_LIMITS, 0.0), _LIMITS, received, GraphSize(_LIMITS)).extend(proto, 0)
    except OpError as error:
        if isinstance(error, InternalError | UnknownError):
            raise
        _check_text(error)
        return type(error).__name__
    return "accepted"


def _check_text(error: Exception) -> None:
    """Raise where the error has no text to go by."""
    assert len(str(error)) > 15, f"the text says too little: {error!r}"


class _Bare:
    """What `ServedSession.extend` needs of a MasterSession."""

    def __init__(self, graph: tf.Graph) -> None:
        self.graph = graph


def _layer() -> Any:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        with tf.device("/job:ps/task:0"):
            w = tf.Variable(tf.random_normal([4, 3], seed=1), name="w")
            b = tf.get_variable("b", [3], use_resource=True)
        tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=tf.ones([2, 3]), logits=tf.matmul(x, w) + b))
        tf.global_variables_initializer()
        return graph.as_graph_def(add_shapes=True)


def _training() -> Any:
    with tf.Graph().as_default() as graph:
        w = tf.Variable([1.0, 2.0], name="w")
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(w * w), global_step=tf.train.get_or_create_global_step())
        return graph.as_graph_def(add_shapes=True)


def _arrays() -> Any:
    with tf.Graph().as_default() as graph:
        images = tf.reshape(tf.range(32.0), [1, 4, 4, 2])
        tf.nn.max_pool(tf.nn.conv2d(images, tf.ones([2, 2, 2, 3]), [1, 1, 1, 1], "SAME"), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        tf.strided_slice(tf.transpose(images, [0, 2, 1, 3]), [0, 1, 0, 0], [1, 3, 4, 2], name="slice")
        tf.concat([tf.ones([2, 2]), tf.zeros([3, 2])], 0)
        tf.split(tf.ones([4, 4]), 2, 1)
        tf.gather(tf.ones([5, 2]), [1, 2])
        return graph.as_graph_def(add_shapes=True)


def _condition() -> Any:
    with tf.Graph().as_default() as graph:
        p = tf.placeholder(tf.bool, [], name="p")
        x = tf.constant(3.0)
        tf.cond(p, lambda: x * 2, lambda: x - 1)
        return graph.as_graph_def(add_shapes=True)


def _loop() -> Any:
    with tf.Graph().as_default() as graph:
        x = tf.constant(3.0)
        _, z = tf.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, a * x), [0, x])
        tf.gradients(z, x)
        return graph.as_graph_def(add_shapes=True)


def _map() -> Any:
    with tf.Graph().as_default() as graph:
        tf.map_fn(lambda e: e * 2, tf.ones([3]))
        return graph.as_graph_def(add_shapes=True)


def _queues() -> Any:
    with tf.Graph().as_default() as graph:
        queue = tf.FIFOQueue(10, [tf.float32, tf.string], shapes=[[2], []], shared_name="q")
        queue.enqueue([[1.0, 2.0], "a"])
        queue.dequeue_many(3)
        accumulator = tf.ConditionalAccumulator(tf.float32, [2], shared_name="acc")
        accumulator.apply_grad([1.0, 2.0], 1)
        accumulator.take_grad(2)
        return graph.as_graph_def()


def _saver() -> Any:
    with tf.Graph().as_default() as graph:
        tf.sparse_placeholder(tf.float32)
        saver = tf.train.Saver([tf.Variable([1.0, 2.0], name="v")])
        assert saver is not None
        return graph.as_graph_def()


def _strings() -> Any:
    with tf.Graph().as_default() as graph:
        text = tf.constant(["a b", "c"])
        tf.string_split(text)
        tf.parse_example(text, {"a": tf.FixedLenFeature([2], tf.float32), "b": tf.VarLenFeature(tf.int64)})
        tf.decode_raw(text, tf.int32)
        tf.string_join([text, text], ",")
        tf.as_string(tf.range(3))
        tf.py_func(lambda a: a, [text], tf.string)
        return graph.as_graph_def(add_shapes=True)


def _dead_values() -> Any:
    """Switch, Merge and a loop by Enter and NextIteration, as TensorFlow's first version builds them, and a call."""
    proto = tf.GraphDef()
    typed = (
        ("x", "Placeholder", ""), ("p", "Placeholder", ""),
        ("s", "Switch", "x p"), ("n", "Neg", "s"), ("e", "Exp", "s:1"), ("y", "Merge", "n e"),
        ("enter", "Enter", "y"), ("merge", "Merge", "enter next"), ("most", "Enter", "x"), ("less", "Less", "merge most"),
        ("cond", "LoopCond", "less"), ("switch", "Switch", "merge cond"), ("more", "Add", "switch:1 most"),
        ("next", "NextIteration", "more"), ("exit", "Exit", "switch"), ("call", "PartitionedCall", "exit"),
    )  # fmt: skip
    for name, op, inputs in typed:
        node = proto.node.add(name=name, op=op, input=inputs.split())
        match op:
            case "Placeholder":
                node.attr["dtype"].type = 10 if name == "p" else 1
            case "PartitionedCall":
                node.attr["f"].func.name = "negative"
                node.attr["Tin"].list.type.append(1)
                node.attr["Tout"].list.type.append(1)
            case "LoopCond":
                pass
            case _:
                node.attr["T"].type = 1
        if op == "Enter":
            node.attr["frame_name"].s = b"frame"
            node.attr["is_constant"].b = name == "most"
        elif op == "Merge":
            node.attr["N"].i = 2
    function = proto.library.function.add()
    function.signature.name = "negative"
    function.signature.input_arg.add(name="a", type=1)
    function.signature.output_arg.add(name="b", type=1)
    function.node_def.add(name="neg", op="Neg", input=["a"]).attr["T"].type = 1
    function.ret["b"] = "neg:y:0"
    return proto


_CORPUS: Final[tuple[Callable[[], Any], ...]] = (
    _layer, _training, _arrays, _condition, _loop, _map, _queues, _saver, _strings, _dead_values,
)  # fmt: skip
