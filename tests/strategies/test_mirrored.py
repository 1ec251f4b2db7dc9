"""MirroredStrategy and its kin in a custom loop; the numbers are those that TensorFlow 1.15.5 gives for the same programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

_TWO_CPUS = tf.ConfigProto(device_count={"CPU": 2})


def _two() -> tf.distribute.MirroredStrategy:
    return tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])


def _dataset() -> Any:
    x = np.arange(16, dtype=np.float32).reshape(8, 2) / 10
    return tf.data.Dataset.from_tensor_slices((x, np.arange(8, dtype=np.float32))).batch(4).repeat()


def _step(inputs: Any) -> Any:
    """A step of a net with batch normalization, of a variable without a scope, and of the global step."""
    x, y = inputs
    with tf.variable_scope("net"):
        hidden = tf.layers.dense(x, 3, activation=tf.nn.relu, kernel_initializer=tf.constant_initializer(0.1))
        hidden = tf.layers.batch_normalization(hidden, training=True, momentum=0.5)
        weight = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
    bare = tf.Variable(2.0, name="bare")
    loss = tf.losses.mean_squared_error(y[:, None], tf.matmul(hidden, weight) * bare)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    with tf.control_dependencies([train]):
        return tf.identity(loss)


def test_replicas_train_as_tensorflows_do(tmp_path: Path) -> None:
    strategy = _two()
    with strategy.scope():
        iterator = strategy.make_dataset_iterator(_dataset())
        step = tf.train.get_or_create_global_step()
        losses = strategy.experimental_run(_step, iterator)
        mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, losses)
        saver, init, variables = tf.train.Saver(), tf.global_variables_initializer(), tf.global_variables()
        moving = next(each for each in variables if each.name == "net/batch_normalization/moving_mean:0")
        together = moving.read_value()
    assert [each.name for each in tf.trainable_variables()] == [
        "net/dense/kernel:0", "net/dense/bias:0", "net/batch_normalization/gamma:0", "net/batch_normalization/beta:0",
        "net/w:0", "bare:0",
    ]  # fmt: skip
    copies = {each.op.name: each for variable in variables for each in strategy.unwrap(variable)}
    assert copies["net/w/replica_1"].device == "/replica:0/task:0/device:CPU:1"
    with tf.Session(config=_TWO_CPUS) as session:
        session.run([*iterator.initialize(), init])
        found = [session.run([mean, *strategy.unwrap(losses)]) for _ in range(3)]
        np.testing.assert_allclose(
            found, [[10.57858, 7.57858, 13.57858], [33.1675, 21.86839, 44.46662], [12.69715, 5.93042, 19.46388]], rtol=1e-4
        )
        session.run(mean)
        assert session.run(step) == 4
        values = session.run(copies)
        np.testing.assert_allclose(values["net/w"], [[0.4271]] * 3, rtol=1e-3)
        np.testing.assert_array_equal(values["net/w"], values["net/w/replica_1"])
        np.testing.assert_allclose(values["bare/replica_1"], -1.24742, rtol=1e-3)
        name = "net/batch_normalization/moving_mean"
        np.testing.assert_allclose(values[name], [0.001875] * 3, rtol=1e-3)
        np.testing.assert_allclose(values[f"{name}/replica_1"], [0.006875] * 3, rtol=1e-3)
        np.testing.assert_allclose(session.run(together), [0.004375] * 3, rtol=1e-3)
        path = saver.save(session, str(tmp_path / "model"))
        session.run(init)
        saver.restore(session, path)
        again = session.run(copies)
    # One checkpoint, of plain names, of which each copy has its value again; the replicas' own ones have their mean.
    assert not any("replica" in key for key, _ in tf.train.list_variables(path))
    np.testing.assert_array_equal(again["net/w/replica_1"], values["net/w"])
    np.testing.assert_allclose(again[f"{name}/replica_1"], [0.004375] * 3, rtol=1e-3)


@pytest.mark.parametrize(
    ("optimizer", "slots"),
    [
        (lambda: tf.train.MomentumOptimizer(0.1, 0.9), ["w/Momentum"]),
        (lambda: tf.train.AdamOptimizer(0.1), ["beta1_power", "beta2_power", "w/Adam", "w/Adam_1"]),
        (lambda: tf.train.AdagradOptimizer(0.1), ["w/Adagrad"]),
    ],
)
@pytest.mark.parametrize("kind", ["mirrored", "central", "one"])
def test_a_step_of_replicas_is_that_of_their_joint_batch(kind: str, optimizer: Any, slots: list[str]) -> None:
    made = {
        "mirrored": _two,
        "central": lambda: tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], "/cpu:0"),
        "one": lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
    }
    data = np.array([[1.0, 2.0], [3.0, 5.0], [0.5, 1.0], [2.0, 0.0]], np.float32)

    def loss_of(rows: Any) -> Any:
        weight = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        return tf.reduce_sum(tf.square(tf.matmul(rows, weight)))

    def train(session: Any, run: Any, init: Any, variable: Any) -> list[Any]:
        session.run(init)
        for _ in range(3):
            session.run(run)
        return [session.run(variable), *(session.run(each) for each in tf.global_variables() if each is not variable)]

    with tf.Graph().as_default(), tf.Session(config=_TWO_CPUS) as session:
        update = optimizer().minimize(loss_of(tf.constant(data)))
        wanted = train(session, update, tf.global_variables_initializer(), tf.trainable_variables()[0])
    strategy: Any = made[kind]()
    with tf.Graph().as_default(), strategy.scope():
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices(data).batch(4).repeat())
        updates = strategy.experimental_run(lambda rows: optimizer().minimize(loss_of(rows)), iterator)
        run, init = strategy.group(updates), tf.global_variables_initializer()
        with tf.Session(config=_TWO_CPUS) as session:
            session.run(iterator.initialize())
            found = train(session, run, init, tf.trainable_variables()[0])
        assert sorted(each.op.name for each in tf.global_variables()) == sorted(["w", *slots])
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_gradients_of_gathered_rows_are_joined() -> None:
    strategy = _two()
    with strategy.scope():

        def step() -> Any:
            table = tf.get_variable("table", [4, 1], initializer=tf.zeros_initializer())
            row = tf.distribute.get_replica_context().replica_id_in_sync_group
            loss = tf.reduce_sum(tf.gather(table, [row, 3]))
            return tf.train.GradientDescentOptimizer(1.0).minimize(loss)

        run, init = strategy.group(strategy.experimental_run_v2(step)), tf.global_variables_initializer()
        copies = strategy.unwrap(tf.global_variables()[0])
    with tf.Session(config=_TWO_CPUS) as session:
        session.run(init)
        session.run(run)
        for each in session.run(copies):
            np.testing.assert_array_equal(each, [[-1], [-1], [0], [-2]])


@pytest.mark.parametrize(
    ("aggregation", "wanted"),
    [("SUM", [3.0, 3.0]), ("MEAN", [1.5, 1.5]), ("ONLY_FIRST_REPLICA", [1.0, 1.0]), ("NONE", None)],
)
def test_an_assignment_in_replicas_is_aggregated_as_the_variable_says(aggregation: str, wanted: list[float] | None) -> None:
    strategy = _two()

    def assign() -> Any:
        variable = tf.get_variable("v", [], aggregation=tf.VariableAggregation[aggregation], trainable=False)
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        return variable.assign(tf.cast(number + 1, tf.float32))

    with strategy.scope():
        if wanted is None:
            with pytest.raises(ValueError, match="You must specify an aggregation method to update a MirroredVariable"):
                strategy.experimental_run_v2(assign)
            return
        run = strategy.group(strategy.experimental_run_v2(assign))
        copies = strategy.unwrap(tf.global_variables()[0])
    with tf.Session(config=_TWO_CPUS) as session:
        session.run(run)
        assert session.run(list(copies)) == wanted


def test_a_variable_that_is_synchronized_on_reads_is_a_sum_beside_the_replicas() -> None:
    strategy = _two()

    def count() -> Any:
        total = tf.get_variable(
            "total", [], initializer=tf.zeros_initializer(), synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )  # fmt: skip
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        return total.assign_add(tf.cast(number + 1, tf.float32))

    with strategy.scope():
        run = strategy.group(strategy.experimental_run_v2(count))
        total = tf.global_variables()[0]
        value, init, give = tf.identity(total.read_value()), tf.global_variables_initializer(), total.assign(10.0)
        with pytest.raises(ValueError, match="does not support `assign_add` in cross-replica context"):
            total.assign_add(1.0)
    assert tf.trainable_variables() == []
    with tf.Session(config=_TWO_CPUS) as session:
        session.run(init)
        session.run(run)
        session.run(run)
        assert session.run([value, *strategy.unwrap(total)]) == [6.0, 2.0, 4.0]
        session.run(give)
        assert session.run([value, *strategy.unwrap(total)]) == [10.0, 5.0, 5.0]


def test_replicas_meet_and_reduce() -> None:
    strategy = _two()
    seen: list[Any] = []

    def replica(x: Any) -> Any:
        context = tf.distribute.get_replica_context()
        assert not tf.distribute.in_cross_replica_context()
        assert tf.distribute.get_strategy() is strategy

        def merge(met: Any, values: Any, same: Any) -> Any:
            seen.append((met is strategy, tf.distribute.in_cross_replica_context(), len(met.unwrap(values)), same))
            return met.reduce("sum", values)

        total = context.merge_call(merge, args=(x, "same"))
        summed = context.all_reduce(tf.distribute.ReduceOp.SUM, x)
        (gradient,) = tf.gradients(summed * tf.cast(context.replica_id_in_sync_group + 1, tf.float32), x)
        return total, summed, gradient

    with strategy.scope():
        assert (strategy.num_replicas_in_sync, tf.distribute.in_cross_replica_context()) == (2, True)
        rows = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0]).batch(4)).get_next
        iterator = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0]).batch(4))
        parts = iterator.get_next()
        results = strategy.experimental_run_v2(replica, args=(parts,))
        by_axis = [strategy.reduce(op, parts, axis=0) for op in ("sum", "MEAN")]
        local = strategy.experimental_local_results(results[2])
    assert callable(rows)
    assert seen == [(True, True, 2, "same")]
    with tf.Session(config=_TWO_CPUS) as session:
        session.run(iterator.initialize())
        total, summed, gradient, axes = session.run([results[0], strategy.unwrap(results[1]), local, by_axis])
    np.testing.assert_array_equal(total, [4, 6])
    np.testing.assert_array_equal(summed, [[4, 6], [4, 6]])
    # Each sum is in both replicas' losses, once with the factor 1 and once with 2.
    np.testing.assert_array_equal(gradient, [[3, 3], [3, 3]])
    assert axes == [10.0, 2.5]


def test_metrics_are_those_of_all_replicas() -> None:
    strategy = _two()
    with strategy.scope():
        dataset = tf.data.Dataset.from_tensor_slices(([1, 0, 1, 1], [1, 1, 1, 0])).batch(4)
        iterator = strategy.make_dataset_iterator(dataset)
        value, update = strategy.experimental_run(lambda pair: tf.metrics.accuracy(*pair), iterator)
        updates, init = strategy.group(update), tf.local_variables_initializer()
        count = tf.local_variables()[1]
        own = list(strategy.unwrap(count))
    with tf.Session(config=_TWO_CPUS) as session:
        session.run([*iterator.initialize(), init])
        session.run(updates)
        assert session.run(value) == 0.5
        assert session.run(own) == [2.0, 2.0]


@pytest.mark.parametrize(
    ("ways", "hops"),
    [
        (lambda: tf.distribute.ReductionToOneDevice(), 1),
        (lambda: tf.distribute.HierarchicalCopyAllReduce(), 2),
        (lambda: tf.distribute.NcclAllReduce(), 2),
        (lambda: tf.contrib.distribute.AllReduceCrossDeviceOps("nccl", num_packs=2), 2),
    ],
)
def test_each_way_of_reducing_gives_the_sum(ways: Any, hops: int) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"], cross_device_ops=ways())
    with strategy.scope():

        def step() -> Any:
            weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
            factor = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group + 1, tf.float32)
            return tf.train.GradientDescentOptimizer(1.0).minimize(factor * weight)

        run = strategy.group(strategy.experimental_run_v2(step))
        init, copies = tf.global_variables_initializer(), list(strategy.unwrap(tf.global_variables()[0]))
    sums = [each for each in tf.get_default_graph().get_operations() if each.type == "AddN"]
    assert len(sums) == hops
    with tf.Session(config=_TWO_CPUS) as session:
        session.run(init)
        session.run(run)
        assert session.run(copies) == [-3.0, -3.0]


def test_a_regrouped_structure_keeps_its_kinds() -> None:
    strategy = _two()
    with strategy.scope():
        made = strategy.experimental_run_v2(lambda: {"a": [tf.constant(1), "same"], "b": (tf.constant(2.0),)})
    assert made["a"][1] == "same"
    assert len(strategy.unwrap(made["a"][0])) == 2
    assert isinstance(made["b"], tuple)
    assert strategy.unwrap("plain") == ("plain",)


def _nested() -> None:
    with _two().scope(), _two().scope():
        pass


def _apply_beside_replicas() -> None:
    with _two().scope():
        weight = tf.get_variable("w", [])
        tf.train.GradientDescentOptimizer(1.0).apply_gradients([(tf.constant(1.0), weight)])


def _unequal_meetings() -> None:
    strategy = _two()

    def replica() -> None:
        context = tf.distribute.get_replica_context()
        if context.local_index == 0:
            context.merge_call(lambda strategy: None)

    strategy.experimental_run_v2(replica)


def _other_variables() -> None:
    def replica() -> None:
        tf.Variable(1.0, name=f"v{'ab'[tf.distribute.get_replica_context().local_index]}")

    _two().experimental_run_v2(replica)


def _failing_replica() -> None:
    def replica() -> None:
        if tf.distribute.get_replica_context().local_index == 1:
            raise KeyError("of replica 1")
        tf.distribute.get_replica_context().merge_call(lambda strategy: None)

    _two().experimental_run_v2(replica)


def _reduce_in_a_replica() -> None:
    strategy = _two()
    strategy.experimental_run_v2(lambda: strategy.reduce("sum", tf.constant(1.0)))


@pytest.mark.parametrize(
    ("mistake", "kind", "text"),
    [
        (_nested, RuntimeError, "Mixing different tf.distribute.Strategy objects"),
        (_apply_beside_replicas, RuntimeError, "Use `_distributed_apply"),
        (_unequal_meetings, RuntimeError, "made a different number of replica_context"),
        (_other_variables, RuntimeError, "Tried to create variable vb with mismatching name on device 1"),
        (_failing_replica, KeyError, "of replica 1"),
        (_reduce_in_a_replica, RuntimeError, "Method requires being in cross-replica context"),
        (lambda: tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:0"]), ValueError, "No duplicates allowed"),
        (lambda: tf.distribute.MirroredStrategy([]), ValueError, "Must specify at least one device"),
        (lambda: tf.distribute.MirroredStrategy(["/job:worker/task:1"]), ValueError, "MultiWorkerMirroredStrategy"),
        (lambda: tf.distribute.experimental.TPUStrategy(), NotImplementedError, "no strategy for TPUs. Use tf.distribute.Mirr"),
        (lambda: tf.contrib.distribute.MirroredStrategy(["/cpu:0"], num_gpus=1), ValueError, "You can only specify one of"),
        (lambda: tf.distribute.ReduceOp("prod"), ValueError, "prod"),
        (
            lambda: _two().make_dataset_iterator(tf.data.Dataset.range(9).batch(3)),
            ValueError,
            "The batch size 3 is not divisible by the number of replicas, 2",
        ),
    ],
)
def test_mistakes_are_told_while_the_graph_is_built(mistake: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        mistake()


def test_outside_of_a_scope_there_is_one_replica() -> None:
    assert not tf.distribute.has_strategy()
    strategy, context = tf.distribute.get_strategy(), tf.distribute.get_replica_context()
    assert (strategy.num_replicas_in_sync, tf.distribute.in_cross_replica_context()) == (1, False)
    doubled = context.merge_call(lambda met, value: met.extended.reduce_to("sum", value, "/cpu:0") * 2, args=(tf.constant(3),))
    with tf.Session() as session:
        assert session.run(doubled) == 6
    with _two().scope():
        assert tf.distribute.get_replica_context() is None


def test_a_strategy_can_be_set_without_a_block() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    tf.distribute.experimental_set_strategy(strategy)
    try:
        assert tf.distribute.get_strategy() is strategy
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()


@pytest.mark.parametrize(
    ("dataset", "parts"),
    [
        (lambda: tf.data.Dataset.range(6).batch(4), [[[0, 1], [2, 3]], [[4, 5], None]]),
        (lambda: tf.data.Dataset.range(7).batch(4), [[[0, 1], [2, 3]], [[4, 5], [6]]]),
        (lambda: tf.data.Dataset.range(6).batch(4, drop_remainder=True).prefetch(1), [[[0, 1], [2, 3]], [None]]),
        (lambda: tf.data.Dataset.range(4).batch(2).repeat(2), [[[0], [1]], [[2], [3]], [[0], [1]]]),
        (
            lambda: tf.data.Dataset.from_generator(lambda: iter([[1, 2, 3], [4, 5]]), tf.int64, [None]),
            [[[1, 2], [3]], [[4], [5]]],
        ),
    ],
)
def test_a_global_batch_is_divided_in_order(dataset: Any, parts: list[Any]) -> None:
    strategy = _two()
    iterator = strategy.make_dataset_iterator(dataset())
    element = strategy.unwrap(iterator.get_next())
    assert element[1].device == "/replica:0/task:0/device:CPU:1"
    with tf.Session(config=_TWO_CPUS) as session:
        session.run(iterator.initialize())
        for part in parts:
            if None in part:
                with pytest.raises(tf.errors.OutOfRangeError):
                    session.run(element)
            else:
                assert [each.tolist() for each in session.run(element)] == part


def test_an_input_function_gives_each_replica_whole_batches() -> None:
    strategy, told = _two(), []

    def input_fn(context: Any) -> Any:
        told.append((context.num_input_pipelines, context.input_pipeline_id, context.get_per_replica_batch_size(8)))
        return tf.data.Dataset.range(6).batch(2)

    element = strategy.unwrap((iterator := strategy.make_input_fn_iterator(input_fn)).get_next())
    assert told == [(1, 0, 4)]
    with tf.Session(config=_TWO_CPUS) as session:
        session.run(iterator.initialize())
        assert [each.tolist() for each in session.run(element)] == [[0, 1], [2, 3]]
