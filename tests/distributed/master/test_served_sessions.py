"""Served sessions keep what clients have sent, and refuse what does not fit it."""

from __future__ import annotations

from typing import Any

import pytest
from tensorboard.compat.proto import config_pb2, graph_pb2

from weft import errors
from weft.distributed.master.direct_session import open_direct_session
from weft.distributed.master.served_sessions import ServedSession
from weft.framework.graphs.graph import Graph
from weft.framework.importing.received_graph import ReceivedGraph
from weft.framework.serial.graph_def import to_graph_def
from weft.ops.array.constant import constant
from weft.protocol.graph_size import GraphSize
from weft.protocol.limits import ServerLimits
from weft.protocol.session_lease import SessionLease

LIMITS = ServerLimits(max_graph_nodes=5, max_graph_bytes=500, max_prepared_runs=2)


@pytest.fixture
def served() -> Any:
    received = ReceivedGraph()
    session = open_direct_session(received.graph, config_pb2.ConfigProto())
    made = ServedSession(session, SessionLease(LIMITS, 0.0), LIMITS, received, GraphSize(LIMITS))
    yield made
    made.session.close()


def constants(*names: str) -> graph_pb2.GraphDef:
    graph = Graph()
    with graph.as_default():
        for number, name in enumerate(names):
            constant(float(number), name=name)
    return to_graph_def(graph)


def test_a_graph_grows_by_what_is_sent(served: ServedSession) -> None:
    version = served.extend(constants("a"), served.graph_version)
    assert served.extend(constants("b", "c"), version) == 3
    assert [float(value) for value in served.plan([], ["c", "b:0"], []).run([])[0]] == [1.0, 0.0]


def test_a_client_that_has_missed_an_extension_is_aborted(served: ServedSession) -> None:
    version = served.graph_version
    served.extend(constants("a"), version)
    with pytest.raises(errors.AbortedError, match="Graph versions don't match"):
        served.extend(constants("b"), version)


def test_an_extension_whose_answer_was_lost_is_made_once(served: ServedSession) -> None:
    version = served.extend(constants("a"), served.graph_version)
    assert served.extend(constants("b"), version) == served.extend(constants("b"), version) == 2
    assert served.extend(constants("c"), 2) == 3


def test_names_that_are_not_in_the_graph_are_not_found(served: ServedSession) -> None:
    runs: list[tuple[list[str], list[str], list[str]]] = [([], ["a:0"], []), (["a:0"], [], []), ([], [], ["a"])]
    for feeds, fetches, targets in runs:
        with pytest.raises(errors.NotFoundError, match="not in the session's graph"):
            served.plan(feeds, fetches, targets)


def test_an_unknown_op_is_not_found_by_the_steps_that_need_it_alone(served: ServedSession) -> None:
    graph_def = constants("a")
    graph_def.node.add(name="n", op="NoSuchOp", input=["a"])
    graph_def.node.add(name="behind", op="Identity", input=["n"]).attr["T"].type = 1
    served.extend(graph_def, served.graph_version)
    assert [float(value) for value in served.plan([], ["a:0"], []).run([])[0]] == [0.0]
    for fetches, targets in ((["n:0"], []), (["behind:0"], []), ([], ["behind"])):
        with pytest.raises(errors.NotFoundError, match="Op type not registered 'NoSuchOp', which node 'n' needs") as caught:
            served.plan([], fetches, targets)
        assert caught.value.node_def.name == "n"
    version = served.extend(constants("b"), served.graph_version)
    assert version == 4
    assert served.plan([], ["b:0"], []).run([])


def test_an_extension_that_failed_half_way_is_told_again(served: ServedSession) -> None:
    graph_def = constants("a")
    graph_def.node.add(name="n", op="Identity", input=["missing"])
    with pytest.raises(errors.InvalidArgumentError, match="missing"):
        served.extend(graph_def, 0)
    with pytest.raises(errors.InvalidArgumentError, match=r"could not be extended before.*missing"):
        served.extend(graph_def, 0)


def test_callables_are_known_until_they_are_released(served: ServedSession) -> None:
    served.extend(constants("a", "b"), 0)
    number = served.make_callable([], ["b:0"], [])
    assert [float(value) for value in served.callable(number)[0].run([])[0]] == [1.0]
    served.release_callable(number)
    with pytest.raises(errors.InvalidArgumentError, match=f"No such callable handle: {number}"):
        served.callable(number)


def test_a_graph_does_not_grow_beyond_its_nodes(served: ServedSession) -> None:
    version = served.extend(constants("a", "b", "c"), served.graph_version)
    with pytest.raises(errors.ResourceExhaustedError, match=r"too many nodes: 6, and the limit is 5. It is max_graph_nodes"):
        served.extend(constants("d", "e", "f"), version)
    assert served.extend(constants("d", "e"), version) == 5  # what was refused has left nothing


def test_a_graph_does_not_grow_beyond_its_bytes(served: ServedSession) -> None:
    graph_def = constants("a")
    graph_def.node[0].attr["_note"].s = b"x" * 500
    with pytest.raises(errors.ResourceExhaustedError, match=r"too many bytes.*limit is 500.*WEFT_LIMITS=max_graph_bytes=N"):
        served.extend(graph_def, 0)
    assert served.graph_version == 0


def test_the_nodes_of_functions_count(served: ServedSession) -> None:
    graph_def = constants("a")
    function = graph_def.library.function.add()
    for number in range(5):
        function.node_def.add(name=f"n{number}")
    with pytest.raises(errors.ResourceExhaustedError, match="too many nodes: 6"):
        served.extend(graph_def, 0)


def test_prepared_runs_are_released_before_there_are_more(served: ServedSession) -> None:
    served.extend(constants("a"), 0)
    first = served.make_callable([], ["a:0"], [])
    served.make_callable([], ["a:0"], [])
    with pytest.raises(errors.ResourceExhaustedError, match="prepared runs that it has not released: 3, and the limit is 2"):
        served.make_callable([], ["a:0"], [])
    served.release_callable(first)
    served.make_callable([], ["a:0"], [])


def test_a_piece_with_a_name_that_the_graph_has_not_is_an_invalid_argument(served: ServedSession) -> None:
    served.extend(constants("a"), 0)
    handle = served.begin_partial([], ["a:0"], [])
    for feeds, fetches in (({}, ["later:0"]), ({"later:0": 1.0}, ["a:0"])):
        with pytest.raises(errors.InvalidArgumentError, match=r"later.*partial_run_setup cannot have had it"):
            served.run_piece(handle, feeds, fetches)
    assert served.run_piece(handle, {}, ["a:0"]) == [0.0]


def test_runs_in_pieces_are_ended_before_there_are_more(served: ServedSession) -> None:
    served.extend(constants("a"), 0)
    handles = [served.begin_partial([], ["a:0"], []) for _ in range(2)]
    with pytest.raises(errors.ResourceExhaustedError, match="not run to their end: 3, and the limit is 2"):
        served.begin_partial([], ["a:0"], [])
    served.run_piece(handles[0], {}, ["a:0"])
    served.begin_partial([], ["a:0"], [])
