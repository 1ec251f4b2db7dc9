"""An InteractiveSession is the default from its making to its end; sessions nest, and the wrong order is an error."""

from __future__ import annotations

import contextvars
import threading

import pytest

import weft as tf


def test_it_is_the_default_until_it_is_closed(graph: tf.Graph) -> None:
    session = tf.InteractiveSession()
    variable = tf.Variable(3.0)
    variable.initializer.run()
    assert (tf.get_default_session(), variable.eval(), (variable + 1).eval()) == (session, 3, 4)
    session.close()
    assert tf.get_default_session() is None
    session.close()
    with pytest.raises(ValueError, match=r"Cannot evaluate tensor using `eval\(\)`: No default session is registered"):
        variable.value().eval()


def test_its_graph_is_the_default_when_it_is_given(graph: tf.Graph) -> None:
    other = tf.Graph()
    session = tf.InteractiveSession(graph=other)
    assert tf.get_default_graph() is other
    assert tf.constant(4).eval() == 4
    session.close()
    assert tf.get_default_graph() is graph


def test_the_latest_one_counts(graph: tf.Graph) -> None:
    first = tf.InteractiveSession()
    with pytest.warns(UserWarning, match="An interactive session is already active"):
        second = tf.InteractiveSession()
    assert tf.get_default_session() is second
    first.close()
    assert tf.get_default_session() is second
    second.close()
    assert tf.get_default_session() is None


def test_blocks_go_over_it(graph: tf.Graph) -> None:
    session = tf.InteractiveSession()
    with tf.Session() as inner:
        assert tf.get_default_session() is inner
        with session.as_default():
            assert tf.get_default_session() is session
    assert tf.get_default_session() is session
    session.close()


def test_another_thread_has_no_default(graph: tf.Graph) -> None:
    session = tf.InteractiveSession()
    seen = []
    thread = threading.Thread(target=lambda: seen.append(tf.get_default_session()))
    thread.start()
    thread.join()
    session.close()
    assert seen == [None]


def test_a_session_block_is_not_entered_twice(graph: tf.Graph) -> None:
    with tf.Session() as session:
        with pytest.raises(RuntimeError, match="Session context managers are not re-entrant"):
            session.__enter__()
        with session.as_default(), session.as_default():
            assert tf.constant(1).eval() == 1


def test_blocks_that_end_in_the_wrong_order_are_told(graph: tf.Graph) -> None:
    def violate() -> None:
        first, second = tf.Session().as_default(), tf.Session().as_default()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)

    # What is open then stays open, so this is a context of its own.
    with pytest.raises(AssertionError, match="Nesting violated"):
        contextvars.copy_context().run(violate)
    assert tf.get_default_session() is None


def test_an_element_of_another_graph_is_not_evaluated(graph: tf.Graph) -> None:
    with tf.Graph().as_default():
        other = tf.constant(1)
    with tf.Session() as session:
        with pytest.raises(ValueError, match="Cannot use the default session to evaluate tensor: the tensor's graph is diff"):
            other.eval()
        with pytest.raises(ValueError, match="Cannot use the given session to execute operation"):
            other.op.run(session=session)


def test_reset_without_a_target_ends_the_sessions_of_this_process(graph: tf.Graph) -> None:
    variable = tf.Variable(1.0)
    with tf.Session() as session, tf.train.Server.create_local_server() as server, tf.Session(server.target) as served:
        for each in (session, served):
            each.run(variable.initializer)
        tf.Session.reset("")
        with pytest.raises(tf.errors.CancelledError, match="Session has been closed"):
            session.run(variable)
        assert served.run(variable) == 1
    with pytest.raises(TypeError, match="target must be a string"):
        tf.Session.reset(3)


def test_only_what_runs_is_placed():
    with tf.device("/device:GPU:7"):
        tf.constant(1.0)
    session = tf.InteractiveSession()
    assert session.run(tf.constant(2.0)) == 2.0
    session.close()
    session.close()
    tf.InteractiveSession().close()
