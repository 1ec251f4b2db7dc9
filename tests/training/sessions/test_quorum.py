"""How many gradients make an update while replicas are gone."""

from __future__ import annotations

import json
import threading
from typing import Any

import weft as tf
from weft.training.sessions.quorum import Count, Quorum


def session(index: int, number: int = 0, **traits: bool) -> dict[str, Any]:
    name = f"/job:worker/replica:0/task:{index}#{number}"
    return {"name": name, "has_left": False, "has_ended": False, "has_given": True, **traits}


def report(*sessions: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"replicas": list(sessions)}]


def test_a_replica_that_is_gone_for_long_is_not_waited_for_until_it_gives_a_gradient() -> None:
    quorum = Quorum(3, 3, timeout_s=5.0)
    here = [session(0), session(1)]
    assert quorum.look(report(*here, session(2)), 0.0) is None
    assert quorum.look(report(*here, session(2, has_left=True)), 1.0) is None
    assert quorum.look(report(*here, session(2, has_left=True)), 5.9) is None
    assert quorum.count == Count(3, 3)
    told = quorum.look(report(*here, session(2, has_left=True)), 6.0)
    assert quorum.has_lost
    assert told == ("/job:worker/task:2 is gone: updates are made of 2 gradients from now on (3 when all 3 replicas are there)")
    assert quorum.count == Count(2, 2)
    back = session(2, 1, has_given=False)
    assert quorum.look(report(*here, session(2, has_left=True), back), 9.0) is None
    back["has_given"] = True
    told = quorum.look(report(*here, session(2, has_left=True), back), 9.5)
    assert told is not None
    assert told.startswith("/job:worker/task:2 is back: updates are made of 3 gradients")
    assert quorum.count == Count(3, 3)


def test_a_replica_that_makes_a_new_session_in_time_is_not_gone() -> None:
    quorum = Quorum(2, 2, timeout_s=5.0)
    assert quorum.look(report(session(0), session(1, has_left=True)), 0.0) is None
    assert quorum.look(report(session(0), session(1, has_left=True), session(1, 1, has_given=False)), 4.0) is None
    assert quorum.look(report(session(0), session(1, has_left=True), session(1, 1, has_left=True)), 8.0) is None
    assert quorum.count == Count(2, 2)


def test_a_replica_that_has_ended_is_gone_at_once_and_one_that_never_came_is_waited_for() -> None:
    quorum = Quorum(3, 3, timeout_s=60.0)
    assert quorum.look(report(session(0), session(1, has_ended=True)), 0.0) is not None
    assert quorum.count == Count(2, 2)


def test_with_a_minimum_those_count_that_have_come_from_their_first_gradient_on() -> None:
    quorum = Quorum(4, 4, timeout_s=5.0, minimum=2)
    assert quorum.count == Count(2, 2)
    assert quorum.look(report(session(0, has_given=False), session(1, has_given=False)), 0.0) is None
    assert quorum.count == Count(2, 2)
    sessions = [session(0), session(1), session(2)]
    told = quorum.look(report(*sessions, session(3, has_given=False)), 1.0)
    assert told is not None
    assert told.endswith(
        "/job:worker/task:2 has come: updates are made of 3 gradients from now on (4 when all 4 replicas are there)"
    )
    assert quorum.count == Count(3, 3)
    lost = [session(1, has_left=True), session(2, has_left=True)]
    assert quorum.look(report(session(0), *lost), 2.0) is None
    assert quorum.look(report(session(0), *lost), 7.0) is not None
    # Updates wait: there is one, and there have to be two.
    assert quorum.count == Count(2, 2)
    quorum.look(report(session(0), *lost, session(1, 1)), 8.0)
    quorum.look(report(session(0), *lost, session(1, 1, has_ended=True)), 9.0)
    # One that has come to the end of its input leaves nobody behind.
    assert quorum.count == Count(1, 1)


def test_spare_replicas_are_used_up_first_and_few_replicas_give_more() -> None:
    spare = Quorum(2, 3, timeout_s=0.0)
    spare.look(report(session(0), session(1), session(2, has_left=True)), 0.0)
    assert spare.count == Count(2, 2)
    several = Quorum(4, 2, timeout_s=0.0)
    several.look(report(session(0), session(1, has_left=True)), 0.0)
    assert several.count == Count(4, 4)


def test_sessions_are_put_together_from_all_tasks_and_one_replica_is_always_needed() -> None:
    quorum = Quorum(2, 2, timeout_s=0.0)
    quorum.look(
        [*report(session(0, has_left=True), session(1, has_left=True)), *report(session(0), session(1, has_left=True))], 0.0
    )
    assert quorum.count == Count(1, 1)


def test_an_update_that_waits_is_made_of_fewer_gradients_when_the_limit_says_so() -> None:
    with tf.train.Server.create_local_server() as server, tf.Graph().as_default():
        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name="sums")
        apply, take, limit = accumulator.apply_grad(4.0, local_step=9), accumulator.take_grad(3), accumulator.limit(1)
        taken: list[float] = []
        with tf.Session(server.target) as session:
            thread = threading.Thread(target=lambda: taken.append(session.run(take)), daemon=True)
            thread.start()
            session.run(apply)
            session.run(limit)
            thread.join(20)
    assert taken == [4.0]


def test_an_accumulator_begins_again_at_an_earlier_step() -> None:
    with tf.train.Server.create_local_server() as server, tf.Graph().as_default():
        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name="sums")
        early, count = accumulator.apply_grad(1.0, local_step=3), accumulator.num_accumulated()
        with tf.Session(server.target) as session:
            session.run(accumulator.set_global_step(8))
            session.run(early)
            assert session.run(count) == 0
            session.run(accumulator.apply_grad(1.0, local_step=8))
            session.run(accumulator.restart(3))
            assert session.run(count) == 0
            session.run(early)
            assert session.run(count) == 1


def test_an_accumulator_knows_who_joins_who_ends_and_whose_job_is_over() -> None:
    with tf.train.Server.create_local_server() as server, tf.Graph().as_default():
        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name="sums")
        join, leave, over = accumulator.join(), accumulator.leave(), accumulator.leave(everyone=True)
        told = accumulator.report()
        with tf.Session(server.target) as first, tf.Session(server.target) as second:
            first.run(join)
            second.run(join)
            first.run(leave)
            replicas = json.loads(second.run(told))["replicas"]
            assert sorted((each["has_ended"], each["has_given"]) for each in replicas) == [(False, False), (True, False)]
            second.run(over)
            assert json.loads(second.run(told))["replicas"] == []
