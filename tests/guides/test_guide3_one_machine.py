"""Guide 3, first part: options of devices, placement and its log, kernels, soft placement, order of execution."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import weft as tf

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def has_gpu() -> bool:
    with tf.Session(graph=tf.Graph()) as session:
        return any(device.device_type == "GPU" for device in session.list_devices())


without_gpu = pytest.mark.skipif(has_gpu(), reason="tells what happens on a machine without a GPU")


def trace(session: tf.Session, fetch: object) -> list[str]:
    metadata = tf.RunMetadata()
    session.run(fetch, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    return [node.node_name for stats in metadata.step_stats.dev_stats for node in stats.node_stats]


def test_a_session_takes_the_options_for_gpu_memory() -> None:
    config = tf.ConfigProto()
    config.gpu_options.per_process_gpu_memory_fraction = 0.4
    tf.Session(config=config).close()
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    with tf.Session(config=config) as session:
        assert session.run(tf.constant(1.0) + 1.0) == 2.0


@without_gpu
def test_the_first_run_prints_where_the_whole_graph_was_placed(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.device("/cpu:0"):
        a = tf.Variable(3.0, name="a")
        b = tf.constant(4.0, name="b")
    c = a * b
    with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as session:
        assert session.run(a.initializer) is None
        assert capsys.readouterr().out.splitlines() == [
            f"a: (VariableV2): {CPU}",
            f"a/Assign: (Assign): {CPU}",
            f"a/read: (Identity): {CPU}",
            f"mul: (Mul): {CPU}",
            f"a/initial_value: (Const): {CPU}",
            f"b: (Const): {CPU}",
        ]
        assert session.run(c) == 12.0
        assert capsys.readouterr().out == ""
        session.run(tf.add(c, b, name="later"))
        assert capsys.readouterr().out == f"later: (Add): {CPU}\n"


@without_gpu
def test_placements_are_printed_though_another_node_has_no_device(capsys: pytest.CaptureFixture[str]) -> None:
    a = tf.constant(1.0, name="a")
    with tf.device("/gpu:0"):
        tf.constant(2.0, name="nowhere")
    config = tf.ConfigProto(log_device_placement=True)
    config.graph_options.place_pruned_graph = True
    with tf.Session(config=config) as session:
        assert session.run(a) == 1.0
    assert capsys.readouterr().out == f"a: (Const): {CPU}\n"


def test_a_device_function_chooses_by_operation() -> None:
    def variables_on_cpu(op: tf.Operation) -> str:
        return "/cpu:0" if op.type == "VariableV2" else "/gpu:0"

    with tf.device(variables_on_cpu):
        a = tf.Variable(3.0)
        b = tf.constant(4.0)
        c = a * b
    assert [a.op.device, b.device, c.device] == ["/device:CPU:0", "/device:GPU:0", "/device:GPU:0"]
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(a.initializer)
        assert session.run(c) == 12.0


def test_an_integer_variable_has_no_kernel_on_a_gpu() -> None:
    with tf.device("/gpu:0"):
        i = tf.Variable(3, name="i")
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"Cannot assign a device for operation i"),
    ):
        session.run(i.initializer)


def test_soft_placement_falls_back_to_the_cpu() -> None:
    with tf.device("/gpu:0"):
        i = tf.Variable(3)
    config = tf.ConfigProto()
    config.allow_soft_placement = True
    with tf.Session(config=config) as session:
        session.run(i.initializer)
        assert session.run(i) == 3


def test_control_dependencies_order_nodes_whose_values_are_independent() -> None:
    a = tf.constant(1.0, name="a")
    b = tf.add(a, 2.0, name="b")
    with tf.control_dependencies([a, b]):
        x = tf.constant(3.0, name="x")
        y = tf.constant(4.0, name="y")
    z = x + y
    assert x.op.control_inputs == [a.op, b.op]
    with tf.Session() as session:
        assert session.run(z) == 7.0
        ran = trace(session, z)
    assert ran.index("b") < min(ran.index("x"), ran.index("y"))


def test_several_cpus_can_be_named() -> None:
    with tf.device("/cpu:3"):
        a = tf.constant(1.0) + 1.0
    config = tf.ConfigProto(device_count={"CPU": 4}, inter_op_parallelism_threads=2, intra_op_parallelism_threads=2)
    with tf.Session(config=config) as session:
        assert session.run(a) == 2.0
        assert sum(device.device_type == "CPU" for device in session.list_devices()) == 4


def on_each_cpu(count: int, function: object, stateful: bool) -> list[tf.Tensor]:
    made = []
    for number in range(count):
        with tf.device(f"/cpu:{number}"):
            made.append(tf.py_func(function, [np.float32(number)], tf.float32, stateful=stateful))
    return made


@pytest.mark.parametrize("stateful", [True, False])
def test_several_cpus_run_at_the_same_time(stateful: bool) -> None:
    together = threading.Barrier(4)

    def meet(number: np.float32) -> np.float32:
        together.wait(timeout=30)
        return number

    values = on_each_cpu(4, meet, stateful)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 4})) as session:
        assert session.run(values) == [0.0, 1.0, 2.0, 3.0]


class Crowd:
    """Counts how many kernels run at the same time: waits until as many do as may, and gives one more a moment to join them."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._lock = threading.Lock()
        self._complete = threading.Event()
        self._joined = threading.Event()
        self._now = 0
        self.most = 0

    def __call__(self, number: np.float32) -> np.float32:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            if self._now >= self._expected:
                self._complete.set()
            if self._now > self._expected:
                self._joined.set()
        self._complete.wait(timeout=20)
        self._joined.wait(timeout=0.2)
        with self._lock:
            self._now -= 1
        return number


@pytest.mark.parametrize(("threads", "most"), [(1, 1), (-1, 1), (2, 2)])
def test_inter_op_parallelism_threads_bounds_the_kernels_that_run_at_the_same_time(threads: int, most: int) -> None:
    crowd = Crowd(most)
    values = on_each_cpu(3, crowd, stateful=True)
    config = tf.ConfigProto(device_count={"CPU": 3}, inter_op_parallelism_threads=threads)
    with tf.Session(config=config) as session:
        assert session.run(values) == [0.0, 1.0, 2.0]
    assert crowd.most == most


def test_a_session_may_have_a_thread_pool_of_its_own() -> None:
    crowd = Crowd(1)
    values = on_each_cpu(3, crowd, stateful=True)
    config = tf.ConfigProto(device_count={"CPU": 3}, use_per_session_threads=True)
    config.session_inter_op_thread_pool.add(num_threads=1)
    with tf.Session(config=config) as session:
        assert session.run(values) == [0.0, 1.0, 2.0]
    assert crowd.most == 1


def test_a_kernel_that_waits_does_not_keep_the_one_that_would_wake_it_from_running() -> None:
    queue = tf.FIFOQueue(1, tf.float32, shapes=[])
    taken = queue.dequeue()
    put = queue.enqueue(tf.py_func(lambda: np.float32(4.0), [], tf.float32))
    with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=1)) as session:
        # One step that does both: the dequeue may be what runs first.
        assert session.run([taken, put])[0] == 4.0
