"""Where nodes go: by their pins, with what they are tied to, else to the first device of the best type."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import weft as tf
from weft.errors import InvalidArgumentError
from weft.passes.placer import Placer

CLUSTER = [
    f"/job:{job}/replica:0/task:{task}/device:CPU:0" for job, tasks in (("ps", 2), ("worker", 2)) for task in range(tasks)
]
WITH_GPU = ["/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:GPU:0"]


def place(graph: tf.Graph, devices: Sequence[str] = CLUSTER, soft: bool = False) -> dict[str, str]:
    """Where each node goes, shortened to `ps/0` or `CPU:0`."""
    placement = Placer(devices, soft).place(graph.get_operations())
    return {op.name: short(device) for op, device in placement.items()}


def short(device: str) -> str:
    job, task, kind = device.split("/")[1], device.split("/")[3], device.split("/")[4]
    return f"{job[4:]}/{task[5:]}" if job != "job:localhost" else kind[7:]


def test_a_pin_that_no_device_satisfies_is_refused_also_where_no_run_asks_for_its_node(graph: tf.Graph) -> None:
    placer = Placer(WITH_GPU)
    with tf.device("/gpu:0"):
        tf.constant(1.0)
    placer.check_pins(graph.get_operations())
    with tf.device("/gpu:7"):
        far = tf.constant(1.0, name="far")
    with pytest.raises(InvalidArgumentError, match=r"Cannot assign a device for operation far: .*/device:GPU:7"):
        placer.check_pins(graph.get_operations())
    Placer(WITH_GPU, allow_soft_placement=True).check_pins(graph.get_operations())
    with tf.Session() as session, pytest.raises(InvalidArgumentError, match="assigned to /device:GPU:0"):
        session.run(tf.constant(2.0))
    options = tf.GraphOptions(place_pruned_graph=True)
    with tf.Session(config=tf.ConfigProto(graph_options=options)) as session:
        assert session.run(tf.constant(2.0)) == 2.0
    assert far.device == "/device:GPU:7"


def test_a_node_for_a_task_that_the_session_does_without_is_no_concern_of_other_runs(graph: tf.Graph) -> None:
    with tf.device("/job:worker/task:7"):
        tf.constant(1.0)
    Placer(CLUSTER).check_pins(graph.get_operations())


def test_without_a_pin_nodes_go_to_the_first_task_by_name(graph: tf.Graph) -> None:
    tf.negative(tf.constant(1.0))
    assert set(place(graph).values()) == {"ps/0"}
    assert set(place(graph, list(reversed(CLUSTER))).values()) == {"ps/0"}


@pytest.mark.parametrize(
    ("pin", "where"),
    [
        ("/job:worker", "worker/0"), ("/job:worker/task:1", "worker/1"), ("/task:1", "ps/1"), ("/job:ps/task:1/cpu:0", "ps/1"),
        ("/cpu:0", "ps/0"), ("/device:CPU:*", "ps/0"), ("/job:worker/replica:0/task:1/device:CPU:0", "worker/1"),
    ],
)  # fmt: skip
def test_a_pin_is_satisfied_by_the_first_device_that_fits(graph: tf.Graph, pin: str, where: str) -> None:
    with tf.device(pin):
        tf.no_op(name="pinned")
    assert place(graph)["pinned"] == where


def test_a_variable_takes_along_what_updates_and_reads_it(graph: tf.Graph) -> None:
    with tf.device("/job:ps/task:1"):
        variable = tf.Variable(1.0, name="v", use_resource=False)
    with tf.device("/job:worker/task:0"):
        variable.assign_add(1.0, name="update")
        tf.negative(variable, name="use")
    where = place(graph)
    assert {where[name] for name in ("v", "v/Assign", "v/read", "update")} == {"ps/1"}
    assert where["use"] == "worker/0"


def test_a_resource_takes_along_what_uses_its_handle(graph: tf.Graph) -> None:
    with tf.device("/job:ps/task:1"):
        variable = tf.Variable(1.0, name="v", use_resource=True)
    with tf.device("/job:worker/task:0"):
        update = variable.assign_add(1.0)
    assert place(graph)[update.op.name if hasattr(update, "op") else update.name] == "ps/1"


def test_a_constant_follows_its_only_consumer(graph: tf.Graph) -> None:
    one, shared = tf.constant(1.0, name="one"), tf.constant(2.0, name="shared")
    with tf.device("/job:worker/task:1"):
        tf.negative(one, name="n")
        tf.add(shared, shared, name="twice")
    where = place(graph)
    assert (where["one"], where["n"]) == ("worker/1", "worker/1")
    assert where["shared"] == "ps/0"


def test_colocated_nodes_go_together_and_one_pin_is_enough(graph: tf.Graph) -> None:
    a = tf.placeholder(tf.float32, name="a")
    with tf.colocate_with(a):
        b = tf.placeholder(tf.float32, name="b")
    b.op._set_device("/job:worker/task:1")
    where = place(graph)
    assert where["a"] == where["b"] == "worker/1"


def test_pins_that_contradict_each_other_are_told(graph: tf.Graph) -> None:
    a = tf.placeholder(tf.float32, name="a")
    with tf.colocate_with(a):
        b = tf.placeholder(tf.float32, name="b")
    a.op._set_device("/job:ps")
    b.op._set_device("/job:worker")
    with pytest.raises(InvalidArgumentError, match="Cannot colocate nodes 'a' and 'b'"):
        place(graph)


def test_a_device_that_is_not_there_is_told_with_those_that_are(graph: tf.Graph) -> None:
    with tf.device("/job:chief/task:7"):
        tf.no_op(name="lost")
    with pytest.raises(InvalidArgumentError, match="Cannot assign a device for operation lost") as caught:
        place(graph)
    assert "/job:chief/task:7" in caught.value.message
    assert all(device in caught.value.message for device in CLUSTER)
    assert caught.value.op.name == "lost"


def test_the_best_type_of_device_is_preferred(graph: tf.Graph) -> None:
    tf.negative(tf.placeholder(tf.float32, name="p"), name="n")
    tf.py_func(lambda: 1.0, [], tf.float32, name="host")
    tf.Variable(1, name="counter", use_resource=False)
    where = place(graph, WITH_GPU)
    assert where["n"] == "GPU:0"
    assert where["host"] == "CPU:0"
    assert where["counter"] == "CPU:0"


def test_a_kernel_that_is_missing_is_told_or_soft_placement_helps(graph: tf.Graph) -> None:
    with tf.device("/gpu:0"):
        tf.Variable(1, name="counter", use_resource=False, trainable=False)
    with pytest.raises(InvalidArgumentError, match="no supported kernel for GPU devices is available"):
        place(graph, WITH_GPU)
    assert place(graph, WITH_GPU, soft=True)["counter"] == "CPU:0"


def test_soft_placement_stays_in_the_task(graph: tf.Graph) -> None:
    with tf.device("/job:worker/task:1/gpu:3"):
        tf.no_op(name="soft")
    assert place(graph, soft=True)["soft"] == "worker/1"


def test_a_placement_is_kept_when_the_graph_grows(graph: tf.Graph) -> None:
    placer = Placer(CLUSTER)
    variable = tf.Variable(1.0, name="v", use_resource=False)
    with tf.device("/job:worker/task:1"):
        placer.place(graph.get_operations())
        update = variable.assign_add(1.0)
    before = placer.placement[variable.op]
    placer.place(graph.get_operations())
    assert placer.placement[variable.op] == placer.placement[update.op] == before


def test_a_branch_goes_where_all_its_nodes_ask_to_be(graph: tf.Graph) -> None:
    predicate = tf.placeholder(tf.bool, [])

    def pinned() -> tf.Tensor:
        with tf.device("/job:worker/task:1"):
            return tf.negative(tf.exp(1.0))

    def elsewhere() -> tf.Tensor:
        with tf.device("/job:worker/task:0"):
            return tf.negative(1.0)

    tf.cond(predicate, pinned, pinned, name="together")
    tf.cond(predicate, pinned, lambda: tf.negative(2.0), name="partly")
    tf.cond(predicate, pinned, elsewhere, name="apart")
    places = place(graph)
    assert [places[f"{name}/If"] for name in ("together", "partly", "apart")] == ["worker/1", "ps/0", "ps/0"]


def test_a_loop_may_read_resource_variables_of_several_tasks(graph: tf.Graph) -> None:
    variables = []
    for task in (0, 1):
        with tf.device(f"/job:ps/task:{task}"):
            variables.append(tf.get_variable(f"v{task}", [], use_resource=True))
    with tf.device("/job:worker"):
        tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, a * variables[0] + variables[1]), [tf.constant(0), tf.constant(1.0)]
        )
        tf.cond(tf.placeholder(tf.bool, []), lambda: variables[0] * variables[1], lambda: variables[0] + 1.0)
    places = place(graph)
    assert (places["while/While"], places["cond/If"]) == ("worker/0", "worker/0")
    assert (places["v0"], places["v1"]) == ("ps/0", "ps/1")


def test_a_read_of_a_reference_after_an_update_is_where_the_variable_is(graph: tf.Graph) -> None:
    with tf.device("/job:ps/task:1"):
        variable = tf.Variable(1.0, name="v")
        update = variable.assign_add(1.0)
    with tf.device("/job:worker"):
        tf.identity(variable._ref(), name="early")
        with tf.control_dependencies([update]):
            read = variable.read_value()
            tf.identity(read, name="copy")
    placed = place(graph)
    assert (placed[read.op.name], placed["early"], placed["copy"]) == ("ps/1", "worker/0", "worker/0")
