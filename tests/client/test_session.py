"""What a session promises, whether its steps run in this process or on a server."""

from __future__ import annotations

import pickle
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.client.conftest import PATIENCE_S, Gate, OpenSession
from weft.framework.context.default_stack import default_sessions

CLOSED = r"Attempted to use a closed Session\."


class Background:
    """A call on a thread of its own; `result` waits for what it returned or raised."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._outcome: list[Any] = []
        self._thread = threading.Thread(target=self._run, args=(function,))
        self._thread.start()

    def _run(self, function: Callable[[], Any]) -> None:
        try:
            self._outcome.append(function())
        except Exception as error:
            self._outcome.append(error)

    def result(self) -> Any:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self._outcome[0]


def in_parallel(*functions: Callable[[], Any]) -> list[Any]:
    return [each.result() for each in [Background(function) for function in functions]]


# What it is made of.


def test_the_graph_is_the_default_one_unless_it_is_given(graph: tf.Graph) -> None:
    other = tf.Graph()
    assert tf.Session().graph is graph
    assert tf.Session(graph=other).graph is other


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"graph": 3}, r"graph must be a tf\.Graph"),
        ({"target": 3}, "target must be a string"),
        ({"config": 3}, r"config must be a tf\.ConfigProto"),
        ({"config": {}}, r"config must be a tf\.ConfigProto"),
    ],
)
def test_an_argument_of_a_wrong_type_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tf.Session(**arguments)


def test_a_target_that_is_no_address_is_not_found() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered for the given session options"):
        tf.Session("INVALID_TARGET")


def test_a_graph_without_operations_cannot_be_run(open_session: OpenSession) -> None:
    session = open_session()
    for fetches in ([], "a", {}):
        with pytest.raises(RuntimeError, match=r"The Session graph is empty\."):
            session.run(fetches)
    tf.no_op()
    assert session.run([]) == []


def test_options_of_a_wrong_type_are_refused() -> None:
    constant = tf.constant(1.0)
    with tf.Session() as session, pytest.raises(TypeError, match=r"options must be a tf\.RunOptions"):
        session.run(constant, options=3)


# Opening, entering, closing.


def test_a_block_makes_the_session_and_its_graph_the_defaults_and_closes_it() -> None:
    graph = tf.Graph()
    with tf.Session(graph=graph) as session:
        constant = tf.constant(2.0)
        assert tf.get_default_session() is session
        assert tf.get_default_graph() is graph
        assert constant.eval() == 2.0
    assert tf.get_default_session() is None
    with pytest.raises(RuntimeError, match=CLOSED):
        session.run(constant)


def test_a_block_that_makes_a_session_the_default_leaves_it_open() -> None:
    constant = tf.constant(2.0)
    session = tf.Session()
    for _ in range(2):
        with session.as_default():
            assert constant.eval() == 2.0
    assert session.run(constant) == 2.0


def test_a_session_is_not_entered_twice() -> None:
    session = tf.Session()
    with session, pytest.raises(RuntimeError, match="not re-entrant"), session:
        pass


def test_default_sessions_are_left_in_the_reverse_order() -> None:
    outer, inner = tf.Session().as_default(), tf.Session().as_default()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(AssertionError, match="Nesting violated"):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    default_sessions.reset()


def test_a_thread_has_no_default_session_of_another() -> None:
    constant = tf.constant(1.0)
    with tf.Session():
        (error,) = in_parallel(constant.eval)
    assert isinstance(error, ValueError)
    assert "No default session is registered" in str(error)


def test_evaluating_needs_a_session_of_the_same_graph() -> None:
    constant = tf.constant(1.0)
    with tf.Graph().as_default():
        other = tf.constant(2.0)
    with pytest.raises(ValueError, match=r"Cannot evaluate tensor using `eval.*No default session is registered"):
        constant.eval()
    with pytest.raises(ValueError, match=r"Cannot execute operation using `run.*No default session is registered"):
        constant.op.run()
    session = tf.Session()
    with session.as_default(), pytest.raises(ValueError, match="Cannot use the default session to evaluate tensor"):
        other.eval()
    with session.as_default(), pytest.raises(ValueError, match="Cannot use the default session to execute operation"):
        other.op.run()
    with pytest.raises(ValueError, match="Cannot use the given session to evaluate tensor"):
        other.eval(session=session)
    assert constant.eval(session=session) == 1.0


def test_a_closed_session_says_so_and_may_be_closed_again(open_session: OpenSession) -> None:
    constant = tf.constant(1.0)
    session = open_session()
    function = session.make_callable(constant)
    session.close()
    session.close()
    for use in (lambda: session.run(constant), session.list_devices, lambda: session.make_callable(constant)):
        with pytest.raises(RuntimeError, match=CLOSED):
            use()
    with pytest.raises(tf.errors.CancelledError, match=rf"Session has been closed\. {CLOSED}"):
        function()


def test_closing_ends_runs_that_are_blocked(open_session: OpenSession, gate: Gate) -> None:
    session = open_session()
    run = Background(lambda: session.run(gate.tensor))
    assert gate.entered.wait(PATIENCE_S)
    session.close()
    error = run.result()
    assert isinstance(error, tf.errors.CancelledError)
    assert "Session::Close" in error.message


# Running.


def test_nodes_that_are_added_after_a_run_are_run_and_state_is_kept(open_session: OpenSession) -> None:
    session = open_session()
    variable = tf.Variable(1.0, use_resource=False)
    session.run(variable.initializer)
    for number in range(1, 4):
        assert session.run(variable.assign_add(1.0)) == 1.0 + number
    assert session.run(tf.negative(variable)) == -4.0


def test_a_finalized_graph_can_be_run(graph: tf.Graph) -> None:
    variable = tf.Variable(1.0, use_resource=False)
    graph.finalize()
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run([variable, variable.initializer]) == [1.0, None]


def test_results_are_the_programs_own() -> None:
    constant, variable = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0], use_resource=False)
    placeholder = tf.placeholder(tf.float32, [2])
    fed = np.ones(2, np.float32)
    with tf.Session() as session:
        session.run(variable.initializer)
        for fetch in (constant, variable):
            session.run(fetch)[0] = 9
            np.testing.assert_array_equal(session.run(fetch), [1, 2])
        session.run(variable.assign(placeholder), {placeholder: fed})
        fed[0] = 100
        before = session.run(variable)
        session.run(variable.assign_add([1.0, 1.0]))
        np.testing.assert_array_equal(before, [1, 1])
        np.testing.assert_array_equal(session.run(variable), [2, 2])


def test_strings_are_bytes_with_everything_in_them(open_session: OpenSession) -> None:
    strings = tf.placeholder(tf.string)
    session = open_session()
    array = session.run(tf.identity(strings), {strings: ["a\0", b"\xff\0b", "ü", ""]})
    assert array.dtype == object
    assert array.tolist() == [b"a\0", b"\xff\0b", "ü".encode(), b""]
    assert session.run(tf.constant("x\0")) == b"x\0"
    assert type(session.run(tf.constant("x"))) is bytes


def test_random_operations_give_the_same_sequence_in_a_new_session(open_session: OpenSession) -> None:
    noise = tf.random_normal([3], seed=7)
    first, second = ([session.run(noise) for _ in range(8)] for session in (open_session(), open_session()))
    np.testing.assert_array_equal(first, second)
    assert len({array.tobytes() for array in first}) == len(first)


def test_the_first_runs_and_the_compiled_ones_agree(open_session: OpenSession) -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    weights = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2) / 7, use_resource=False)
    result = tf.nn.softmax(tf.matmul(tf.tanh(x), weights))
    session = open_session()
    session.run(weights.initializer)
    fed = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
    values = [session.run(result, {x: fed}) for _ in range(10)]
    for value in values[1:]:
        np.testing.assert_allclose(value, values[0], rtol=1e-5)
    assert values[0].dtype == values[-1].dtype == np.float32


@pytest.mark.parametrize("level", ["ON_1", "ON_2", "OFF"])
def test_the_way_of_compiling_changes_no_result(level: str) -> None:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = getattr(tf.OptimizerOptions, level)
    variable = tf.Variable(1.0, use_resource=False)
    step = variable.assign(variable * 2.0 + 1.0)
    with tf.Session(config=config) as session:
        session.run(variable.initializer)
        assert [session.run(step) for _ in range(10)] == [2.0 ** (n + 1) - 1 for n in range(1, 11)]


# Errors.


def test_an_error_carries_the_operation_of_the_programs_graph(open_session: OpenSession) -> None:
    variable = tf.Variable(1.0, name="v", use_resource=False)
    doubled = tf.multiply(variable, 2.0, name="doubled")
    session = open_session()
    for _ in range(3):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value v") as caught:
            session.run(doubled)
        error = caught.value
        assert error.op is variable.op.graph.get_operation_by_name("v/read")
        assert error.node_def == error.op.node_def
        assert error.error_code == tf.errors.FAILED_PRECONDITION
        assert error.message.startswith("Attempting to use uninitialized value v")
        assert "test_session.py" in str(error)


def test_errors_are_pickled(open_session: OpenSession) -> None:
    placeholder = tf.placeholder(tf.float32, name="p")
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'p'") as caught:
        open_session().run(placeholder + 1)
    error = caught.value
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (copy.message, copy.error_code, copy.node_def) == (error.message, error.error_code, error.node_def)


@pytest.mark.parametrize("runs", [1, 10])
def test_a_failing_node_is_named_whether_it_is_compiled_or_not(open_session: OpenSession, runs: int) -> None:
    a, b = tf.placeholder(tf.float32, name="a"), tf.placeholder(tf.float32, name="b")
    total = tf.add(a, b, name="total")
    last = tf.negative(total, name="last")
    session = open_session()
    for _ in range(runs - 1):
        session.run(last, {a: [1], b: [2]})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs\. \[3\]") as caught:
        session.run(last, {a: [1, 2], b: [1, 2, 3]})
    assert caught.value.op is total.op
    assert session.run(last, {a: [1], b: [2]}) == [-3]


def test_a_python_function_that_raises_fails_the_step(open_session: OpenSession) -> None:
    def fail() -> None:
        raise ValueError("from the program")

    node = tf.py_func(fail, [], [tf.float32], name="fails")[0]
    constant = tf.constant(1.0)
    session = open_session()
    with pytest.raises(tf.errors.InvalidArgumentError, match="from the program") as caught:
        session.run(node)
    assert caught.value.op is node.op
    assert session.run(constant) == 1.0


# Time.


def test_a_run_past_its_time_ends_and_the_session_goes_on(open_session: OpenSession, gate: Gate) -> None:
    constant = tf.constant(2.0)
    session = open_session()
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(gate.tensor, options=tf.RunOptions(timeout_in_ms=50))
    assert session.run(constant) == 2.0
    gate.open()
    assert session.run(gate.tensor) == 1.0


def test_a_session_may_limit_every_operation(open_session: OpenSession, gate: Gate) -> None:
    constant = tf.constant(2.0)
    session = open_session(tf.ConfigProto(operation_timeout_in_ms=500))
    session.run(constant)
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(gate.tensor)
    assert session.run(constant) == 2.0


def test_an_interrupt_ends_a_blocked_run_at_once_and_cancels_it(open_session: OpenSession, gate: Gate) -> None:
    constant = tf.constant(2.0)
    session = open_session()
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        if gate.entered.wait(PATIENCE_S):
            signal.pthread_kill(main, signal.SIGINT)

    helper = Background(interrupt)
    with pytest.raises(KeyboardInterrupt):
        session.run(gate.tensor)
    helper.result()
    assert session.run(constant) == 2.0


# Threads.


@pytest.mark.parametrize("use_resource", [False, True])
def test_no_update_is_lost(open_session: OpenSession, use_resource: bool) -> None:
    variable = tf.Variable(np.zeros(4, np.float32), use_resource=use_resource)
    step = variable.assign_add(np.ones(4, np.float32)).op
    session = open_session()
    session.run(variable.initializer)
    rounds = 40
    assert in_parallel(*[lambda: [session.run(step) for _ in range(rounds)]] * 6) == [[None] * rounds] * 6
    np.testing.assert_array_equal(session.run(variable), [6 * rounds] * 4)


def test_a_reader_always_sees_a_whole_value_while_updates_take_the_old_one_over() -> None:
    size = 50_000
    variable = tf.Variable(np.zeros(size, np.float32), use_resource=False)
    step = variable.assign_add(np.ones(size, np.float32)).op
    spread = tf.reduce_max(variable) - tf.reduce_min(variable)
    with tf.Session() as session:
        session.run(variable.initializer)

        def update() -> None:
            for _ in range(60):
                session.run(step)

        def read() -> bool:
            values = [session.run(variable) for _ in range(60)]
            return all((value == value[0]).all() for value in values)

        def compute() -> bool:
            return all(session.run(spread) == 0.0 for _ in range(60))

        assert in_parallel(update, update, read, read, compute) == [None, None, True, True, True]
        assert session.run(variable)[0] == 120


def test_the_graph_may_be_built_in_several_threads_while_steps_run(open_session: OpenSession, graph: tf.Graph) -> None:
    constant = tf.constant(1.0)
    session = open_session()
    is_over = threading.Event()

    def run() -> int:
        count = 0
        while not is_over.is_set():
            assert session.run(constant) == 1.0
            count += 1
        return count

    def build(start: int) -> Any:
        with graph.as_default():
            value = tf.constant(float(start))
            for _ in range(20):
                value = value + 1.0
            return session.run(value)

    runner = Background(run)
    assert in_parallel(*[lambda start=start: build(start) for start in range(4)]) == [20.0, 21.0, 22.0, 23.0]
    is_over.set()
    assert runner.result() > 0


# Callables, devices, traces.


def test_a_callable_takes_the_feeds_in_order(open_session: OpenSession) -> None:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    session = open_session()
    function = session.make_callable([x * 2 + y, {"y": tf.identity(y)}], [x, y.name])
    assert [function(n, 1) for n in range(8)] == [[2.0 * n + 1, {"y": 1.0}] for n in range(8)]
    assert session.make_callable(tf.no_op())() is None


def test_a_callable_checks_what_it_is_given() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as session:
        function = session.make_callable(x * 2, [x])
        with pytest.raises(ValueError, match="Must pass 1 feed values"):
            function(1, 2)
        with pytest.raises(ValueError, match=r"Cannot feed value of shape \(1,\)"):
            function([1])
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value"):
            function()
        with pytest.raises(TypeError, match="accept_options"):
            session.make_callable(tf.constant(1))(options=tf.RunOptions())
        with pytest.raises(TypeError, match="`feed_list` must be a list or tuple"):
            session.make_callable(x, x)


def test_a_callable_may_be_given_fewer_values_than_feeds() -> None:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder_with_default(2.0, [])
    with tf.Session() as session:
        function = session.make_callable(x + y, [x, y])
        assert (function(1, 5), function(1)) == (6, 3)
        sparse = tf.sparse_placeholder(tf.float32, [2])
        assert session.make_callable(tf.sparse_reduce_sum(sparse), [sparse])(([[1]], [3.0], [2])) == 3


def test_options_of_a_callable_without_feeds_may_come_by_position() -> None:
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        function = session.make_callable(tf.constant(3), accept_options=True)
        assert function(tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata) == 3
    assert metadata.step_stats.dev_stats


def test_a_callable_that_accepts_options_is_traced() -> None:
    x = tf.placeholder(tf.float32, [])
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        function = session.make_callable(tf.negative(x, name="result"), [x], accept_options=True)
        assert function(1, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata) == -1
    assert "result" in {node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats}


def test_a_session_has_as_many_cpus_as_it_is_configured_to_have() -> None:
    names = []
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
        names = [device.name for device in session.list_devices() if device.device_type == "CPU"]
    assert names == [f"/job:localhost/replica:0/task:0/device:CPU:{index}" for index in range(3)]


@pytest.mark.parametrize("runs", [1, 10])
def test_values_go_from_cpu_to_cpu_and_the_trace_says_where_nodes_ran(runs: int) -> None:
    nodes = []
    for index in range(3):
        with tf.device(f"/cpu:{index}"):
            before = nodes[-1] if nodes else tf.Variable([1.0, 2.0], use_resource=False)
            nodes.append(tf.multiply(before, 2.0, name=f"on_{index}"))
    metadata = tf.RunMetadata()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(runs):
            np.testing.assert_array_equal(session.run(nodes[-1]), [8, 16])
        session.run(nodes[-1], options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    where = {node.node_name: device.device[-1] for device in metadata.step_stats.dev_stats for node in device.node_stats}
    assert {name: where[name] for name in ("on_0", "on_1", "on_2")} == {"on_0": "0", "on_1": "1", "on_2": "2"}


def test_a_run_that_asks_for_the_debugger_is_refused_and_the_session_goes_on(open_session: OpenSession) -> None:
    node = tf.identity(2.0, name="watched")
    options = tf.RunOptions()
    watch = options.debug_options.debug_tensor_watch_opts.add(node_name="watched", debug_ops=["DebugIdentity"])
    with open_session() as session:
        assert session.run(node, options=options) == 2.0
        watch.debug_urls.append("grpc://debugger:6064")
        with pytest.raises(tf.errors.UnimplementedError, match=r"watch 'watched'.*no tfdbg.*tf\.Print"):
            session.run(node, options=options)
        assert session.run(node) == 2.0


def test_a_device_that_is_not_there_is_named(open_session: OpenSession) -> None:
    with tf.device("/cpu:5"):
        node = tf.constant(1.0, name="lost") + 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device for operation"):
        open_session().run(node)
    assert open_session(tf.ConfigProto(allow_soft_placement=True)).run(node) == 2.0


def test_every_device_has_an_incarnation(open_session: OpenSession) -> None:
    tf.no_op()
    devices = open_session().list_devices()
    assert all(device.incarnation != 0 for device in devices)
    assert {device.device_type for device in devices} == {"CPU"}


def test_a_value_that_is_fed_to_nothing_but_fetched_comes_back(open_session: OpenSession) -> None:
    x = tf.placeholder(tf.float32)
    np.testing.assert_array_equal(open_session().run(x, {x: [1, 2]}), [1.0, 2.0])
