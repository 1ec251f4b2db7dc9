"""Variables: the nodes they are made of, what they say of themselves, and how their values change."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def nodes(graph):
    return [(op.name, op.type) for op in graph.get_operations()]


def classes(graph):
    return {op.name: op.attrs.get("_class") for op in graph.get_operations()}


def run(*fetches, feed_dict=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        results = [session.run(fetch, feed_dict) for fetch in fetches]
    return results[0] if len(results) == 1 else results


def test_a_variable_is_four_nodes(graph):
    tf.Variable(0.0, name="var")
    assert nodes(graph) == [
        ("var/initial_value", "Const"), ("var", "VariableV2"), ("var/Assign", "Assign"), ("var/read", "Identity"),
    ]  # fmt: skip
    assert classes(graph) == {
        "var/initial_value": None,
        "var": None,
        "var/Assign": ["loc:@var"],
        "var/read": ["loc:@var"],
    }


def test_an_initial_value_function_is_called_in_the_initializer_scope(graph):
    tf.Variable(lambda: tf.constant([1.0, 2.0]), name="var")
    assert [name for name, _ in nodes(graph)] == ["var/Initializer/Const", "var", "var/Assign", "var/read"]
    assert all(groups == ["loc:@var"] for groups in classes(graph).values())


def test_a_variable_says_what_it_is():
    variable = tf.Variable([1, 2], name="v", trainable=False)
    assert repr(variable) == "<tf.Variable 'v:0' shape=(2,) dtype=int32_ref>"
    assert (variable.name, variable.op.name, variable.initializer.name) == ("v:0", "v", "v/Assign")
    assert variable.dtype == tf.int32._as_ref
    assert variable.get_shape().as_list() == [2]
    assert variable.initial_value.name == "v/initial_value:0"
    assert variable.value().name == "v/read:0"
    assert not variable.trainable


def test_names_are_made_unique():
    assert [tf.Variable(1.0).name for _ in range(2)] == ["Variable:0", "Variable_1:0"]


def test_collections_hold_new_variables():
    first, second = tf.Variable(1.0), tf.Variable(1.0, trainable=False)
    third = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    assert tf.global_variables() == [first, second]
    assert tf.trainable_variables() == [first]
    assert tf.local_variables() == [third]


def test_the_scope_argument_filters_by_name():
    tf.Variable(1.0, name="a/x")
    inner = tf.Variable(1.0, name="b/x")
    assert tf.global_variables("b") == [inner]


def test_variables_compare_and_hash_by_identity():
    first, second = tf.Variable(1.0), tf.Variable(1.0)
    assert first != second
    assert len({first, second, first}) == 2


def test_iterating_a_variable_is_an_error():
    with pytest.raises(TypeError, match="'Variable' object is not iterable"):
        iter(tf.Variable([1, 2]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"initial_value": None}, "initial_value must be specified."),
        ({"initial_value": 1.0, "collections": "foo"}, "must be a list, tuple, or set. Got foo of type <class 'str'>"),
        ({"initial_value": 1.0, "constraint": 3}, "The `constraint` argument must be a callable."),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        tf.Variable(**arguments)


def test_an_initial_value_needs_a_known_shape_unless_told_otherwise():
    unknown = tf.placeholder(tf.float32)
    with pytest.raises(ValueError, match="initial_value must have a shape specified: Tensor"):
        tf.Variable(unknown)
    assert tf.Variable(unknown, validate_shape=False).shape.ndims is None


def test_reading_before_initialization_fails():
    variable = tf.Variable(1.0, name="v")
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        session.run(variable)


def test_assignments_return_the_new_value():
    variable = tf.Variable([1.0, 2.0])
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(variable.assign([3.0, 4.0])).tolist() == [3.0, 4.0]
        assert session.run(variable.assign_add([1.0, 1.0])).tolist() == [4.0, 5.0]
        assert session.run(tf.assign_sub(variable, [2.0, 2.0])).tolist() == [2.0, 3.0]
        assert session.run(variable.assign([0.0, 0.0], read_value=False)) is None
        assert variable.eval(session).tolist() == [0.0, 0.0]


def test_updates_stay_with_the_variable(graph):
    with graph.device("/job:ps/task:0"):
        variable = tf.Variable([1, 2], name="v")
    with graph.device("/job:worker"):
        update, other = variable.assign_add([1, 2]), tf.identity(variable)
    assert variable.device == update.device == variable.initializer.device == "/job:ps/task:0"
    assert update.op.inputs[1].device == other.device == "/job:worker"
    assert update.op.attrs["_class"] == ["loc:@v"]


def test_a_caching_device_holds_the_read(graph):
    variable = tf.Variable(1.0, caching_device="/job:worker")
    assert variable.value().device == "/job:worker"
    assert variable.device == ""


def test_assigning_another_shape_is_refused():
    variable = tf.Variable([1, 2])
    with pytest.raises(ValueError, match=r"Dimension 0 in both shapes must be equal, but are 2 and 3"):
        variable.assign([1, 2, 3])
    fed = tf.placeholder(tf.int32)
    with tf.Session() as session:
        session.run(variable.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[2\] rhs shape= \[3\]"):
            session.run(tf.assign(variable, fed), {fed: [1, 2, 3]})


def test_without_validation_a_variable_changes_shape():
    variable = tf.Variable([1, 2])
    fed = tf.placeholder(tf.int32)
    change = tf.assign(variable, fed, validate_shape=False)
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(change, {fed: [1, 2, 3]})
        assert session.run(tf.identity(variable.op.outputs[0])).tolist() == [1, 2, 3]


def test_initial_values_may_depend_on_other_variables(graph):
    first = tf.Variable(2.0, name="first")
    second = tf.Variable(first * 3.0, name="second")
    third = tf.Variable(first.initialized_value() + second, name="third")
    assert run([second, third]) == [6.0, 8.0]


def test_initialized_value_is_the_value_once_there_is_one():
    variable = tf.Variable(2.0)
    value = variable.initialized_value()
    with tf.Session() as session:
        assert session.run(value) == 2.0
        session.run(variable.initializer)
        session.run(variable.assign(5.0))
        assert session.run(value) == 5.0


def test_the_initializers_of_all_variables_are_one_operation_named_init(graph):
    first, second = tf.Variable(1.0), tf.Variable(2.0)
    init = tf.global_variables_initializer()
    assert (init.name, init.type) == ("init", "NoOp")
    assert init.control_inputs == [first.initializer, second.initializer]
    assert tf.local_variables_initializer().control_inputs == []


def test_uninitialized_variables_are_reported(graph):
    first, second = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    left = tf.report_uninitialized_variables([first, second])
    with tf.Session() as session:
        assert session.run(left).tolist() == [b"a", b"b"]
        session.run(second.initializer)
        assert session.run(left).tolist() == [b"a"]
        session.run(first.initializer)
        assert session.run(left).tolist() == []


def test_the_report_of_uninitialized_variables_stays_on_the_processor_of_its_device(graph):
    with graph.device("/job:ps"):
        variable = tf.Variable(1.0)
    with graph.device("/job:worker"):
        left = tf.report_uninitialized_variables()
    assert left.device == "/job:worker/device:CPU:0"
    assert tf.is_variable_initialized(variable).device == "/job:ps"


def test_variables_can_be_asserted_to_be_initialized():
    variable = tf.Variable(1.0)
    check = tf.assert_variables_initialized()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(check)
        session.run(variable.initializer)
        session.run(check)


def test_no_variables_is_nothing_to_report():
    assert tf.assert_variables_initialized() is None
    with tf.Session() as session:
        assert session.run(tf.report_uninitialized_variables()).tolist() == []


def test_load_sets_a_value_without_adding_nodes(graph):
    variable = tf.Variable([1.0, 2.0])
    count = len(graph.get_operations())
    with tf.Session() as session:
        variable.load([5.0, 6.0], session)
        assert session.run(variable).tolist() == [5.0, 6.0]
    assert len(graph.get_operations()) == count


def test_operators_work_on_the_value():
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    results = run([-variable, variable * 2.0, 10.0 - variable, variable @ variable, variable[0], variable > 2.0])
    expected = np.array([[1.0, 2.0], [3.0, 4.0]])
    wanted = [-expected, expected * 2, 10 - expected, expected @ expected, expected[0], expected > 2]
    for result, value in zip(results, wanted, strict=True):
        assert np.array_equal(result, value)


def test_a_slice_can_be_assigned_to(graph):
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    change = variable[:, 0].assign([7.0, 8.0])
    assert (change.op.name, change.op.type) == ("strided_slice/_assign", "StridedSliceAssign")
    assert run(change).tolist() == [[7.0, 2.0], [8.0, 4.0]]


def test_a_variable_goes_through_its_proto(graph):
    variable = tf.Variable([1.0, 2.0], name="v", trainable=False)
    proto = variable.to_proto()
    assert (proto.variable_name, proto.initializer_name, proto.snapshot_name) == ("v:0", "v/Assign", "v/read:0")
    assert proto.initial_value_name == "v/initial_value:0"
    copy = tf.Variable.from_proto(proto)
    assert copy.op is variable.op
    assert copy.value() is variable.value()
    assert not copy.trainable
    assert copy.to_proto() == proto


def test_a_proto_leaves_the_export_scope_out(graph):
    with graph.name_scope("scope"):
        variable = tf.Variable(1.0, name="v")
    assert variable.to_proto("scope").variable_name == "v:0"
    assert variable.to_proto("other") is None


def test_a_creator_scope_may_change_how_variables_are_made():
    def double(next_creator, **kwargs):
        kwargs["name"] = "made"
        return next_creator(**kwargs)

    with tf.variable_creator_scope(double):
        assert tf.Variable(1.0).name == "made:0"
    assert tf.Variable(1.0).name == "Variable:0"


# Resource variables.


def test_a_resource_variable_is_a_handle_and_what_uses_it(graph):
    variable = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    assert isinstance(variable, tf.Variable)
    assert nodes(graph) == [
        ("v/Initializer/initial_value", "Const"), ("v", "VarHandleOp"),
        ("v/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp"), ("v/Assign", "AssignVariableOp"),
        ("v/Read/ReadVariableOp", "ReadVariableOp"),
    ]  # fmt: skip
    assert repr(variable) == "<tf.Variable 'v:0' shape=(2,) dtype=float32>"


def test_resource_variables_are_assigned_and_read():
    variable = tf.Variable([1.0, 2.0], use_resource=True)
    with tf.Session() as session:
        assert session.run(tf.report_uninitialized_variables()).tolist() == [b"Variable"]
        session.run(variable.initializer)
        assert session.run(variable.assign_add([1.0, 1.0])).tolist() == [2.0, 3.0]
        assert session.run(tf.assign(variable, [5.0, 6.0])).tolist() == [5.0, 6.0]
        assert session.run(tf.scatter_update(variable, [0], [9.0])).tolist() == [9.0, 6.0]
        assert session.run(tf.gather(variable, [1, 0])).tolist() == [6.0, 9.0]
        assert session.run(variable[0].assign(1.0)).tolist() == [1.0, 6.0]
        assert session.run(variable * 2.0).tolist() == [2.0, 12.0]


def test_reads_of_a_resource_variable_wait_for_control_dependencies(graph):
    variable = tf.Variable(1.0, use_resource=True)
    with graph.control_dependencies([variable.assign(4.0).op]):
        value = variable.read_value()
    assert run(value) == 4.0


def test_a_resource_variable_refuses_other_shapes():
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(3,\) are incompatible"):
        tf.Variable([1.0, 2.0], use_resource=True).assign([1.0, 2.0, 3.0])


def test_a_resource_variable_goes_through_its_proto():
    variable = tf.Variable([1.0, 2.0], use_resource=True)
    proto = variable.to_proto()
    assert proto.is_resource
    assert tf.Variable.from_proto(proto).to_proto() == proto


def test_waiting_for_an_update_of_a_resource_variable_does_not_read_it(graph):
    variable = tf.Variable(1.0, use_resource=True)
    with graph.control_dependencies([variable.assign(4.0)]):
        after = tf.no_op()
    assert [op.type for op in after.control_inputs] == ["AssignVariableOp"]


def test_creators_are_told_every_argument():
    told = {}

    def creator(next_creator, **kwargs):
        told.update(kwargs)
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        tf.Variable(1.0)
    assert told["initial_value"] == 1.0
    assert (told["shape"], told["use_resource"], told["validate_shape"]) == (None, None, True)
    assert told["aggregation"] is tf.VariableAggregation.NONE


def test_a_resource_variable_may_have_an_unknown_shape():
    assert tf.Variable(tf.placeholder(tf.float32), use_resource=True).shape.ndims is None


def test_a_resource_variable_refuses_an_initial_value_of_another_shape_than_said():
    with pytest.raises(ValueError, match=r"initial value's shape \(\(2,\)\) is not compatible with the explicitly supplied"):
        tf.Variable([1.0, 2.0], shape=[3], use_resource=True)


def test_a_resource_variable_is_no_condition():
    with pytest.raises(TypeError, match=r"as a Python `bool` is not allowed"):
        bool(tf.Variable(True, use_resource=True))


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_of_both_kinds_can_be_asserted_to_be_initialized(use_resource):
    tf.Variable([[1.0]], use_resource=use_resource)
    tf.Variable(1.0, use_resource=use_resource)
    check = tf.assert_variables_initialized()
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value Variable"):
            session.run(check)
        session.run(tf.global_variables_initializer())
        assert session.run(check).tolist() == [2, 0]


def test_resource_variables_can_be_the_default():
    assert not tf.resource_variables_enabled()
    tf.enable_resource_variables()
    try:
        made = [tf.Variable(1.0), tf.get_variable("v", []), tf.Variable(1.0, use_resource=False)]
        with tf.variable_scope("ref", use_resource=False):
            made.append(tf.get_variable("v", []))
    finally:
        tf.disable_resource_variables()
    assert [variable.op.type for variable in made] == ["VarHandleOp", "VarHandleOp", "VariableV2", "VariableV2"]
    assert tf.Variable(1.0).op.type == "VariableV2"


def test_references_are_keys():
    variable, tensor = tf.Variable(1.0), tf.constant(1.0)
    assert {variable.experimental_ref(), tensor.experimental_ref()} == {tensor.experimental_ref(), variable.experimental_ref()}
    assert variable.experimental_ref().deref() is variable
    assert variable.experimental_ref() != variable


def test_a_resource_variable_is_cached_on_the_device_named_alone():
    with tf.device("/job:ps/task:1"):
        variable = tf.Variable(1.0, use_resource=True, caching_device="/cpu:3")
    assert variable.device == "/job:ps/task:1"
    assert variable.value().device == "/device:CPU:3"
    assert variable.value() is variable.value()


def test_a_scalar_shape_of_the_older_op_stands_for_an_unknown_one() -> None:
    def made(shape: tuple[int, ...]) -> tf.Tensor:
        graph = tf.get_default_graph()
        return graph.create_op("Variable", [], [tf.float32._as_ref], attrs={"shape": shape, "dtype": tf.float32}).outputs[0]

    assert made(()).shape.ndims is None
    assert made((2, 3)).shape.as_list() == [2, 3]


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_branch_assigns_to_a_slice_of_a_variable_around_it(use_resource: bool) -> None:
    rows = tf.get_variable("rows", [3, 2], initializer=tf.zeros_initializer(), use_resource=use_resource)
    at = tf.placeholder(tf.int32, [])
    fed = tf.placeholder(tf.float32, [None, 2])

    def store() -> tf.Tensor:
        with tf.control_dependencies([rows[at : at + tf.shape(fed)[0]].assign(fed)]):
            return tf.identity(at)

    stored = tf.cond(at > 0, store, lambda: tf.constant(0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(stored, {at: place, fed: [[1.0, 2.0]]}) for place in (2, 0)] == [2, 0]
        assert session.run(rows).tolist() == [[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]]


def test_a_variable_that_is_synchronized_on_read_is_trained_where_the_program_says_so():
    on_read = tf.VariableSynchronization.ON_READ
    assert not tf.Variable(1.0, synchronization=on_read).trainable
    assert tf.Variable(1.0, synchronization=on_read, trainable=True).trainable
    assert tf.get_variable("v", [], synchronization=on_read, trainable=True) in tf.trainable_variables()


def test_optimizers_find_the_name_that_tasks_share():
    for variable in (tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w", use_resource=True)):
        assert variable._shared_name == variable.shared_name == variable.op.name
