"""What all optimizers share: minimize, compute_gradients, apply_gradients, slots, names and errors."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

SGD = tf.train.GradientDescentOptimizer


def run_after_init(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetch) for fetch in fetches]


def op_names():
    return [op.name for op in tf.get_default_graph().get_operations()]


def test_minimize_changes_the_variables():
    v = tf.Variable([1.0, 2.0])
    train = SGD(0.5).minimize(tf.reduce_sum(v * v))
    assert isinstance(train, tf.Operation)
    _, value = run_after_init(train, v)
    assert value.tolist() == [0.0, 0.0]


def test_the_operation_has_the_optimizers_name_or_the_one_given():
    v = tf.Variable(1.0, name="v")
    assert SGD(1.0).minimize(v * 1.0).name == "GradientDescent"
    assert SGD(1.0).minimize(v * 1.0, name="train").name == "train"
    assert SGD(1.0, name="Mine").minimize(v * 1.0).name == "Mine"
    assert {"GradientDescent/update_v/ApplyGradientDescent", "train/update_v/ApplyGradientDescent"} <= set(op_names())


def test_the_operation_is_in_the_collection_of_training_operations():
    v = tf.Variable(1.0)
    train = SGD(1.0).minimize(v * 1.0)
    assert tf.get_default_graph().get_collection(tf.GraphKeys.TRAIN_OP) == [train]


@pytest.mark.parametrize("use_resource", [False, True])
def test_the_global_step_counts_after_the_updates(use_resource):
    step = tf.Variable(7, trainable=False, name="step", dtype=tf.int64, use_resource=use_resource)
    v = tf.Variable(1.0)
    train = SGD(1.0).minimize(v * 1.0, global_step=step)
    assert train.name == "GradientDescent"
    assert b"loc:@step" in train.colocation_groups()
    assert run_after_init(train, step)[1] == 8
    reached, waiting = set(), [train]
    while waiting:
        op = waiting.pop()
        reached.add(op.name)
        waiting += [*op.control_inputs, *(tensor.op for tensor in op.inputs)]
    assert f"GradientDescent/update_{v.op.name}/ApplyGradientDescent" in reached


def test_the_variables_may_be_a_nest():
    a, b, c = (tf.Variable(1.0, name=name) for name in "abc")
    train = SGD(0.5).minimize(a * a + b * b + c * c, var_list={"first": a, "more": [b]})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run([a, b, c]) == [0.0, 0.0, 1.0]


def test_a_float_global_step_is_taken_too():
    step = tf.Variable(0.0, trainable=False)
    v = tf.Variable(1.0)
    with tf.Session() as session:
        train = SGD(1.0).minimize(v * 1.0, global_step=step)
        session.run(tf.global_variables_initializer())
        session.run(train)
        session.run(train)
        assert session.run(step) == 2.0


def test_an_optimizer_needs_a_name():
    with pytest.raises(ValueError, match="Must specify the optimizer name"):
        SGD(1.0, name="")


def test_minimize_without_variables():
    with pytest.raises(ValueError, match="No variables to optimize"):
        SGD(1.0).minimize(tf.constant(1.0))


def test_minimize_without_gradients():
    v = tf.Variable(1.0, name="v")
    with pytest.raises(ValueError, match="No gradients provided for any variable, check your graph for ops that do not"):
        SGD(1.0).minimize(tf.constant(1.0), var_list=[v])


def test_apply_gradients_without_pairs_or_gradients():
    v = tf.Variable(1.0, name="v")
    with pytest.raises(ValueError, match=r"No variables provided\."):
        SGD(1.0).apply_gradients([])
    with pytest.raises(ValueError, match=r"No gradients provided for any variable: \[\"<tf.Variable 'v:0'"):
        SGD(1.0).apply_gradients([(None, v)])


def test_pairs_may_come_from_an_iterator():
    v = tf.Variable(1.0)
    train = SGD(1.0).apply_gradients(zip([tf.constant(0.25)], [v], strict=True))
    assert run_after_init(train, v)[1] == 0.75


def test_pairs_without_a_gradient_are_left_out():
    v, w = tf.Variable(1.0), tf.Variable(5.0)
    train = SGD(1.0).apply_gradients([(tf.constant(0.25), v), (None, w)])
    assert run_after_init(train, w)[1] == 5.0


def test_numbers_and_arrays_are_gradients():
    v = tf.Variable([1.0, 1.0])
    train = SGD(1.0).apply_gradients([(np.array([0.5, 0.25], np.float32), v)])
    assert run_after_init(train, v)[1].tolist() == [0.5, 0.75]


def test_what_is_no_gradient_is_refused():
    v = tf.Variable(1.0)
    with pytest.raises(TypeError, match="Gradient must be convertible to a Tensor or IndexedSlices, or None"):
        SGD(1.0).apply_gradients([(object(), v)])


def test_losses_and_variables_have_floating_types():
    v = tf.Variable(3)
    with pytest.raises(ValueError, match=r"Invalid type tf.int32 for .*, expected: \["):
        SGD(1.0).minimize(v * 2)


def test_gates_are_checked():
    v = tf.Variable(1.0)
    with pytest.raises(ValueError, match=r"gate_gradients must be one of: Optimizer.GATE_NONE, .*  Not 7"):
        SGD(1.0).compute_gradients(v * 1.0, gate_gradients=7)


@pytest.mark.parametrize("gate", [SGD.GATE_NONE, SGD.GATE_OP, SGD.GATE_GRAPH])
def test_every_gate_gives_the_same_gradients(gate):
    a, b = tf.Variable([[2.0]]), tf.Variable([[3.0]])
    pairs = SGD(1.0).compute_gradients(tf.matmul(a, b), gate_gradients=gate)
    assert [variable for _, variable in pairs] == [a, b]
    assert run_after_init([gradient for gradient, _ in pairs])[0] == [[[3.0]], [[2.0]]]


def test_compute_gradients_gives_none_for_what_the_loss_does_not_use():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    pairs = SGD(1.0).compute_gradients(v * 2.0)
    assert pairs[1] == (None, w)


def test_compute_gradients_takes_a_list_of_variables_and_a_gradient_to_start_from():
    v, w = tf.Variable(1.0), tf.Variable(1.0)
    ((gradient, variable),) = SGD(1.0).compute_gradients(v * w * 2.0, var_list=[w], grad_loss=tf.constant(10.0))
    assert variable is w
    assert run_after_init(gradient) == [20.0]


def test_gradients_for_tensors_can_be_computed_but_not_applied():
    x = tf.constant(2.0)
    pairs = SGD(1.0).compute_gradients(x * x, var_list=[x])
    with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
        SGD(1.0).apply_gradients(pairs)


def test_a_gradient_of_another_shape_is_refused():
    v = tf.Variable([1.0], name="v")
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 1 and 2"):
        SGD(1.0).apply_gradients([(tf.zeros([2]), v)])


def test_constraints_are_applied_after_the_update():
    v = tf.Variable([1.0, -3.0], constraint=tf.abs)
    train = SGD(1.0).apply_gradients([(tf.constant([3.0, 0.0]), v)])
    assert run_after_init(train, v)[1].tolist() == [2.0, 3.0]


def test_a_sparse_variable_has_no_constraint():
    v = tf.Variable([1.0], constraint=tf.abs)
    with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse variable"):
        SGD(1.0).minimize(tf.gather(v, [0]))


@pytest.mark.parametrize("use_resource", [False, True])
def test_gathered_rows_are_trained_as_the_whole_table_is(use_resource):
    def train(loss_of):
        tf.reset_default_graph()
        table = tf.Variable(np.arange(8.0).reshape(4, 2), dtype=tf.float32, use_resource=use_resource)
        step = tf.train.AdagradOptimizer(0.5).minimize(loss_of(table))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(7):
                session.run(step)
            return session.run(table)

    sparse = train(lambda table: tf.reduce_sum(tf.square(tf.gather(table, [3, 1, 3]))))
    weights = np.array([[0.0], [1], [0], [2]], np.float32)
    dense = train(lambda table: tf.reduce_sum(tf.square(table) * weights))
    np.testing.assert_allclose(sparse, dense, rtol=1e-5)


def test_hyperparameters_may_be_tensors_and_functions():
    rate = tf.placeholder(tf.float32, [])
    v = tf.Variable(1.0, dtype=tf.float64)
    fed = SGD(rate).apply_gradients([(tf.constant(1.0, tf.float64), v)])
    called = SGD(lambda: 0.5).apply_gradients([(tf.constant(1.0, tf.float64), v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(fed, {rate: 0.25})
        session.run(called)
        assert session.run(v) == 0.25


def test_slots():
    v, w = tf.Variable([1.0], name="v"), tf.Variable([1.0], name="w")
    optimizer = tf.train.AdamOptimizer()
    assert optimizer.get_slot_names() == []
    optimizer.minimize(v * 1.0)
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(v, "m").name == "v/Adam:0"
    assert optimizer.get_slot(v, "v").name == "v/Adam_1:0"
    assert optimizer.get_slot(w, "m") is None
    assert optimizer.get_slot(v, "nonsense") is None
    names = [variable.name for variable in optimizer.variables()]
    assert names == ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]
    assert optimizer.get_name() == "Adam"


def test_slots_are_global_and_not_trainable():
    v = tf.Variable([1.0], name="v")
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(v * 1.0)
    assert [each.name for each in tf.trainable_variables()] == ["v:0"]
    assert [each.name for each in tf.global_variables()] == ["v:0", "v/Momentum:0"]


def test_two_optimizers_have_slots_of_their_own():
    v = tf.Variable([1.0], name="v")
    first, second = tf.train.MomentumOptimizer(0.1, 0.9), tf.train.MomentumOptimizer(0.1, 0.9)
    first.minimize(v * 1.0)
    first.minimize(v * 2.0)
    second.minimize(v * 1.0)
    assert first.get_slot(v, "momentum").name == "v/Momentum:0"
    assert second.get_slot(v, "momentum").name == "v/Momentum_1:0"


def test_slots_are_named_after_the_variable_whatever_the_name_scope():
    with tf.variable_scope("layer"):
        v = tf.get_variable("v", [1])
    with tf.get_default_graph().name_scope("training"):
        train = tf.train.AdamOptimizer().minimize(v * 1.0)
    assert train.name == "training/Adam"
    assert [each.name for each in tf.global_variables()] == [
        "layer/v:0", "training/beta1_power:0", "training/beta2_power:0", "layer/v/Adam:0", "layer/v/Adam_1:0",
    ]  # fmt: skip


def test_slots_are_beside_their_variable_whatever_the_device_scope():
    graph = tf.get_default_graph()
    with graph.device("/job:ps/task:1"):
        v = tf.Variable([1.0], name="v")
    seen = []

    def setter(op):
        seen.append(op.name)
        return "/job:worker/task:2"

    with graph.device(setter):
        loss = v * 1.0
        optimizer = tf.train.AdamOptimizer()
        train = optimizer.minimize(loss)
    assert {each.device for each in optimizer.variables()} == {"/job:ps/task:1"}
    assert graph.get_operation_by_name("Adam/update_v/ApplyAdam").device == "/job:ps/task:1"
    assert train.device == "/job:worker/task:2"
    assert not [name for name in seen if name in ("v/Adam", "v/Adam_1", "beta1_power")]


def test_slots_of_a_partitioned_variable_are_its_parts():
    v = tf.get_variable("v", [5, 2], partitioner=tf.fixed_size_partitioner(2))
    optimizer = tf.train.AdagradOptimizer(0.1)
    optimizer.minimize(tf.reduce_sum(tf.convert_to_tensor(v)))
    slots = [optimizer.get_slot(part, "accumulator") for part in v]
    assert [slot.op.name for slot in slots] == ["v/part_0/Adagrad", "v/part_1/Adagrad"]
    assert [slot._save_slice_info.full_name for slot in slots] == ["v/Adagrad", "v/Adagrad"]
    assert [slot._save_slice_info.spec for slot in slots] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]


def test_a_reused_scope_shares_slots():
    v = tf.Variable([1.0], name="v")
    for reuse in (None, True):
        with tf.variable_scope("opt", reuse=reuse):
            tf.train.MomentumOptimizer(0.1, 0.9).minimize(v * 1.0)
    assert [each.name for each in tf.global_variables()] == ["v:0", "opt/v/Momentum:0"]


def test_one_pair_of_powers_per_graph():
    v, w = tf.Variable([1.0], name="v"), tf.Variable([1.0], name="a")
    optimizer = tf.train.AdamOptimizer()
    optimizer.minimize(v * w)
    optimizer.minimize(v * 2.0)
    powers = [each for each in tf.global_variables() if "power" in each.name]
    assert [each.name for each in powers] == ["beta1_power:0", "beta2_power:0"]
    assert all(b"loc:@a" in each.op.colocation_groups() for each in powers)


def test_an_optimizer_works_in_several_graphs():
    optimizer = tf.train.AdamOptimizer()
    for _ in range(2):
        with tf.Graph().as_default():
            v = tf.Variable([1.0], name="v")
            optimizer.minimize(v * 1.0)
            assert optimizer.variables()[0].name == "beta1_power:0"
            assert all(each.graph is v.graph for each in optimizer.variables())


class Halving(tf.train.Optimizer):
    """What a program may derive: updates from other ops, rows taken once each."""

    def __init__(self):
        super().__init__(False, "Halving")
        self.slices = None

    def _create_slots(self, var_list):
        for var in var_list:
            self._zeros_slot(var, "count", self._name)

    def _apply_dense(self, grad, var):
        return tf.assign_sub(var, grad * 0.5)

    def _apply_sparse(self, grad, var):
        self.slices = grad
        return tf.scatter_update(var, grad.indices, grad.values)


def test_programs_derive_their_own_optimizers():
    v, table = tf.Variable([4.0]), tf.Variable([0.0, 0.0, 0.0])
    optimizer = Halving()
    slices = tf.IndexedSlices(tf.constant([1.0, 2.0, 4.0]), tf.constant([2, 0, 2]))
    train = optimizer.apply_gradients([(tf.constant([2.0]), v), (slices, table)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(v).tolist() == [3.0]
        assert session.run(table).tolist() == [2.0, 0.0, 5.0]
        assert session.run(optimizer.slices.indices).tolist() == [0, 2]


def test_a_derived_adam_gets_every_row_once():
    class LazyAdam(tf.train.AdamOptimizer):
        def _apply_sparse(self, grad, var):
            return tf.scatter_update(var, grad.indices, grad.values)

    table = tf.Variable([0.0, 0.0, 0.0])
    slices = tf.IndexedSlices(tf.constant([1.0, 2.0, 4.0]), tf.constant([2, 0, 2]))
    train = LazyAdam().apply_gradients([(slices, table)])
    assert run_after_init(train)[0] is None
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(table).tolist() == [2.0, 0.0, 5.0]


def test_an_optimizer_without_rules_says_so():
    v = tf.Variable(1.0)
    with pytest.raises(NotImplementedError):
        tf.train.Optimizer(False, "Empty").minimize(v * 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.train.AdagradOptimizer(1.0, 0.0), "initial_accumulator_value must be positive: 0.0"),
        (lambda: tf.train.ProximalAdagradOptimizer(1.0, -1.0), "initial_accumulator_value must be positive: -1.0"),
        (lambda: tf.train.AdagradDAOptimizer(1.0, None, 0.0), "initial_gradient_squared_accumulator_value must be"),
        (lambda: tf.train.FtrlOptimizer(1.0, 0.5), "learning_rate_power 0.500000 needs to be negative or zero"),
        (lambda: tf.train.FtrlOptimizer(1.0, initial_accumulator_value=-1.0), "needs to be positive or zero"),
        (lambda: tf.train.FtrlOptimizer(1.0, l1_regularization_strength=-1.0), "needs to be positive or zero"),
        (lambda: tf.train.FtrlOptimizer(1.0, l2_regularization_strength=-1.0), "needs to be positive or zero"),
    ],
)
def test_numbers_out_of_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_row_out_of_range_is_an_error():
    table = tf.Variable([0.0, 0.0])
    rows = tf.placeholder(tf.int32, [1])
    train = tf.train.AdagradOptimizer(0.1).apply_gradients([(tf.IndexedSlices(tf.constant([1.0]), rows), table)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Index 5 at offset 0 in indices is out of range"):
            session.run(train, {rows: [5]})


def test_no_rows_change_nothing():
    table = tf.Variable([1.0, 2.0])
    rows = tf.placeholder(tf.int32, [None])
    values = tf.placeholder(tf.float32, [None])
    optimizers = [tf.train.AdagradOptimizer(0.1), tf.train.AdamOptimizer(0.1), SGD(0.1)]
    train = [each.apply_gradients([(tf.IndexedSlices(values, rows), table)]) for each in optimizers]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(7):
            session.run(train, {rows: [], values: []})
        assert session.run(table).tolist() == [1.0, 2.0]


def test_a_fed_gradient_may_be_waited_for():
    fed = tf.placeholder(tf.float32, [1])
    v = tf.Variable([1.0])
    (gradient,) = tf.tuple([fed])
    train = SGD(1.0).apply_gradients([(gradient, v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {fed: [0.25]})
        assert session.run(v).tolist() == [0.75]
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder"):
            session.run(train)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    "make", [tf.train.AdagradOptimizer, tf.train.RMSPropOptimizer, tf.train.AdamOptimizer, tf.train.AdadeltaOptimizer]
)
def test_slots_of_a_variable_of_unknown_shape_take_its_shape(make, use_resource):
    start = tf.placeholder_with_default(tf.constant([1.0, 2.0]), None)
    v = tf.Variable(start, validate_shape=False, use_resource=use_resource)
    optimizer = make(0.1)
    train = optimizer.minimize(tf.reduce_sum(v * v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        shapes = {session.run(optimizer.get_slot(v, name)).shape for name in optimizer.get_slot_names()}
    assert shapes == {(2,)}


def test_a_function_whose_loss_has_no_gradient_is_refused_as_a_loss_is():
    variables = [tf.Variable(1.0), tf.Variable(2.0)]
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        SGD(0.5).minimize(lambda: tf.constant(5.0), var_list=variables)
